/* tune.h - finds the fastest configuration of a model on this machine: engine, threads, graph
 * optimisation and what else its engine offers, with the same outputs.
 *
 *     dck_subject s;  dck_tune_config c;  dck_record *r;  dck_err err;
 *     dck_subject_init(&s);
 *     dck_tune_config_init(&c);
 *     s.kind = DCK_SUBJECT_MODEL;
 *     s.text = "model.onnx";
 *     c.program = "deepclock";
 *     if (dck_tune(&s, &c, NULL, &r, &err) == DCK_OK)
 *             printf("%.2f times as fast\n", dck_record_value(r, "tune/speedup"));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_TUNE_H
#define DCK_TUNE_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialise it with its _init function. Options: dck_tune_options. */
typedef struct dck_tune_config {
	uint32_t struct_size;	 /* set by dck_tune_config_init() */
	int goal;		 /* index into dck_tune_goals */
	const char *only, *skip; /* "threads,opt": these options alone; all but these; NULL: all */
	const char *space;	 /* a file of lines OPTION=VALUE,VALUE; NULL: the usual options */
	uint64_t max_time_ns;	 /* of the whole search, nanoseconds */
	/* Measuring time of a trial, nanoseconds; 0: 50 ms, and 200 ms with a limit or requests in
	 * flight. */
	uint64_t trial_ns;
	uint64_t max_memory_bytes; /* configurations that need more are out; 0: no limit */
	/* Largest difference of an output over its root mean square; 0: by the outputs' types, as
	 * dck_accuracy(). */
	double max_error;
	double margin;	     /* differences up to this share do not matter */
	double level;	     /* of every interval */
	const char *resume;  /* the search's journal; NULL: none */
	const char *program; /* deepclock, for fresh processes; NULL: as in dck_plan */
	const char *title;   /* the record's `command`; NULL: none */
	const char *slo;     /* "p99<=20ms": configurations that violate it are out; NULL: none */
	/* Items with labels, as of dck_accuracy(): configurations that predict less than this share
	 * of them correctly are out, in place of max_error. NULL: outputs are compared. */
	const char *labels;
	dck_list inputs; /* "FILE.npy" or "NAME=FILE.npy" */
	double min_accuracy;
	/* A directory for int8 and fp16 variants of the model, which ONNX Runtime's Python tools
	 * make and which are values of the option "variant"; NULL: none. */
	const char *quantize;
} dck_tune_config;
DCK_API extern const dck_opt dck_tune_options[];
DCK_API extern const char *const dck_tune_goals[]; /* "latency", "throughput", NULL */

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_tune_config_init_sized(dck_tune_config *c, uint32_t struct_size);
static inline void dck_tune_config_init(dck_tune_config *c)
{
	dck_tune_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Searches for the fastest configuration of the model s (kind MODEL), in fresh processes. The
 * default is s as it is given; options that it sets are not varied. s->model.seed also orders the
 * trials. *ret is owned: dck_record_free(). The record has metric tune/speedup, the tables
 * tune/front, tune/effects, tune/configurations and tune/apply, and facts of section "tune". A
 * configuration that fails is a row with its reason. Errors: E_ARG (an invalid option or space, a
 * journal of another search), E_UNSUP (no program), E_LIMIT (no time for one trial), and those of
 * dck_bench() if the default cannot be measured. On Ctrl-C the call succeeds with an incomplete
 * record and the ERROR note "interrupted", once a trial was made. @since 0.1 */
DCK_API dck_status dck_tune(const dck_subject *s, const dck_tune_config *c,
			    const dck_observer *watch, dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
