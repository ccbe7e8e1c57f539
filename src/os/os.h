/* os.h - operating-system layer, one file for each facility: clocks, counters, processes, files,
 * memory.
 *
 *	dck_buffer text = {0};
 *
 *	DCK_TRY(os_read_file(path, 1 << 20, &text, err));
 *	dck_buffer_done(&text);
 *
 * A value that the system does not report is 0, "" or -1, as documented for each member; callers
 * show it as not known. Nothing here prints or exits. Reading is bounded: files and the output of
 * children have limits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_OS_H
#define OS_OS_H

#include "base/mem.h"
#include "deepclock/bench.h"
#include "deepclock/report.h"
#include <sys/types.h>

/* --- clock.c: monotonic clocks, calibrated when opened. */
/* Opens the system's monotonic clock (CLOCK_MONOTONIC_RAW if reading it needs no system call). */
void os_clock_monotonic(dck_clock *ret);
/* Opens the processor's time stamp counter, at half the cost of the system's clock. The caller owns
 * *s, which must outlive the clock. It is zeroed, or has the rate that another process of this
 * machine measured, which saves the 25 ms of the measurement and of querying the kernel. ret NULL:
 * sets only *s. false: no x86-64, or the kernel does not trust the counter (it may stop, change its
 * rate or differ between cores). */
typedef struct os_clock_state {
	uint64_t base_tsc, base_ns, ns_per_tick_q32;
} os_clock_state;
bool os_clock_tsc(os_clock_state *s, dck_clock *ret);
/* clock_coarse.c: opens a clock that is too coarse for a run, to show the effect of such clocks.
 * tick_ns is the reported resolution; the cost of a reading is not known. false: not available. */
bool os_clock_coarse(dck_clock *ret);
bool os_clock_seconds(dck_clock *ret); /* time(), whole seconds; not monotonic; always available */
uint64_t os_now_ns(void);	       /* for deadlines and phases; CLOCK_MONOTONIC */
uint64_t os_process_cpu_ns(void);      /* CPU time of all threads of this process */
uint64_t os_thread_cpu_ns(void);       /* of the calling thread */
uint64_t os_boottime_ns(void);	       /* as CLOCK_MONOTONIC, and runs while the machine sleeps */
int64_t os_unix_ns(void);
/* Returns the maximum error of the wall clock, as its synchronisation estimates it; 0: not known,
 * or it is not synchronised. */
uint64_t os_unix_error_ns(void);
/* Makes n system calls, of the cheapest kind, to measure their cost. */
void os_system_calls(unsigned n);
/* Sleeps; false: `cancelled(self)` (called every 50 ms, and after a signal) returned true; of NULL:
 * a signal arrived. */
bool os_sleep_ns(uint64_t ns, bool (*cancelled)(void *self), void *self);
/* Waits until a descriptor can be read, or written, or has failed; false: after ns, 1 s or a
 * signal.
 */
bool os_fd_wait(int fd, bool to_write, uint64_t ns);

/* --- cpu.c: description of the machine. Texts are NUL-terminated; "" or 0: not known. */
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
/* Requests permission to use the AMX registers, needed before their first use. false: denied. */
bool os_amx_allow(void);
/* Returns AT_HWCAP or, if `second`, AT_HWCAP2: the features of an ARM processor. */
unsigned long os_hwcap(bool second);

/* --- affinity.c: CPUs, by their numbers, which are below OS_CPUS_MAX. */
enum { OS_CPUS_MAX = 8192 };
#define OS_CPU_DIR "/sys/devices/system/cpu/cpu"
/* Writes the host name, without '/'; "localhost" if it is not known. */
void os_machine_name(char *ret, size_t size);
/* Writes the id of this boot of this machine; "": not known. */
void os_boot_id(char ret[40]);
/* Pins the calling thread, and all threads and processes that it makes later, to the CPUs "0-3,8".
 * E_ARG, E_IO. Undoing its last pin restores what the thread could use before that. */
dck_status os_pin_cpus(const char *list, dck_err *err);
void os_unpin_cpus(void);
bool os_thread_pin(unsigned cpu); /* the calling thread alone */
/* Measures the time that a cache line takes between the first two cores that this process may use,
 * forth and back, in each of some batches of microseconds. false: there is one core, or another
 * program keeps one busy. */
bool os_core_latency(double *ret_ns, size_t batches);
void os_thread_yield(void);
/* Return the number of CPUs and of cores on which this process may run now; the hardware threads of
 * one core count once. */
unsigned os_cpus_allowed(void);
unsigned os_cores_allowed(void);
/* Writes the CPUs below `max` on which this process may run, in order. Returns their number; 0: not
 * known. */
unsigned os_cpus_get(unsigned *ret, unsigned max);
/* Writes the n CPUs to ret (NULL: nowhere), one of each core first, in order, then the others;
 * returns the number of their cores. root: "" or, for tests, the directory that has sys/. */
unsigned os_cores_first(const char *root, const unsigned *cpu, unsigned n, unsigned *ret);
/* Reads "0-3,8": sets ret_in[0..n) of the CPUs in the list. Returns the greatest CPU + 1, which may
 * be above n; 0: the list is invalid. */
size_t os_cpu_list_read(const char *list, bool *ret_in, size_t n);
/* Writes the list of n CPUs, which are in order, as "0-3,8"; cut to size. */
void os_cpu_list_show(const unsigned *cpu, unsigned n, char *buf, size_t size);

/* --- counters.c: snapshots for differences. */
typedef struct os_usage {
	uint64_t user_ns, system_ns; /* this process */
	uint64_t voluntary_switches, involuntary_switches, minor_faults, major_faults;
	uint64_t peak_rss_bytes, rss_bytes;
	bool has_machine;			    /* /proc/stat could be read */
	uint64_t machine_busy_ns, machine_steal_ns; /* all CPUs, all processes */
	bool has_throttled;			    /* the cgroup or an ancestor counts it */
	uint64_t throttled_ns, throttled_periods;
} os_usage;
void os_usage_get(os_usage *ret);
/* CPU time of the children that were waited for, with theirs, and the peak memory of the largest;
 * 0: not known. */
void os_usage_children(uint64_t *ret_cpu_ns, uint64_t *ret_peak_rss_bytes);

/* --- neighbours.c: CPU use of other processes. A snapshot takes about 10 us for each process of
 * the machine. */
typedef struct os_cpu_users os_cpu_users;
/* Reads the CPU time of all processes. Our own processes are `self`, `pid` (0: none), and all that
 * they started. root: "" or, for tests, the directory that has proc/. @owned, os_cpu_users_free();
 * NULL: no memory. */
os_cpu_users *os_cpu_users_take(const char *root, long self, long pid);
void os_cpu_users_free(os_cpu_users *u); /* NULL is allowed */
enum { OS_CPU_TOP = 3 };
/* Cores that were busy on average between two snapshots. */
typedef struct os_cpu_split {
	unsigned cpus;		   /* of the machine */
	double own, others, steal; /* steal: taken by the hypervisor for other machines */
	size_t ntop;		   /* the visible other programs that used most */
	struct {
		char name[16];
		double cores;
	} top[OS_CPU_TOP];
	size_t left;	    /* processes that one of ours started since the first snapshot, and left
			     * running when it ended */
	char left_name[16]; /* of one of them */
} os_cpu_split;
/* false: one of the snapshots is NULL, or the system does not show all processes. */
bool os_cpu_split_find(const os_cpu_users *from, const os_cpu_users *to, double wall_ns,
		       os_cpu_split *ret);

/* --- dl.c */
typedef struct os_library os_library;
/* Returns whether the end of an ELF file is missing: the loader would crash (SIGBUS). */
bool os_library_is_cut(const char *path);
/* Loads a library with RTLD_NOW | RTLD_LOCAL. E_ABSENT with the loader's message. */
dck_status os_library_open(const char *path, os_library **ret, dck_err *err);
void os_library_close(os_library *l);
void os_library_keep(os_library *l); /* it stays loaded after os_library_close() */
/* Writes the address of a function to *ret, a pointer to functions of its type; false: the library
 * has none of that name, and it is NULL. */
bool os_library_function(os_library *l, const char *name, void *ret);
const char *os_library_path(const os_library *l); /* the file that the loader found */
/* Loads a library for good, for later libraries that need its symbols. A failure is ignored. */
void os_library_preload(const char *path);
/* Returns the symbol of the first library of this process that exports it; NULL: none does. */
void *os_symbol_default(const char *name);
/* Returns the file of the library or program with this code or data; NULL: not known. */
const char *os_library_of(const void *address);
/* Returns the path by which the process was executed, also where /proc is not mounted: relative to
 * the directory at its start; NULL: not known. */
const char *os_program_executed(void);
/* Returns the path of a library that is part of deepclock, in the build or as installed; the
 * newest, if several match the pattern. NULL: not found. */
const char *os_library_beside(mem_arena *a, const char *pattern);

/* --- preload.c */
/* Obstacles to LD_PRELOAD. The fix for some depends on the purpose of the library. */
typedef enum os_preload_obstacle {
	OS_PRELOAD_NONE, /* or not known */
	OS_PRELOAD_GO,	 /* statically linked, with Go's own allocator and waits */
	OS_PRELOAD_STATIC,
	OS_PRELOAD_SETUID,
	OS_PRELOAD_MACHINE, /* for another processor */
	OS_PRELOAD_LIBC,
	OS_PRELOAD_SANITIZER,
	OS_PRELOAD_OBSTACLES
} os_preload_obstacle;
/* Fixes that do not depend on the purpose of the library. */
#define OS_PRELOAD_AS_USER "start it as the user who has them"
#define OS_PRELOAD_DYNAMIC "link it dynamically"
#define OS_PRELOAD_LINKED  OS_PRELOAD_DYNAMIC ", or with libdeepclock.a"
/* Returns the obstacle of the program in that file, or of the interpreter of the script there. */
os_preload_obstacle os_preload_obstacle_of(const char *path);
/* Returns the message of an obstacle: "it is statically linked, so LD_PRELOAD has no effect";
 * static. */
const char *os_preload_obstacle_text(os_preload_obstacle o);

/* preload_env.c: returns "LD_PRELOAD=..." that preloads `file` (see os_library_beside()) into
 * `program`, ahead of any existing entries. NULL: it is impossible, and *ret_why is the reason,
 * with remedies[obstacle] in parentheses if not NULL. Texts are owned by the arena, or static.
 */
const char *os_preload_env(mem_arena *a, const char *file, const char *program,
			   const char *const remedies[OS_PRELOAD_OBSTACLES], const char **ret_why);

/* --- proc.c: processes. */
long os_process_id(void);
const char *os_program_name(void); /* as the program was started; static */
/* Writes the words of this process's command line into buf, as far as they fit, and ret[0..n) with
 * NULL behind them; n is below max. Without /proc: os_program_name() alone. */
void os_program_arguments(char *buf, size_t size, char **ret, size_t max);
/* Returns the rank of this process in a job of torchrun, MPI or Slurm; OS_NO_RANK: it is in none.
 */
#define OS_NO_RANK (~0u)
unsigned os_rank(void);
/* Reads the position of this process in its job. false: the variables of no launcher are set, and
 * *ret is a job of one process, with the variable if one is set, but not to a number. */
typedef struct os_job {
	const char *launcher, *variable; /* and the variable of the rank; static; NULL: none */
	unsigned rank, size;		 /* size OS_NO_RANK: the launcher does not report it */
	unsigned local_rank, local_size, node; /* OS_NO_RANK: unknown */
	char address[256];		       /* host of rank 0; "": unknown */
	char id[256]; /* differs between two jobs of a machine, as far as the launcher reports */
} os_job;
bool os_job_get(os_job *ret);
typedef struct os_child_usage {
	uint64_t user_ns, system_ns, voluntary_switches, involuntary_switches;
	uint64_t minor_faults, major_faults;
	/* 0: not known. Until exec the kernel counts our memory as the child's, so the peak of a
	 * child below our own peak is not visible. */
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
	/* A file that each child opens as its standard input, in place of in_fd; borrowed. NULL:
	 * none. */
	const char *input;
	/* "NAME=VALUE" variables that are added to our environment for the child, or replace ours;
	 * NULL-terminated, borrowed as argv is. NULL: none. */
	const char *const *set;
	/* The child leads a new process group, which is killed with it; not if we are in the
	 * foreground of a terminal. */
	bool group;
} os_spawn_config;
/* --- address_layout.c */
/* Programs that the calling thread starts have no address randomisation, until the restore.
 * E_UNSUP: the system refuses it. */
dck_status os_address_layout_fix(unsigned long *ret_before, dck_err *err);
void os_address_layout_restore(unsigned long before);
bool os_address_layout_is_fixed(void);

/* Raises this process's soft limit of descriptors to the hard limit. Programs that it starts get
 * the soft limit of before. */
void os_descriptors_raise(void);
/* Resolves a program's name as execvp would. *ret is owned: mem_free(). E_ABSENT: no such program;
 * E_IO: not executable. */
dck_status os_find_program(const char *name, char **ret, dck_err *err);
dck_status os_spawn(const os_spawn_config *c, pid_t *ret, dck_err *err);
/* Spawns a command repeatedly: all that does not change is done once. c->argv and its strings are
 * borrowed until os_spawner_free(). A child starts with an empty signal mask and the default action
 * of SIGPIPE, which the program around us may ignore. */
typedef struct os_spawner os_spawner;
dck_status os_spawner_new(const os_spawn_config *c, os_spawner **ret, dck_err *err);
dck_status os_spawner_run(os_spawner *s, pid_t *ret, dck_err *err);
void os_spawner_free(os_spawner *s); /* NULL is allowed */
/* Waits for a child. If cancelled(self) returns true (called every 50 ms and when a signal
 * arrives): SIGTERM, after 2 s SIGKILL, and E_CANCEL (*ret is set then too). `expect_ns`: the
 * expected duration of the child; 0: not known. Below 100 ms it is called only on a signal, because
 * polling costs 3 % of a short run. */
dck_status os_wait(pid_t pid, uint64_t expect_ns, bool (*cancelled)(void *self), void *self,
		   os_child_usage *ret, dck_err *err);
/* --- message_link.c: whole messages between this process and one that it started. */
/* Makes the two ends of a connection, closed on exec. */
dck_status os_message_pair(int ret[2], dck_err *err);
bool os_message_send(int fd, const void *message, size_t n); /* false: the other end is closed */
typedef enum os_message {
	OS_MESSAGE_DONE,
	OS_MESSAGE_ENDED,   /* the other end is closed */
	OS_MESSAGE_FOREIGN, /* its message is not n bytes long */
	OS_MESSAGE_CANCELLED
} os_message;
/* Waits for a message of n bytes. cancelled(self) is called every 50 ms and when a signal arrives;
 * NULL: never. */
os_message os_message_receive(int fd, void *message, size_t n, bool (*cancelled)(void *self),
			      void *self);

/* Runs f(self, to) in a forked child and appends what it writes to *out (at most `limit` bytes).
 * E_ENGINE: the child died or exceeded timeout_ns; the message has the reason. */
dck_status os_in_child(void (*f)(void *self, dck_sink *to), void *self, uint64_t timeout_ns,
		       size_t limit, dck_buffer *out, dck_err *err);

/* --- process_memory.c */
/* Copies n bytes at an address of the process *pid (an int), which may be our own: a plain copy
 * might crash. false: not all bytes can be read. Async-signal-safe. */
bool os_process_read(void *pid, uint64_t address, void *to, size_t n);
/* Checks whether that process may be read. E_ABSENT: no such process; E_IO: it may not, and why. */
dck_status os_process_readable(int pid, dck_err *err);

/* --- resident.c: resident memory, also of other processes. */
typedef struct os_resident {
	uint64_t all, anonymous, file, shared; /* bytes; shared: with others, not from a file */
} os_resident;
bool os_resident_get(long pid, os_resident *ret); /* false: no such process */
/* Returns the proportional set size (private memory and its part of shared memory), in bytes; 0:
 * not known. It takes the kernel milliseconds for each GiB. */
uint64_t os_resident_share(long pid);
/* Returns whether they have one address space, as between vfork() and exec(); -1: it is not known.
 */
int os_same_memory(long a, long b);
/* Writes the live children that its threads started. Returns their number, at most max. */
size_t os_process_children(long pid, long *ret, size_t max);

/* --- limits.c: limit of this process's address space, in bytes (RLIMIT_AS; 0: none), and how much
 * of it is in use (0: not known). */
uint64_t os_address_space_limit(void);
uint64_t os_address_space_used(void);
uint64_t os_file_size_limit(void); /* RLIMIT_FSIZE, in bytes; UINT64_MAX: none */
/* Resource limits of a child; `pid` is not yet waited for. */
/* Limits the private memory that the child may allocate, used or not. false: not possible here. */
bool os_child_limit_data(pid_t pid, uint64_t bytes);
/* Makes this child the first that the kernel kills if memory runs out. */
void os_child_oom_first(pid_t pid);
uint64_t os_child_rss(pid_t pid); /* 0: not known */
void os_child_kill(pid_t pid);	  /* at once, with its process group if it leads one */
/* Counts the processes that the kernel killed because memory ran out, in our control group or, if
 * that does not count them, on the machine. false: not known. root: as below. */
bool os_oom_kills(const char *root, uint64_t *ret);
/* Returns the bytes available now without swapping, of the machine and of the control group's
 * limit; 0: not known. root: "" or, for tests, the directory that has proc/ and sys/. */
uint64_t os_memory_available(const char *root);

/* --- file.c */
/* file_below.c: returns the text of a regular file of at most `limit` bytes whose real path is
 * below one of n directories (NULL: skipped), and below no hidden directory in it. NULL: no such
 * file, or it is empty. @owned, mem_free() */
char *os_file_below(const char *path, const char *const *directories, size_t n, size_t limit);
/* Reads the whole file; refuses directories and more than `limit` bytes. *ret owned:
 * dck_buffer_done(). */
dck_status os_read_file(const char *path, size_t limit, dck_buffer *ret, dck_err *err);
/* The same for text in UTF-8: without its byte-order mark; a zero byte is DCK_E_FORMAT. */
dck_status os_read_text(const char *path, size_t limit, dck_buffer *ret, dck_err *err);
/* Opens a file in memory that a child inherits and writes, and that we read afterwards. */
dck_status os_memfd(int *ret_fd, dck_err *err);
/* Reads all of a file from its beginning, at any position. *ret owned: dck_buffer_done(). */
dck_status os_file_read_all(int fd, size_t limit, dck_buffer *ret, dck_err *err);
typedef struct dck_replace dck_replace; /* unstable.h has the functions */
/* Commits without syncing, for a file that another program reads soon and removes. */
dck_status os_replace_commit_unsynced(dck_replace *r, dck_err *err);
/* Resolves symbolic links, which are not replaced, to the target's name: PATH_MAX bytes at *ret.
 * E_IO: a link of another user in a world-writable directory (/tmp), because it could lead
 * anywhere, or another user's file or pipe, because its owner can read and change the data. */
dck_status os_file_target(const char *path, char *ret, dck_err *err);
/* Copies owner, group and mode of the existing target to the new file, which was created with mode
 * 0600, as far as the system permits and without more access for other users; without a target,
 * sets the mode by the umask. */
void os_file_inherit(int fd, const char *target);
void os_random_bytes(void *p, size_t n);
/* private_file.c: small files that processes of one user pass to each other by a known name. */
/* Writes the path of a name of this user below $TMPDIR or /tmp. */
void os_private_path(const char *name, char *ret, size_t size);
/* Writes a new file, instead of one of that name; only our user can read it. E_IO. */
dck_status os_private_write(const char *path, const char *text, dck_err *err);
/* Reads at most size - 1 bytes and ends them with NUL. false: no such file, it is empty, or another
 * user owns or could read or write it. */
bool os_private_read(const char *path, char *ret, size_t size);
unsigned long os_parent_id(void); /* process that started this one */
/* Makes a private directory under $TMPDIR or /tmp; path: OS_TEMP_SIZE bytes, which the caller
 * leaves at the same address until the directory is removed with its content. Also removes such
 * directories of our user whose process was killed. */
#define OS_TEMP_SIZE 256
dck_status os_temp_dir(char *path, dck_err *err);
/* Makes one for files that programs map and write: in memory (/dev/shm) if it has plenty of space,
 * because a disk's file system may take milliseconds for the first page of each file. */
dck_status os_temp_dir_mapped(char *path, dck_err *err);
void os_temp_dir_remove(const char *path);
/* Moves a descriptor above the standard three: a program that runs with one of these closed would
 * write its output into ours. Returns it; < 0: `fd` was, or errno, and `fd` is closed. */
int os_fd_above_standard(int fd);
/* Opens a file for appending, made if it does not exist; closed on exec. The descriptor is above
 * the standard three, also where one of these is closed. */
dck_status os_open_append(const char *path, int *ret_fd, dck_err *err);
/* Appends all n bytes, which are on the disk when this returns. path: for the message. */
dck_status os_append(int fd, const char *path, const void *bytes, size_t n, dck_err *err);
/* Creates an empty file (O_EXCL); false: it exists already, or cannot be created. */
bool os_file_create_exclusive(const char *path);
void os_file_remove(const char *path);
/* Locks the file while this process lives and has it open; other processes can test the lock. */
void os_file_lock_process(int fd);
bool os_file_is_locked(const char *path); /* by another process */
/* Locks the file by this descriptor alone, whatever else opens and closes the file, until it is
 * closed here and in forked children. false: another process has the lock. */
bool os_file_lock(int fd);
/* Truncates the file to n bytes. */
dck_status os_truncate(int fd, const char *path, uint64_t n, dck_err *err);
/* Opens a file for reading; does not block on a pipe without a writer. -1: see errno. */
int os_open_read(const char *path);
/* standard_input.c: gives standard input a name that can be opened several times: what is not a
 * file is read to its end, and replaced by a file in memory. E_IO, E_LIMIT. */
dck_status os_standard_input(const char **ret, dck_err *err);
/* Reads n bytes at offset `at`, and returns the bytes read; fewer than n: end of file; -1: see
 * errno. */
ptrdiff_t os_read_at(int fd, void *to, size_t n, uint64_t at);
void os_close(int fd);
bool os_is_terminal(int fd);
/* Discards what is written to standard error until os_stderr_restore(), which takes the result. */
int os_stderr_drop(void);
void os_stderr_restore(int saved);
/* Returns a hash of a file's content; 0: it cannot be read. It reads in parts, because a child
 * starts with our peak of memory as its own. */
uint64_t os_file_hash(const char *path);

/* --- file_map.c: maps the first bytes of a file, at most `most`; other processes may change them
 * at any time. NULL: the file does not exist or is empty, or no memory. */
void *os_file_map(const char *path, bool write, size_t most, size_t *ret_bytes);
void os_file_unmap(void *p, size_t bytes); /* NULL is allowed */

/* --- path.c: symbolic links are followed. */
typedef enum os_kind {
	OS_NOTHING, /* see errno */
	OS_FILE,
	OS_DIRECTORY,
	OS_OTHER
} os_kind;
os_kind os_path_kind(const char *path, uint64_t *ret_bytes); /* ret_bytes may be NULL */
os_kind os_fd_kind(int fd, uint64_t *ret_bytes);
/* Identifies a file while it exists; false: the descriptor is not open. */
typedef struct os_file_id {
	uint64_t device, number;
} os_file_id;
bool os_fd_id(int fd, os_file_id *ret);
bool os_same_file(const char *a, const char *b); /* both exist, and are one file */
bool os_file_exists(const char *path);		 /* anything of that name, a directory too */
bool os_file_readable(const char *path);	 /* false: see errno */
/* Renames a file, and replaces one of the new name. false: see errno. */
bool os_path_rename(const char *from, const char *to);
bool os_getcwd(char *ret, size_t size);
/* Reads the target of a symbolic link. Returns false and "" if `path` is no link or the target does
 * not fit. */
bool os_link_read(const char *path, char *ret, size_t size);
/* Makes the parent directories of a file, with access for us alone. purpose: for the message. */
dck_status os_mkdir_parents(const char *path, const char *purpose, dck_err *err);
/* Returns the part of a path after its last slash. */
const char *os_path_base(const char *path);
/* Returns whether its directory exists and may be written; false: see errno. */
bool os_path_can_be_made(const char *path);
/* Makes that name a link to /dev/null, unless it exists, so that later output to it is discarded.
 * false: see errno. */
bool os_file_swallow(const char *path);
/* Calls f with each path below the directory that matches a glob pattern, which may have several
 * parts ("python3*" "/" "lib*.so"), in alphabetical order. The directory ("": the current one) is
 * taken literally: users name directories, and we write patterns. */
void os_glob_each(const char *directory, const char *pattern,
		  void (*f)(void *self, const char *path), void *self);
/* Return the first of these paths in alphabetical order, and the last by version. NULL: no match,
 * no pattern, or no memory. */
const char *os_path_first(mem_arena *a, const char *directory, const char *pattern);
const char *os_path_newest(mem_arena *a, const char *directory, const char *pattern);
/* Returns a pattern that only this name matches. NULL: no memory. */
const char *os_glob_escape(mem_arena *a, const char *name);
/* Returns why others than root and the user of this process can change a file's content, by its
 * owner and mode. NULL: they cannot, or the file does not exist. */
const char *os_file_open_to_others(const char *path);

/* --- thread.c: id and name of a thread; async-signal-safe. */
int os_thread_id(void);
void os_thread_name(char ret[16]); /* NUL-terminated; "": not known */
void os_thread_name_of(int id, char ret[16]);

/* --- threads.c: resource counters of this process's threads, as the kernel accumulates them from
 * the thread's start on. */
typedef enum os_thread_counter {
	OS_USE_CPU,	     /* ns */
	OS_THREAD_RUN_DELAY, /* ns in which a thread was runnable and waited for a CPU */
	OS_USE_MINOR,	     /* page faults, without reading a disk and with it */
	OS_USE_MAJOR,
	OS_USE_VOLUNTARY, /* context switches: the thread blocked, or was preempted */
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
    os_thread_counters *ret); /* of all threads, also ended ones; the same counters */
/* Reads CPU time alone, ten times as fast as os_thread_read(). false: no such thread. */ bool
os_thread_cpu(int tid, uint64_t *ret_ns);
typedef struct os_thread_stat {
	os_thread_counters uses;
	char name[16];
	uint64_t born_ns; /* os_boottime_ns() at its start, to 10 ms */
} os_thread_stat;
/* Reads the counters in /proc; context switches only if requested. false: no such thread, no /proc,
 * or no descriptor is free. */
bool os_thread_read(int tid, bool switches, os_thread_stat *ret);
/* Calls f for each thread of this process. false: /proc is missing, or no descriptor is free. */
bool os_threads_each(void (*f)(void *self, int tid), void *self);
/* Counts the threads that outlive the main thread; 0: it has not ended. *ret_status: the main
 * thread's status, as of wait(2). Without /proc, or if no descriptor is free, 2 means more than
 * one, and the status is 0; *other, which is 0 at first, stores one of them. */
unsigned os_threads_after_main(int *ret_status, int *other);
/* Ends this thread alone, without destructors; by a signal, which ends the process, if the status,
 * as of wait(2), has one. */
_Noreturn void os_thread_exit(int status);
uint64_t os_resident_bytes(void); /* 0: not known */

/* --- run_delay.c: how long this process's threads waited for a processor. */
enum { OS_RUN_DELAY_THREADS = 256 };
typedef struct os_run_delay os_run_delay;
/* Opens the counters of all threads. E_UNSUP: the kernel does not count; E_LIMIT: more threads. */
dck_status os_run_delay_open(os_run_delay **ret, dck_err *err);
typedef struct os_run_delays {
	uint64_t ns; /* of all threads since the opening, those that started since included */
	uint64_t timeslices; /* how often a thread was put on a processor, from any beginning */
	/* Since the last reading, the most of one thread other than that which opened them. The
	 * kernel counts a wait when it ends, so that it may have begun before that reading. */
	uint64_t other_ns;
	uint64_t longest_ns; /* the greatest other_ns since the opening */
} os_run_delays;
/* It takes 1 to 2 us for each thread. false: some thread could not be counted. */
bool os_run_delay_read(os_run_delay *d, os_run_delays *ret);
/* Returns the number of threads that ran for `least_ns` or more since the opening, as of the last
 * reading. */
unsigned os_run_delay_busy(const os_run_delay *d, uint64_t least_ns);
void os_run_delay_close(os_run_delay *d); /* NULL is allowed */

/* --- signal_hooks.c: hooks that run before the normal action of a signal, in a handler, on the
 * thread that got the signal. */
typedef struct os_signal_hooks {
	void (*ends)(int signal);    /* the signal ends the process */
	void (*handled)(int signal); /* the program's own handler of a crash runs next */
	void (*asked)(int signal);   /* the signal `asking`; the process continues */
} os_signal_hooks;
/* Watches the signals of crashes (SIGSEGV, SIGABRT ...), and `asking`; 0: none. The calling thread
 * gets an alternate signal stack unless it has one. */
void os_signals_watch(const os_signal_hooks *h, int asking);
/* Also watches the signals that terminate the process (SIGINT, SIGTERM ...), if the program has not
 * changed them. Programs that read their actions at startup must not see the change. */
void os_signals_watch_terminations(void);
void os_signals_forget(void);
const char *os_signal_name(int number); /* "SIGSEGV"; NULL: it has none */
int os_signal_read(const char *text);	/* "SIGUSR2", "USR2", "12", "RTMIN+1"; 0: no signal */
bool os_signal_may_ask(int number);	/* it can be caught, and is not a crash signal */

/* --- signal_cost.c: measures the time of a signal to the calling thread, in ns, with an empty
 * handler; 0: unknown. No real-time signal of the program may be pending during the call. */
double os_signal_price_ns(void);

/* --- futex.c: async-signal-safe. */
/* Waits while *word is `seen`, until a wake-up, for ns at most; may also return spuriously. Changes
 * errno. */
void os_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns);
void os_futex_wake(_Atomic uint32_t *word); /* all threads that wait there */

/* A ticket lock: threads get it in the order of their requests, so that no thread starves while
 * another takes it again and again; {0}: free. */
typedef struct os_fair_lock {
	_Atomic uint32_t next, serving;
} os_fair_lock;
void os_fair_lock_take(os_fair_lock *l);
void os_fair_lock_give(os_fair_lock *l);

/* --- sanitizer.c: returns the sanitizer in this process, "AddressSanitizer", ...; NULL: none. */
const char *os_sanitizer_name(void);

/* --- memory.c */
/* Allocates n bytes, page-aligned, every page touched, so that no page fault is timed. */
void *os_pages_alloc(size_t n);
/* Allocates n zeroed bytes without touching them: memory is used page by page. */
void *os_pages_reserve(size_t n);
/* Requests large pages, if the system has them; call it before the first touch. */
void os_pages_large(void *p, size_t n);
void os_pages_free(void *p, size_t n); /* of both; NULL is allowed */

#endif
