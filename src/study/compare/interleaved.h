/* interleaved.h - compares candidates that are measured in turns, in rounds of blocks.
 *
 *	DCK_TRY(interleaved_rounds_run(&v, &r, err));
 *	interleaved_record(b, &v, &r, NULL);
 *	interleaved_rounds_done(&r);
 *
 * A trial is some runs of one candidate. A block is one trial of each candidate, in random order;
 * every second block is the one before it in reverse. A round opens all candidates again, makes its
 * blocks, and gives one ratio for each candidate.
 *
 * Candidate 0 is the baseline. Intervals come from the ratios of whole rounds only, so that what
 * changes from one opening to the next is in them. The number of rounds is fixed before the first;
 * a comparison that stops earlier does so by a rule that allows for it (interleaved_look.h), or
 * says so.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_VERSUS_H
#define COMPARE_VERSUS_H

#include "deepclock/compare.h"
#include "measure/session.h"
#include "study/compare/verdict.h"
#include "record/build.h"
#include "record/others.h"

/* One subject, ready for its trials. */
typedef struct interleaved_candidate {
	const dck_alternative *what;
	bool open;
	measure_session session; /* its loop, its warm-up, the samples of a trial */
	uint64_t samples;	 /* that a trial takes */
	uint64_t items;		 /* of a run; 0: not known, before it was opened */
	double *inner_ns;	 /* [blocks of a round], heap: of the round in hand */
	/* Of every opening: the session, and the first run. */
	double *session_ns, *first_ns; /* [nopened], heap */
	size_t nopened;
	double session_median_ns, first_median_ns;
	bool steady; /* the last warm-up ended in a steady state */
} interleaved_candidate;

/* The median of the rounds' ratios, not the ratio of two medians. */
#define VERSUS_RATIO_TITLE "paired ratio"

/* Everything that a comparison is made of. */
typedef struct interleaved {
	const dck_compare_config *asked;
	measure_context shared;
	record_others others; /* that used the machine meanwhile */
	bool models;	      /* all subjects have --threads */
	measure_plan plan;    /* of warm-ups, and of trials in fresh processes */
	uint64_t deadline_ns;
	uint64_t random; /* state */
	record_builder
	    *facts,	   /* takes those of the first subject when it is open; NULL: has them */
	    *notes;	   /* takes those of each subject when it is open */
	const char *noted; /* the text of the subject whose notes it took last */
} interleaved;

/* Opens the candidate's subject and warms it up: to a steady state the first time, for a moment
 * later on. On failure it is closed. */
dck_status interleaved_candidate_open(interleaved *v, interleaved_candidate *candidate,
				      dck_err *err);
void interleaved_candidate_close(
    interleaved_candidate *candidate); /* keeps what was learnt of openings; {0} is allowed */
void interleaved_candidate_done(interleaved_candidate *candidate);
/* One trial: some runs that do not count, then those whose statistic is *ret_ns. */
dck_status interleaved_candidate_trial(interleaved *v, interleaved_candidate *candidate,
				       double *ret_ns, dck_err *err);

/* What came of the rounds, for each candidate. */
typedef struct interleaved_result {
	double *trial_ns; /* [rounds], heap; of a run, or where per_item of an item */
	double *ratio;	  /* [rounds], heap: the logarithm of its time over the baseline's */
	size_t rounds;
	double time_ns; /* median of the trials */
	/* Of the logarithms, at the level that its verdict was found at. Candidate 0: nothing. */
	size_t judged; /* rounds when that was found */
	bool has_interval;
	double median, lo, hi, tau;
	verdict verdict;
	dck_verdict gate;
} interleaved_result;

typedef struct interleaved_rounds {
	interleaved_candidate *candidates;
	interleaved_result *results;
	size_t n;	/* candidates */
	size_t planned; /* rounds, fixed before the first */
	size_t done;	/* whole rounds */
	size_t looks;
	size_t blocks;	   /* of a round: trials of each candidate */
	bool reopens;	   /* sessions are opened again for every round */
	bool per_item;	   /* their runs differ in items: times are those of an item */
	double round_ns;   /* what one takes, as it was planned */
	uint64_t begin_ns; /* of the first */
	double margin;	   /* differences that count */
	size_t shared;	   /* length of the names' common prefix */
	const char *phase; /* for progress */
	bool stopped;	   /* by time, before what was planned */
	size_t fastest;	   /* of a ranking: the candidate; `median` and so on are over it */
	dck_status failed; /* what ended it early, after the first round */
	dck_err why;
} interleaved_rounds;

/* Measures all candidates, round after round, until all is decided. Fails when there is not one
 * whole round to report; a later failure is in r->failed. */
dck_status interleaved_rounds_run(interleaved *v, interleaved_rounds *r, dck_err *err);
void interleaved_rounds_done(interleaved_rounds *r); /* the candidates too */

/* What a candidate is called where people read it. Facts and tags have the whole name. */
const char *interleaved_label(const interleaved_rounds *r, size_t candidate);

/* A machine on which a subject differs from itself by so much, as a share, resolves no less. 0: not
 * known. */
double interleaved_floor(const interleaved_rounds *self);

/* interleaved_over.c: the comparison at each value of asked->over, added to the record. */
dck_status interleaved_over(interleaved *v, const dck_alternative *all, size_t n, record_builder *b,
			    dck_err *err);

/* The method, the same for all of them. r NULL: there are several comparisons. */
void interleaved_facts_method(record_builder *b, const interleaved *v, const interleaved_rounds *r);

/* interleaved_rank.c: which is the fastest, and how many times as long the others take. */
void interleaved_rank_facts(record_builder *b, const dck_alternative *all, size_t n);
/* Names side by side, each from its byte `from` on, for a headline and for identity. */
void interleaved_names_text(const dck_alternative *all, size_t n, size_t from, char *buf,
			    size_t size);
void interleaved_rank_record(record_builder *b, interleaved *v, const interleaved_rounds *r);

/* What is compared where runs differ in items: items per second. */
#define ITEMS_METRIC "throughput/items"
const dck_metric_def *interleaved_items_metric(void);

/* interleaved_record.c: parts of it. base_ns: time of the baseline. per_item: the times are those
 * of an item, and are written as items per second. */
verdict_outcome interleaved_outcome(const interleaved_result *x, bool per_item, const char *name,
				    const char *label, double base_ns, double level);
void interleaved_facts_options(record_builder *b, const interleaved_rounds *r);
void interleaved_series(record_builder *b, const interleaved_rounds *r);
void interleaved_notes(record_builder *b, interleaved *v, const interleaved_rounds *r,
		       const interleaved_rounds *self);

/* interleaved_record.c: what came of it as metrics, facts, tables and notes. `self`: of the first
 * subject with itself; NULL: there was none. */
void interleaved_record(record_builder *b, interleaved *v, const interleaved_rounds *r,
			const interleaved_rounds *self);

#endif
