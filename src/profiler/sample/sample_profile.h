/* sample_profile.h - converts the event stream of sampled processes to call paths with times:
 * tracks mappings and threads, unwinds stacks, symbolizes them at the end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_PROFILE_H
#define SAMPLE_SAMPLE_PROFILE_H

#include "deepclock/sample.h"

#include "os/process/other_process.h"

#include "record/tree/cct.h"
#include "profiler/sample/raw_stacks.h"
#include "profiler/sample/sample_event.h"
#include "profiler/sample/sample_moment.h"
#include "profiler/sample/sample_python.h"

typedef struct sample_profile sample_profile;
struct dck_sink;

typedef struct sample_counts {
	uint64_t samples, kernel; /* kernel: those taken in the kernel */
	uint64_t lost;		  /* dropped */
	uint64_t stacks;	  /* of samples, and of threads that wait */
	uint64_t cut;		  /* of them truncated: larger than the copy */
	uint64_t broken;	  /* not unwound for other reasons */
	uint64_t scanned; /* the innermost frame's caller was searched for (unwind_scan.h) */
	uint64_t processes, threads;
	sample_python_counts python;
	double time_ns;	   /* total time of all samples */
	double blocked_ns; /* of which threads waited */
	uint64_t waits;
	raw_named named;
} sample_counts;

dck_status sample_profile_new(const dck_sample_config *c, sample_profile **ret, dck_err *err);
void sample_profile_free(sample_profile *p); /* NULL is allowed */
/* Adds a process that ran before: reads its mappings from /proc. */
void sample_profile_watch(sample_profile *p, int pid);
/* Reads the names of its threads, once all of them are followed: later ones come as events. */
void sample_profile_names(sample_profile *p, int pid);
/* self: the profile. */
void sample_profile_event(void *self, const sample_event *e);

/* A poll of a thread from outside (offcpu_poll.h). */
typedef struct offcpu_sample {
	int pid, tid;
	uint64_t now_ns;
	os_timeslices slices;
	/* The only poll: events report when the thread returns to its CPU, or leaves it again. */
	bool only;
	bool waits;		    /* blocked, then at: */
	uint64_t pc, sp;	    /* 0: unknown */
	const unsigned char *stack; /* from sp on */
	uint64_t stack_bytes;
	bool stack_full;
} offcpu_sample;
/* Counts a wait: the thread has not run since the last poll, so it waits at the same location. */
bool sample_profile_still_blocked(sample_profile *p, const offcpu_sample *l);
void sample_profile_look(sample_profile *p, const offcpu_sample *l);
void sample_profile_processes(const sample_profile *p, void (*f)(void *self, int pid), void *self);
/* Threads that wait have waited until now_ns, in the events' time. */
void sample_profile_end(sample_profile *p, uint64_t now_ns);
/* Each sample goes into `to` too, as a sample_moment, whose path has the number of before paths
 * have names. */
void sample_profile_log(sample_profile *p, struct dck_sink *to);
/* Names all paths; the weights are samples and time. ret_of: owned array of *ret_n: maps the path
 * of a time-stamped sample to its number in *ret; NULL: not needed. */
dck_status sample_profile_name(sample_profile *p, cct *ret, uint32_t **ret_of, uint32_t *ret_n,
			       dck_err *err);
sample_counts sample_profile_counts(const sample_profile *p);

#endif
