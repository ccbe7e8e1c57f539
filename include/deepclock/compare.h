/* compare.h - compares subjects in interleaved measurements, or saved records.
 *
 *     dck_subject s[2];  dck_compare_config c;  dck_record *r;  dck_err err;
 *     dck_subject_init(&s[0]);
 *     s[0].kind = DCK_SUBJECT_MODEL;
 *     s[0].text = "zoo:resnet18";
 *     s[1] = s[0];
 *     s[1].model.threads = 1;
 *     dck_compare_config_init(&c);
 *     const dck_alternative ab[] = {{"default", &s[0]}, {"one thread", &s[1]}};
 *     if (dck_compare(ab, 2, &c, NULL, &r, &err) == DCK_OK)
 *             printf("%g\n", dck_record_value(r, "compare/ratio"));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_COMPARE_H
#define DCK_COMPARE_H

#include "bench.h"
#include "load.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialise it with its _init function. Options: dck_compare_options and
 * dck_compare_saved_options. */
typedef struct dck_compare_config {
	uint32_t struct_size; /* set by dck_compare_config_init() */
	double margin;	      /* equivalence margin of a ratio, as a share */
	double level;	      /* confidence of every interval, and of all verdicts together */
	int statistic;	      /* statistic of a trial: index into dck_compare_statistics */
	/* dck_compare(): a round opens every subject again, in fresh processes if it can, and
	 * measures some trials of each, in random order. */
	uint64_t rounds;      /* exact number; 0: until every verdict is decided */
	uint64_t max_rounds;  /* maximum, with rounds 0 */
	uint64_t max_time_ns; /* time limit, with rounds 0 */
	uint64_t trial_ns;    /* minimum duration of a trial */
	uint64_t trials; /* per subject and round; 0: enough that opening is not most of the time */
	bool keep_sessions; /* open once: the ratio then includes the variation between starts */
	bool fresh;	    /* every trial in a fresh process */
	bool aa;	    /* first run an A/A comparison */
	const char *over;   /* "OPTION=VALUE,VALUE": compare at each value; NULL: do not */
	/* Called before the measurements at each value of `over`, which functions cannot observe
	 * otherwise. A failure ends the comparison. NULL: not called. */
	dck_status (*over_next)(void *over_self, const char *value, dck_err *err);
	void *over_self;
	bool check_outputs; /* compare the outputs of every subject with the first's */
	uint64_t seed;	    /* seed of the order */
	/* No subject is the baseline: the subjects are ranked, each with its ratio to the fastest,
	 * until half of each ratio's interval is within `margin` of it. Set by dck_rank();
	 * dck_compare() with it does the same. */
	bool ranking;
	const char *warmup;	/* of each subject, as dck_plan.warmup; NULL: the default */
	uint64_t max_warmup_ns; /* 0: the default */
	const char *program;	/* of fresh processes, as dck_plan.program */
	const dck_clock *clock; /* NULL: the best of this machine */
	/* dck_compare_records(). */
	const char *metric; /* tag of the compared metric; NULL: latency of the statistic, or items
			       per second where runs differ in items */
	double run_to_run;  /* variation between recordings of times and rates */
	bool force;	    /* compare although machine or method differ */
	/* One name for each record; their common directories are left out. NULL: named by their
	 * subjects. */
	const char *const *record_names;
	bool pool;	   /* compare the last record with the pool of all before it */
	const char *title; /* the record's `command`; NULL: none */
	/* Decide by latency/undisturbed, whatever `statistic` and `metric` are: the runs in which
	 * no thread waited for a processor. Not for dck_rank(). */
	bool undisturbed;
	/* 1: all trials are in this process, but for `fresh`; 0: those of models are in fresh
	 * processes, for each round and subject one, if they can be started and starting is cheap.
	 */
	uint64_t processes;
	int scaling; /* of records of jobs, by their ranks: index into dck_compare_scalings */
	/* dck_compare(): no subject is an old state that the others must keep up with, as among the
	 * settings of one: the record has verdicts and no gate. */
	bool no_gate;
} dck_compare_config;
DCK_API extern const dck_opt dck_compare_options[]; /* dck_compare() and dck_compare_records() */
DCK_API extern const dck_opt dck_compare_live_options[];   /* dck_compare() alone */
DCK_API extern const dck_opt dck_compare_saved_options[];  /* dck_compare_records() alone */
DCK_API extern const char *const dck_compare_statistics[]; /* "median", "mean", "min", NULL */

DCK_API extern const char *const dck_compare_scalings[]; /* "none", "weak", "strong", NULL */

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_compare_config_init_sized(dck_compare_config *c, uint32_t struct_size);
static inline void dck_compare_config_init(dck_compare_config *c)
{
	dck_compare_config_init_sized(c, (uint32_t)sizeof *c);
}

/* A subject and its name in results. Borrowed. */
typedef struct dck_alternative {
	const char *name;
	const dck_subject *subject;
} dck_alternative;

#define DCK_ALTERNATIVES_MAX 16

/* Makes alternatives of one subject with different settings: `vary` has entries
 * "OPTION=VALUE,VALUE..." of the rows of dck_model_options ("opt=none,all"); several make every
 * combination, the last one changing fastest. The first alternative is the baseline. base is
 * borrowed; *ret is owned, one block: dck_free(). E_ARG: no such option, a bad value, fewer than
 * two or more than DCK_ALTERNATIVES_MAX alternatives. @since 0.1 */
DCK_API dck_status dck_alternatives_vary(const dck_subject *base, const dck_list *vary,
					 dck_alternative **ret, size_t *ret_n,
					 dck_err *err) DCK_MUST_USE;

/* Makes alternatives of programs with different values: `scan` has entries "NAME=FROM..TO",
 * "NAME=FROM..TO:STEP" (integers or decimals, both ends included) and "NAME=a,b,c" ("\\," is a
 * comma in a value). Each value replaces {NAME} in the words of a program, argv[0] included, and in
 * its hooks; several entries make every combination of the names that the program holds, the last
 * one changing fastest. Braces with other names and subjects that are not programs are unchanged. A
 * word remains one word, because no shell is involved. The result may be one alternative. subjects
 * are borrowed; *ret is owned, one block: dck_free(). E_ARG: a malformed entry, a name that no word
 * holds, more than DCK_ALTERNATIVES_MAX alternatives. @since 0.1 */
DCK_API dck_status dck_alternatives_scan(const dck_subject *subjects, size_t nsubjects,
					 const dck_list *scan, dck_alternative **ret, size_t *ret_n,
					 dck_err *err) DCK_MUST_USE;

/* Makes alternatives of a model with the execution modes of its engine: one operator after the
 * other as in the graph ("eager"), with exact fusions ("fused"), with all optimisations
 * ("optimised"), and with parallel branches ("parallel", one thread per core). *ret is owned:
 * dck_free(). @since 0.1 */
DCK_API dck_status dck_alternatives_modes(const dck_subject *base, dck_alternative **ret,
					  size_t *ret_n, dck_err *err) DCK_MUST_USE;

/* Compares n subjects, at least 2; the first is the baseline. They are measured in rounds of random
 * order, so that drift affects all equally. Each round gives a ratio to the baseline; the result is
 * the median of the rounds' ratios with an exact interval that remains valid under repeated testing
 * (docs/reference/methods.md). The record has metric compare/ratio (second over first), for further
 * subjects compare/ratio/NAME, compare/resolution, fact compare/verdict (and compare/verdict/NAME),
 * the table compare/alternatives and series compare/rounds/NAME. *ret is owned: dck_record_free().
 * c NULL: defaults; watch NULL: silent. If a subject fails or the call is cancelled after the first
 * round, the record is incomplete and a note gives the reason. Errors: those of dck_bench().
 * @since 0.1 */
DCK_API dck_status dck_compare(const dck_alternative *all, size_t n, const dck_compare_config *c,
			       const dck_observer *watch, dck_record **ret,
			       dck_err *err) DCK_MUST_USE;

/* Ranks n subjects in the same rounds, without a baseline: finds the fastest subject and the ratio
 * of each other to it. Intervals hold for all pairs together, because the fastest is only known
 * afterwards. The record has the table bench/ranking, the fact result/answer (a sentence) and the
 * series of dck_compare(). c->margin is the requested precision of the ratios. *ret is owned:
 * dck_record_free(). c NULL: defaults. @since 0.1 */
DCK_API dck_status dck_rank(const dck_alternative *all, size_t n, const dck_compare_config *c,
			    const dck_observer *watch, dck_record **ret, dck_err *err) DCK_MUST_USE;

/* Compares n saved records; the first is the baseline. With c->pool the last is compared with all
 * before it (3 or more), whose scatter is in the interval. The records were not interleaved, which
 * a note states. Operators are compared too if both records have their times: tables
 * compare/operators, compare/operator_types, compare/operators_alone. *ret is owned:
 * dck_record_free(). E_ARG: the records are not comparable (another machine or method; the message
 * names the differing facts) and c->force is not set, or one lacks the compared metric; E_VERSION:
 * another schema. @since 0.1 */
DCK_API dck_status dck_compare_records(const dck_record *const *records, size_t n,
				       const dck_compare_config *c, dck_record **ret,
				       dck_err *err) DCK_MUST_USE;

/* Compares two servers: the same prompts to both, one request at a time, in random order, by the
 * ratio of their times to the first token, times per token, and times end to end. `first` and
 * `second` have url, served_model, and the options of dck_server_options; the first is the
 * baseline. Of `c` count margin, level, rounds, max_rounds, max_time_ns and seed; pairs of requests
 * are the rounds. The record has metrics compare/ratio/ttft, compare/ratio/tpot and
 * compare/ratio/latency, facts compare/verdict/..., the table compare/servers and series
 * compare/pairs/QUANTITY/A and .../B in ns. A request that failed counts as one of timeout_ns, and
 * a note states how many did. *ret is owned: dck_record_free(). c NULL: defaults; watch NULL:
 * silent. E_IO, E_ABSENT, E_ENGINE, E_FORMAT: the first request to a server failed. @since 0.1 */
DCK_API dck_status dck_compare_servers(const dck_load_config *first, const dck_load_config *second,
				       const dck_compare_config *c, const dck_observer *watch,
				       dck_record **ret, dck_err *err) DCK_MUST_USE;
/* Returns whether an option of other comparisons, "max-rounds", counts there too. @since 0.1 */
DCK_API bool dck_compare_servers_takes(const char *option);
/* Makes the requests to two servers of their common options: urls->item[0] and [1], the model's
 * names, one for both or one for each (none: that of `common`), and the seed. Texts are borrowed.
 * @since 0.1 */
DCK_API void dck_compare_servers_requests(const dck_load_config *common, const dck_list *urls,
					  const dck_list *models, uint64_t seed,
					  dck_load_config ret[2]);

#ifdef __cplusplus
}
#endif
#endif
