/* loops.h - measures what this machine can do at best: rates of arithmetic and of memory, and the
 * cost of clocks, threads and processes.
 *
 *	machine_topology_find(&t);
 *	machine_run_config ask = {.topology = &t, .isa = machine_isa_find(), .threads = t.ncpus};
 *	DCK_TRY(machine_measure(&ask, &result, err));
 *	double best = machine_best(machine_find(&result, "peak/fp32/avx512/1"));
 *
 * A loop runs only on a processor that has its instructions. Values here are raw, one for each
 * round; src/study/roofline makes the record of them. What cannot be measured has no values, and
 * `absent` says why.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MACHINE_LOOPS_H
#define MACHINE_LOOPS_H

#include "deepclock/bench.h"

/* --- isa.c: what the processor can compute with, asked once: in a virtual machine each cpuid is a
 * trap of microseconds. A set of bits, in the order of the table. */
typedef enum machine_isa {
	MACHINE_SSE2,
	MACHINE_AVX2, /* with FMA */
	MACHINE_AVXVNNI,
	MACHINE_AVX512, /* F, BW, DQ and VL */
	MACHINE_AVX512FP16,
	MACHINE_AVX512BF16,
	MACHINE_AVX512VNNI,
	MACHINE_AMX_BF16,
	MACHINE_AMX_INT8,
	MACHINE_NEON,
	MACHINE_NEON_FP16,
	MACHINE_NEON_DOT,
	MACHINE_NEON_BF16,
	MACHINE_NEON_I8MM,
	MACHINE_SVE,
	MACHINE_ISAS
} machine_isa;
extern const char *const machine_isa_names[MACHINE_ISAS];
/* Also asks the kernel for the registers of AMX, which it gives on request only. */
uint32_t machine_isa_find(void);
static inline bool machine_isa_has(uint32_t set, machine_isa isa)
{
	return (set >> isa) & 1u;
}

/* --- topology.c: the processors this process may use, and their caches. */
enum { MACHINE_CPUS_MAX = 1024, MACHINE_CACHES = 3 };
typedef struct machine_cache {
	uint64_t bytes;	 /* of one; 0: not known */
	unsigned shared; /* how many processors use the same one */
	unsigned ours;	 /* how many of them are in machine_topology.cpu */
	unsigned count;	 /* how many there are under machine_topology.cpu */
	unsigned line_bytes;
} machine_cache;
typedef struct machine_topology {
	unsigned allowed;		/* processors in the affinity mask */
	unsigned cores;			/* their cores */
	unsigned cpu[MACHINE_CPUS_MAX]; /* where threads go: one for each core, then siblings */
	unsigned ncpus;
	unsigned nodes;			     /* NUMA nodes of the machine; 0: not known */
	machine_cache cache[MACHINE_CACHES]; /* L1 (data), L2, L3, as cpu[0] has them */
	uint64_t available_bytes;	     /* memory that could be had now; 0: not known */
	uint64_t min_khz, max_khz;	     /* 0: not known */
	char allowed_list[256];		     /* "0-3,8", cut when it is longer */
} machine_topology;
/* root: "" or, for tests, a directory in whose sys/ and proc/ to look. */
void machine_topology_read(const char *root, const unsigned *allowed, unsigned nallowed,
			   machine_topology *ret);
/* Of this process. */
void machine_topology_find(machine_topology *ret);
/* Recounts `ours` and `count` for the first n of cpu[]. */
void machine_topology_use(const char *root, machine_topology *t, unsigned n);

/* --- device.c: GPUs and other accelerators on the PCI bus. */
enum { MACHINE_DEVICES_MAX = 16 };
typedef struct machine_device {
	char at[32];   /* "0000:00:05.0" */
	char text[64]; /* "NVIDIA, device 0x2335" */
} machine_device;
/* Returns how many there are in ret; *ret_why: why there are none. root: "" or, for tests, a
 * directory in whose sys/ to look. */
unsigned machine_devices_find(const char *root, machine_device ret[MACHINE_DEVICES_MAX],
			      const char **ret_why);

/* --- peak_*.c: loops of independent chains that nothing but the arithmetic units can slow down. */
typedef enum machine_type {
	MACHINE_FP64,
	MACHINE_FP32,
	MACHINE_FP16,
	MACHINE_BF16,
	MACHINE_INT8,
	MACHINE_TYPES
} machine_type;
extern const char *const machine_type_names[MACHINE_TYPES];

typedef struct machine_peak {
	const char *isa; /* in tags: "avx512" */
	machine_type type;
	machine_isa needs;
	unsigned operations; /* of one repetition; a multiply-add is two */
	/* The sum of all lanes, for tests: all factors are 1, so it is half the operations as long
	 * as the type counts that far. */
	double (*run)(uint64_t repetitions);
	bool untried; /* written, but never run on a processor that has it */
	/* Steps of one repetition that do not wait for each other, and how many of them processors
	 * begin in a cycle: some have half as many units as others. Ascending, behind the last 0;
	 * all 0: not known. */
	unsigned steps;
	double a_cycle[3];
} machine_peak;
const machine_peak *machine_peaks(size_t *ret_n);

/* --- stream_*.c: loops over memory. */
typedef enum machine_stream_kind {
	MACHINE_READ,
	MACHINE_WRITE,
	MACHINE_WRITE_NT,
	MACHINE_COPY,
	MACHINE_TRIAD,
	MACHINE_STREAMS
} machine_stream_kind;
extern const char *const machine_stream_names[MACHINE_STREAMS]; /* in tags: "write_nt" */
extern const unsigned machine_stream_arrays[MACHINE_STREAMS];	/* each is walked over once */
/* Arrays are 64-byte aligned, bytes a multiple of MACHINE_STREAM_BLOCK. */
enum { MACHINE_STREAM_BLOCK = 512 };
/* Several for each kind, since which one is the fastest depends on the level. */
typedef struct machine_stream {
	const char *isa;
	machine_stream_kind kind;
	machine_isa needs;
	bool ahead; /* with prefetches */
	/* read: a. write: a. copy: a = b. triad: a = b + s x c, in FP64; s is 1. */
	void (*run)(void *a, const void *b, const void *c, size_t bytes, uint64_t passes);
} machine_stream;
const machine_stream *machine_streams(size_t *ret_n);
bool machine_stream_usable(const machine_stream *s, uint32_t isa);

/* A chain of dependent additions, one a cycle on every processor of the last twenty
 * years: shows the clock rate that is really reached. 0: no such loop for this processor. */
uint64_t machine_chain(uint64_t repetitions); /* additions made */

/* --- pool.c: threads that stay on their processors. */
typedef struct machine_pool machine_pool;
/* The timed part; threads are numbered from 0. */
typedef void (*machine_work)(void *self, unsigned thread, unsigned threads, unsigned round);
dck_status machine_pool_open(const unsigned *cpu, unsigned n, machine_pool **ret, dck_err *err);
void machine_pool_close(machine_pool *p); /* NULL is allowed */
/* Runs `rounds` rounds on the first `threads` threads. They begin each together; ret_ns[round] is
 * the time from the first to begin until the last has ended. */
void machine_pool_run(machine_pool *p, unsigned threads, unsigned rounds, machine_work f,
		      void *self, double *ret_ns);
bool machine_pool_pinned(const machine_pool *p); /* every thread got its processor */

/* --- level.c: how much memory to walk over so that it comes from one level. */
typedef enum machine_level {
	MACHINE_L1,
	MACHINE_L2,
	MACHINE_L3,
	MACHINE_DRAM,
	MACHINE_LEVELS
} machine_level;
extern const char *const machine_level_names[MACHINE_LEVELS];
/* Bytes of each of `threads` threads for a cache; all together for DRAM. 0: *ret_why says why. */
uint64_t machine_level_bytes(const machine_topology *t, machine_level level, unsigned threads,
			     bool quick, const char **ret_why);
/* Less than this over all L3: memory may still be found in it. */
#define MACHINE_DRAM_RATIO_MIN 2.0
uint64_t machine_l3_total(const machine_topology *t);

/* --- run.c: all of it. */
enum { MACHINE_ROUNDS_MAX = 64 };
typedef struct machine_item {
	char tag[48]; /* "peak/fp32/avx512/1", a row of metrics.def */
	unsigned threads;
	const machine_peak *peak;     /* one of the three, or none */
	const machine_stream *stream; /* the fastest of its kind here */
	machine_level level;
	bool chain;	    /* additions that wait for each other */
	uint64_t set_bytes; /* of all threads; 0: it walks over no memory */
	bool is_time;	    /* values are nanoseconds: less is better */
	double value[MACHINE_ROUNDS_MAX];
	unsigned n;
	const char *absent; /* why there is no value; static */
	/* Of a peak: the clock rate behind the best rounds, the cores' together; 0: not known. */
	double clock_hz;
	/* How it runs, as run.c found it. */
	uint64_t repetitions;
	double work; /* operations or bytes of one round */
} machine_item;

typedef struct machine_run_config {
	const machine_topology *topology;
	uint32_t isa;
	unsigned threads; /* of "all" */
	bool quick;
	const dck_observer *watch; /* NULL: none */
} machine_run_config;

enum { MACHINE_ITEMS_MAX = 160 };
typedef struct machine_result {
	machine_item item[MACHINE_ITEMS_MAX];
	size_t n;
	bool interrupted, pinned;
	char blas[256];	    /* the library; "": none */
	char blas_why[256]; /* why there is no number of it */
	uint64_t dram_bytes;
	unsigned passes, passes_asked; /* whole ones; fewer on a busy machine */
	double throttled; /* share of the passes in which a container's limit stopped us */
	double took_ns;
} machine_result;
/* E_CANCEL only when there is nothing yet to report. */
dck_status machine_measure(const machine_run_config *ask, machine_result *ret, dck_err *err);

/* --- items.c */
/* One more row, zeroed; NULL: the table is full. */
machine_item *machine_add(machine_result *r, const char *tag, unsigned threads);
const machine_item *machine_find(const machine_result *r, const char *tag); /* NULL: none */
double machine_best(const machine_item *i);				    /* NaN: none */
/* What a peak is of what its instructions could do at the clock rate that it ran at; NaN: not
 * known. How many a processor begins in a cycle is taken from the best that was seen of that
 * instruction set, so what slowed all of them alike by half is not noticed. */
double machine_share(const machine_result *r, const machine_item *peak);

/* --- overhead.c: samples of what clocks, system calls, threads and processes cost. */
void machine_overheads(const machine_run_config *ask, machine_pool *pool, machine_result *r);

/* --- blas.c: what a BLAS reaches here, in a child process. Adds items "blas/...". */
void machine_blas(const machine_run_config *ask, machine_result *r);

/* --- keep.c: where results are kept, by machine. */
/* Counted up when a loop becomes faster, so that results of slower ones are not shown as limits. */
enum { MACHINE_LOOPS_REVISION = 2 };
/* $XDG_CACHE_HOME or ~/.cache, /deepclock/machine-KEY.json. E_ABSENT: neither is known. */
dck_status machine_keep_path(const char *key_text, char *ret, size_t size, dck_err *err);

#endif
