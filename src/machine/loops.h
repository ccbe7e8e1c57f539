/* loops.h - microbenchmarks of the machine: peak arithmetic rates, memory bandwidth, and the cost
 * of clocks, threads and processes.
 *
 *	machine_topology_find(&t);
 *	machine_run_config ask = {.topology = &t, .isa = machine_isa_find(), .threads = t.ncpus};
 *	DCK_TRY(machine_measure(&ask, &result, err));
 *	double best = machine_best(machine_find(&result, "peak/fp32/avx512/1"));
 *
 * A loop runs only on a processor that has its instructions. Values here are raw, one per round;
 * src/study/roofline makes the record. An item that cannot be measured has no values, and `absent`
 * is the reason.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MACHINE_LOOPS_H
#define MACHINE_LOOPS_H

#include "deepclock/bench.h"

/* --- isa.c: instruction-set extensions, a bit set in the order of this enum. Queried once, because
 * in a virtual machine each cpuid traps for microseconds. */
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
/* Returns the set of this processor. Also requests the AMX registers from the kernel, which enables
 * them only on request. */
uint32_t machine_isa_find(void);
static inline bool machine_isa_has(uint32_t set, machine_isa isa)
{
	return (set >> isa) & 1u;
}

/* --- topology.c: the processors this process may use, and their caches. */
enum { MACHINE_CPUS_MAX = 8192, MACHINE_CACHES = 3 }; /* OS_CPUS_MAX */
typedef struct machine_cache {
	uint64_t bytes;	 /* of one cache; 0: unknown */
	unsigned shared; /* number of processors that share one cache */
	unsigned ours;	 /* number of these processors in machine_topology.cpu */
	unsigned count;	 /* number of such caches of machine_topology.cpu */
	unsigned line_bytes;
} machine_cache;
typedef struct machine_topology {
	unsigned allowed; /* processors in the affinity mask */
	unsigned cores;	  /* their cores */
	/* Pinning order: one per core, the fastest kind of cores first, then siblings. */
	unsigned cpu[MACHINE_CPUS_MAX];
	unsigned ncpus;
	unsigned nodes;			     /* NUMA nodes of the machine; 0: unknown */
	machine_cache cache[MACHINE_CACHES]; /* L1 (data), L2, L3, as cpu[0] has them */
	uint64_t available_bytes;	     /* memory available now; 0: unknown */
	uint64_t min_khz, max_khz;	     /* of cpu[0]; 0: not known */
	bool uneven; /* cores of different kinds, such as performance and efficiency cores */
	char allowed_list[256]; /* "0-3,8", truncated to fit */
} machine_topology;
/* Reads the topology of the allowed processors from root/sys and root/proc; root is "" except in
 * tests. */
void machine_topology_read(const char *root, const unsigned *allowed, unsigned nallowed,
			   machine_topology *ret);
/* Reads the topology for the affinity mask of this process. */
void machine_topology_find(machine_topology *ret);
/* Finds `ours`, `count` and `uneven` of the first n of cpu[]. */
void machine_topology_use(const char *root, machine_topology *t, unsigned n);

/* --- device.c: GPUs and other accelerators on the PCI bus. */
enum { MACHINE_DEVICES_MAX = 64 };
typedef struct machine_device {
	char at[32];   /* "0000:00:05.0" */
	char text[64]; /* "NVIDIA, device 0x2335" */
} machine_device;
/* Returns the number of devices in ret; if 0, *ret_why is the reason. Reads root/sys; root is ""
 * except in tests. */
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
	/* Returns the sum of all lanes, for tests: all factors are 1, so the sum is half the
	 * operations while the type can represent it. */
	double (*run)(uint64_t repetitions);
	bool untried; /* never run on a processor that has these instructions */
	/* Independent steps of one repetition, and the number of steps that processors can issue
	 * per cycle: some have half the units of others. Ascending, 0 after the last; all 0:
	 * unknown. */
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
/* One loop over memory. A kind has several, because the fastest depends on the level. */
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

/* Runs a chain of dependent additions, one per cycle on every processor of the last twenty years,
 * which shows the actual clock rate. Returns the additions made; 0: no such loop for this
 * processor. */
uint64_t machine_chain(uint64_t repetitions);

/* --- pool.c: a pool of pinned threads. */
typedef struct machine_pool machine_pool;
/* The timed part; threads are numbered from 0. */
typedef void (*machine_work)(void *self, unsigned thread, unsigned threads, unsigned round);
dck_status machine_pool_open(const unsigned *cpu, unsigned n, machine_pool **ret, dck_err *err);
void machine_pool_close(machine_pool *p); /* NULL is allowed */
/* Runs `rounds` rounds on the first `threads` threads. The threads start each round together;
 * ret_ns[round] is the time in ns from the first start to the last end. */
void machine_pool_run(machine_pool *p, unsigned threads, unsigned rounds, machine_work f,
		      void *self, double *ret_ns);
bool machine_pool_pinned(const machine_pool *p); /* all threads are pinned */

/* --- level.c: working-set size that is served by one level of the memory hierarchy. */
typedef enum machine_level {
	MACHINE_L1,
	MACHINE_L2,
	MACHINE_L3,
	MACHINE_DRAM,
	MACHINE_LEVELS
} machine_level;
extern const char *const machine_level_names[MACHINE_LEVELS];
/* Returns the working set in bytes: per thread for a cache, of all threads for DRAM. 0: none, and
 * *ret_why is the reason. */
uint64_t machine_level_bytes(const machine_topology *t, machine_level level, unsigned threads,
			     bool quick, const char **ret_why);
/* Working set over the total L3: below this, L3 may still serve part of the DRAM loop. */
#define MACHINE_DRAM_RATIO_MIN 2.0
uint64_t machine_l3_total(const machine_topology *t);

/* --- run.c: measures all items. */
enum { MACHINE_ROUNDS_MAX = 64 };
typedef struct machine_item {
	char tag[48]; /* "peak/fp32/avx512/1", a row of metrics.def */
	unsigned threads;
	const machine_peak *peak;     /* peak, stream or chain: at most one is set */
	const machine_stream *stream; /* the fastest of its kind here */
	machine_level level;
	bool chain;	    /* dependent additions */
	uint64_t set_bytes; /* of all threads; 0: no memory is traversed */
	bool is_time;	    /* values are nanoseconds: less is better */
	double value[MACHINE_ROUNDS_MAX];
	unsigned n;
	const char *absent; /* why the value is absent; static */
	/* For a peak: the clock rate during the best rounds, summed over the cores; 0: unknown. */
	double clock_hz;
	/* Calibration by run.c. */
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
	char blas[256];	    /* path of the library; "": none */
	char blas_why[256]; /* why the value is absent */
	uint64_t dram_bytes;
	unsigned passes, passes_asked; /* complete ones; fewer on a busy machine */
	double throttled; /* share of passes that a container's limit throttled; summed over CPUs */
	double took_ns;
} machine_result;
/* Measures all items. E_CANCEL only if there is nothing to report yet. */
dck_status machine_measure(const machine_run_config *ask, machine_result *ret, dck_err *err);

/* --- items.c */
/* Appends a zeroed row; NULL: the table is full. */
machine_item *machine_add(machine_result *r, const char *tag, unsigned threads);
const machine_item *machine_find(const machine_result *r, const char *tag); /* NULL: none */
double machine_best(const machine_item *i);				    /* NaN: none */
/* Returns the ratio of a measured peak to the theoretical peak at the measured clock rate; NaN:
 * unknown. The issue width is inferred from the best result of that instruction set, so a slowdown
 * by half of all of them is not noticed. */
double machine_share(const machine_result *r, const machine_item *peak);

/* --- overhead.c: samples of what clocks, system calls, threads and processes cost. */
void machine_overheads(const machine_run_config *ask, machine_pool *pool, machine_result *r);

/* --- blas.c: measures the matrix-multiply rate of a BLAS library, in a child process. Adds items
 * "blas/...". */
void machine_blas(const machine_run_config *ask, machine_result *r);

/* --- keep.c: the path of the cached results of a machine. */
/* Incremented when a loop becomes faster, so that results of slower loops are not used as limits.
 */
enum { MACHINE_LOOPS_REVISION = 3 };
/* Writes the path $XDG_CACHE_HOME (or ~/.cache) /deepclock/machine-KEY.json. E_ABSENT: neither
 * directory is known. */
dck_status machine_keep_path(const char *key_text, char *ret, size_t size, dck_err *err);

#endif
