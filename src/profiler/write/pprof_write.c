/* pprof_write.c - writes call paths as a profile for go tool pprof: one sample per path with all
 * its weights, and where paths begin with threads with the thread as a label. Several trees have
 * separate sample types. Compressed by gzip, like all pprof files. Source:
 * https://github.com/google/pprof/blob/main/proto/profile.proto
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/id_table.h"
#include "base/sink.h"
#include "base/wire.h"
#include "profiler/write/tree_format.h"
#include "os/file/gzip.h"

#include <stdio.h>
#include <string.h>

enum { /* Profile */
       PP_SAMPLE_TYPE = 1,
       PP_SAMPLE = 2,
       PP_MAPPING = 3,
       PP_LOCATION = 4,
       PP_FUNCTION = 5,
       PP_STRING = 6,
       PP_TIME_NS = 9,
       PP_DURATION_NS = 10,
       PP_DEFAULT_TYPE = 14
};
enum { PP_TYPE_NAME = 1, PP_TYPE_UNIT = 2 };
enum { PP_SAMPLE_LOCATION = 1, PP_SAMPLE_VALUE = 2, PP_SAMPLE_LABEL = 3 };
enum { PP_LABEL_KEY = 1, PP_LABEL_TEXT = 2 };
enum { PP_MAPPING_ID = 1, PP_MAPPING_FILE = 5, PP_MAPPING_FUNCTIONS = 7, PP_MAPPING_FILES = 8 };
enum { PP_LOCATION_ID = 1, PP_LOCATION_MAPPING = 2, PP_LOCATION_LINE = 4 };
enum { PP_LINE_FUNCTION = 1, PP_LINE_NUMBER = 2 };
enum { PP_FUNCTION_ID = 1, PP_FUNCTION_NAME = 2, PP_FUNCTION_FILE = 4, PP_FUNCTION_LINE = 5 };

typedef struct pprof_writing {
	const form_doc *d;
	wire_out message; /* fields of the profile that are not compressed yet */
	dck_sink *to;
	string_table strings; /* number 0 is "" */
	hash_map mappings;    /* by the number of a module's string, from 1 on */
	size_t ncolumns;      /* sum over all trees */
} pprof_writing;

static void hand_on(pprof_writing *w)
{
	sink_put(w->to, w->message.data, w->message.n);
	w->message.n = 0;
}

/* Call between two fields: passes a large message to the compressor. */
static void between(pprof_writing *w)
{
	if (w->message.n > 65536)
		hand_on(w);
}

static int64_t string(pprof_writing *w, const char *text)
{
	return text && *text ? string_table_intern(&w->strings, text, strlen(text)) : 0;
}

/* --- the profile */

static const char *pprof_unit_of(dck_unit unit)
{
	return unit == DCK_UNIT_NS	? "nanoseconds"
	       : unit == DCK_UNIT_BYTE	? "bytes"
	       : unit == DCK_UNIT_ONE	? "count"
	       : unit == DCK_UNIT_JOULE ? "joules"
	       : unit == DCK_UNIT_NONE	? ""
					: dck_unit_text(unit);
}

/* Of a timeline it is the key in other formats. */
static const char *key_of(const form_tree *f, size_t column)
{
	return f->threads && column == 1 ? "time" : f->t.columns[column].key;
}

/* Whether trees before that one have a column of that key. */
static bool key_taken(const pprof_writing *w, size_t tree, const char *key)
{
	for (size_t i = 0; i < tree; i++)
		for (size_t k = 0; k < w->d->trees[i].t.ncolumns; k++)
			if (strcmp(key_of(&w->d->trees[i], k), key) == 0)
				return true;
	return false;
}

static int64_t pprof_type_name(pprof_writing *w, size_t tree, size_t column)
{
	const dck_tree *t = &w->d->trees[tree].t;
	const char *key = key_of(&w->d->trees[tree], column);
	char text[300];

	if (key_taken(w, tree, key))
		snprintf(text, sizeof text, "%.150s/%.140s", t->name, key);
	else
		snprintf(text, sizeof text, "%.290s", key);
	return string(w, text);
}

static void put_types(pprof_writing *w)
{
	for (size_t i = 0; i < w->d->ntrees; i++)
		for (size_t k = 0; k < w->d->trees[i].t.ncolumns; k++) {
			const size_t type = wire_begin(&w->message, PP_SAMPLE_TYPE);

			wire_put_int(&w->message, PP_TYPE_NAME, pprof_type_name(w, i, k));
			wire_put_int(&w->message, PP_TYPE_UNIT,
				     string(w, pprof_unit_of(w->d->trees[i].t.columns[k].unit)));
			wire_end(&w->message, type);
			w->ncolumns++;
		}
}

/* Modules have neither addresses nor sizes. */
static int64_t mapping_of(pprof_writing *w, const char *module)
{
	const int64_t text = string(w, module);
	uint32_t number = hash_map_find(&w->mappings, (uint64_t)text);

	if (number)
		return number;
	number = w->mappings.n + 1;
	w->message.failed |= !hash_map_put(&w->mappings, (uint64_t)text, number);
	const size_t at = wire_begin(&w->message, PP_MAPPING);
	wire_put_int(&w->message, PP_MAPPING_ID, number);
	if (text)
		wire_put_int(&w->message, PP_MAPPING_FILE, text);
	wire_put_int(&w->message, PP_MAPPING_FUNCTIONS, 1);
	wire_put_int(&w->message, PP_MAPPING_FILES, 1);
	wire_end(&w->message, at);
	return number;
}

/* Each frame is a location in a function; ids are not 0. */
static void put_location(pprof_writing *w, const form_tree *f, size_t frame, int64_t first,
			 int64_t first_function)
{
	const dck_frame *from = &f->t.frames[frame];
	const int64_t mapping = from->module ? mapping_of(w, from->module) : 0;
	const size_t at = wire_begin(&w->message, PP_LOCATION);

	wire_put_int(&w->message, PP_LOCATION_ID, first + (int64_t)frame);
	if (mapping)
		wire_put_int(&w->message, PP_LOCATION_MAPPING, mapping);
	const size_t line = wire_begin(&w->message, PP_LOCATION_LINE);
	wire_put_int(&w->message, PP_LINE_FUNCTION, first_function + f->c.function_of[frame]);
	if (from->line)
		wire_put_int(&w->message, PP_LINE_NUMBER, from->line);
	wire_end(&w->message, line);
	wire_end(&w->message, at);
	between(w);
}

/* system_name is not written: if it equals the name, pprof treats the name as C++ and shortens
 * anything like a template. */
static void pprof_put_function(pprof_writing *w, const dck_frame *f, bool threads, int64_t id)
{
	const int64_t name = string(w, f->name), file = threads ? 0 : string(w, f->file);
	const size_t at = wire_begin(&w->message, PP_FUNCTION);

	wire_put_int(&w->message, PP_FUNCTION_ID, id);
	wire_put_int(&w->message, PP_FUNCTION_NAME, name);
	if (file)
		wire_put_int(&w->message, PP_FUNCTION_FILE, file);
	if (f->start_line)
		wire_put_int(&w->message, PP_FUNCTION_LINE, f->start_line);
	wire_end(&w->message, at);
	between(w);
}

static void put_label(pprof_writing *w, const char *key, const char *text)
{
	const int64_t number = string(w, key), value = string(w, text);
	const size_t label = wire_begin(&w->message, PP_SAMPLE_LABEL);

	wire_put_int(&w->message, PP_LABEL_KEY, number);
	wire_put_int(&w->message, PP_LABEL_TEXT, value);
	wire_end(&w->message, label);
}

/* column: index of the tree's first column among the columns of all trees. */
static void put_sample(pprof_writing *w, const form_tree *f, uint32_t node, int64_t first,
		       size_t column)
{
	const size_t sample = wire_begin(&w->message, PP_SAMPLE), n = f->t.ncolumns;
	uint32_t at = node;

	/* The leaf first. */
	for (; f->t.nodes[at].parent != DCK_TREE_ROOT; at = f->t.nodes[at].parent)
		wire_put_int(&w->message, PP_SAMPLE_LOCATION, first + f->t.nodes[at].frame);
	if (!f->threads)
		wire_put_int(&w->message, PP_SAMPLE_LOCATION, first + f->t.nodes[at].frame);
	for (size_t k = 0; k < w->ncolumns; k++)
		wire_put_int(&w->message, PP_SAMPLE_VALUE,
			     k >= column && k < column + n
				 ? form_integer(f->t.weights[node * n + k - column])
				 : 0);
	if (f->threads || f->thread_roots)
		put_label(w, "thread", form_frame(f, at)->name);
	wire_end(&w->message, sample);
	between(w);
}

static bool weighs(const form_tree *f, uint32_t node)
{
	for (size_t k = 0; k < f->t.ncolumns; k++)
		if (f->t.weights[node * f->t.ncolumns + k] != 0)
			return true;
	return false;
}

static void put_tree(pprof_writing *w, const form_tree *f, int64_t first, int64_t first_function,
		     size_t column)
{
	for (uint32_t n = 0; n < f->t.nnodes; n++)
		if (weighs(f, n) && !(f->threads && f->depth[n] == 0))
			put_sample(w, f, n, first, column);
	for (size_t i = 0; i < f->t.nframes; i++)
		put_location(w, f, i, first, first_function);
	for (uint32_t i = 0; i < f->c.nfunctions; i++)
		pprof_put_function(w, &f->c.functions[i].frame, f->threads, first_function + i);
}

static void pprof_put_profile(pprof_writing *w)
{
	const form_doc *d = w->d;
	int64_t frame = 1, function = 1;
	size_t column = 0;

	put_types(w);
	const int64_t main = pprof_type_name(w, 0, d->trees[0].weight);
	for (size_t i = 0; i < d->ntrees; i++) {
		const form_tree *f = &d->trees[i];

		put_tree(w, f, frame, function, column);
		frame += (int64_t)f->t.nframes;
		function += f->c.nfunctions;
		column += f->t.ncolumns;
	}
	wire_put_text(&w->message, PP_STRING, "");
	for (uint32_t i = 1; i <= w->strings.n; i++) {
		const string_name text = string_name_of(&w->strings, i);

		wire_put_bytes(&w->message, PP_STRING, text.text, text.n);
		between(w);
	}
	wire_put_int(&w->message, PP_TIME_NS, d->unix_ns);
	wire_put_int(&w->message, PP_DURATION_NS, (int64_t)d->duration_ns);
	wire_put_int(&w->message, PP_DEFAULT_TYPE, main);
}

static dck_status pprof_write_trees(const form_doc *d, dck_err *err)
{
	pprof_writing w = {.d = d};
	gzip_sink *gzip;

	DCK_TRY(string_table_init(&w.strings, err));
	dck_status status = gzip_sink_open(&gzip, d->sink, err);
	if (status == DCK_OK) {
		w.to = gzip_sink_in(gzip);
		pprof_put_profile(&w);
		hand_on(&w);
		(void)gzip_sink_close(gzip, NULL); /* the sink has the error */
		if (w.message.failed || string_table_failed(&w.strings))
			status = ERR_NO_MEMORY(err, "for a profile");
	}
	wire_out_done(&w.message);
	string_table_done(&w.strings);
	hash_map_done(&w.mappings);
	return status;
}

const tree_format form_pprof = {.write = pprof_write_trees, .several = true, .whole = true};
