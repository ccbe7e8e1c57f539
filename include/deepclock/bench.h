/* bench.h - measures a function, a model or a command, and returns a record.
 *
 *     dck_subject s;  dck_plan plan;  dck_record *r;  dck_err err;
 *     dck_subject_init(&s);
 *     dck_plan_init(&plan);
 *     s.kind = DCK_SUBJECT_MODEL;
 *     s.text = "zoo:resnet18";
 *     if (dck_bench(&s, &plan, NULL, &r, &err) != DCK_OK)
 *             fprintf(stderr, "%s\n", err.msg);
 *
 * Configs grow at their end: their _init functions store the size that the program was compiled
 * with, and no call reads more (docs/reference/abi.md). A number out of the bounds of its row in
 * the option table is E_ARG, as on the command line.
 *
 * Callbacks (functions that are measured, clocks, observers, sinks) return normally: they must not
 * throw a C++ exception or longjmp() through the library, which would keep its locks and memory.
 * They leave the rounding mode as it is. The library computes with NaN and infinity, so exceptions
 * of floating point are masked, as at the start of a C program: with feenableexcept(), or
 * -ffpe-trap of gfortran, a call of it ends in SIGFPE.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_BENCH_H
#define DCK_BENCH_H

#include "opt.h"
#include "record.h"
#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A clock is passed in, never called by name, so that tests supply their own. */
typedef struct dck_clock {
	const char *name;
	uint64_t (*now_ns)(void *self); /* monotonic */
	void *self;
	/* Calibrated: the smallest observed step and the cost of one reading, in ns. */
	double tick_ns, cost_ns;
	uint64_t (*cpu_ns)(void *self); /* CPU time of the process; NULL: the system's */
} dck_clock;

/* Arrays in memory that replace files: an option that takes a FILE.npy accepts the name of such an
 * array. The data are dense and row-major (dck_tensor). Everything is borrowed until the call
 * returns. */
typedef struct dck_array {
	const char *name; /* its name in the option and the record: "x" */
	dck_tensor tensor;
	const char *const *texts; /* labels, instead of the tensor; NULL: none */
	size_t ntexts;
} dck_array;
typedef struct dck_arrays {
	const dck_array *item;
	size_t n;
} dck_arrays;

/* Whether a run on a device includes that inputs go from the host's memory to the device's, and
 * outputs back. */
enum { DCK_TRANSFERS_EXCLUDE, DCK_TRANSFERS_INCLUDE };

/* How a model is opened and fed. Options: dck_model_options. */
typedef struct dck_model_config {
	const char *engine;  /* "ort", "null", "plugin:FILE" */
	dck_list engine_lib; /* "FILE" or "ENGINE:FILE"; empty: searched */
	const char *device;
	uint64_t threads, interop_threads; /* 0: the engine's default, see docs/commands/bench.md */
	int opt;			   /* index into none, basic, extended, all */
	const char *cpus;		   /* "0-3,8"; NULL: not pinned */
	uint64_t batch;			   /* 0: the model's batch size */
	uint64_t items;			   /* items of one run; 0: derived from the shapes */
	bool skip_batch_check;		   /* do not compare the outputs of a rebatched model */
	dck_list shape;			   /* "NAME=1x3x224x224" */
	dck_list dim;			   /* "SYMBOL=N" */
	dck_list input;			   /* "NAME=FILE.npy", "NAME=16000", ... */
	dck_list engine_option;		   /* "KEY=VALUE", checked by the engine */
	const char *image_size;		   /* zoo: "N" or "HxW"; NULL: the network's own */
	uint64_t seq;			   /* zoo: sequence length; 0: the network's own */
	uint64_t input_pool;		   /* number of different random inputs, cycled; 1 */
	uint64_t seed;			   /* of random inputs and built-in weights */
	dck_arrays arrays;   /* arrays that `input` may name; not in fresh processes */
	bool batch_optional; /* `batch` applies to open sizes: a fixed size stays, without an error
			      */
	int transfers;	     /* DCK_TRANSFERS_...: whether a run on a device includes them */
} dck_model_config;
DCK_API extern const dck_opt dck_model_options[];

/* How a command is run. Options: dck_command_options. */
typedef struct dck_command_config {
	bool shell;	       /* argv is joined and passed to /bin/sh -c */
	bool any_exit;	       /* a non-zero exit status is not a failure */
	const char *output;    /* "discard" (also NULL), "inherit" or a file's name */
	const char *directory; /* working directory; NULL: the caller's */
	/* Command lines, split into words as `cmd:` is; NULL: none. Options: dck_hook_options. */
	const char *setup, *prepare, *cleanup; /* once before, before each run, once after */
} dck_command_config;
DCK_API extern const dck_opt dck_command_options[];
DCK_API extern const dck_opt dck_hook_options[]; /* setup, prepare, cleanup */

typedef enum dck_subject_kind {
	DCK_SUBJECT_FUNCTION,
	DCK_SUBJECT_MODEL,   /* text: a file's name or "zoo:NAME" */
	DCK_SUBJECT_COMMAND, /* argv */
	DCK_SUBJECT_PLUGIN   /* text: a shared object with its own workload */
} dck_subject_kind;

/* The subject of a measurement. All pointers are borrowed until dck_bench() returns. */
typedef struct dck_subject {
	dck_subject_kind kind;
	const char *text;
	char *const *argv; /* NULL-ended */
	/* FUNCTION: one call is one run; a result other than 0 is a failure, DCK_E_CANCEL an
	 * interruption, as by dck_observer.cancelled. `items`: what one call processes, for
	 * throughput (0: 1). */
	int (*function)(void *arg);
	void *arg;
	uint64_t items;
	dck_model_config model;
	dck_command_config command;
	/* FUNCTION whose work may continue on a device after its call (unstable.h); NULL: none. */
	const struct dck_function_device *device;
} dck_subject;

/* Writes the defaults; the kind is FUNCTION, with no function. @since 0.1 */
DCK_API void dck_subject_init(dck_subject *s);

/* Parses a subject in the syntax of the command line: "model.onnx", "zoo:resnet18", "cmd:PROG
 * ARG...", "plugin:FILE.so". Sets kind, text and argv; for a shell (command.shell) the command is
 * one word. *ret_owned is the memory it allocated (one block, dck_free(); NULL: none). E_ARG: an
 * unknown scheme, an unclosed quote. @since 0.1 */
DCK_API dck_status dck_subject_parse(const char *text, dck_subject *s, void **ret_owned,
				     dck_err *err);

/* How to measure. Options: dck_plan_options; methods: docs/reference/methods.md. */
typedef struct dck_plan {
	uint32_t struct_size;  /* set by dck_plan_init() */
	const char *statistic; /* "mean", "p99", "p97.5"; NULL: median. `precision` applies to it */
	double precision;      /* half-width of the statistic's interval over its value */
	double level;	       /* of every interval */
	uint64_t min_runs, min_time_ns, max_time_ns;
	uint64_t runs, time_ns; /* exact number of runs, exact time; 0: stop by precision */
	bool max_time_given;	/* max_time_ns also limits a measurement with `runs` */
	const char *warmup;	/* "auto", a count or a time */
	uint64_t max_warmup_ns; /* limit of "auto"; 0: 5 s, or max_time_ns if that is less */
	uint64_t group;		/* runs per sample; 0: from the clock's cost */
	uint64_t processes;	/* fresh processes; 1: this one; 0: of a model several if they can
				 * be started, and starting is cheap, else this one */
	uint64_t idle_ns;	/* pause before each run */
	uint64_t keep;		/* maximum number of stored samples */
	bool check_outputs;	/* compare outputs with an unoptimised run's; dck_bench_options */
	/* Trace file (deepclock/zone.h) for the measured runs and for the operators of some
	 * additional runs; NULL: the active recording of the calling program, if any. */
	const char *trace;
	const dck_clock *clock; /* NULL: the best of this machine */
	/* The deepclock program, started as `PROGRAM bench OPTIONS --worker-fd N SUBJECT` in each
	 * fresh process; NULL: the one of this version beside the library or in PATH. */
	const char *program;
	const char *title;  /* the record's `command`; NULL: none */
	uint64_t enough_ns; /* time limit once min_runs are done; 0: max_time_ns alone */
	/* Measures a FUNCTION in the number-th fresh process, which only its program can start, for
	 * processes > 1; *ret is then owned. NULL: a function is of one process. */
	dck_status (*start)(void *self, size_t number, dck_record **ret, dck_err *err);
	void *start_self;
	bool pin_start; /* start processes without address randomisation; dck_bench_options */
} dck_plan;
DCK_API extern const dck_opt dck_plan_options[];
DCK_API extern const dck_opt dck_bench_options[]; /* check-outputs, trace, pin-start */
/* The usual statistics, NULL-ended; any percentile from p50 to p99.99 is accepted too. */
DCK_API extern const char *const dck_plan_statistics[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_plan_init_sized(dck_plan *p, uint32_t struct_size);
static inline void dck_plan_init(dck_plan *p)
{
	dck_plan_init_sized(p, (uint32_t)sizeof *p);
}

/* Live, for a progress line; lossy. NaN: not known. */
typedef struct dck_progress {
	const char *phase; /* "library", "session", "inputs", "first run", "warm-up", "measure" */
	uint64_t runs, elapsed_ns;
	double estimate_ns, lo_ns, hi_ns; /* of the plan's statistic */
	double done_ratio, eta_ns;
	uint64_t runs_total; /* requested; 0: not known beforehand */
} dck_progress;

/* "measure  1,200 runs  [####----]  17.8 ms  17.5 ms..18.1 ms  3 s left"; where the number of runs
 * is known "measure  1,200 of 5,000  24 %  56.2 it/s  68 s left  17.8 ms": at most `width`
 * columns and `size` bytes into buf, which is returned. @since 0.1 */
DCK_API char *dck_progress_text(const dck_progress *p, bool utf8, unsigned width, char *buf,
				size_t size);

/* Watches a measurement. Never called while the clock runs. Every member may be NULL. */
typedef struct dck_observer {
	void *self;
	void (*progress)(void *self, const dck_progress *p);
	void (*note)(void *self, const dck_note *note);
	void (*log)(void *self, dck_log_level level, const char *text); /* any thread */
	/* Called between samples (of dck_plan.group runs), and while the host waits for a command:
	 * repeatedly for a command that takes longer than 0.1 s, else when a signal arrives. True
	 * stops the measurement. */
	bool (*cancelled)(void *self);
} dck_observer;

/* Measures the subject. *ret is owned: dck_record_free(). plan NULL: the defaults; watch NULL:
 * silent.
 * If the subject fails or is cancelled after the first timed run, the call still succeeds: the
 * record is marked incomplete and an ERROR note ("engine-failed", "interrupted") gives the reason.
 * Errors: E_ARG (an invalid plan or input), E_ABSENT (a missing file or library), E_FORMAT,
 * E_VERSION, E_ENGINE, E_UNSUP, E_CANCEL (before the first result), E_NOMEM.
 * Not reentrant over one subject; different threads may measure different subjects, but they
 * disturb each other's measurements. @since 0.1 */
DCK_API dck_status dck_bench(const dck_subject *s, const dck_plan *plan, const dck_observer *watch,
			     dck_record **ret, dck_err *err) DCK_MUST_USE;

/* An engine, as shown by `deepclock engines`. */
typedef struct dck_engine_info {
	const char *name, *help;
	const dck_engine_option *options; /* static, or in a plug-in's block */
	bool usable;
	const char *why_not; /* NULL when usable */
	const dck_kv *facts; /* library, version, provider/NAME ... */
	size_t nfacts;
} dck_engine_info;

/* Probes every built-in engine, each in a child process. lib: as --engine-lib, for all engines;
 * NULL: searched. *ret is owned, one block: dck_free(). @since 0.1 */
DCK_API dck_status dck_engines_probe(const char *lib, dck_engine_info **ret, size_t *ret_n,
				     dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
