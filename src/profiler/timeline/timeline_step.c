/* timeline_step.c - one step of a trace, for a figure: the ranges of each thread in it.
 *
 * A step is a range whose name repeats in a row: numbers at its end do not count, so that
 * "ProfilerStep#12" and "ProfilerStep#13" are one name. Among those names the one with most time in
 * all is chosen, preferably one that contains "step", "iteration" or "batch". Its range of median
 * duration is the step; all rows are cut to it. Where nothing repeats, the step is the whole trace.
 *
 * Ranges that are shorter than a PIXELS-th of it and follow each other are one, so that the size is
 * bounded by rows times pixels, whatever the trace holds. Time is linear in the ranges.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/timeline_lod_parts.h"

#include "base/err.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 2000, BASE_BYTES = 200 };

/* The ranges of a name in a row. */
typedef struct repeated {
	const char *name;
	uint64_t n, took_ns;
	uint32_t row;
	bool step; /* its name contains a word for a step */
} repeated;

static const char *range_name(const timeline_lod *p, uint32_t key)
{
	const timeline_lod_text *t = key > PICTURE_FLAGS && key < p->nkeys
					 ? id_table_find(&p->names, p->keys[key].name)
					 : NULL;

	return t && t->text ? t->text : NULL;
}

static size_t base_bytes(const char *name)
{
	size_t n = strlen(name);

	n = n < BASE_BYTES ? n : BASE_BYTES;
	while (n > 1 &&
	       (isdigit((unsigned char)name[n - 1]) || name[n - 1] == '#' || name[n - 1] == ' '))
		n--;
	return n;
}

static bool is_step(const char *name, size_t n)
{
	static const char *const words[] = {"step", "iteration", "batch"};

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
			if (strncasecmp(name + i, words[k], strlen(words[k])) == 0)
				return true;
	return false;
}

static bool better(const repeated *a, const repeated *b)
{
	if (a->n < 2 || a->step != b->step)
		return a->n >= 2 && a->step;
	return a->took_ns > b->took_ns;
}

/* The best name of a row; sums: by id of the base name, zeroed. */
static bool step_look(const timeline_lod *p, uint32_t row, string_table *bases, repeated **sums,
		      size_t *cap, repeated *best)
{
	const lod_track *r = &p->rows[row];
	uint32_t most = 0;

	for (uint32_t i = 0; i < r->nranges; i++) {
		/* Instants and ranges without duration are not steps. */
		const char *name =
		    r->ranges[i].took_ns > 0 ? range_name(p, r->ranges[i].key) : NULL;
		const size_t n = name ? base_bytes(name) : 0;
		const uint32_t id = n > 0 ? string_table_intern(bases, name, n) : 0;

		if (n == 0)
			continue;
		if (id == 0)
			return false;
		if (!mem_reserve_zeroed(sums, cap, id + (size_t)1, sizeof **sums))
			return false;
		repeated *s = &(*sums)[id];
		if (s->n++ == 0) {
			s->name = name;
			s->step = is_step(name, n);
			s->row = row;
		}
		s->took_ns += r->ranges[i].took_ns;
		most = id > most ? id : most;
	}
	for (uint32_t id = 0; id <= most && id < *cap; id++) {
		if (better(&(*sums)[id], best))
			*best = (*sums)[id];
		(*sums)[id] = (repeated){0};
	}
	return true;
}

static bool repeated_find(const timeline_lod *p, repeated *ret)
{
	string_table bases;
	repeated *sums = NULL;
	size_t cap = 0;
	bool ok = string_table_init(&bases, NULL) == DCK_OK;

	*ret = (repeated){0};
	for (uint32_t i = PICTURE_ROWS_FIRST; ok && i < p->nrows; i++)
		ok = step_look(p, i, &bases, &sums, &cap, ret);
	mem_free(sums);
	string_table_done(&bases);
	return ok;
}

static int ranges_by_duration(const void *a, const void *b)
{
	const lod_range *x = *(const lod_range *const *)a, *y = *(const lod_range *const *)b;

	if (x->took_ns != y->took_ns)
		return x->took_ns < y->took_ns ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static const lod_range *step_median(const timeline_lod *p, const repeated *of)
{
	const lod_track *r = &p->rows[of->row];
	const size_t bytes = base_bytes(of->name);
	const lod_range **all = mem_alloc(of->n * sizeof *all), *ret = NULL;
	size_t n = 0;

	for (uint32_t i = 0; all && i < r->nranges && n < of->n; i++) {
		const char *name =
		    r->ranges[i].took_ns > 0 ? range_name(p, r->ranges[i].key) : NULL;

		if (name && base_bytes(name) == bytes && strncmp(name, of->name, bytes) == 0)
			all[n++] = &r->ranges[i];
	}
	if (n > 0) {
		qsort(all, n, sizeof *all, ranges_by_duration);
		ret = all[(n - 1) / 2];
	}
	mem_free(all);
	return ret;
}

/* --- the ranges of a step */

typedef struct collected {
	const timeline_lod *p;
	mem_arena *a;
	uint64_t from, to;
	dck_step_range *ranges; /* @owned */
	size_t n, cap, first;	/* first: of the row */
	const char **tracks;	/* by row */
	uint32_t nrows;
	uint64_t longest; /* of the last one, where it is several */
	bool failed;
} collected;

static uint64_t end_of(uint64_t begin, uint64_t took)
{
	return took < UINT64_MAX - begin ? begin + took : UINT64_MAX;
}

/* Adds a range; one after another short one lengthens that. */
static void range_put(collected *c, uint64_t begin, uint64_t took, uint64_t ranges,
		      const char *name)
{
	const uint64_t last_ns = end_of(begin, took), from = begin > c->from ? begin : c->from,
		       end = last_ns < c->to ? last_ns : c->to;
	const uint64_t pixel = (c->to - c->from) / PIXELS;
	dck_step_range *last = c->n > c->first ? &c->ranges[c->n - 1] : NULL;

	if (from > end || from >= c->to)
		return;
	if (last && end - from < pixel && (last->took_ns < pixel || last->ranges > 1) &&
	    from - c->from <= last->begin_ns + last->took_ns + pixel) {
		if (end - c->from > last->begin_ns + last->took_ns)
			last->took_ns = end - c->from - last->begin_ns;
		last->ranges += ranges;
		if (end - from > c->longest) {
			c->longest = end - from;
			last->name = name;
		}
		return;
	}
	if (!mem_reserve(&c->ranges, &c->cap, c->n + 1, sizeof *c->ranges)) {
		c->failed = true;
		return;
	}
	c->longest = end - from;
	c->ranges[c->n++] = (dck_step_range){from - c->from, end - from, ranges, c->nrows, name};
}

/* Ranges and blocks in the order of time. */
static void step_row(collected *c, uint32_t row, const char *track)
{
	const lod_track *r = &c->p->rows[row];
	const int shift = c->p->shift > 0 ? c->p->shift : 0;
	uint32_t i = 0, k = 0;

	c->first = c->n;
	while (i < r->nranges || k < r->nblocks) {
		const uint64_t at = k < r->nblocks ? r->blocks[k].bin << shift : UINT64_MAX;

		if (i < r->nranges && r->ranges[i].begin_ns <= at) {
			const lod_range *one = &r->ranges[i++];

			range_put(c, one->begin_ns, one->took_ns, 1, range_name(c->p, one->key));
		} else {
			const lod_bucket *b = &r->blocks[k++];

			range_put(c, at, b->took_ns, b->ranges, range_name(c->p, b->key));
		}
	}
	if (c->n == c->first)
		return;
	c->tracks[c->nrows++] = track;
}

static void step_track(collected *c, const timeline_lod_track_kept *t)
{
	const uint32_t had = c->nrows;
	const char *kind = t->kind == TRACE_PROCESS ? "process" : "thread";
	const int id = t->kind == TRACE_PROCESS ? t->pid : t->tid ? t->tid : t->pid;
	char *name = t->kind == TRACE_DEVICE
			 ? mem_arena_dup(c->a, t->name ? t->name : "device")
			 : mem_arena_fmt(c->a, "%s %d", t->name ? t->name : kind, id);

	for (uint32_t i = 0; i < t->nrows; i++)
		step_row(c, t->rows[i], c->nrows == had ? name : NULL);
}

static bool track_has(const timeline_lod_track_kept *t, uint32_t row)
{
	for (uint32_t i = 0; i < t->nrows; i++)
		if (t->rows[i] == row)
			return true;
	return false;
}

/* First the track that has the step. */
static void step_collect(collected *c, uint32_t own)
{
	for (uint32_t i = 0; i < c->p->lanes; i++)
		step_row(c, c->p->first_lane + i, i == 0 ? "across threads" : NULL);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < c->p->tracks.n; i++) {
			const timeline_lod_track_kept *t = id_table_find(&c->p->tracks, i);

			if (t && t->nrows > 0 && track_has(t, own) == (pass == 0))
				step_track(c, t);
		}
}

static dck_status step_keep(collected *c, dck_timeline *ret, dck_err *err)
{
	dck_step_range *ranges = mem_arena_array(c->a, c->n + 1, sizeof *ranges);

	DCK_NEED(!c->failed && !mem_arena_failed(c->a) && ranges, err, "for a timeline");
	for (size_t i = 0; i < c->n; i++) {
		ranges[i] = c->ranges[i];
		ranges[i].name =
		    mem_arena_dup(c->a, ranges[i].name ? ranges[i].name : "(other names)");
	}
	DCK_NEED(!mem_arena_failed(c->a), err, "for a timeline");
	ret->step.ranges = ranges;
	ret->step.n = c->n;
	ret->step.tracks = c->tracks;
	ret->step.nrows = c->nrows;
	return DCK_OK;
}

dck_status timeline_lod_step(timeline_lod *p, dck_timeline *ret, dck_err *err)
{
	collected c = {.p = p, .to = p->last_ns};
	const lod_range *step = NULL;
	repeated best;

	ret->memory = c.a = mem_arena_new(0);
	DCK_NEED(c.a, err, "for a timeline");
	DCK_NEED(repeated_find(p, &best), err, "for a timeline");
	if (best.n >= 2) {
		step = step_median(p, &best);
		DCK_NEED(step, err, "for a timeline");
		c.from = step->begin_ns;
		c.to = end_of(step->begin_ns, step->took_ns);
		ret->step.name = mem_arena_dup(c.a, range_name(p, step->key));
		ret->step.of = best.n;
	}
	ret->step.took_ns = c.to - c.from;
	c.tracks = mem_arena_array(c.a, p->nrows + 1, sizeof *c.tracks);
	if (c.tracks)
		step_collect(&c, best.n >= 2 ? best.row : 0);
	const dck_status status = step_keep(&c, ret, err);
	mem_free(c.ranges);
	return status;
}
