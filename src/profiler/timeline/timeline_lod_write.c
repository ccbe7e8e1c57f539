/* timeline_lod_write.c - writes the description of a timeline_lod as JSON: names, tracks, rows,
 * levels, and the numbers of merged and omitted ranges. The page needs it to decode the columns.
 *
 * The order is the reader's: names and keys follow the numbers of keys, the most used first; tracks
 * follow their ids, and refer to their parent by index, to rows and sums by number. "ranges" and
 * "blocks" have an entry for each row, which gives the length of the row's part in each column.
 *
 * The size is bounded: names are cut at a border of UTF-8 characters to TEXT_BYTES, and beyond
 * TEXTS_BYTES of all together to LITTLE_BYTES, without category and file. timeline_lod_columns()
 * runs before, because it numbers the keys. Time is linear, plus the sort of the keys.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/timeline_lod_parts.h"

#include "base/err.h"
#include "base/json/json_write.h"
#include "base/utf8.h"

#include <stdlib.h>

/* Names of templates may be long: all together have TEXTS_BYTES, and those beyond are cut to
 * LITTLE_BYTES. */
enum { TEXT_BYTES = 300, TEXTS_BYTES = 1 << 20, LITTLE_BYTES = 24 };

/* --- names and keys */

static void timeline_lod_put_name(json_writer *w, const timeline_lod_text *t, size_t *left)
{
	char cut[TEXT_BYTES + 4];
	const size_t most = *left > TEXT_BYTES ? TEXT_BYTES : LITTLE_BYTES;

	json_flat_object(w);
	if (t->text && t->n > most) {
		const size_t n = utf8_cut(t->text, most);

		memcpy(cut, t->text, n);
		memcpy(cut + n, "...", 4);
		json_text(json_key(w, "name"), cut);
		*left -= *left > n ? n : *left;
	} else {
		json_text(json_key(w, "name"), t->text ? t->text : "(no name)");
		*left -= *left > t->n ? t->n : *left;
	}
	if (t->category && *left)
		json_text(json_key(w, "category"), t->category);
	if (t->file && *left) {
		json_text(json_key(w, "file"), t->file);
		json_uint(json_key(w, "line"), t->line);
	}
	json_end(w);
}

static int by_number(const void *a, const void *b)
{
	const timeline_lod_key *x = *(const timeline_lod_key *const *)a,
			       *y = *(const timeline_lod_key *const *)b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Writes the names in the order of their keys: the most used first. */
static dck_status put_names(timeline_lod *p, json_writer *w, dck_err *err)
{
	static const timeline_lod_text others = {.text = "(other names)", .n = 13};
	const timeline_lod_key **order = mem_alloc(p->nkeys * sizeof(const timeline_lod_key *));
	uint32_t n = 0, named = 1;
	size_t left = TEXTS_BYTES;

	DCK_NEED(order, err, "for the names of a timeline");
	for (uint32_t i = 0; i < p->nkeys; i++)
		if (p->keys[i].uses)
			order[n++] = &p->keys[i];
	if (n)
		qsort(order, n, sizeof *order, by_number);
	json_begin_array(json_key(w, "names"));
	timeline_lod_put_name(w, &others, &left);
	for (uint32_t i = 0; i < n; i++) {
		timeline_lod_text *t = order[i] - p->keys > PICTURE_FLAGS
					   ? id_table_find(&p->names, order[i]->name)
					   : NULL;

		if (!t || t->number)
			continue;
		t->number = ++named;
		timeline_lod_put_name(w, t, &left);
	}
	json_end(w);
	json_flat_array(json_key(w, "keys"));
	for (uint32_t i = 0; i < n; i++) {
		const timeline_lod_text *t = order[i] - p->keys > PICTURE_FLAGS
						 ? id_table_find(&p->names, order[i]->name)
						 : NULL;

		json_uint(w, t ? t->number - 1 : 0);
		json_uint(w, order[i]->flags);
	}
	json_end(w);
	mem_free(order);
	return DCK_OK;
}

/* --- tracks */

static bool shows(const timeline_lod_track_kept *t)
{
	return t->nrows > 0 || t->marks > 0 || t->nvalues > 0;
}

/* Numbers the tracks that show something, and the tracks that they are in. */
static void tracks_number(timeline_lod *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->tracks.n; i++) {
		timeline_lod_track_kept *t = id_table_find(&p->tracks, i), *in = t;

		for (int k = 0; k < 4 && in && (k > 0 || shows(t)); k++) {
			in->number = 1;
			in = in->parent != i ? id_table_find(&p->tracks, in->parent) : NULL;
			in = in && in->described ? in : NULL;
		}
	}
	for (uint32_t i = 0; i < p->tracks.n; i++) {
		timeline_lod_track_kept *t = id_table_find(&p->tracks, i);

		t->number = t->number ? ++n : 0;
	}
}

static void put_track(const timeline_lod *p, json_writer *w, const timeline_lod_track_kept *t)
{
	static const char *const kinds[] = {[TRACE_PROCESS] = "process",
					    [TRACE_THREAD] = "thread",
					    [TRACE_COUNTER_TRACK] = "counter",
					    [TRACE_DEVICE] = "device"};
	const timeline_lod_track_kept *in = id_table_find(&p->tracks, t->parent);

	json_flat_object(w);
	json_text(json_key(w, "kind"), kinds[t->kind]);
	if (t->name)
		json_text(json_key(w, "name"), t->name);
	json_int(json_key(w, "pid"), t->pid);
	if (t->kind != TRACE_PROCESS && t->kind != TRACE_DEVICE)
		json_int(json_key(w, "tid"), t->tid);
	if (t->parent && in && in->number && in != t)
		json_uint(json_key(w, "in"), in->number - 1);
	if (t->nvalues) {
		json_text(json_key(w, "unit"), dck_unit_text(t->unit));
		json_uint(json_key(w, "values"), t->nvalues);
	}
	if (t->owner)
		json_uint(json_key(w, "owner"), t->owner);
	if (t->marks)
		json_uint(json_key(w, "marks"), t->marks);
	if (t->nrows) {
		json_begin_array(json_key(w, "rows"));
		for (uint32_t i = 0; i < t->nrows; i++)
			json_uint(w, t->rows[i]);
		json_end(w);
	}
	json_end(w);
}

static void put_tracks(timeline_lod *p, json_writer *w)
{
	tracks_number(p);
	json_begin_array(json_key(w, "tracks"));
	for (uint32_t i = 0; i < p->tracks.n; i++) {
		const timeline_lod_track_kept *t = id_table_find(&p->tracks, i);

		if (t->number)
			put_track(p, w, t);
	}
	json_end(w);
	/* The rows of ranges that any track may end. */
	json_flat_array(json_key(w, "lanes"));
	for (uint32_t i = 0; i < p->lanes; i++)
		json_uint(w, p->first_lane + i);
	json_end(w);
}

/* --- rows, levels, and omitted ranges */

static void put_rows(const timeline_lod *p, json_writer *w)
{
	json_flat_array(json_key(w, "ranges"));
	for (uint32_t i = 0; i < p->nrows; i++)
		json_uint(w, p->rows[i].nranges);
	json_end(w);
	json_flat_array(json_key(w, "blocks"));
	for (uint32_t i = 0; i < p->nrows; i++)
		json_uint(w, p->rows[i].nblocks);
	json_end(w);
	/* Owner and number of its sums, for each owner with sums. */
	json_flat_array(json_key(w, "sums"));
	for (uint32_t i = 0, n = 0; i < p->nsums; i++) {
		n++;
		if (i + 1 < p->nsums && p->sums[i + 1].owner == p->sums[i].owner)
			continue;
		json_uint(w, p->sums[i].owner);
		json_uint(w, n);
		n = 0;
	}
	json_end(w);
}

static void put_level(const timeline_lod *p, json_writer *w, const timeline_lod_level *level)
{
	json_flat_object(w);
	json_uint(json_key(w, "shift"), (uint64_t)level->shift);
	json_uint(json_key(w, "alone"), level->alone);
	json_begin_array(json_key(w, "blocks"));
	for (uint32_t i = 0; i < p->nrows; i++)
		json_uint(w, level->row_blocks[i]);
	json_end(w);
	json_end(w);
}

static void put_thinned(const timeline_lod *p, json_writer *w, const timeline_lod_drawn *d)
{
	uint64_t merged = 0;

	for (uint32_t i = 0; i < p->nrows; i++)
		for (uint32_t k = 0; k < p->rows[i].nblocks; k++)
			merged += p->rows[i].blocks[k].ranges;
	json_uint(json_key(w, "ranges_told"), p->ranges);
	json_uint(json_key(w, "marks_told"), p->marks);
	json_uint(json_key(w, "values_told"), p->values);
	json_uint(json_key(w, "merged"), merged);
	json_uint(json_key(w, "alone"), d->ranges);
	json_int(json_key(w, "shift"), p->shift);
	json_uint(json_key(w, "sums_shift"), (uint64_t)p->sums_shift);
	json_uint(json_key(w, "values_shift"), p->values_shift);
	json_uint(json_key(w, "values_kept"), p->kept_values);
	json_uint(json_key(w, "undrawn"), p->undrawn);
	json_uint(json_key(w, "undrawn_row"), PICTURE_REST);
}

dck_status timeline_lod_describe(timeline_lod *p, const timeline_lod_drawn *d, dck_buffer *ret,
				 dck_err *err)
{
	dck_sink sink;
	json_writer w;

	dck_sink_buffer(&sink, ret);
	json_init(&w, &sink, false);
	json_begin_object(&w);
	json_uint(json_key(&w, "version"), 1);
	json_uint(json_key(&w, "ended_ns"), p->last_ns);
	json_uint(json_key(&w, "bytes"), d->columns.n);
	put_thinned(p, &w, d);
	dck_status status = put_names(p, &w, err);
	if (status == DCK_OK) {
		put_tracks(p, &w);
		put_rows(p, &w);
		json_begin_array(json_key(&w, "levels"));
		for (uint32_t i = 0; i < d->nlevels; i++)
			put_level(p, &w, &d->levels[i]);
		json_end(&w);
		json_end(&w);
		json_done(&w);
		status = dck_sink_finish(&sink, err);
	}
	return status;
}
