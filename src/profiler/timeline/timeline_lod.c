/* timeline_lod.c - level-of-detail model of a timeline for the page: takes ranges, marks and
 * counter values while a trace is read, and retains them in memory that timeline_lod_limits bounds.
 *
 * Each track has a row per nesting depth (lod_track.h): ranges, and blocks of merged short ranges.
 * lod_range_insert() adds a range; if all rows exceed the limit, timeline_lod_thin() lengthens the
 * time step until at most three quarters of the limit are in use. Values of a counter are merged by
 * steps too, into last, least and greatest.
 *
 * A name has a key per set of flags. Beyond PICTURE_KEYS_MAX keys further names share one key per
 * set of flags, so sums are complete. Ranges that are nested too deep, or beyond the limit of rows,
 * are in row PICTURE_REST: counted, but not drawn.
 *
 * timeline_lod_finish() lays out ranges of no track (timeline_lod_lanes()), encodes columns
 * (timeline_lod_columns.c) and description (timeline_lod_write.c), and repeats with limits that are
 * a quarter smaller while the columns are too large. A failed allocation is stored, and reported
 * there. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/timeline_lod_parts.h"
#include "deepclock/unstable.h"

#include "base/err.h"

#include <math.h>
#include <string.h>

/* 700,000 ranges take about 5 MB, half of that compressed; a screen never shows more than 20,000.
 * 20,000 values of a counter are ten for each pixel. */
enum { RANGES_MAX = 600000, SUMS_MAX = 160000, VALUES_MAX = 60000, COLUMNS_BYTES = 6000000 };

dck_status timeline_lod_new(timeline_lod **ret, const timeline_lod_limits *limits, dck_err *err)
{
	timeline_lod *p = mem_zalloc(1, sizeof *p);

	DCK_NEED(p, err, "for a timeline");
	p->limits = *limits;
	p->limits.ranges = limits->ranges ? limits->ranges : RANGES_MAX;
	p->limits.sums = limits->sums ? limits->sums : SUMS_MAX;
	p->limits.values = limits->values ? limits->values : VALUES_MAX;
	p->limits.bytes = limits->bytes ? limits->bytes : COLUMNS_BYTES;
	p->names.row_bytes = sizeof(timeline_lod_text);
	p->tracks.row_bytes = sizeof(timeline_lod_track_kept);
	p->shift = LOD_EXACT;
	p->keys_max = PICTURE_KEYS_MAX;
	p->owners = PICTURE_ROWS_FIRST;
	/* The shared keys, for names without a key. */
	p->keys_cap = 64;
	p->keys = mem_zalloc(p->keys_cap, sizeof *p->keys);
	p->nkeys = 1 + PICTURE_FLAGS;
	for (uint32_t i = 0; p->keys && i < PICTURE_FLAGS; i++)
		p->keys[1 + i] = (timeline_lod_key){.flags = i, .as = 1 + i};
	dck_status status = string_table_init(&p->texts, err);
	if (status == DCK_OK && !p->keys)
		status = ERR_NO_MEMORY(err, "for a timeline");
	for (uint32_t i = 0; status == DCK_OK && i < PICTURE_ROWS_FIRST; i++)
		(void)timeline_lod_row_new(p, i);
	if (status == DCK_OK && p->failed)
		status = ERR_NO_MEMORY(err, "for a timeline");
	if (status != DCK_OK) {
		timeline_lod_free(p);
		return status;
	}
	p->rows[PICTURE_ASYNC].unsorted = p->rows[PICTURE_REST].unsorted = true;
	*ret = p;
	return DCK_OK;
}

void timeline_lod_free(timeline_lod *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->tracks.n; i++) {
		timeline_lod_track_kept *t = id_table_find(&p->tracks, i);

		mem_free(t->rows);
		mem_free(t->values);
	}
	for (uint32_t i = 0; i < p->nrows; i++)
		lod_track_done(&p->rows[i]);
	mem_free(p->rows);
	mem_free(p->keys);
	mem_free(p->sums);
	hash_map_done(&p->sum_rows);
	id_table_done(&p->names);
	id_table_done(&p->tracks);
	string_table_done(&p->texts);
	mem_free(p);
}

/* --- names */

void timeline_lod_name(timeline_lod *p, uint32_t id, const trace_name *from)
{
	char clean[STRING_NAME_MAX];
	timeline_lod_text *t = id_table_row(&p->names, id);

	if (!t)
		return;
	const size_t n = utf8_sanitize_copy(clean, from->text, from->n);
	t->text = mem_arena_dup_n(p->texts.arena, clean, n);
	t->n = (uint32_t)n;
	t->category = string_table_copy(&p->texts, from->category);
	t->file = string_table_copy(&p->texts, from->file);
	t->line = from->line;
}

static uint32_t key_new(timeline_lod *p, uint32_t name, uint32_t flags)
{
	const uint32_t other = 1 + flags;

	if (p->nkeys >= p->keys_max)
		return other;
	if (!mem_reserve(&p->keys, &p->keys_cap, p->nkeys + 1, sizeof *p->keys)) {
		p->failed = true;
		return other;
	}
	p->keys[p->nkeys] = (timeline_lod_key){.name = name, .flags = flags, .as = p->nkeys};
	return p->nkeys++;
}

static uint32_t timeline_lod_key_of(timeline_lod *p, uint32_t name, uint32_t flags)
{
	timeline_lod_text *t = id_table_row(&p->names, name);

	if (!t)
		return 1 + flags;
	if (!t->keys[flags])
		t->keys[flags] = key_new(p, name, flags);
	return p->keys[t->keys[flags]].as;
}

/* --- ranges and marks */

static timeline_lod_track_kept *timeline_lod_track_of(timeline_lod *p, uint32_t id)
{
	timeline_lod_track_kept *t = id_table_find(&p->tracks, id);

	return t && t->described ? t : NULL;
}

static uint32_t owner_of(timeline_lod *p, timeline_lod_track_kept *t)
{
	if (!t->owner)
		t->owner = p->owners < PICTURE_OWNERS_MAX ? p->owners++ : PICTURE_REST;
	return t->owner;
}

static uint32_t timeline_lod_row_of(timeline_lod *p, timeline_lod_track_kept *t, uint32_t depth)
{
	if (depth >= PICTURE_DEPTH)
		return PICTURE_REST;
	if (depth < t->nrows && t->rows[depth])
		return t->rows[depth];
	if (!mem_reserve_zeroed(&t->rows, &t->rows_cap, depth + (size_t)1, sizeof *t->rows)) {
		p->failed = true;
		return PICTURE_REST;
	}
	t->rows[depth] = timeline_lod_row_new(p, owner_of(p, t));
	if (!t->rows[depth])
		return PICTURE_REST;
	t->nrows = t->nrows > depth ? t->nrows : depth + 1;
	return t->rows[depth];
}

static void lod_range_insert(timeline_lod *p, uint32_t row, const lod_range *one)
{
	lod_track *r = &p->rows[row];
	const uint64_t before = (uint64_t)r->nranges + r->nblocks;
	const uint64_t end = one->begin_ns + one->took_ns;

	lod_track_put(r, one, p->shift, &(lod_observer){timeline_lod_sum_add, p});
	p->kept += (uint64_t)r->nranges + r->nblocks - before;
	p->last_ns = end > p->last_ns ? end : p->last_ns;
	if (p->kept > p->limits.ranges || p->too_many_sums)
		timeline_lod_thin(p);
}

void timeline_lod_range(void *self, const zone_closed *r)
{
	timeline_lod *p = self;
	timeline_lod_track_kept *t = r->track ? timeline_lod_track_of(p, r->track) : NULL;
	const bool no_self = r->self_ns == ZONE_SELF_UNKNOWN;
	const uint32_t flags = (r->outermost ? 0u : PICTURE_INNER) |
			       (r->whole ? 0u : PICTURE_PIECE) | (no_self ? PICTURE_NO_SELF : 0u);
	const uint32_t row = t		? timeline_lod_row_of(p, t, r->depth)
			     : r->track ? PICTURE_REST
					: PICTURE_ASYNC;

	p->ranges++;
	p->undrawn += row == PICTURE_REST;
	lod_range_insert(p, row,
			 &(lod_range){.begin_ns = r->begin_ns,
				      .took_ns = r->took_ns,
				      .self_ns = no_self ? r->took_ns : r->self_ns,
				      .key = timeline_lod_key_of(p, r->name, flags)});
}

static void timeline_lod_mark(timeline_lod *p, timeline_lod_track_kept *t, const trace_event *e)
{
	if (!t->marks)
		t->marks = timeline_lod_row_new(p, owner_of(p, t));
	p->marks++;
	lod_range_insert(
	    p, t->marks ? t->marks : PICTURE_REST,
	    &(lod_range){.begin_ns = e->ns, .key = timeline_lod_key_of(p, e->name, PICTURE_MARK)});
}

static void timeline_value(timeline_lod *p, timeline_lod_track_kept *t, const trace_event *e)
{
	timeline_lod_value *last = t->nvalues ? &t->values[t->nvalues - 1] : NULL;
	const double real = e->as.real;

	if (!isfinite(real))
		return;
	p->values++;
	p->last_ns = e->ns > p->last_ns ? e->ns : p->last_ns;
	if (last && last->n > 1 && last->ns >> p->values_shift == e->ns >> p->values_shift) {
		last->last = real;
		last->least = fmin(last->least, real);
		last->most = fmax(last->most, real);
		last->n++;
		return;
	}
	if (!mem_reserve(&t->values, &t->values_cap, t->nvalues + 1, sizeof *t->values)) {
		p->failed = true;
		return;
	}
	t->values[t->nvalues++] = (timeline_lod_value){e->ns, real, real, real, 1};
	if (++p->kept_values > p->limits.values)
		timeline_lod_thin_values(p);
}

void timeline_lod_track(timeline_lod *p, const trace_track *from)
{
	timeline_lod_track_kept *t = id_table_row(&p->tracks, from->id);

	if (!t)
		return;
	t->described = true;
	t->kind = from->kind;
	t->parent = from->parent;
	t->pid = from->pid;
	t->tid = from->tid;
	t->unit = from->unit;
	if (from->name)
		t->name = string_table_copy(&p->texts, from->name);
}

void timeline_lod_events(timeline_lod *p, uint32_t track, const trace_event *e, size_t n)
{
	timeline_lod_track_kept *t = timeline_lod_track_of(p, track);

	for (size_t i = 0; t && i < n; i++) {
		if (e[i].kind == TRACE_INSTANT)
			timeline_lod_mark(p, t, &e[i]);
		else if (e[i].kind == TRACE_COUNTER)
			timeline_value(p, t, &e[i]);
	}
}

/* --- the end */

static dck_status timeline_finish(timeline_lod *p, timeline_lod_drawn *d, dck_timeline *ret,
				  dck_err *err)
{
	DCK_TRY(timeline_lod_columns(p, d, err));
	/* The limits assume the bytes per range of most traces; this one may need more. */
	for (int i = 0; i < LOD_SHIFT_MAX && d->columns.n > p->limits.bytes; i++) {
		p->limits.ranges = (uint32_t)p->kept / 4 * 3 + 1;
		p->limits.sums = p->nsums / 4 * 3 + 1;
		p->limits.values = (uint32_t)p->kept_values / 4 * 3 + 1;
		timeline_lod_thin(p);
		timeline_lod_thin_values(p);
		timeline_lod_sums_sort(p);
		timeline_lod_drawn_done(d);
		DCK_TRY(timeline_lod_columns(p, d, err));
	}
	DCK_TRY(timeline_lod_describe(p, d, &ret->json, err));
	ret->columns = d->columns;
	d->columns = (dck_buffer){0};
	return DCK_OK;
}

dck_status timeline_lod_finish(timeline_lod *p, dck_timeline *ret, dck_err *err)
{
	timeline_lod_drawn d = {0};
	dck_timeline t = {0};

	timeline_lod_lanes(p);
	timeline_lod_sums_sort(p);
	DCK_NEED(!p->failed && !p->names.failed && !p->tracks.failed &&
		     !string_table_failed(&p->texts),
		 err, "for a timeline");
	dck_status status = timeline_lod_step(p, &t, err);
	DCK_NEXT(status, timeline_finish(p, &d, &t, err));
	timeline_lod_drawn_done(&d);
	if (status == DCK_OK)
		*ret = t;
	else
		dck_timeline_done(&t);
	return status;
}

void dck_timeline_done(dck_timeline *t)
{
	if (!t)
		return;
	dck_buffer_done(&t->json);
	dck_buffer_done(&t->columns);
	mem_arena_free(t->memory);
	t->memory = NULL;
}
