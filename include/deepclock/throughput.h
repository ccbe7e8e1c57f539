/* throughput.h - finds the batch size with the most items per second, with its latency and memory.
 *
 *     dck_subject s;  dck_throughput_config c;  dck_record *r;  dck_err err;
 *     dck_subject_init(&s);
 *     dck_throughput_config_init(&c);
 *     s.kind = DCK_SUBJECT_MODEL;
 *     s.text = "model.onnx";
 *     c.program = "deepclock";
 *     c.slo = "p99<=20ms";
 *     if (dck_throughput(&s, &c, NULL, &r, &err) == DCK_OK)
 *             printf("batch %.0f\n", dck_record_value(r, "throughput/best_batch"));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_THROUGHPUT_H
#define DCK_THROUGHPUT_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A function that takes batches of any size. Each trial is prepare(), runs of dck_subject.function,
 * and finish(), all in the calling thread. */
typedef struct dck_batches {
	void *self;
	/* Makes the function ready for runs of `batch` items on `threads` threads (0: unchanged)
	 * within `memory_bytes` (0: no limit). E_NOMEM: the batch does not fit; E_CANCEL: ends the
	 * search; any other error fails this size. */
	dck_status (*prepare)(void *self, uint64_t batch, uint64_t threads, uint64_t memory_bytes,
			      dck_err *err);
	/* Ends a trial, also one whose prepare() failed. Sets the peak memory (0: unknown), and
	 * returns the error of the runs, with the codes of prepare(). */
	dck_status (*finish)(void *self, uint64_t *ret_peak_bytes, dck_err *err);
	/* Returns the FLOPs of a run of `batch` items; NaN: unknown. (optional) */
	double (*flops)(void *self, uint64_t batch);
	/* The budget without --memory; 0: resident memory and nearly all free memory. */
	uint64_t memory_bytes;
} dck_batches;

/* Initialise it with its _init function. Options: dck_throughput_options. */
typedef struct dck_throughput_config {
	uint32_t struct_size;	       /* set by dck_throughput_config_init() */
	const char *batch;	       /* "1,2,4": exactly these sizes; NULL: searched */
	uint64_t min_batch, max_batch; /* bounds of the search */
	const char *batch_dim;	       /* symbol of the batch dimension; NULL: axis 0 */
	const char *threads;	       /* "1,2,4": with each; NULL: the subject's */
	const char *in_flight;	       /* "1,2,4": with each; concurrent requests; NULL: 1 */
	const char *slo;	       /* "p99<=20ms"; NULL: none */
	uint64_t memory_bytes;	       /* budget of a measurement; 0: all available */
	int statistic; /* index into dck_throughput_statistics: the divisor of items per run */
	double precision, level;
	uint64_t rounds;		     /* minimum, over the competitive sizes */
	uint64_t point_time_ns, max_time_ns; /* of one trial's measurement; of the whole search */
	const char *resume;		     /* the search's journal; NULL: none */
	const char *program;		     /* deepclock, for fresh processes; see dck_plan */
	const char *title;		     /* the record's `command`; NULL: none */
	const dck_batches *batches;	     /* for a subject of kind FUNCTION */
} dck_throughput_config;
DCK_API extern const dck_opt dck_throughput_options[];
DCK_API extern const char *const dck_throughput_statistics[]; /* "median", "mean", NULL */

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_throughput_config_init_sized(dck_throughput_config *c, uint32_t struct_size);
static inline void dck_throughput_config_init(dck_throughput_config *c)
{
	dck_throughput_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Searches for the best batch size of s: for a model (kind MODEL) in fresh processes, for a
 * function (kind FUNCTION, with c->batches) in this process, where in_flight, batch_dim and resume
 * are E_UNSUP. s->model.batch is ignored; its seed also orders the trials. *ret is owned:
 * dck_record_free(). Errors: E_ARG (a model with a fixed batch, an invalid option, a journal of
 * another search), E_UNSUP (no program), and those of dck_bench() if nothing could be measured. If
 * no batch fits into memory, none meets the limit, or on Ctrl-C, the call succeeds: the record has
 * the measurements and an ERROR note ("no-batch-fits", "slo-not-met", "interrupted"). @since 0.1 */
DCK_API dck_status dck_throughput(const dck_subject *s, const dck_throughput_config *c,
				  const dck_observer *watch, dck_record **ret,
				  dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
