/* os.h - the operating system as the library sees it, one file for each facility: clocks,
 * counters, processes, files, memory.
 *
 *	dck_buffer text = {0};
 *
 *	DCK_TRY(os_read_file(path, 1 << 20, &text, err));
 *	dck_buffer_done(&text);
 *
 * What the system does not report is 0, "" or -1, as each member says; callers show it as not
 * known. Nothing here prints or exits. Reading is bounded: a file or a child's answer has a limit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_OS_H
#define OS_OS_H

#include "base/mem.h"
#include "deepclock/bench.h"
#include "deepclock/report.h"
#include <sys/types.h>

/* --- clock.c: monotonic clocks, calibrated when opened. */
/* The system's monotonic clock (CLOCK_MONOTONIC_RAW where it is not a system call's price). */
void os_clock_monotonic(dck_clock *ret);
/* The processor's time stamp counter, at half the price of the system's clock; *s is the caller's
 * and must live as long as the clock is used; zeroed, or with the rate that another process of this
 * machine found, which saves the 25 ms of finding it and of asking the kernel. ret NULL: only the
 * state. false: no x86-64, or the kernel does not trust the counter (it may stop, change its rate
 * or differ between cores). */
typedef struct os_clock_state {
	uint64_t base_tsc, base_ns, ns_per_tick_q32;
} os_clock_state;
bool os_clock_tsc(os_clock_state *s, dck_clock *ret);
/* clock_coarse.c: too coarse for a run, to show what such clocks do. tick_ns is what the system
 * says; a reading's cost is not known. false: there is none. */
bool os_clock_coarse(dck_clock *ret);
bool os_clock_seconds(dck_clock *ret); /* time(), whole seconds; not monotonic; always there */
uint64_t os_now_ns(void);	       /* for deadlines and phases; CLOCK_MONOTONIC */
uint64_t os_process_cpu_ns(void);      /* CPU time of all threads of this process */
uint64_t os_thread_cpu_ns(void);       /* of the calling thread */
uint64_t os_boottime_ns(void);	       /* as CLOCK_MONOTONIC, and runs while the machine sleeps */
int64_t os_unix_ns(void);
/* How far the wall clock may be from the world's, as its synchronisation estimates; 0: not known,
 * or it is not synchronised. */
uint64_t os_unix_error_ns(void);
/* As many calls of the system, the cheapest that there is, to measure their cost.
 */
void os_system_calls(unsigned n);
/* Sleeps; false when `cancelled(self)` became true (asked every 50 ms) or a signal came. */
bool os_sleep_ns(uint64_t ns, bool (*cancelled)(void *self), void *self);

/* --- cpu.c: what the machine is. Text fields are NUL-ended; "" or 0: not known. */
typedef struct os_host {
	char cpu[128], kernel[96], os[96], governor[32], hypervisor[32];
	unsigned cpus_online, cpus_allowed; /* allowed: by affinity and cgroup cpuset */
	double cgroup_cpus;		    /* CPU quota in cores; 0: no limit */
	int64_t cgroup_memory_bytes;	    /* 0: no limit */
	int turbo;			    /* 1 on, 0 off, -1 not known */
	int smt;
	uint64_t memory_bytes;
	uint64_t min_khz, max_khz;
} os_host;
void os_host_get(os_host *ret);
/* What has to be asked for before the registers of AMX may be used. false: they may not be. */
bool os_amx_allow(void);
/* What the kernel reports of an ARM processor: AT_HWCAP, or AT_HWCAP2. */
unsigned long os_hwcap(bool second);

/* --- affinity.c: CPUs, by their numbers, which are below OS_CPUS_MAX. */
enum { OS_CPUS_MAX = 8192 };
#define OS_CPU_DIR "/sys/devices/system/cpu/cpu"
/* What the machine calls itself, without '/'; "localhost" when that is not known. */
void os_machine_name(char *ret, size_t size);
/* Identifies this boot of this machine; "": not known. */
void os_boot_id(char ret[40]);
/* "0-3,8": pins this process (all threads it makes later). E_ARG, E_IO. */
dck_status os_pin_cpus(const char *list, dck_err *err);
bool os_thread_pin(unsigned cpu); /* the calling thread alone */
void os_thread_yield(void);
/* How many CPUs this process may run on now, and how many cores: the hardware threads of one core
 * count once. */
unsigned os_cpus_allowed(void);
unsigned os_cores_allowed(void);
/* Which CPUs below `max` this process may run on, in order. Returns how many; 0: not known. */
unsigned os_cpus_get(unsigned *ret, unsigned max);
/* Writes the n CPUs to ret (NULL: nowhere), one of each core first, in order, then the others;
 * returns how many cores they have. root: "" or, for tests, a directory in whose sys/ to look. */
unsigned os_cores_first(const char *root, const unsigned *cpu, unsigned n, unsigned *ret);
/* Reads "0-3,8": sets ret_in[0..n) of the CPUs that are named. Returns the greatest one + 1, which
 * may be above n; 0: this is no such list. */
size_t os_cpu_list_read(const char *list, bool *ret_in, size_t n);
/* The way back, of CPUs in order; cut when it is longer. */
void os_cpu_list_show(const unsigned *cpu, unsigned n, char *buf, size_t size);

/* --- counters.c: snapshots for differences. */
typedef struct os_usage {
	uint64_t user_ns, system_ns; /* this process */
	uint64_t voluntary_switches, involuntary_switches, minor_faults, major_faults;
	uint64_t peak_rss_bytes, rss_bytes;
	bool has_machine;			    /* /proc/stat could be read */
	uint64_t machine_busy_ns, machine_steal_ns; /* all CPUs, all processes */
	uint64_t throttled_ns; /* cgroup: time spent throttled; 0 when not known */
	uint64_t throttled_periods;
} os_usage;
void os_usage_get(os_usage *ret);

/* --- neighbours.c: who uses the CPUs. A snapshot takes about 10 us for each process of the
 * machine. */
typedef struct os_cpu_users os_cpu_users;
/* The CPU time of all processes. Those that count as ours: `self`, `pid` (0: none), and all that
 * they started. root: "" or, for tests, a directory in whose proc/ to look. @owned,
 * os_cpu_users_free(); NULL: no memory. */
os_cpu_users *os_cpu_users_take(const char *root, long self, long pid);
void os_cpu_users_free(os_cpu_users *u); /* NULL is allowed */
enum { OS_CPU_TOP = 3 };
/* Cores that were busy on average between two snapshots. */
typedef struct os_cpu_split {
	unsigned cpus;		   /* of the machine */
	double own, others, steal; /* steal: that the hypervisor gave to other machines */
	size_t ntop;		   /* the names that used most, of the others that can be seen */
	struct {
		char name[16];
		double cores;
	} top[OS_CPU_TOP];
} os_cpu_split;
/* false: one of the snapshots is NULL, or the system does not show all processes. */
bool os_cpu_split_find(const os_cpu_users *from, const os_cpu_users *to, double wall_ns,
		       os_cpu_split *ret);

/* --- dl.c */
typedef struct os_library os_library;
/* RTLD_NOW | RTLD_LOCAL. E_ABSENT with the loader's sentence. */
dck_status os_library_open(const char *path, os_library **ret, dck_err *err);
void os_library_close(os_library *l);
void *os_library_symbol(os_library *l, const char *name); /* NULL: none */
const char *os_library_path(const os_library *l);	  /* where the loader really found it */
/* Loads it for good, for libraries that are opened later and need its names; no matter if not. */
void os_library_preload(const char *path);
/* What the first library of this process that exports the name has under it; NULL: none has. */
void *os_symbol_default(const char *name);
/* The file of the library or program that holds this code or data; NULL: not known. */
const char *os_library_of(const void *address);

/* --- preload.c */
/* Obstacles to LD_PRELOAD. What helps against one depends on what the library was for. */
typedef enum os_preload_obstacle {
	OS_PRELOAD_NONE, /* or not known */
	OS_PRELOAD_GO,	 /* statically linked, and its allocator and waits are Go's own */
	OS_PRELOAD_STATIC,
	OS_PRELOAD_SETUID,
	OS_PRELOAD_MACHINE, /* of another processor */
	OS_PRELOAD_LIBC,
	OS_PRELOAD_SANITIZER,
	OS_PRELOAD_OBSTACLES
} os_preload_obstacle;
/* Remedies that do not depend on what the library was for. */
#define OS_PRELOAD_AS_USER "start it as the user who has them"
#define OS_PRELOAD_LINKED  "link it dynamically, or with libdeepclock.a"
/* Returns the obstacle of the program in that file, or of the interpreter of the script there. */
os_preload_obstacle os_preload_obstacle_of(const char *path);
/* Returns "it is statically linked, so LD_PRELOAD has no effect"; static. */
const char *os_preload_obstacle_text(os_preload_obstacle o);

/* preload_env.c: the shared library, for other programs to load: ourselves, or what lies beside the
 * program, where it is built, or as it is installed. NULL: it is not found. */
const char *os_library_own(mem_arena *a);
/* Returns "LD_PRELOAD=..." that preloads `file` (installed beside the shared library) into
 * `program`, ahead of any existing entries. NULL: that is impossible, and *ret_why is the reason,
 * with remedies[obstacle] in parentheses where that is no NULL. Texts are the arena's, or static.
 */
const char *os_preload_env(mem_arena *a, const char *file, const char *program,
			   const char *const remedies[OS_PRELOAD_OBSTACLES], const char **ret_why);

/* --- proc.c: processes. */
long os_process_id(void);
bool os_is_root(void);
const char *os_program_name(void); /* as it was started; static */
typedef struct os_child_usage {
	uint64_t user_ns, system_ns, voluntary_switches, involuntary_switches;
	uint64_t minor_faults, major_faults;
	/* 0: not known. Until exec the kernel counts our memory as the child's, so a child that
	 * needs less than we ever did cannot be told apart. */
	uint64_t peak_rss_bytes;
	int exit_code; /* -1: killed */
	int signal;    /* 0: none */
	bool killed;   /* by SIGKILL */
} os_child_usage;
enum { OS_STDERR = 2 };
typedef struct os_spawn_config {
	char *const *argv;	   /* argv[0] is searched in PATH unless it has a slash */
	int in_fd, out_fd, err_fd; /* -1: /dev/null; the same number as ours: inherited */
	int keep_fd;	       /* another descriptor that stays open at the same number; -1: none */
	const char *directory; /* NULL: ours */
	/* "NAME=VALUE" that the child has beside our environment, or instead of what stands there;
	 * NULL-ended, borrowed as argv is. NULL: none. */
	const char *const *set;
	/* It leads a process group of its own, which is killed with it; not where we are in the
	 * foreground of a terminal. */
	bool group;
} os_spawn_config;
/* Raises this process's soft limit of descriptors to the hard one. Programs that it starts get the
 * limit that was in force before. */
void os_descriptors_raise(void);
/* argv[0] resolved as execvp would. *ret is owned: mem_free(). E_ABSENT: no such program; E_IO: not
 * executable. */
dck_status os_find_program(const char *name, char **ret, dck_err *err);
dck_status os_spawn(const os_spawn_config *c, pid_t *ret, dck_err *err);
/* The same for a command that is started again and again: everything that does not change is done
 * once. c->argv and what it points to are borrowed until os_spawner_free(). A child starts with an
 * empty signal mask and the default action of SIGPIPE, which programs around us may ignore. */
typedef struct os_spawner os_spawner;
dck_status os_spawner_new(const os_spawn_config *c, os_spawner **ret, dck_err *err);
dck_status os_spawner_run(os_spawner *s, pid_t *ret, dck_err *err);
void os_spawner_free(os_spawner *s); /* NULL is allowed */
/* Waits; when cancelled(self) turns true (asked every 50 ms and when a signal arrives): SIGTERM,
 * after 2 s SIGKILL, and E_CANCEL (*ret is set then too). `expect_ns`: about how long the child
 * takes; 0: not known. Of one that takes less than 100 ms only a signal makes us ask: being able to
 * ask costs 3 % of a short run. */
dck_status os_wait(pid_t pid, uint64_t expect_ns, bool (*cancelled)(void *self), void *self,
		   os_child_usage *ret, dck_err *err);
/* Runs f(self, fd) in a forked child; what it writes to fd is appended to *out (at most `limit`
 * bytes). A child that dies or exceeds timeout_ns gives E_ENGINE with how it ended. */
dck_status os_in_child(void (*f)(void *self, int fd), void *self, uint64_t timeout_ns, size_t limit,
		       dck_buffer *out, dck_err *err);

/* --- process_memory.c */
/* Copies n bytes at an address of the process, whose number *pid (an int) is; of our own too, where
 * a plain copy might crash. false: not all of them can be read. Also in signal handlers. */
bool os_process_read(void *pid, uint64_t address, void *to, size_t n);
/* Whether that process may be read at all: E_ABSENT: there is none; E_IO: it may not, and why. */
dck_status os_process_readable(int pid, dck_err *err);

/* --- resident.c: of other processes too. */
typedef struct os_resident {
	uint64_t all, anonymous, file, shared; /* bytes; shared: with others, and of no file */
	uint64_t peak;			       /* of `all`, as the kernel knows it */
} os_resident;
bool os_resident_get(long pid, os_resident *ret); /* false: there is no such process */
/* What is its own, and its part of what it shares; 0: not known. It takes the kernel milliseconds
 * for each GiB. */
uint64_t os_resident_share(long pid);
/* The children that its threads started and that live. Returns how many, at most max. */
size_t os_process_children(long pid, long *ret, size_t max);

/* --- limits.c: what a child may take; `pid` is not yet waited for. */
/* Private memory that the child may ask for from now on, used or not. false: not possible here. */
bool os_child_limit_data(pid_t pid, uint64_t bytes);
/* When memory runs out the system shall end this child before anybody else. */
void os_child_oom_first(pid_t pid);
uint64_t os_child_rss(pid_t pid); /* 0: not known */
void os_child_kill(pid_t pid);	  /* at once, with its group where it leads one */
/* How many processes the kernel has ended for want of memory, in our control group or, where that
 * does not count them, on the machine. false: not known. root: as below. */
bool os_oom_kills(const char *root, uint64_t *ret);
/* Memory that can be had now without swapping, by the machine and by the control group's limit; 0:
 * not known. root: "" or, for tests, a directory in whose proc/ and sys/ to look. */
uint64_t os_memory_available(const char *root);

/* --- file.c */
/* The whole file; refuses directories and more than `limit` bytes. *ret owned: dck_buffer_done().
 */
/* file_below.c: the text of a regular file of at most `limit` bytes that lies below one of n
 * directories (NULL: skipped), by its real path, and below no hidden directory in there. Returns
 * NULL if there is no such file, or it is empty. @owned, mem_free() */
char *os_file_below(const char *path, const char *const *folders, size_t n, size_t limit);
dck_status os_read_file(const char *path, size_t limit, dck_buffer *ret, dck_err *err);
/* A file in memory that a child inherits and can write, and we read afterwards. */
dck_status os_memfd(int *ret_fd, dck_err *err);
/* All of it from the beginning, whatever the position. *ret owned: dck_buffer_done(). */
dck_status os_file_read_all(int fd, size_t limit, dck_buffer *ret, dck_err *err);
typedef struct os_replace os_replace;
/* Opens a temporary file beside path; commit syncs, renames over it and syncs the directory; abort
 * removes it. A path that is no regular file is written directly. */
dck_status os_replace_open(const char *path, os_replace **ret, int *ret_fd, dck_err *err);
dck_status os_replace_commit(os_replace *r, dck_err *err);
/* The same without syncing, for a file that another program reads soon and removes. */
dck_status os_replace_commit_passing(os_replace *r, dck_err *err);
void os_replace_abort(os_replace *r); /* NULL is allowed */
void os_random_bytes(void *p, size_t n);
/* A new directory of our own under $TMPDIR or /tmp; path: OS_TEMP_SIZE bytes. Removed with all that
 * is in it; until then the text of `path` stays where it is. Those of our user whose process was
 * killed are removed on the way. */
#define OS_TEMP_SIZE 256
dck_status os_temp_dir(char *path, dck_err *err);
/* The same for files that programs map and write to: in memory (/dev/shm) where there is plenty of
 * that, since a disk's file system may take milliseconds for the first page of each. */
dck_status os_temp_dir_mapped(char *path, dck_err *err);
void os_temp_dir_remove(const char *path);
/* For appending, made when there is none; closed on exec. */
dck_status os_open_append(const char *path, int *ret_fd, dck_err *err);
/* All n bytes, on the disk when this returns. path: for the sentence. */
dck_status os_append(int fd, const char *path, const void *bytes, size_t n, dck_err *err);
/* Makes it, empty; false: it is there already, or cannot be made. */
bool os_file_create_exclusive(const char *path);
void os_file_remove(const char *path);
/* As long as this process lives and has it open the file is held; others can ask. */
void os_file_lock_process(int fd);
bool os_file_is_locked(const char *path); /* by another process */
/* The same, but of this descriptor alone, whatever else opens and closes the file, until it is
 * closed here and in children that were made by fork(). false: another process has it. */
bool os_file_lock(int fd);
/* Cuts off what comes after the first n bytes. */
dck_status os_truncate(int fd, const char *path, uint64_t n, dck_err *err);
/* For reading; a pipe without a writer does not hang us. -1: errno says why. */
int os_open_read(const char *path);
/* Bytes read at `at`, whatever the position; fewer than n: the file ends there; -1: errno says
 * why. */
ptrdiff_t os_read_at(int fd, void *to, size_t n, uint64_t at);
void os_close(int fd);
bool os_is_terminal(int fd);
/* Two files that differ have, with all likelihood, two hashes; 0: it cannot be read. In parts: a
 * child begins with our peak of memory as its own. */
uint64_t os_file_hash(const char *path);

/* --- file_map.c: the first bytes of a file, at most so many, as memory that other processes
 * may change at any time. NULL: there is no such file, it is empty, or no memory. */
void *os_file_map(const char *path, bool write, size_t most, size_t *ret_bytes);
void os_file_unmap(void *p, size_t bytes); /* NULL is allowed */

/* --- path.c: links are followed. */
typedef enum os_kind {
	OS_NOTHING, /* errno says why */
	OS_FILE,
	OS_FOLDER,
	OS_OTHER
} os_kind;
os_kind os_path_kind(const char *path, uint64_t *ret_bytes); /* ret_bytes may be NULL */
os_kind os_fd_kind(int fd, uint64_t *ret_bytes);
/* Which file it is, while it is there; false: the descriptor is not open. */
typedef struct os_file_id {
	uint64_t device, number;
} os_file_id;
bool os_fd_id(int fd, os_file_id *ret);
bool os_same_file(const char *a, const char *b); /* both are there, and are one */
bool os_file_exists(const char *path);		 /* anything of that name, a directory too */
bool os_file_readable(const char *path);	 /* false: errno says why */
/* Over what is there of the new name. false: errno says why. */
bool os_path_rename(const char *from, const char *to);
bool os_getcwd(char *ret, size_t size);
/* What a symbolic link says; "" and false: it is none, or too long. */
bool os_link_read(const char *path, char *ret, size_t size);
/* Makes the directories that the file lies in, with access for us alone. purpose: for the sentence.
 */
dck_status os_mkdir_parents(const char *path, const char *purpose, dck_err *err);
/* Its directory is there and may be written; false: errno says why not. */
bool os_path_can_be_made(const char *path);
/* What is written to that name from now on goes nowhere. false: errno says why. */
bool os_file_swallow(const char *path);
/* Calls f with every name below the directory that matches a pattern of the shell, which may have
 * several parts ("python3*" "/" "lib*.so"), in the order of the alphabet. The directory ("": the
 * current one) is taken as it is, whatever characters it has: users name directories, and we write
 * patterns. */
void os_glob_each(const char *folder, const char *pattern, void (*f)(void *self, const char *path),
		  void *self);
/* Of these names: the first of the alphabet, the last by version. NULL: there is none, no pattern,
 * or no memory. */
const char *os_path_first(mem_arena *a, const char *folder, const char *pattern);
const char *os_path_newest(mem_arena *a, const char *folder, const char *pattern);
/* A name as a pattern that only this name matches. NULL: no memory. */
const char *os_glob_escape(mem_arena *a, const char *name);
/* Whether others than root and the user of this process can change what stands in a file, by its
 * owner and mode: why they can, or NULL when they cannot or there is no such file. */
const char *os_file_open_to_others(const char *path);

/* --- thread.c: of the caller; also in signal handlers. */
int os_thread_id(void);
void os_thread_name(char ret[16]); /* NUL-ended; "": not known */
void os_thread_name_of(int id, char ret[16]);

/* --- threads.c: what the threads of this process use, as the kernel counts it since they began. */
typedef enum os_thread_counter {
	OS_USE_CPU,	     /* ns */
	OS_THREAD_RUN_DELAY, /* ns in which a thread could run, and waited for a CPU */
	OS_USE_MINOR,	     /* page faults, without reading a disk and with it */
	OS_USE_MAJOR,
	OS_USE_VOLUNTARY, /* times a thread gave its CPU away, and lost it */
	OS_USE_INVOLUNTARY,
	OS_USES
} os_thread_counter;
typedef struct os_thread_counters {
	uint64_t n[OS_USES];
	unsigned known; /* 1 << os_thread_counter */
} os_thread_counters;
void os_thread_counters_own(
    os_thread_counters *ret); /* of the calling thread; all but OS_THREAD_RUN_DELAY */
void os_thread_counters_process(
    os_thread_counters *ret); /* of all threads, also those that ended; the same */
/* CPU time alone, ten times as quick as os_thread_read(). false: there is no such thread. */
bool os_thread_cpu(int tid, uint64_t *ret_ns);
typedef struct os_thread_stat {
	os_thread_counters uses;
	char name[16];
	uint64_t born_ns; /* os_boottime_ns() when it began, to 10 ms */
} os_thread_stat;
/* All that /proc says; switches are only read when requested. false: no such thread, no /proc,
 * or no descriptor is free. */
bool os_thread_read(int tid, bool switches, os_thread_stat *ret);
/* Calls f for each thread of this process. false: there is no /proc, or no descriptor is free. */
bool os_threads_each(void (*f)(void *self, int tid), void *self);
/* Counts the threads that live on after the main thread has ended; 0: it has not. *ret_status: the
 * main thread's exit status. Without /proc, or where no descriptor is free, 2 stands for more than
 * one, and the status is 0; *other, which is 0 at first, keeps one of them. */
unsigned os_threads_after_main(int *ret_status, int *other);
_Noreturn void os_thread_exit(int status); /* this thread alone, without a destructor */
uint64_t os_resident_bytes(void);	   /* 0: not known */

/* --- signal_hooks.c: what runs before a signal does what it would have done. In a handler, on the
 * thread that got the signal. */
typedef struct os_signal_hooks {
	void (*ends)(int signal);    /* the process ends by it */
	void (*handled)(int signal); /* the program's own handler of a crash runs */
	void (*asked)(int signal);   /* the signal that was named; the process goes on */
} os_signal_hooks;
/* Watches the signals of crashes (SIGSEGV, SIGABRT ...), and `asking`; 0: none. The calling thread
 * gets a stack for handlers unless it has one. */
void os_signals_watch(const os_signal_hooks *h, int asking);
/* Also those by which others end the process (SIGINT, SIGTERM ...), where the program leaves them
 * as they are. Programs that look at their beginning whether these are theirs must not see it. */
void os_signals_watch_terminations(void);
void os_signals_forget(void);
const char *os_signal_name(int number); /* "SIGSEGV"; NULL: it has none */
int os_signal_read(const char *text);	/* "SIGUSR2", "USR2", "12", "RTMIN+1"; 0: no signal */
bool os_signal_may_ask(int number);	/* it can be caught, and is not that of a crash */

/* --- signal_cost.c: what a signal to the calling thread takes, whose handler does nothing; 0: not
 * known. A signal of the program's own real-time ones must not be on its way meanwhile. */
double os_signal_price_ns(void);

/* --- futex.c: also in signal handlers. */
/* Waits while *word is `seen`: until it is woken, for ns at most, or for no reason at all. errno is
 * not kept. */
void os_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns);
void os_futex_wake(_Atomic uint32_t *word); /* all threads that wait there */

/* --- sanitizer.c: "AddressSanitizer", ... when one is in this process; NULL: none is. */
const char *os_sanitizer_name(void);

/* --- memory.c */
/* n bytes, page-aligned, every page touched, so that the clock never meets a page fault. */
void *os_pages_alloc(size_t n);
/* The same, zeroed but not touched: memory is taken as it is used. */
void *os_pages_reserve(size_t n);
/* Asks for large pages where the system has them; before the first touch. */
void os_pages_large(void *p, size_t n);
void os_pages_free(void *p, size_t n); /* of either */

#endif
