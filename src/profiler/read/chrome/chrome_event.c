/* chrome_event.c - reads one event of Chrome's trace format: its members by a pull parser, then
 * what its phase makes of them.
 *
 * Members come in any order, so chrome_event_read() collects them in an `event` on the stack, and
 * apply() interprets them at the closing bracket: metadata names a process or thread, a counter
 * gives a row for each of its series, every other phase one row (chrome_reading.h). Rows are held
 * until the file ends; chrome_emit.c sorts and emits them. Of a range or instant only requested
 * numbers are stored, if "ph" precedes "args".
 *
 * Times are decimal microseconds, converted digit by digit to integer nanoseconds, rounded half up,
 * because a double has too few digits. Ids are numbers or hashes of texts, mixed with the hash of
 * what scopes them: category, name, "scope", "id2".
 *
 * Bounds: NUMBERS_MAX numbers of one event, CHROME_EVENTS_MAX rows and CHROME_NUMBERS_MAX
 * numbers of a file (E_LIMIT), 255 bytes of shapes; memory is 40 bytes for a
 * row. Source: "Trace Event Format" (chrome_read.h has the address).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/hash.h"
#include "profiler/read/chrome/chrome_reading.h"
#include "profiler/timeline/perfetto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Per event. A range has those of its end too. */
enum { NUMBERS_MAX = 1 << 16 };

typedef struct event {
	char phase;
	bool has_ns, encloses; /* encloses: a flow ends in the range around it */
	bool no_duration;      /* its duration is negative, or not a time */
	int64_t ns;
	uint64_t duration_ns;
	uint32_t text, category, scope; /* texts; 0: none */
	bool has_id, local;		/* local: the id is one of its process */
	uint64_t id;
	char id_text[64], pid[64], tid[64];
	uint32_t said;	   /* its argument "name" */
	uint32_t shapes;   /* shapes of its inputs; 0: none given */
	uint32_t nnumbers; /* x->given */
} event;

static dck_status no_space(chrome_reader *x, const char *what, unsigned most)
{
	DCK_FAIL(x->err, E_LIMIT, "%s has more than %u %s", x->source->label, most, what);
}

/* --- numbers */

/* Converts microseconds to nanoseconds digit by digit, since 4508215143015.673 has more digits than
 * a double holds. false: not a time, or too large. */
static bool event_time_of(const char *text, int64_t *ret, bool *ret_parts)
{
	const bool negative = *text == '-';
	const char *at = text + negative;
	uint64_t v = 0;
	double real;
	int digits = 0;

	for (; *at >= '0' && *at <= '9'; at++, digits++)
		if (digits > 15) /* 317 years */
			return false;
		else
			v = v * 10 + (uint64_t)(*at - '0');
	const bool has_part = *at == '.';
	at += has_part;
	v *= 1000;
	for (uint64_t one = 100; has_part && *at >= '0' && *at <= '9'; at++, one /= 10) {
		*ret_parts |= *at != '0';
		v += one * (uint64_t)(*at - '0');
		if (one == 0) /* the digit after the last that counts */
			v += *at >= '5';
		if (one == 0)
			break;
	}
	at += strspn(at, "0123456789");
	if (*at) { /* 1.5e3 */
		if (!json_number(text, &real) || !(fabs(real) < 0x1p63 / 1000))
			return false;
		*ret_parts |= real != floor(real);
		*ret = (int64_t)llround(real * 1000);
		return true;
	}
	if (digits == 0 || v > INT64_MAX)
		return false;
	*ret = negative ? -(int64_t)v : (int64_t)v;
	return true;
}

/* An id may be a number, a number in a text, or any text. */
static uint64_t event_id_of(const char *text, size_t n)
{
	char *end;
	const unsigned long long v = strtoull(text, &end, 0);

	return n > 0 && *text != '-' && *end == '\0' ? v : hash_bytes(HASH_START, text, n);
}

/* --- members */

static dck_status event_text_put(chrome_reader *x, uint32_t *ret)
{
	*ret = chrome_text(x, x->json.text, x->json.n);
	return *ret ? DCK_OK : x->err->code;
}

/* Shapes of tensors, and of lists of tensors, as a text. */
typedef struct shapes {
	char text[256]; /* a truncated text ends in "..." */
	size_t n;
	unsigned depth, count[4]; /* items read, by depth */
} shapes;

static void shapes_add(shapes *s, const char *text)
{
	const size_t n = strlen(text), space = sizeof s->text - 1 - s->n;

	memcpy(s->text + s->n, text, n < space ? n : space);
	s->n += n < space ? n : space;
	s->text[s->n] = '\0';
	if (n > space)
		memcpy(s->text + s->n - 3, "...", 3);
}

static void shapes_open(shapes *s)
{
	if (s->count[s->depth]++ > 0)
		shapes_add(s, ", ");
	else if (s->depth == 2)
		shapes_add(s, "[");
	s->count[++s->depth] = 0;
}

static void shapes_close(shapes *s, bool tensors)
{
	if (s->count[s->depth] == 0)
		shapes_add(s, "-"); /* a number, or not a tensor */
	else if (tensors)
		shapes_add(s, "]");
	s->depth--;
}

/* Reads the shapes of inputs: [[4, 3, 32, 32], [8, 3, 3, 3], [], [[2, 2], [2, 2]]] becomes
 * "4x3x32x32, 8x3x3x3, -, [2x2, 2x2]". Elements at the end that are not tensors are left out. */
static dck_status read_shapes(chrome_reader *x, event *e)
{
	shapes s = {.depth = 1};
	bool tensors = false;
	json_token t;

	while (s.depth > 0) {
		DCK_TRY(json_next(&x->json, &t, x->err));
		if (t == JSON_END)
			DCK_FAIL(x->err, E_FORMAT, "%s is truncated: it ends within an event",
				 x->source->label);
		if (t == JSON_ARRAY && s.depth < 3) {
			tensors = s.depth == 2;
			shapes_open(&s);
		} else if (t == JSON_CLOSE) {
			shapes_close(&s, tensors && s.depth == 2);
		} else if (t == JSON_LITERAL && s.depth > 1) {
			if (s.count[s.depth]++ > 0)
				shapes_add(&s, "x");
			shapes_add(&s, x->json.text);
		} else {
			DCK_TRY(json_skip(&x->json, t, x->err));
		}
	}
	while (s.n >= 3 && strcmp(s.text + s.n - 3, ", -") == 0)
		s.text[s.n -= 3] = '\0';
	if (s.n == 0 || strcmp(s.text, "-") == 0)
		return DCK_OK;
	e->shapes = chrome_text(x, s.text, s.n);
	return e->shapes ? DCK_OK : x->err->code;
}

static dck_status read_argument(chrome_reader *x, uint32_t key, json_token t, event *e)
{
	static const char name[] = "name";
	double real;

	if (t == JSON_ARRAY && x->wanted &&
	    strcmp(string_name_of(&x->texts, key).text, CHROME_SHAPES) == 0)
		return read_shapes(x, e);
	if (t == JSON_TEXT && strcmp(string_name_of(&x->texts, key).text, name) == 0)
		return event_text_put(x, &e->said);
	/* Some programs write the values of counters as texts. */
	const bool literal = t == JSON_LITERAL || (t == JSON_TEXT && e->phase == 'C');
	if (!literal)
		return json_skip(&x->json, t, x->err);
	if (strcmp(x->json.text, "true") == 0)
		real = 1;
	else if (!json_number(x->json.text, &real) || !isfinite(real))
		return DCK_OK;
	if (e->nnumbers == NUMBERS_MAX)
		return no_space(x, "numbers in an event", NUMBERS_MAX);
	DCK_NEED(mem_reserve(&x->given, &x->given_cap, e->nnumbers + (size_t)1, sizeof *x->given),
		 x->err, "for the numbers of a trace");
	x->given[e->nnumbers++] = (chrome_number){key, real};
	return DCK_OK;
}

static bool is_wanted(const chrome_reader *x, const char *name)
{
	for (const char *const *w = x->wanted; w; w++)
		if (!*w)
			return false;
		else if (strcmp(*w, name) == 0)
			return true;
	return true;
}

static dck_status read_arguments(chrome_reader *x, event *e)
{
	/* Only requested numbers of a range or an instant are stored; its phase mostly precedes
	 * them. */
	const bool range = e->phase && strchr("XBEi", e->phase);
	json_token t;
	uint32_t key = 0;

	for (;;) {
		DCK_TRY(json_next(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		if (t == JSON_END)
			DCK_FAIL(x->err, E_FORMAT, "%s is truncated: it ends within an event",
				 x->source->label);
		if (t != JSON_KEY)
			DCK_TRY(key ? read_argument(x, key, t, e) : json_skip(&x->json, t, x->err));
		else if (range && !is_wanted(x, x->json.text))
			key = 0;
		else
			DCK_TRY(event_text_put(x, &key));
	}
}

static void event_id_put(chrome_reader *x, event *e, uint64_t id)
{
	e->id = id;
	e->has_id = true;
	snprintf(e->id_text, sizeof e->id_text, "%.63s", x->json.text);
}

/* Reads {"local": "0x1"} or {"global": "0x1"}: an id of one process, or of all. */
static dck_status read_id2(chrome_reader *x, event *e)
{
	json_token t;

	do {
		DCK_TRY(json_next(&x->json, &t, x->err));
		if (t == JSON_TEXT || t == JSON_LITERAL) {
			event_id_put(x, e,
				     hash_number(e->id, event_id_of(x->json.text, x->json.n)));
		} else if (t == JSON_KEY) {
			e->local = strcmp(x->json.text, "local") == 0;
			e->id = hash_bytes(e->id, x->json.text, x->json.n);
		}
		DCK_TRY(json_skip(&x->json, t, x->err));
	} while (t != JSON_CLOSE && t != JSON_END);
	return DCK_OK;
}

typedef enum member {
	M_NONE,
	M_ARGS,
	M_BP,
	M_CAT,
	M_DUR,
	M_ID,
	M_ID2,
	M_NAME,
	M_PH,
	M_PID,
	M_SCOPE,
	M_TID,
	M_TS
} member;

static member member_of(const char *key)
{
	static const char *const keys[] = {
	    [M_ARGS] = "args", [M_BP] = "bp",	    [M_CAT] = "cat",   [M_DUR] = "dur",
	    [M_ID] = "id",     [M_ID2] = "id2",	    [M_NAME] = "name", [M_PH] = "ph",
	    [M_PID] = "pid",   [M_SCOPE] = "scope", [M_TID] = "tid",   [M_TS] = "ts"};

	for (member m = M_ARGS; m <= M_TS; m++)
		if (strcmp(keys[m], key) == 0)
			return m;
	return M_NONE;
}

static dck_status read_member(chrome_reader *x, member m, json_token t, event *e)
{
	const char *text = x->json.text;
	int64_t ns;

	if (t == JSON_OBJECT && m == M_ARGS)
		return read_arguments(x, e);
	if (t == JSON_OBJECT && m == M_ID2)
		return read_id2(x, e);
	if (t != JSON_TEXT && t != JSON_LITERAL)
		return json_skip(&x->json, t, x->err);
	switch (m) {
	case M_NAME:
		return event_text_put(x, &e->text);
	case M_CAT:
		return event_text_put(x, &e->category);
	case M_SCOPE:
		return event_text_put(x, &e->scope);
	case M_PH:
		e->phase = x->json.n == 1 ? *text : '\0';
		break;
	case M_BP:
		e->encloses = strcmp(text, "e") == 0;
		break;
	case M_TS:
		e->has_ns = event_time_of(text, &e->ns, &x->parts);
		break;
	case M_DUR:
		e->no_duration = !event_time_of(text, &ns, &x->parts) || ns < 0;
		e->duration_ns = e->no_duration ? 0 : (uint64_t)ns;
		break;
	case M_ID:
		event_id_put(x, e, event_id_of(text, x->json.n));
		break;
	case M_PID:
		snprintf(e->pid, sizeof e->pid, "%.63s", text);
		break;
	case M_TID:
		snprintf(e->tid, sizeof e->tid, "%.63s", text);
		break;
	case M_NONE:
	case M_ARGS:
	case M_ID2:
		break;
	}
	return DCK_OK;
}

/* --- stored events */

static dck_status keep_numbers(chrome_reader *x, const event *e, chrome_row *row)
{
	row->numbers = x->nnumbers;
	for (uint32_t i = 0; i < e->nnumbers; i++) {
		if (x->nnumbers == CHROME_NUMBERS_MAX)
			return no_space(x, "numbers", CHROME_NUMBERS_MAX);
		DCK_NEED(
		    mem_reserve(&x->numbers, &x->numbers_cap, x->nnumbers + 1, sizeof *x->numbers),
		    x->err, "for the numbers of a trace");
		const uint32_t name = chrome_name(x, x->given[i].name, 0);
		if (!name)
			return x->err->code;
		x->numbers[x->nnumbers++] = (chrome_number){name, x->given[i].real};
		row->nnumbers++;
	}
	return DCK_OK;
}

static dck_status chrome_event_keep(chrome_reader *x, const chrome_row *row)
{
	if (x->nrows == CHROME_EVENTS_MAX)
		return no_space(x, "events", CHROME_EVENTS_MAX);
	DCK_NEED(mem_reserve(&x->rows, &x->rows_cap, x->nrows + 1, sizeof *x->rows), x->err,
		 "for the events of a trace");
	x->rows[x->nrows] = *row;
	x->rows[x->nrows].order = x->nrows;
	x->nrows++;
	return DCK_OK;
}

/* Returns the thread of an event, which mostly is that of the event before. */
static uint32_t thread_of(chrome_reader *x, const event *e)
{
	if (!x->last_thread || strcmp(e->pid, x->last_pid) != 0 ||
	    strcmp(e->tid, x->last_tid) != 0) {
		x->last_thread = chrome_thread(x, *e->pid ? e->pid : "0", *e->tid ? e->tid : "0");
		memcpy(x->last_pid, e->pid, sizeof e->pid);
		memcpy(x->last_tid, e->tid, sizeof e->tid);
	}
	return x->last_thread;
}

static bool is_text(const chrome_reader *x, uint32_t text, const char *what)
{
	const char *said = string_name_of(&x->texts, text).text;

	return said && strcmp(said, what) == 0;
}

/* Stores the name of a process or thread. deepclock's writer writes "thread 7" for a thread without
 * a name. */
static dck_status keep_metadata(chrome_reader *x, const event *e)
{
	char unnamed[32];
	const char *what = string_name_of(&x->texts, e->text).text;
	uint32_t row;

	if (!e->said || !what)
		return DCK_OK;
	if (strcmp(what, "process_name") == 0)
		row = chrome_process(x, *e->pid ? e->pid : "0");
	else if (strcmp(what, "thread_name") == 0)
		row = thread_of(x, e);
	else
		return DCK_OK;
	if (!row)
		return x->err->code;
	chrome_track *t = chrome_track_at(x, row);
	const bool thread = t->kind != TRACE_PROCESS;
	/* Our own writer marks the queue of a device. */
	if (thread && e->nnumbers == 1 && is_text(x, x->given[0].name, "device"))
		t->kind = TRACE_DEVICE;
	snprintf(unnamed, sizeof unnamed, "%s %d", thread ? "thread" : "process",
		 (int)(thread ? t->tid : t->pid));
	if (!is_text(x, e->said, unnamed))
		t->name = e->said;
	return DCK_OK;
}

/* Returns the thread of a counter that our own writer wrote, whose id is the thread's number; NULL:
 * another counter. The format distinguishes counters by their ids. */
static const char *tid_of(const event *e)
{
	char *end;
	const unsigned long long tid = strtoull(e->tid, &end, 10);

	return e->has_id && *e->tid && !*end && tid && e->id == tid ? e->tid : NULL;
}

/* "loss" with a number called "value" is the counter "loss"; with others "loss train" and so on; of
 * id 2 "loss[2]", "loss[2] train". */
static dck_status keep_counters(chrome_reader *x, const event *e)
{
	const char *name = string_name_of(&x->texts, e->text).text, *tid = tid_of(e);
	const char *id = tid ? "" : e->id_text;
	char text[2 * STRING_NAME_MAX + sizeof e->id_text + 4];

	for (uint32_t i = 0; i < e->nnumbers; i++) {
		const char *series = string_name_of(&x->texts, x->given[i].name).text;
		const bool shown = name && strcmp(series, "value") != 0;
		uint32_t called = e->text ? e->text : x->given[i].name;
		if (*id || shown) {
			const int n = snprintf(
			    text, sizeof text, "%s%s%s%s%s%s", name ? name : series, *id ? "[" : "",
			    id, *id ? "]" : "", shown ? " " : "", shown ? series : "");
			called = chrome_text(x, text, (size_t)n);
		}
		const uint32_t track =
		    called ? chrome_counter(x, *e->pid ? e->pid : "0", tid, called) : 0;
		if (!track)
			return x->err->code;
		DCK_TRY(chrome_event_keep(x, &(chrome_row){.ns = e->ns,
							   .kind = CHROME_COUNTER,
							   .track = track,
							   .as.real = x->given[i].real}));
	}
	return DCK_OK;
}

/* Returns the key of a range or flow on a thread. An id is scoped by the category, in old phases by
 * the name, in flows by both; a local one by the process. Ids of deepclock's writer stay unchanged.
 */
static uint64_t event_key_of(const chrome_reader *x, const event *e, uint32_t thread,
			     bool by_category, bool by_name)
{
	/* The id is mixed first: two small numbers xored would collide with other pairs. */
	uint64_t key = hash_number(HASH_START, e->id);
	const char *own = by_name && by_category ? "flow" : "range";

	if (is_text(x, e->category, own) && !e->scope && !e->local && e->id < UINT64_C(1) << 63)
		return e->id;
	key = hash_number(key, by_category ? e->category : 0);
	key = hash_number(key, by_name ? e->text : 0);
	key = hash_number(key, e->scope);
	if (e->local)
		key = hash_number(key, chrome_track_at(x, thread)->parent);
	return key & ~(UINT64_C(1) << 63);
}

/* Returns an operator's name with the shapes of its inputs: "aten::mm(2x3, 3x4)". */
static uint32_t shaped(chrome_reader *x, const event *e)
{
	const string_name name = string_name_of(&x->texts, e->text),
			  inputs = string_name_of(&x->texts, e->shapes);
	char text[2 * STRING_NAME_MAX + 3];
	const int n = snprintf(text, sizeof text, "%s(%s)", name.text, inputs.text);

	x->facts->shaped++;
	return chrome_text(x, text, (size_t)n);
}

/* Whether our own writer wrote the end of a range that was open when its process ended. */
static bool is_unended(const chrome_reader *x, const event *e)
{
	for (uint32_t i = 0; i < e->nnumbers; i++)
		if (is_text(x, x->given[i].name, PF_UNENDED))
			return true;
	return false;
}

static dck_status keep_event(chrome_reader *x, const event *e, chrome_kind kind)
{
	chrome_row row = {.ns = e->ns, .kind = (uint8_t)kind};
	uint32_t category = e->category;

	row.track = thread_of(x, e);
	if (!row.track)
		return x->err->code;
	switch (kind) {
	case CHROME_COMPLETE:
		row.as.duration_ns = e->duration_ns;
		x->facts->no_duration += e->no_duration;
		chrome_track_at(x, row.track)->complete = true;
		break;
	case CHROME_ASYNC_BEGIN:
	case CHROME_ASYNC_END:
		if (kind == CHROME_ASYNC_END && is_unended(x, e))
			return DCK_OK; /* it stays open */
		row.as.id = event_key_of(x, e, row.track, e->phase == 'b' || e->phase == 'e',
					 e->phase == 'S' || e->phase == 'F');
		if (is_text(x, category, "range")) /* our own writer adds it for the id alone */
			category = 0;
		break;
	case CHROME_FLOW_BEGIN:
	case CHROME_FLOW_STEP:
	case CHROME_FLOW_END:
	case CHROME_FLOW_END_NEXT:
		row.as.id = event_key_of(x, e, row.track, true, true);
		return chrome_event_keep(x, &row);
	case CHROME_BEGIN:
	case CHROME_END:
	case CHROME_INSTANT:
	case CHROME_COUNTER:
	case CHROME_REMOVED:
		break;
	}
	if (kind == CHROME_END) { /* an empty name is none */
		row.name = is_text(x, e->text, "") ? 0 : e->text;
	} else if (e->text && kind != CHROME_ASYNC_END) {
		const bool is_operator =
		    is_text(x, category, "cpu_op") || is_text(x, category, "operator");
		const bool with_shapes = e->shapes && is_operator && kind == CHROME_COMPLETE;
		const uint32_t text = with_shapes ? shaped(x, e) : e->text;

		row.name = text ? chrome_name(x, text, category) : 0;
		if (!row.name)
			return x->err->code;
	}
	if (kind == CHROME_BEGIN || kind == CHROME_COMPLETE || kind == CHROME_END ||
	    (kind == CHROME_INSTANT && x->wanted && is_text(x, e->text, CHROME_MEMORY)))
		DCK_TRY(keep_numbers(x, e, &row));
	return chrome_event_keep(x, &row);
}

/* PyTorch's profiler without Kineto marks the kind of an event by its process alone. */
static dck_status category_by_process(chrome_reader *x, event *e)
{
	static const char *const known[][2] = {{"CPU functions", "cpu_op"},
					       {"CUDA functions", "kernel"}};

	for (size_t i = 0; i < 2 && !e->category; i++)
		if (strcmp(e->pid, known[i][0]) == 0) {
			e->category = chrome_text(x, known[i][1], strlen(known[i][1]));
			return e->category ? DCK_OK : x->err->code;
		}
	return DCK_OK;
}

static dck_status apply(chrome_reader *x, event *e)
{
	static const struct {
		char phase;
		chrome_kind kind;
	} kinds[] = {{'X', CHROME_COMPLETE},  {'B', CHROME_BEGIN},	  {'E', CHROME_END},
		     {'i', CHROME_INSTANT},   {'I', CHROME_INSTANT},	  {'R', CHROME_INSTANT},
		     {'n', CHROME_INSTANT},   {'T', CHROME_INSTANT},	  {'p', CHROME_INSTANT},
		     {'C', CHROME_COUNTER},   {'b', CHROME_ASYNC_BEGIN},  {'S', CHROME_ASYNC_BEGIN},
		     {'e', CHROME_ASYNC_END}, {'F', CHROME_ASYNC_END},	  {'s', CHROME_FLOW_BEGIN},
		     {'t', CHROME_FLOW_STEP}, {'f', CHROME_FLOW_END_NEXT}};

	if (e->phase == 'M')
		return keep_metadata(x, e);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (e->phase != kinds[i].phase)
			continue;
		if (!e->has_ns) {
			x->facts->undated++;
			return DCK_OK;
		}
		if (kinds[i].kind == CHROME_COUNTER)
			return keep_counters(x, e);
		DCK_TRY(category_by_process(x, e));
		return keep_event(x, e,
				  e->phase == 'f' && e->encloses ? CHROME_FLOW_END : kinds[i].kind);
	}
	x->facts->skipped++;
	return DCK_OK;
}

dck_status chrome_event_read(chrome_reader *x)
{
	event e = {.id = HASH_START};
	json_token t;

	for (;;) {
		DCK_TRY(json_next(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			return apply(x, &e);
		if (t == JSON_END)
			DCK_FAIL(x->err, E_FORMAT, "%s is truncated: it ends within an event",
				 x->source->label);
		const member m = member_of(x->json.text);
		DCK_TRY(json_next(&x->json, &t, x->err));
		DCK_TRY(read_member(x, m, t, &e));
	}
}
