/* speedscope_write.c - call paths for speedscope: a sample for each with its own weight. A timeline
 * has one profile for each thread, a record's tree one for each of its weights. Source:
 * https://github.com/jlfwong/speedscope, src/lib/file-format-spec.ts
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"
#include "base/id_table.h"
#include "profiler/write/tree_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A profile is a column of the nodes from `first` until `end` in the order of call_tree_next(). */
typedef struct profile {
	const form_tree *f;
	uint32_t first, end, frame; /* frame: the number of the tree's first one in the file */
	size_t column, skip;	    /* skip: levels that are not written */
} profile;

/* Writes a number, also a large one that deepclock's records would store as text. */
static void speedscope_number_put(json_writer *w, double v)
{
	if (v == floor(v) && fabs(v) < 9e15)
		json_int(w, (int64_t)v);
	else
		json_double(w, v);
}

/* Writes the samples of a profile, or their weights (`weights`). Returns the sum. */
static double put_samples(const profile *p, json_writer *w, bool weights)
{
	uint32_t path[FORM_DEPTH_MAX];
	double sum = 0;

	for (uint32_t n = p->first; n != p->end; n = call_tree_next(&p->f->c, n)) {
		const double weight = p->f->t.weights[n * p->f->t.ncolumns + p->column];

		path[p->f->depth[n]] = p->f->t.nodes[n].frame + p->frame;
		if (weight <= 0)
			continue;
		sum += weight;
		if (weights) {
			speedscope_number_put(w, weight);
			continue;
		}
		json_begin_array(w);
		for (size_t i = p->skip; i <= p->f->depth[n]; i++)
			json_uint(w, path[i]);
		json_end(w);
	}
	return sum;
}

static void speedscope_put_text(json_writer *w, const char *key, const char *text)
{
	char shown[STRING_NAME_MAX + 1];

	shown[utf8_sanitize_copy(shown, text, strlen(text))] = '\0';
	json_text(json_key(w, key), shown);
}

static void speedscope_put_profile(const profile *p, json_writer *w, const char *name)
{
	const dck_unit unit = p->f->t.columns[p->column].unit;

	json_begin_object(w);
	speedscope_put_text(w, "type", "sampled");
	speedscope_put_text(w, "name", name);
	speedscope_put_text(w, "unit",
			    unit == DCK_UNIT_NS	    ? "nanoseconds"
			    : unit == DCK_UNIT_BYTE ? "bytes"
						    : "none");
	json_uint(json_key(w, "startValue"), 0);
	json_begin_array(json_key(w, "samples"));
	put_samples(p, w, false);
	json_end(w);
	json_begin_array(json_key(w, "weights"));
	const double sum = put_samples(p, w, true);
	json_end(w);
	speedscope_number_put(json_key(w, "endValue"), sum);
	json_end(w);
}

static void put_frame(json_writer *w, const dck_frame *f, bool threads)
{
	json_begin_object(w);
	speedscope_put_text(w, "name", f->name);
	if (f->file && !threads)
		speedscope_put_text(w, "file", f->file);
	if (f->line || f->start_line)
		json_uint(json_key(w, "line"), f->line ? f->line : f->start_line);
	json_end(w);
}

/* The path below the thread's own node, which is not written. */
static void put_threads(const form_tree *f, uint32_t frame, json_writer *w)
{
	for (uint32_t n = f->c.first; n != CALL_NONE; n = f->c.next[n])
		speedscope_put_profile(&(profile){.f = f,
						  .first = call_tree_next(&f->c, n),
						  .end = f->c.next[n],
						  .frame = frame,
						  .column = f->weight,
						  .skip = 1},
				       w, form_frame(f, n)->name);
}

static void put_profiles(const form_doc *d, json_writer *w)
{
	uint32_t frame = 0;
	char name[300];

	for (size_t i = 0; i < d->ntrees; i++) {
		const form_tree *f = &d->trees[i];

		if (f->threads)
			put_threads(f, frame, w);
		for (size_t k = 0; k < f->t.ncolumns && !f->threads; k++) {
			snprintf(name, sizeof name, "%.150s: %.100s", f->t.title,
				 f->t.columns[k].title);
			speedscope_put_profile(&(profile){.f = f,
							  .first = f->c.first,
							  .end = CALL_NONE,
							  .frame = frame,
							  .column = k},
					       w, name);
		}
		frame += (uint32_t)f->t.nframes;
	}
}

static dck_status speedscope_write_trees(const form_doc *d, dck_err *err)
{
	size_t active = d->trees[0].weight;
	json_writer w;

	(void)err;
	json_init(&w, d->sink, false);
	json_begin_object(&w);
	speedscope_put_text(&w, "$schema", "https://www.speedscope.app/file-format-schema.json");
	speedscope_put_text(&w, "exporter", "deepclock " DCK_VERSION);
	if (d->command)
		speedscope_put_text(&w, "name", d->command);
	if (!d->trees[0].threads)
		json_uint(json_key(&w, "activeProfileIndex"), active);
	json_begin_object(json_key(&w, "shared"));
	json_begin_array(json_key(&w, "frames"));
	for (size_t i = 0; i < d->ntrees; i++)
		for (size_t k = 0; k < d->trees[i].t.nframes; k++)
			put_frame(&w, &d->trees[i].t.frames[k], d->trees[i].threads);
	json_end(&w);
	json_end(&w);
	json_begin_array(json_key(&w, "profiles"));
	put_profiles(d, &w);
	json_end(&w);
	json_end(&w);
	json_done(&w);
	return DCK_OK;
}

const tree_format form_speedscope = {.write = speedscope_write_trees, .several = true};
