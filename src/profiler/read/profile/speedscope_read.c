/* speedscope_read.c - reader of speedscope's JSON, in two passes over the file.
 *
 * The first pass reads the list of frames, and name and unit of each profile (`heads`); the second
 * reads the profiles. A "sampled" profile is two parallel lists, in either order: paths and weights
 * are collected and joined at its end. An "evented" one is replayed on a stack of open frames: the
 * time between two events is added to the open path, and a close restores the path around the
 * frame. Profiles of one unit get an outermost frame with their name, as threads. In a record that
 * deepclock exported (`ours`, `active`), profiles "TITLE: WEIGHT" of one title are the weights of
 * one tree; in an exported timeline the profiles of samples are, after the threads.
 *
 * Invariants, else E_FORMAT: time does not go back, the innermost frame closes first, each sample
 * has a weight, an index is in its list. Bounds (E_LIMIT): SPEEDSCOPE_PROFILES_MAX profiles,
 * SPEEDSCOPE_SAMPLES_MAX samples of one profile, OPEN_FRAMES_MAX open frames; stacks.h bounds
 * names, frames and paths. The addresses of the format's specification are in speedscope_read.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/profile/speedscope_read.h"

#include "base/err.h"
#include "profiler/read/json_feed.h"
#include "profiler/read/profile/stacks.h"

#include <math.h>
#include <string.h>

typedef struct unit_row {
	const char *name, *key;
	dck_unit unit;
	double scale;
} unit_row;

static const unit_row speedscope_units[] = {
    {"none", "samples", DCK_UNIT_ONE, 1},	{"nanoseconds", "time", DCK_UNIT_NS, 1},
    {"microseconds", "time", DCK_UNIT_NS, 1e3}, {"milliseconds", "time", DCK_UNIT_NS, 1e6},
    {"seconds", "time", DCK_UNIT_NS, 1e9},	{"bytes", "bytes", DCK_UNIT_BYTE, 1},
};
enum { NUNITS = sizeof speedscope_units / sizeof *speedscope_units, OPEN_FRAMES_MAX = 1 << 16 };

/* Result of the first pass over a profile. */
typedef struct profile_head {
	uint32_t name; /* of stacks.texts; 0: none */
	uint8_t unit;  /* in `speedscope_units` */
} profile_head;

typedef struct open_frame {
	uint32_t row, path; /* path: that of the enclosing frame */
	bool full;
} open_frame;

typedef struct speedscope_reader {
	json_reader json;
	wire_source *source;
	stacks stacks;
	profile_head *heads;		  /* @owned */
	uint32_t nheads, of_unit[NUNITS]; /* of_unit: without weights of trees */
	bool ours,
	    active; /* deepclock wrote it; activeProfileIndex is a number, as in its exports */
	uint32_t exporter, name; /* of stacks.texts; 0: none */
	uint32_t *paths;	 /* @owned; of each sample of a profile */
	double *weights;	 /* @owned */
	uint32_t npaths, nweights;
	open_frame *open; /* @owned */
	uint32_t nopen;
	size_t heads_cap, paths_cap, weights_cap, open_cap;
	uint32_t at; /* the profile that is read */
	size_t column, count;
	bool counted; /* the samples are counted too */
	dck_err *err;
} speedscope_reader;

static dck_status pass(speedscope_reader *x, json_token t)
{
	return json_skip(&x->json, t, x->err);
}

#define MALFORMED(x, ...) DCK_FAIL((x)->err, E_FORMAT, "the profile is damaged: " __VA_ARGS__)

static dck_status speedscope_grow(speedscope_reader *x, void *rows, uint32_t n, size_t *cap,
				  size_t row_bytes, uint32_t most, const char *what)
{
	if (n >= most)
		DCK_FAIL(x->err, E_LIMIT, "the profile has more than %u %s", (unsigned)most, what);
	DCK_NEED(mem_reserve(rows, cap, n + (size_t)1, row_bytes), x->err,
		 "for the %s of a profile", what);
	return DCK_OK;
}

/* --- the lists */

static dck_status speedscope_frame_read(speedscope_reader *x)
{
	enum { NAME, FILE_NAME, LINE };
	static const char *const keys[] = {"name", "file", "line", NULL};
	stacks_row row = {0};
	json_token t;
	double line;
	int key;

	for (;;) {
		DCK_TRY(json_next_member(&x->json, keys, &key, &t, x->err));
		if (key < 0)
			return stacks_frame(&x->stacks, &row, x->err);
		if (t == JSON_TEXT && key == NAME)
			row.name = stacks_text(&x->stacks, x->json.text, x->json.n);
		else if (t == JSON_TEXT && key == FILE_NAME)
			row.file = stacks_text(&x->stacks, x->json.text, x->json.n);
		else if (t == JSON_LITERAL && key == LINE && json_number(x->json.text, &line) &&
			 line > 0 && line < UINT32_MAX)
			row.line = (uint32_t)line;
		else
			DCK_TRY(pass(x, t));
	}
}

static dck_status frames_read(speedscope_reader *x)
{
	json_token t;

	for (;;) {
		DCK_TRY(json_next_element(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		if (t != JSON_OBJECT)
			MALFORMED(x, "a frame is not an object");
		DCK_TRY(speedscope_frame_read(x));
	}
}

static dck_status shared_read(speedscope_reader *x)
{
	static const char *const keys[] = {"frames", NULL};
	json_token t;
	int key;

	for (;;) {
		DCK_TRY(json_next_member(&x->json, keys, &key, &t, x->err));
		if (key < 0)
			return DCK_OK;
		if (t == JSON_ARRAY)
			DCK_TRY(frames_read(x));
		else
			DCK_TRY(pass(x, t));
	}
}

static dck_status unit_find(speedscope_reader *x, uint8_t *ret)
{
	for (uint8_t i = 0; i < NUNITS; i++)
		if (strcmp(x->json.text, speedscope_units[i].name) == 0) {
			*ret = i;
			return DCK_OK;
		}
	MALFORMED(x, "speedscope has no unit '%.40s'", x->json.text);
}

/* Whether a profile is a weight of a tree, by its name. */
static bool is_of_tree(const speedscope_reader *x, uint32_t at)
{
	static const char samples[] = "Samples by call path: ";
	const char *name = string_name_of(&x->stacks.texts, x->heads[at].name).text;

	return x->ours && (x->active || (name && strncmp(name, samples, sizeof samples - 1) == 0));
}

static dck_status head_read(speedscope_reader *x)
{
	enum { NAME, UNIT };
	static const char *const keys[] = {"name", "unit", NULL};
	profile_head head = {0};
	json_token t;
	int key;

	for (;;) {
		DCK_TRY(json_next_member(&x->json, keys, &key, &t, x->err));
		if (key < 0)
			break;
		if (key == NAME && t == JSON_TEXT)
			head.name = stacks_text(&x->stacks, x->json.text, x->json.n);
		else if (key == UNIT && t == JSON_TEXT)
			DCK_TRY(unit_find(x, &head.unit));
		else
			DCK_TRY(pass(x, t));
	}
	DCK_TRY(speedscope_grow(x, &x->heads, x->nheads, &x->heads_cap, sizeof *x->heads,
				SPEEDSCOPE_PROFILES_MAX, "profiles"));
	x->heads[x->nheads++] = head;
	x->of_unit[head.unit] += !is_of_tree(x, x->nheads - 1);
	return DCK_OK;
}

/* --- sampled */

static dck_status speedscope_number_read(speedscope_reader *x, json_token t, double *ret)
{
	if (t != JSON_LITERAL || !json_number(x->json.text, ret))
		MALFORMED(x, "%s%.20s%s is not a number", t == JSON_TEXT ? "\"" : "",
			  t == JSON_TEXT || t == JSON_LITERAL ? x->json.text : "an object",
			  t == JSON_TEXT ? "\"" : "");
	return DCK_OK;
}

/* Starts a path, at a frame with the profile's name where several profiles have its unit, except in
 * trees of a record, which are not threads. */
static void path_begin(speedscope_reader *x)
{
	const profile_head *head = &x->heads[x->at];
	const char *name = string_name_of(&x->stacks.texts, head->name).text;

	stack_open(&x->stacks, 0);
	if (x->of_unit[head->unit] > 1 && !is_of_tree(x, x->at))
		stack_push_frame(&x->stacks, &(dck_frame){.name = name ? name : "(no name)"});
}

static dck_status sample_read(speedscope_reader *x)
{
	json_token t;
	uint32_t row;

	path_begin(x);
	for (;;) {
		DCK_TRY(json_next_element(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			break;
		if (t != JSON_LITERAL)
			MALFORMED(x, "a sample is not a list of numbers");
		DCK_TRY(stacks_row_find(&x->stacks, x->json.text, &row, x->err));
		stack_push(&x->stacks, row);
	}
	DCK_TRY(speedscope_grow(x, &x->paths, x->npaths, &x->paths_cap, sizeof *x->paths,
				SPEEDSCOPE_SAMPLES_MAX, "samples"));
	x->paths[x->npaths++] = x->stacks.path;
	return DCK_OK;
}

static dck_status samples_read(speedscope_reader *x)
{
	json_token t;

	for (;;) {
		DCK_TRY(json_next_element(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		if (t != JSON_ARRAY)
			MALFORMED(x, "a sample is not a list");
		DCK_TRY(sample_read(x));
	}
}

static dck_status weights_read(speedscope_reader *x)
{
	const double scale = speedscope_units[x->heads[x->at].unit].scale;
	json_token t;
	double v;

	for (;;) {
		DCK_TRY(json_next_element(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		DCK_TRY(speedscope_number_read(x, t, &v));
		if (!stacks_weight_fits(v * scale))
			MALFORMED(x, "a sample weighs %g", v);
		DCK_TRY(speedscope_grow(x, &x->weights, x->nweights, &x->weights_cap,
					sizeof *x->weights, SPEEDSCOPE_SAMPLES_MAX, "samples"));
		x->weights[x->nweights++] = v * scale;
	}
}

static dck_status samples_add(speedscope_reader *x)
{
	if (x->npaths != x->nweights)
		MALFORMED(x, "it has %u samples and %u weights", (unsigned)x->npaths,
			  (unsigned)x->nweights);
	for (uint32_t i = 0; i < x->npaths; i++) {
		stack_add(&x->stacks, x->paths[i], x->column, x->weights[i]);
		if (x->counted)
			stack_add(&x->stacks, x->paths[i], x->count, 1);
	}
	x->npaths = x->nweights = 0;
	return DCK_OK;
}

/* --- evented */

typedef struct event {
	char type;
	double at;
	uint32_t row;
	bool has_at, has_row;
} event;

static dck_status speedscope_event_read(speedscope_reader *x, event *ret)
{
	enum { TYPE, AT, FRAME };
	static const char *const keys[] = {"type", "at", "frame", NULL};
	json_token t;
	int key;

	*ret = (event){0};
	for (;;) {
		DCK_TRY(json_next_member(&x->json, keys, &key, &t, x->err));
		if (key < 0)
			break;
		if (key == TYPE && t == JSON_TEXT) {
			ret->type = x->json.text[0];
		} else if (key == AT) {
			DCK_TRY(speedscope_number_read(x, t, &ret->at));
			ret->has_at = true;
		} else if (key == FRAME && t == JSON_LITERAL) {
			DCK_TRY(stacks_row_find(&x->stacks, x->json.text, &ret->row, x->err));
			ret->has_row = true;
		} else {
			DCK_TRY(pass(x, t));
		}
	}
	if ((ret->type != 'O' && ret->type != 'C') || !ret->has_at || !ret->has_row)
		MALFORMED(x, "an event is not \"O\" or \"C\" at a time of a frame");
	return DCK_OK;
}

static dck_status speedscope_event_add(speedscope_reader *x, const event *e)
{
	stacks *s = &x->stacks;

	if (e->type == 'C') {
		if (x->nopen == 0 || x->open[x->nopen - 1].row != e->row)
			MALFORMED(x, "frame %u is closed at %g, and is not the innermost one",
				  (unsigned)e->row, e->at);
		const open_frame *left = &x->open[--x->nopen];
		s->path = left->path;
		s->full = left->full;
		return DCK_OK;
	}
	DCK_TRY(speedscope_grow(x, &x->open, x->nopen, &x->open_cap, sizeof *x->open,
				OPEN_FRAMES_MAX, "frames inside each other"));
	if (x->nopen == 0)
		path_begin(x);
	x->open[x->nopen++] = (open_frame){e->row, s->path, s->full};
	stack_push(s, e->row);
	return DCK_OK;
}

static dck_status speedscope_events_read(speedscope_reader *x)
{
	const double scale = speedscope_units[x->heads[x->at].unit].scale;
	double before = -INFINITY;
	json_token t;
	event e;

	x->nopen = 0;
	for (;;) {
		DCK_TRY(json_next_element(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			break;
		if (t != JSON_OBJECT)
			MALFORMED(x, "an event is not an object");
		DCK_TRY(speedscope_event_read(x, &e));
		if (!(e.at >= before))
			MALFORMED(x, "an event at %g follows one at %g", e.at, before);
		if (x->nopen > 0) {
			if (!stacks_weight_fits((e.at - before) * scale))
				MALFORMED(x, "a frame lasts from %g until %g", before, e.at);
			stack_add(&x->stacks, x->stacks.path, x->column, (e.at - before) * scale);
		}
		before = e.at;
		DCK_TRY(speedscope_event_add(x, &e));
	}
	if (x->nopen > 0)
		MALFORMED(x, "%u frames are never closed", (unsigned)x->nopen);
	return DCK_OK;
}

/* --- profiles */

/* Splits the name of an exported tree, "TITLE: WEIGHT". Returns the weight, and the title's
 * length. */
static const char *title_of(const speedscope_reader *x, uint32_t at, size_t *ret_title)
{
	const char *name = string_name_of(&x->stacks.texts, x->heads[at].name).text;
	const char *found = NULL;

	for (const char *c = name; c && (c = strstr(c, ": ")); c += 2)
		found = c;
	*ret_title = found ? (size_t)(found - name) : 0;
	return found ? found + 2 : "weight";
}

static bool same_title(const speedscope_reader *x, uint32_t a, uint32_t b)
{
	const string_table *texts = &x->stacks.texts;
	size_t n = 0, m = 0;

	(void)title_of(x, a, &n);
	(void)title_of(x, b, &m);
	return n == m && n > 0 &&
	       memcmp(string_name_of(texts, x->heads[a].name).text,
		      string_name_of(texts, x->heads[b].name).text, n) == 0;
}

/* Whether the next profile is not of the same tree. */
static bool tree_ends(const speedscope_reader *x)
{
	const bool tree = is_of_tree(x, x->at);

	return tree != is_of_tree(x, x->at + 1) || (tree && !same_title(x, x->at, x->at + 1));
}

static dck_status tree_end(speedscope_reader *x, record_builder *b)
{
	const char *name = string_name_of(&x->stacks.texts, x->heads[x->at].name).text;
	char title[STRING_NAME_MAX + 1];
	size_t n = 0;

	if (!is_of_tree(x, x->at))
		return stacks_write(&x->stacks, NULL, b, x->err);
	(void)title_of(x, x->at, &n);
	memcpy(title, name ? name : "", n);
	title[n] = '\0';
	return stacks_write(&x->stacks, n ? title : NULL, b, x->err);
}

static dck_status column_begin(speedscope_reader *x, bool sampled)
{
	const unit_row *unit = &speedscope_units[x->heads[x->at].unit];
	size_t n;

	/* Profiles without a unit have this column. */
	x->counted = !x->ours && sampled && unit->unit != DCK_UNIT_ONE && x->of_unit[0] == 0;
	if (x->counted)
		DCK_TRY(stacks_column(&x->stacks, "samples", DCK_UNIT_ONE, &x->count, x->err));
	return stacks_column(&x->stacks, is_of_tree(x, x->at) ? title_of(x, x->at, &n) : unit->key,
			     unit->unit, &x->column, x->err);
}

static dck_status profile_read(speedscope_reader *x)
{
	enum { SAMPLES, WEIGHTS, EVENTS };
	static const char *const keys[] = {"samples", "weights", "events", NULL};
	bool sampled = false, evented = false;
	json_token t;
	int key;

	for (;;) {
		DCK_TRY(json_next_member(&x->json, keys, &key, &t, x->err));
		if (key < 0)
			break;
		if (t != JSON_ARRAY) {
			DCK_TRY(pass(x, t));
			continue;
		}
		sampled |= key != EVENTS;
		evented |= key == EVENTS;
		DCK_TRY(column_begin(x, key != EVENTS));
		DCK_TRY(key == SAMPLES	 ? samples_read(x)
			: key == WEIGHTS ? weights_read(x)
					 : speedscope_events_read(x));
	}
	if (sampled == evented)
		MALFORMED(x, "a profile has neither samples alone nor events alone");
	return sampled ? samples_add(x) : DCK_OK;
}

static dck_status profiles_read(speedscope_reader *x, record_builder *b)
{
	json_token t;

	for (x->at = 0;; x->at++) {
		DCK_TRY(json_next_element(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			break;
		if (t != JSON_OBJECT)
			MALFORMED(x, "a profile is not an object");
		if (!b) {
			DCK_TRY(head_read(x));
			continue;
		}
		if (x->at >= x->nheads)
			MALFORMED(x, "it changed while it was read");
		DCK_TRY(profile_read(x));
		if (x->at + 1 < x->nheads && tree_ends(x))
			DCK_TRY(tree_end(x, b));
	}
	if (!b)
		return DCK_OK;
	x->at = x->nheads ? x->nheads - 1 : 0;
	return x->nheads ? tree_end(x, b) : stacks_write(&x->stacks, NULL, b, x->err);
}

/* --- the file */

enum { KEY_SHARED, KEY_PROFILES, KEY_EXPORTER, KEY_NAME, KEY_ACTIVE };
static const char *const file_keys[] = {"shared", "profiles",		"exporter",
					"name",	  "activeProfileIndex", NULL};

/* b: NULL in the first pass. */
static dck_status speedscope_member_read(speedscope_reader *x, int key, json_token t,
					 record_builder *b, bool *profiles)
{
	if (key == KEY_PROFILES && t == JSON_ARRAY) {
		if (*profiles)
			MALFORMED(x, "it has two lists of profiles");
		*profiles = true;
		return profiles_read(x, b);
	}
	if (key == KEY_SHARED && t == JSON_OBJECT && !b)
		return shared_read(x);
	if (t == JSON_TEXT && (key == KEY_EXPORTER || key == KEY_NAME))
		*(key == KEY_EXPORTER ? &x->exporter : &x->name) =
		    stacks_text(&x->stacks, x->json.text, x->json.n);
	if (key == KEY_EXPORTER && t == JSON_TEXT)
		x->ours = strncmp(x->json.text, "deepclock ", 10) == 0;
	if (key == KEY_ACTIVE && t == JSON_LITERAL)
		x->active = strcmp(x->json.text, "null") != 0;
	return pass(x, t);
}

static dck_status speedscope_file_read(speedscope_reader *x, record_builder *b)
{
	bool profiles = false;
	json_token t;
	int key;

	DCK_TRY(json_next(&x->json, &t, x->err));
	if (t != JSON_OBJECT)
		DCK_FAIL(x->err, E_FORMAT,
			 "this is not a profile of speedscope: it is not an object");
	for (;;) {
		DCK_TRY(json_next_member(&x->json, file_keys, &key, &t, x->err));
		if (key < 0)
			break;
		DCK_TRY(speedscope_member_read(x, key, t, b, &profiles));
	}
	if (!profiles)
		DCK_FAIL(x->err, E_FORMAT,
			 "this is not a profile of speedscope: it has no list \"profiles\"");
	DCK_TRY(json_next(&x->json, &t, x->err));
	if (t != JSON_END)
		MALFORMED(x, "something follows its end");
	return DCK_OK;
}

static dck_status speedscope_pass_through(speedscope_reader *x, record_builder *b)
{
	json_feed f;

	DCK_TRY(json_feed_open(&f, x->source, &x->json, x->err));
	const dck_status status = speedscope_file_read(x, b);
	json_feed_close(&f);
	return status;
}

static void speedscope_facts_put(const speedscope_reader *x, record_builder *b)
{
	record_fact_text(b, "profile", "format", "speedscope");
	if (x->exporter)
		record_fact_text(b, "profile", "exporter",
				 string_name_of(&x->stacks.texts, x->exporter).text);
	if (x->name)
		record_fact_text(b, "profile", "name",
				 string_name_of(&x->stacks.texts, x->name).text);
}

dck_status speedscope_read(wire_source *s, record_builder *b, dck_err *err)
{
	speedscope_reader *x = mem_zalloc(1, sizeof *x);

	DCK_NEED(x, err, "to read a profile");
	x->source = s;
	x->err = err;
	dck_status status = stacks_init(&x->stacks, err);
	DCK_NEXT(status, speedscope_pass_through(x, NULL));
	if (status == DCK_OK) {
		speedscope_facts_put(x, b);
		status = speedscope_pass_through(x, b);
	}
	stacks_done(&x->stacks);
	mem_free(x->heads);
	mem_free(x->paths);
	mem_free(x->weights);
	mem_free(x->open);
	mem_free(x);
	return status;
}
