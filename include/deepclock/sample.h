/* sample.h - where a program's time goes, without changing the program: its stacks,
 * sampled many times a second.
 *
 *     dck_sample_config c;
 *     dck_sample_program p = {.argv = argv};
 *
 *     dck_sample_config_init(&c);
 *     if (dck_sample(&c, &p, &record, &err) == DCK_OK) ...
 *
 * The record has the table "functions" and the tree "samples": call paths with how many samples and
 * how much time each has. docs/commands/sample.md says how it is measured.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_SAMPLE_H
#define DCK_SAMPLE_H

#include "opt.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sampling source: the kernel (perf_event) from outside, or a preloaded library in which each
 * thread samples itself in a signal handler, driven by a timer or by perf_event. */
enum { DCK_SAMPLE_AUTO, DCK_SAMPLE_PERF, DCK_SAMPLE_TIMER, DCK_SAMPLE_IN_PROCESS };

typedef struct dck_sample_config {
	uint32_t struct_size; /* set by dck_sample_config_init() */
	uint64_t rate;	      /* samples of a second of a thread's time */
	uint64_t time_ns;     /* for so long; 0: until the program ends */
	uint64_t pid;	      /* of a program that runs already; 0: one is started */
	uint64_t stack_bytes; /* that are copied of a stack for each sample, DCK_SAMPLE_PERF */
	bool wall;	      /* also the time in which threads wait */
	bool threads;	      /* the tree's outermost frames are the threads */
	bool interpreter;     /* of Python programs also the interpreter's own functions */
	int source;	      /* DCK_SAMPLE_AUTO */
} dck_sample_config;

/* The command-line options of dck_sample_config. */
DCK_API extern const dck_opt dck_sample_options[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_sample_config_init_sized(dck_sample_config *c, uint32_t struct_size);
static inline void dck_sample_config_init(dck_sample_config *c)
{
	dck_sample_config_init_sized(c, (uint32_t)sizeof *c);
}

typedef struct dck_sample_program {
	char *const *argv; /* argv[0] is searched in PATH; NULL-ended; NULL with config.pid */
	/* Asked every 50 ms; true: sampling ends, and a program that was started gets SIGTERM.
	 * NULL: never. */
	bool (*cancelled)(void *self);
	void *self;
	/* Set: how it ended, where it was started here; exit_code -1: by the signal. */
	int exit_code, signal;
} dck_sample_program;

/* Starts the program, or attaches to one that runs (config.pid), and samples it, all its threads
 * and the processes that it makes or has made, until it ends, for config.time_ns, or until it is
 * cancelled; the record is incomplete then. The program's input and output are ours. *ret is owned,
 * dck_record_free(). E_ABSENT: no such program or process, or no sample could be taken; E_UNSUP:
 * it cannot be sampled here, and the sentence says what helps; E_ARG. p's last members are set
 * whenever it ran. @since 0.1 */
DCK_API dck_status dck_sample(const dck_sample_config *config, dck_sample_program *p,
			      dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
