/* sample.h - sampling profiler: samples the stacks of an unchanged program at a fixed rate.
 *
 *     dck_sample_config c;
 *     dck_program p = {.argv = argv};
 *
 *     dck_sample_config_init(&c);
 *     if (dck_sample(&c, &p, &record, &err) == DCK_OK) ...
 *
 * The record has the table "functions" and the tree "samples": call paths with the number of
 * samples and the time of each. docs/commands/sample.md describes the method.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_SAMPLE_H
#define DCK_SAMPLE_H

#include "opt.h"
#include "program.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sampling source: the kernel (perf_event) from outside, or a preloaded library in which each
 * thread samples itself in a signal handler, driven by a timer or by perf_event. */
enum { DCK_SAMPLE_AUTO, DCK_SAMPLE_PERF, DCK_SAMPLE_TIMER, DCK_SAMPLE_IN_PROCESS };

typedef struct dck_sample_config {
	uint32_t struct_size; /* set by dck_sample_config_init() */
	uint64_t rate;	      /* samples per second of a thread's time */
	uint64_t time_ns;     /* sampling time; 0: until the program exits */
	uint64_t pid;	      /* process to attach to; 0: start argv */
	uint64_t stack_bytes; /* copied from the stack per sample, DCK_SAMPLE_PERF */
	bool wall;	      /* also sample waiting threads */
	bool threads;	      /* threads are the outermost frames of the tree */
	bool interpreter;     /* Python programs: also the interpreter's own functions */
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

/* Starts the program, or attaches to a running one (config.pid), and samples all its threads and
 * its present and future child processes, until it exits, for config.time_ns, or until it is
 * cancelled, which makes the record incomplete. The program inherits standard input and output.
 * *ret is owned, dck_record_free(). E_ABSENT: no such program or process, or no sample; E_UNSUP: it
 * cannot be sampled here, and the message names the fix; E_ARG. @since 0.1 */
DCK_API dck_status dck_sample(const dck_sample_config *config, dck_program *p, dck_record **ret,
			      dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
