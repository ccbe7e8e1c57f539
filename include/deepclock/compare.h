/* compare.h - is B really faster than A? Live, interleaved; or from records that were kept.
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

#ifdef __cplusplus
extern "C" {
#endif

/* Fill it with its _init function. Rows: dck_compare_options and
 * dck_compare_saved_options. */
typedef struct dck_compare_config {
	uint32_t struct_size; /* set by dck_compare_config_init() */
	double margin;	      /* differences within it do not matter, as a share */
	double level;	      /* of every interval, and of all verdicts together */
	int statistic;	      /* of one trial: index into dck_compare_statistics */
	/* Live. A round opens every subject again and measures some trials of each, in random
	 * order.
	 */
	uint64_t rounds;      /* exactly so many; 0: until all is decided */
	uint64_t max_rounds;  /* most, with rounds 0 */
	uint64_t max_time_ns; /* all of it, with rounds 0 */
	uint64_t trial_ns;    /* how long one trial takes at least */
	uint64_t trials;    /* of each subject in a round; 0: such that opening is not most of it */
	bool keep_sessions; /* open once: what a start decides by chance is then in the ratio */
	bool fresh;	    /* every trial in a fresh process */
	bool aa;	    /* first run an A/A comparison */
	const char *over;   /* "OPTION=VALUE,VALUE": at each of these; NULL: as the subjects are */
	/* Called before anything is measured at a value of `over`, which functions cannot see by
	 * themselves. A failure ends the comparison. NULL: nothing is called. */
	dck_status (*over_next)(void *over_self, const char *value, dck_err *err);
	void *over_self;
	bool check_outputs; /* of every subject against those of the first */
	uint64_t seed;	    /* of the order */
	/* No subject is the baseline: they are ranked, each with its ratio to the fastest, until
	 * half of each ratio's interval is within `margin` of it. For dck_rank(). */
	bool ranking;
	const char *warmup;	/* of each subject, as dck_plan.warmup; NULL: by itself */
	uint64_t max_warmup_ns; /* 0: by itself */
	const char *program;	/* for `fresh`, as dck_plan.program */
	const dck_clock *clock; /* NULL: the best of this machine */
	/* Saved. */
	const char *metric; /* what is compared, by its tag; NULL: latency of the statistic,
			     * or items per second where runs differ in items */
	double run_to_run;  /* run-to-run variation of single-process recordings */
	bool force;	    /* also when machine or method differ */
	/* What the records are called, as many as there are; the directories that all lie in are
	 * left out. NULL: by what they measured. */
	const char *const *record_names;
	bool pool;	   /* the last record against all before it: how far these scatter counts */
	const char *title; /* the record's `command`; NULL: none */
} dck_compare_config;
DCK_API extern const dck_opt dck_compare_options[];	   /* of both kinds */
DCK_API extern const dck_opt dck_compare_live_options[];   /* of dck_compare() alone */
DCK_API extern const dck_opt dck_compare_saved_options[];  /* of dck_compare_records() alone */
DCK_API extern const char *const dck_compare_statistics[]; /* "median", "mean", "min", NULL */

/* The defaults, for a caller that is compiled with this header. @since 0.1 */
DCK_API void dck_compare_config_init_sized(dck_compare_config *c, uint32_t struct_size);
static inline void dck_compare_config_init(dck_compare_config *c)
{
	dck_compare_config_init_sized(c, (uint32_t)sizeof *c);
}

/* A subject with the name it has in results. Borrowed. */
typedef struct dck_alternative {
	const char *name;
	const dck_subject *subject;
} dck_alternative;

#define DCK_ALTERNATIVES_MAX 16

/* One subject in several settings: `vary` has entries "OPTION=VALUE,VALUE..." of the rows of
 * dck_model_options ("opt=none,all"); several make every combination, the last one changing
 * fastest. The first alternative is the baseline. base is borrowed; *ret is owned, one block:
 * dck_free(). E_ARG: no such option, a bad value, fewer than two or more than DCK_ALTERNATIVES_MAX
 * alternatives. @since 0.1 */
DCK_API dck_status dck_alternatives_vary(const dck_subject *base, const dck_list *vary,
					 dck_alternative **ret, size_t *ret_n,
					 dck_err *err) DCK_MUST_USE;

/* Programs with several values: `scan` has entries "NAME=FROM..TO", "NAME=FROM..TO:STEP" (integers
 * or decimals, both ends included) and "NAME=a,b,c" ("\\," is a comma in a value). Every {NAME} in
 * the words of a program, its own name too, and in its hooks becomes each value; several entries
 * make every combination of those that the program holds, the last one changing fastest. Braces
 * with any other name stay. A word stays one word whatever its value, no shell is involved.
 * Subjects that are no programs stay. One alternative may be all there is. subjects are borrowed;
 * *ret is owned, one block: dck_free(). E_ARG: an entry that cannot be read, a name that no word
 * holds, more than DCK_ALTERNATIVES_MAX alternatives. @since 0.1 */
DCK_API dck_status dck_alternatives_scan(const dck_subject *subjects, size_t nsubjects,
					 const dck_list *scan, dck_alternative **ret, size_t *ret_n,
					 dck_err *err) DCK_MUST_USE;

/* The same model in the ways that an engine can run it: its operators one by one as the graph has
 * them ("eager"), fused where the engine finds it exact ("fused"), with all optimisations
 * ("optimised"), and with branches side by side ("parallel", on as many threads as there are
 * cores). *ret is owned: dck_free(). @since 0.1 */
DCK_API dck_status dck_alternatives_modes(const dck_subject *base, dck_alternative **ret,
					  size_t *ret_n, dck_err *err) DCK_MUST_USE;

/* Compares n subjects, at least 2; the first is the baseline. They are measured in rounds of random
 * order, so that drift meets all alike; of each round the ratio to the baseline is taken, and of
 * the rounds' ratios the median with an exact interval that holds however often it is tested
 * (docs/reference/methods.md). The record has metric compare/ratio (second over first), for further
 * ones compare/ratio/NAME, compare/resolution, fact compare/verdict (and compare/verdict/NAME), the
 * table compare/alternatives and series compare/rounds/NAME. *ret is owned: dck_record_free().
 * c NULL: defaults; watch NULL: silent. When a subject fails or it is cancelled after the first
 * round, the record is incomplete and a note says why. Errors: those of dck_bench(). @since 0.1 */
DCK_API dck_status dck_compare(const dck_alternative *all, size_t n, const dck_compare_config *c,
			       const dck_observer *watch, dck_record **ret,
			       dck_err *err) DCK_MUST_USE;

/* The same rounds without a baseline: which subject is the fastest, and how many times as long do
 * the others take? Intervals hold for all pairs together, since the fastest is only known
 * afterwards. The record has the table bench/ranking, the fact result/answer (a sentence) and the
 * series of dck_compare(). c->margin is the precision that is asked of the ratios. c NULL:
 * defaults.
 * @since 0.1 */
DCK_API dck_status dck_rank(const dck_alternative *all, size_t n, const dck_compare_config *c,
			    const dck_observer *watch, dck_record **ret, dck_err *err) DCK_MUST_USE;

/* The same of n records that were kept, the first is the baseline; with c->pool the last is set
 * against all before it (3 or more), whose scatter is in the interval. They were not interleaved,
 * which a note says. Operators are compared too where both records have their times: tables
 * compare/operators, compare/operator_types, compare/operators_alone.
 * E_ARG: they do not compare (another machine or method; the sentence says which facts differ) and
 * c->force is not set, or one lacks what is compared; E_VERSION: another schema. @since 0.1 */
DCK_API dck_status dck_compare_records(const dck_record *const *records, size_t n,
				       const dck_compare_config *c, dck_record **ret,
				       dck_err *err) DCK_MUST_USE;

/* What a comparison's record means for a gate: 0 nothing is slower, 3 something is, 4 undecided.
 * An interval that ends below 1 + margin is not worse, whatever the verdict. @since 0.1 */
DCK_API int dck_compare_gate(const dck_record *r);

#ifdef __cplusplus
}
#endif
#endif
