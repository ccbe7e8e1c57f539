/* interleaved.h - interleaved comparison: candidates are measured alternately, in rounds of
 * randomised blocks.
 *
 *	DCK_TRY(interleaved_rounds_run(&v, &r, err));
 *	interleaved_record(b, &v, &r, NULL);
 *	interleaved_rounds_done(&r);
 *
 * A trial is some runs of one candidate. A block is one trial of each candidate, in random order;
 * every second block is the one before it in reverse. A round opens all candidates again, makes its
 * blocks, and yields one ratio per candidate.
 *
 * Candidate 0 is the baseline. Intervals come from the ratios of whole rounds only, so they include
 * the variation between openings. The number of rounds is fixed before the first; a comparison that
 * stops earlier does so by a sequential test (interleaved_look.h), or reports the early end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_INTERLEAVED_H
#define COMPARE_INTERLEAVED_H

#include "deepclock/compare.h"
#include "measure/session.h"
#include "measure/worker.h"
#include "study/compare/verdict.h"
#include "record/build.h"
#include "record/others.h"

/* One subject, ready for its trials. */
typedef struct interleaved_candidate {
	const dck_alternative *what;
	bool open, remote; /* remote: in a fresh process, at the other end of `link` */
	worker_link link;
	measure_session session; /* its loop, its warm-up, the samples of a trial */
	uint64_t samples;	 /* that a trial takes */
	uint64_t items;		 /* per run; 0: unknown until it is opened */
	double *inner_ns;	 /* [blocks of a round], heap: of the current round; NaN: none */
	char unknown[160];	 /* --undisturbed: why it is not known which runs are; "": it is */
	/* Of every opening: the session, and the first run. */
	double *session_ns, *first_ns; /* [nopened], heap */
	size_t nopened;
	double session_median_ns, first_median_ns;
	double peak_bytes; /* the most memory that a fresh process had; 0: unknown */
	bool steady;	   /* the last warm-up ended in a steady state */
} interleaved_candidate;

/* The median of the rounds' ratios, not the ratio of two medians. */
#define VERSUS_RATIO_TITLE "paired ratio"

/* Configuration and state of a comparison. */
typedef struct interleaved {
	const dck_compare_config *asked;
	measure_context shared;
	record_others others; /* that used the machine during the comparison */
	bool models;	      /* all subjects have --threads */
	bool programs;	      /* all subjects are programs */
	bool again;	      /* the first opening was in another process */
	measure_plan plan;    /* of warm-ups, and of trials in fresh processes */
	/* Why all trials are in this process whatever starting takes; NULL: not known. */
	const char *one_process;
	uint64_t deadline_ns;
	uint64_t random; /* state */
	record_builder
	    *facts,	   /* receives the facts of the first subject once it is open; NULL: done */
	    *notes;	   /* receives the notes of each subject once it is open */
	const char *noted; /* the text of the subject whose notes came last */
} interleaved;

/* Opens the candidate's subject and warms it up: to a steady state the first time, briefly later.
 * On failure it is closed. */
dck_status interleaved_candidate_open(interleaved *v, interleaved_candidate *candidate,
				      dck_err *err);
void interleaved_candidate_close(
    interleaved_candidate *candidate); /* retains the times of openings; {0} is allowed */
void interleaved_candidate_done(interleaved_candidate *candidate);
/* Makes one trial: some runs that do not count, then the runs whose statistic is *ret_ns. */
dck_status interleaved_candidate_trial(interleaved *v, interleaved_candidate *candidate,
				       double *ret_ns, dck_err *err);

/* Results of the rounds, per candidate. */
typedef struct interleaved_result {
	double *trial_ns; /* [rounds], heap; per run, or per item with per_item */
	double *ratio;	  /* [rounds], heap: the logarithm of its time over the baseline's */
	size_t rounds;
	double time_ns; /* median of the trials */
	/* Of the logarithms, at the level of its verdict. Candidate 0: none. */
	size_t judged; /* rounds at the verdict */
	bool has_interval;
	double median, lo, hi, tau;
	verdict verdict;
	dck_verdict gate;
} interleaved_result;

/* Where trials are made. */
typedef struct trial_place {
	bool models;  /* some subject is not a program, whose runs are separate starts */
	bool reopens; /* sessions are opened again for every round */
	bool starts;  /* and in fresh processes, with --fresh for every trial */
	/* The share of the time that six openings of all take; why[0]: not known, because of it. */
	double starting_share;
	char why[240];
} trial_place;

typedef struct interleaved_rounds {
	interleaved_candidate *candidates;
	interleaved_result *results;
	size_t n;	/* candidates */
	size_t planned; /* rounds, fixed before the first */
	size_t done;	/* whole rounds that count */
	/* --undisturbed: other rounds, in which a subject had no undisturbed run */
	size_t disturbed;
	size_t looks;
	size_t blocks; /* of a round: trials of each candidate */
	trial_place place;
	bool per_item;	    /* runs differ in items: times are per item */
	double round_ns;    /* planned duration of a round */
	uint64_t origin_ns; /* before the first opening */
	uint64_t begin_ns;  /* of the first round */
	double margin;	    /* differences above this matter */
	double floor;	    /* --aa: none below this is called slower or faster */
	size_t shared;	    /* length of the names' common prefix */
	const char *phase;  /* for progress */
	bool stopped;	    /* by time, before the planned rounds */
	size_t fastest;	    /* of a ranking: the fastest candidate, the base of `median` etc. */
	dck_status failed;  /* reason of an early end after the first round */
	dck_err why;
	char none[240]; /* --undisturbed: why no round counts */
} interleaved_rounds;

/* Measures all candidates in rounds until all are decided. Fails if no complete round can be
 * reported; a later failure is in r->failed. */
dck_status interleaved_rounds_run(interleaved *v, interleaved_rounds *r, dck_err *err);
void interleaved_rounds_done(interleaved_rounds *r); /* the candidates too */

/* Returns the number of whole rounds, those that do not count included. */
size_t interleaved_rounds_made(const interleaved_rounds *r);

/* Returns the display name of a candidate. Facts and tags have the whole name. */
const char *interleaved_label(const interleaved_rounds *r, size_t candidate);

/* Returns the A/A noise, as a share: the smallest difference that this machine resolves. INFINITY:
 * unknown, as too few rounds were made. */
double interleaved_floor(const interleaved_rounds *self);

/* Makes the comparison at each value of asked->over and adds it to the record (interleaved_over.c).
 */
dck_status interleaved_over(interleaved *v, const dck_alternative *all, size_t n, record_builder *b,
			    trial_place *ret, dck_err *err);

/* Returns the end of an answer from trials that were all in this process, which its interval does
 * not compare with others; "" for other answers. */
const char *interleaved_where(const trial_place *p);

/* Adds the facts of the method. r NULL: of several comparisons. */
void interleaved_facts_method(record_builder *b, const interleaved *v, const trial_place *p,
			      const interleaved_rounds *r);

/* Adds the fastest candidate, and the ratios of the others to it (interleaved_rank.c). */
void interleaved_rank_facts(record_builder *b, const dck_alternative *all, size_t n);
/* Writes the names in one line, each from its byte `from`, for a headline and for identity. */
void interleaved_names_text(const dck_alternative *all, size_t n, size_t from, char *buf,
			    size_t size);
void interleaved_rank_record(record_builder *b, interleaved *v, const interleaved_rounds *r);

/* Returns the outcome of a candidate (interleaved_record.c). base_ns: time of the baseline.
 * per_item: times are per item, and are written as items per second. */
verdict_outcome interleaved_outcome(const interleaved_result *x, bool per_item, const char *name,
				    const char *label, double base_ns, double level);
/* Notes that the comparison of a candidate is not decided, and what decides it. unit: what gives
 * one of its ratios, "round" or "pair". */
void interleaved_note_undecided(record_builder *b, const interleaved_result *x, const char *label,
				double margin, const char *unit);
void interleaved_facts_options(record_builder *b, const interleaved_rounds *r);
void interleaved_series(record_builder *b, const interleaved_rounds *r);
void interleaved_notes(record_builder *b, interleaved *v, const interleaved_rounds *r);

/* Adds the results as metrics, facts, tables and notes (interleaved_record.c). `self`: the A/A
 * comparison of the first subject; NULL: none. */
void interleaved_record(record_builder *b, interleaved *v, const interleaved_rounds *r,
			const interleaved_rounds *self);

#endif
