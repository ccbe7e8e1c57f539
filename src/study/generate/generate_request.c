/* generate_request.c - one request: its prompts, its tokens, its times.
 *
 * The clock is read at the start, when prompts are ready as token ids, and after each token is
 * known: binding, run, and the search for the highest score are inside. A random prompt depends on
 * the seed, the case and the request's number alone, so that no two requests of a run have the same
 * and a run can be repeated. The prompts of a file are taken in turn, from the first counted
 * request on again.
 *
 * The growth of the gap over the position is the slope of Tukey's resistant line (Exploratory Data
 * Analysis, 1977): the median of the last third less that of the first, over their distance. A
 * stall does not move it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/generate/generate_job.h"
#include "base/err.h"
#include "base/observer.h"
#include "base/rng.h"
#include "stat/stat.h"
#include <math.h>

dck_status generate_request_init(generate_job *j, dck_err *err)
{
	const uint64_t n = j->config->new_tokens;

	j->ids = mem_zalloc((size_t)(j->batch_max * j->prompt_max), sizeof *j->ids);
	j->at_ns = mem_zalloc((size_t)n + 1, sizeof *j->at_ns);
	DCK_NEED(j->ids && j->at_ns, err, "for the prompts");
	return DCK_OK;
}

void generate_request_done(generate_job *j)
{
	for (size_t i = 0; i < j->ncases; i++) {
		mem_free(j->cases[i].times);
		mem_free(j->cases[i].gaps);
	}
	prompt_ids_done(&j->prompts);
	mem_free(j->ids);
	mem_free(j->at_ns);
}

/* Makes room for one more request. */
static dck_status case_grow(generate_case *c, size_t gaps, dck_err *err)
{
	const size_t cap = c->cap ? 2 * c->cap : 16;
	generate_times *times;
	double *all;

	if (c->n < c->cap)
		return DCK_OK;
	times = mem_resize(c->times, cap * sizeof *times);
	if (times)
		c->times = times;
	all = mem_resize(c->gaps, (cap + 1) * (gaps + 1) * sizeof *all);
	if (all)
		c->gaps = all;
	DCK_NEED(times && all, err, "for the times of %zu requests", cap);
	c->cap = cap;
	return DCK_OK;
}

/* ids[batch][prompt], of the file. */
static void prompts_take(generate_job *j, generate_case *c, bool counts)
{
	const prompt_ids *p = &j->prompts;
	const uint64_t which = (counts ? c->n : c->tried++) * c->batch;

	for (size_t b = 0; b < c->batch; b++) {
		const prompt_span s = p->prompt[c->first + (which + b) % c->given];

		for (size_t i = 0; i < s.n; i++)
			j->ids[b * s.n + i] = p->ids[s.from + i];
	}
}

/* ids[batch][prompt], uniform over the vocabulary. */
static void prompts_make(generate_job *j, generate_case *c)
{
	const uint64_t which = (uint64_t)(c - j->cases);
	uint64_t state = rng_at(rng_at(j->config->seed, which), c->tried++);

	for (size_t i = 0; i < c->batch * c->prompt; i++)
		j->ids[i] = (int64_t)rng_below(&state, (size_t)j->layout.vocabulary);
}

static uint64_t token_now(const generate_job *j)
{
	return measure_context_now(&j->shared);
}

/* Makes a token of each sequence by the engine's own loop; `first`: of the prompts in j->ids. */
static dck_status engine_token(generate_job *j, const generate_case *c, bool first, dck_err *err)
{
	const subject_target *t = &j->session.target;
	const uint64_t begin_ns = token_now(j);

	if (first)
		DCK_TRY(engine_generate_begin(t->engine.ops, t->context, j->ids, (size_t)c->batch,
					      (size_t)c->prompt, (size_t)j->config->new_tokens,
					      err));
	DCK_TRY(engine_generate_next(t->engine.ops, t->context, j->ids, err));
	j->steps.engine_ns += token_now(j) - begin_ns;
	return DCK_OK;
}

/* Generates; at_ns[0] is the start and at_ns[i] the time of the i-th token. The tokens of each step
 * replace the prompt in j->ids. */
static dck_status tokens_generate(generate_job *j, const generate_case *c, bool show, dck_err *err)
{
	size_t n = (size_t)c->prompt;

	decoder_steps_begin(&j->steps, c->batch);
	j->at_ns[0] = token_now(j);
	for (uint64_t i = 1; i <= j->config->new_tokens; i++) {
		DCK_TRY(j->engine_generates ? engine_token(j, c, i == 1, err)
					    : decoder_step(&j->steps, j->ids, n, j->ids, err));
		j->at_ns[i] = token_now(j);
		n = 1;
		if (show && i <= GENERATE_SHOWN)
			j->shown[j->nshown++] = j->ids[0];
		if (observer_cancelled(j->watch))
			DCK_FAIL(err, E_CANCEL, "interrupted");
	}
	return DCK_OK;
}

static double resistant_slope(const double *gaps, size_t n, double *scratch)
{
	const size_t third = n / 3;

	if (n < GENERATE_SLOPE_LEAST)
		return NAN;
	return (stat_median(gaps + n - third, third, scratch) - stat_median(gaps, third, scratch)) /
	       (double)(n - third);
}

static void times_add(generate_job *j, generate_case *c)
{
	const size_t n = (size_t)j->config->new_tokens;
	const uint64_t *at = j->at_ns;
	double *gaps = c->gaps + c->n * (n - 1);
	generate_times *t = &c->times[c->n];

	for (size_t i = 1; i < n; i++)
		gaps[i - 1] = (double)(at[i + 1] - at[i]);
	t->ttft = (double)(at[1] - at[0]);
	t->e2e = (double)(at[n] - at[0]);
	t->tpot = n > 1 ? (double)(at[n] - at[1]) / (double)(n - 1) : NAN;
	/* The space of the next request's gaps is free. */
	t->growth = resistant_slope(gaps, n - 1, c->gaps + (c->n + 1) * (n - 1));
	t->engine_share = t->e2e > 0 ? (double)j->steps.engine_ns / t->e2e : NAN;
	c->spent_ns += t->e2e;
	if (!j->engine_generates || c->n == 0)
		c->cache_bytes = (double)j->steps.cache_bytes;
	j->measured_ns += t->e2e;
	c->n++;
}

/* Reads the size of the cache of an engine with its own loop, once: it may copy the cache. */
static dck_status engine_cache_read(generate_job *j, const generate_case *c, dck_err *err)
{
	const subject_target *t = &j->session.target;

	if (!j->engine_generates || c->n > 0)
		return DCK_OK;
	DCK_TRY(engine_generation(t->engine.ops, t->context, &j->generation, err));
	j->steps.cache_bytes = j->generation.cache_bytes;
	return DCK_OK;
}

dck_status generate_request(generate_job *j, generate_case *c, bool counts, dck_err *err)
{
	const bool show = counts && c == j->cases && c->n == 0;

	DCK_TRY(case_grow(c, (size_t)j->config->new_tokens, err));
	if (c->given > 0)
		prompts_take(j, c, counts);
	else
		prompts_make(j, c);
	DCK_TRY(tokens_generate(j, c, show, err));
	if (!(j->first_ns > 0))
		j->first_ns = (double)(j->at_ns[1] - j->at_ns[0]);
	if (!counts)
		return DCK_OK;
	DCK_TRY(engine_cache_read(j, c, err));
	times_add(j, c);
	return DCK_OK;
}
