/* ort_trace.c - reads ONNX Runtime's profile through a window, so that a file of hundreds of MB
 * costs no more than the operators in it.
 *
 * A reader of JSON would not do. Older versions write names as they are, with quotes, backslashes
 * and line ends that break the text, so a quote ends a string only where what follows can follow a
 * string. Numbers are texts for the most part, and members come in any order.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/ort_trace.h"

#include "base/err.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WINDOW	   65536u
#define AHEAD	   64u /* what is looked at beyond the place where we are */
#define TEXT_MAX   (1u << 20)
#define EVENTS_MAX 8000000u /* ONNX Runtime itself stops at 1 000 000 */
#define DEPTH_MAX  32
#define US_MAX	   ((uint64_t)INT64_MAX / 1000)

static const char kernel_time[] = "_kernel_time";

typedef struct text {
	char *data;
	size_t n, cap;
	bool odd; /* not what JSON allows inside a string */
} text;

/* Every different name once. */
typedef struct names {
	const char **slot;
	size_t nslots, n;
} names;

typedef struct event {
	text name, category, type, provider, parent;
	bool has_type, has_provider, has_parent, has_ts;
	int64_t ts, dur, tid, memory, requested;
} event;

typedef struct reader {
	const ort_trace_source *source;
	char *window;
	size_t at, n;
	uint64_t before; /* bytes that left the window */
	bool ended, escaped;
	text scratch;
	event event;
	names names;
	mem_arena *arena;
	ort_trace trace;
	size_t ops_cap, runs_cap;
	dck_err *err;
} reader;

static dck_status malformed(const reader *r, const char *fmt, ...) DCK_PRINTF(2, 3);
static dck_status malformed(const reader *r, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	DCK_FAIL(r->err, E_FORMAT, "%s is malformed at byte %llu, in event %llu: %s",
		 r->source->label, (unsigned long long)(r->before + r->at),
		 (unsigned long long)r->trace.nevents, what);
}

static dck_status no_memory(const reader *r)
{
	DCK_FAIL(r->err, E_NOMEM, "no memory to read %s", r->source->label);
}

/* --- bytes */

/* How many of the `want` (at most AHEAD) bytes from here on there are. */
static size_t ahead(reader *r, size_t want)
{
	if (r->n - r->at >= want || r->ended)
		return r->n - r->at < want ? r->n - r->at : want;
	r->before += r->at;
	memmove(r->window, r->window + r->at, r->n - r->at);
	r->n -= r->at;
	r->at = 0;
	while (!r->ended && r->n < WINDOW) {
		size_t got = r->source->read(r->source->self, r->window + r->n, WINDOW - r->n);
		r->ended = got == 0;
		r->n += got;
	}
	return r->n < want ? r->n : want;
}

/* The byte `i` places on, or -1. */
static int look(reader *r, size_t i)
{
	if (r->n - r->at > i)
		return (unsigned char)r->window[r->at + i];
	return ahead(r, i + 1) > i ? (unsigned char)r->window[r->at + i] : -1;
}

static bool is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int next_solid(reader *r)
{
	while (is_blank(look(r, 0)))
		r->at++;
	return look(r, 0);
}

static dck_status expect(reader *r, char c)
{
	int found = next_solid(r);

	if (found < 0)
		return malformed(r, "it ends where '%c' must be: it was cut short", c);
	if (found != c)
		return malformed(r, "'%c' must be there", c);
	r->at++;
	return DCK_OK;
}

/* --- texts */

static bool text_put(text *t, char c)
{
	if (t->n + 1 >= t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 256;
		char *more = mem_resize(t->data, cap);
		if (!more)
			return false;
		t->data = more;
		t->cap = cap;
	}
	t->data[t->n++] = c;
	t->data[t->n] = '\0';
	return true;
}

static bool text_is(const text *t, const char *what)
{
	return t->n == strlen(what) && memcmp(t->data, what, t->n) == 0;
}

static size_t skip_blanks(reader *r, size_t i)
{
	while (i < AHEAD && is_blank(look(r, i)))
		i++;
	return i;
}

/* ": {" and a member or the end: names have been seen that hold the rest. */
static bool can_be_args(reader *r, size_t i)
{
	i = skip_blanks(r, i);
	if (look(r, i) != ':')
		return false;
	i = skip_blanks(r, i + 1);
	if (look(r, i) != '{')
		return false;
	i = skip_blanks(r, i + 1);
	return look(r, i) == '"' || look(r, i) == '}';
}

/* What may follow the closing quote of a value, which is i - 1 places on: the end of the object,
 * or the next member. Of a name, that is the end of an event, or a member that is known to
 * Chrome's traces. */
static bool can_follow(reader *r, size_t i, bool of_name)
{
	static const char *const keys[] = {"args", "cat", "dur", "id",	 "name", "ph",
					   "pid",  "s",	  "tid", "tdur", "ts",	 "tts"};

	i = skip_blanks(r, i);
	if (look(r, i) == '}') {
		if (!of_name)
			return true;
		i = skip_blanks(r, i + 1);
		return look(r, i) == ',' || look(r, i) == ']';
	}
	if (look(r, i) != ',')
		return false;
	i = skip_blanks(r, i + 1);
	if (look(r, i) != '"')
		return false;
	for (size_t k = 0; of_name && k < sizeof(keys) / sizeof(*keys); k++) {
		size_t n = strlen(keys[k]), end = i + 1 + n;
		if (ahead(r, end + 1) > end && r->window[r->at + end] == '"' &&
		    memcmp(r->window + r->at + i + 1, keys[k], n) == 0)
			return k > 0 || can_be_args(r, end + 1);
	}
	return !of_name;
}

static int hex4(const char *at)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		char c = at[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;
		if (digit < 0)
			return -1;
		v = v * 16 + digit;
	}
	return v;
}

static size_t utf8_put(char *to, unsigned long c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* One escape at *at, which moves behind it; returns how many bytes it is at `to`, 0: none. */
static size_t escape_read(const char **at, char *to)
{
	static const char from[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *s = *at + 1;
	const char *found = *s ? strchr(from, *s) : NULL;
	long c;

	if (found) {
		*at = s + 1;
		to[0] = means[found - from];
		return 1;
	}
	/* A NUL would end the name early, so it is none of ours. */
	if (*s != 'u' || (c = hex4(s + 1)) <= 0 || (c >= 0xdc00 && c < 0xe000))
		return 0;
	*at = s + 5;
	if (c >= 0xd800 && c < 0xdc00) {
		long low = s[5] == '\\' && s[6] == 'u' ? hex4(s + 7) : -1;
		if (low < 0xdc00 || low >= 0xe000)
			return 0;
		*at = s + 11;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	return utf8_put(to, (unsigned long)c);
}

/* JSON's escapes undone in place; a text with what is none stays as it is. */
static bool text_unescape(text *t)
{
	char one[4];

	if (!memchr(t->data, '\\', t->n))
		return true;
	for (int pass = 0; pass < 2; pass++) {
		const char *from = t->data;
		char *to = t->data;

		while (*from) {
			if (*from != '\\') {
				if (pass == 1)
					*to = *from;
				to++, from++;
				continue;
			}
			size_t n = escape_read(&from, one);
			if (n == 0)
				return false;
			if (pass == 1)
				memcpy(to, one, n);
			to += n;
		}
		if (pass == 1) {
			*to = '\0';
			t->n = (size_t)(to - t->data);
		}
	}
	return true;
}

/* A value in quotes; the opening one is where we are. */
static dck_status text_read(reader *r, text *ret, bool of_name)
{
	bool escape = false;

	ret->n = 0;
	ret->odd = false;
	if (ret->data)
		*ret->data = '\0';
	r->at++;
	for (;; r->at++) {
		int c = look(r, 0);
		if (c < 0)
			return malformed(r, "it ends within a text: it was cut short");
		if (c == '"' && !escape) {
			if (can_follow(r, 1, of_name))
				break;
			ret->odd = true;
		}
		if (c < ' ')
			ret->odd = true;
		if (ret->n >= TEXT_MAX)
			return malformed(r, "a text is longer than %u bytes", TEXT_MAX);
		/* A NUL cannot be in a name: it would be another name for us. */
		if (!text_put(ret, c ? (char)c : ' '))
			return no_memory(r);
		escape = c == '\\' && !escape;
	}
	r->at++;
	if (r->escaped && !ret->odd && ret->n > 0)
		ret->odd = !text_unescape(ret);
	return DCK_OK;
}

/* A member's name and the colon: short, and never with an escape. */
static dck_status key_read(reader *r, text *ret)
{
	DCK_TRY(expect(r, '"'));
	ret->n = 0;
	for (;; r->at++) {
		int c = look(r, 0);
		if (c < ' ' || c == '\\' || ret->n > 200)
			return malformed(r, "the name of a member must be there");
		if (c == '"')
			break;
		if (!text_put(ret, (char)c))
			return no_memory(r);
	}
	r->at++;
	if (ret->n == 0)
		return malformed(r, "a member has no name");
	return expect(r, ':');
}

/* --- values */

/* A list or an object that says nothing to us, whose texts are of ONNX Runtime's own making. */
static dck_status nested_skip(reader *r)
{
	char open[DEPTH_MAX];
	int depth = 0;

	do {
		int c = next_solid(r);
		if (c < 0)
			return malformed(r, "it ends within a list: it was cut short");
		if (c == '{' || c == '[') {
			if (depth == DEPTH_MAX)
				return malformed(r, "lists are nested more than %d deep",
						 DEPTH_MAX);
			open[depth++] = (char)(c == '{' ? '}' : ']');
		} else if (c == '}' || c == ']') {
			if (open[--depth] != c)
				return malformed(r, "'%c' must be there", open[depth]);
		} else if (c == '"') {
			bool escape = false;
			for (r->at++; (c = look(r, 0)) >= 0 && (escape || c != '"'); r->at++)
				escape = c == '\\' && !escape;
			if (c < 0)
				return malformed(r, "it ends within a text: it was cut short");
		}
		r->at++;
	} while (depth > 0);
	return DCK_OK;
}

static dck_status bare_read(reader *r, text *ret)
{
	ret->n = 0;
	for (;; r->at++) {
		int c = look(r, 0);
		if (c < 0 || c == ',' || c == '}' || c == ']' || is_blank(c))
			break;
		if (c < ' ' || c == '"' || c == '{' || c == '[' || ret->n > 64)
			return malformed(r, "a value must be there");
		if (!text_put(ret, (char)c))
			return no_memory(r);
	}
	return ret->n > 0 ? DCK_OK : malformed(r, "a value must be there");
}

static dck_status value_skip(reader *r)
{
	int c = next_solid(r);

	if (c == '{' || c == '[')
		return nested_skip(r);
	return c == '"' ? text_read(r, &r->scratch, false) : bare_read(r, &r->scratch);
}

/* A whole number, as such or as a text; what is behind its point is dropped. */
static dck_status number_read(reader *r, int64_t *ret)
{
	const char *at;
	uint64_t n = 0;

	if (next_solid(r) == '"')
		DCK_TRY(text_read(r, &r->scratch, false));
	else
		DCK_TRY(bare_read(r, &r->scratch));
	at = r->scratch.n > 0 ? r->scratch.data : "";
	bool negative = *at == '-';
	at += negative;
	if (*at < '0' || *at > '9')
		return malformed(r, "a number must be there");
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n) || n > INT64_MAX)
			return malformed(r, "a number is too large");
	if (*at && *at != '.')
		return malformed(r, "a number must be there");
	*ret = negative ? -(int64_t)n : (int64_t)n;
	return DCK_OK;
}

/* --- members of an event */

typedef enum member_kind { AS_TEXT, AS_NUMBER } member_kind;

typedef struct member {
	const char *key;
	member_kind kind;
	size_t at, has; /* has: 0: none */
} member;

#define TEXT(key, field)                                \
	{                                               \
		key, AS_TEXT, offsetof(event, field), 0 \
	}
#define TEXT_HAS(key, field)                                                       \
	{                                                                          \
		key, AS_TEXT, offsetof(event, field), offsetof(event, has_##field) \
	}
#define NUMBER(key, field)                                \
	{                                                 \
		key, AS_NUMBER, offsetof(event, field), 0 \
	}

static const member of_event[] = {
    TEXT("cat", category),
    TEXT("name", name),
    NUMBER("tid", tid),
    NUMBER("dur", dur),
    {"ts", AS_NUMBER, offsetof(event, ts), offsetof(event, has_ts)},
    {NULL, AS_TEXT, 0, 0},
};
static const member of_args[] = {
    TEXT_HAS("op_name", type),
    TEXT_HAS("provider", provider),
    TEXT_HAS("parent_name", parent),
    NUMBER("mem_bytes_in_use", memory),
    NUMBER("mem_bytes_requested_in_use", requested),
    {NULL, AS_TEXT, 0, 0},
};

static dck_status member_read(reader *r, const member *m)
{
	char *object = (char *)&r->event;

	if (m->kind == AS_NUMBER) {
		int64_t n = 0;
		DCK_TRY(number_read(r, &n));
		memcpy(object + m->at, &n, sizeof(n));
	} else {
		if (next_solid(r) != '"')
			return value_skip(r);
		DCK_TRY(
		    text_read(r, (text *)(void *)(object + m->at), m->at == offsetof(event, name)));
	}
	if (m->has)
		*(bool *)(object + m->has) = true;
	return DCK_OK;
}

static const member *member_find(const member *table, const text *key)
{
	for (const member *m = table; m->key; m++)
		if (text_is(key, m->key))
			return m;
	return NULL;
}

static dck_status object_read(reader *r, const member *table)
{
	const bool in_event = table == of_event;

	DCK_TRY(expect(r, '{'));
	if (next_solid(r) == '}') {
		r->at++;
		return DCK_OK;
	}
	for (;;) {
		DCK_TRY(key_read(r, &r->scratch));
		const member *m = member_find(table, &r->scratch);
		if (m)
			DCK_TRY(member_read(r, m));
		else if (in_event && text_is(&r->scratch, "args") && next_solid(r) == '{')
			DCK_TRY(object_read(r, of_args));
		else
			DCK_TRY(value_skip(r));
		if (next_solid(r) == '}')
			break;
		DCK_TRY(expect(r, ','));
	}
	r->at++;
	return DCK_OK;
}

/* --- what is kept */

static uint64_t hash_of(const char *s, size_t n)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 1099511628211u;
	return h;
}

static bool names_grow(names *t)
{
	size_t n = t->nslots ? 2 * t->nslots : 256;
	const char **slot = mem_zalloc(n, sizeof(*slot));

	if (!slot)
		return false;
	for (size_t i = 0; i < t->nslots; i++) {
		if (!t->slot[i])
			continue;
		size_t at = (size_t)hash_of(t->slot[i], strlen(t->slot[i])) & (n - 1);
		while (slot[at])
			at = (at + 1) & (n - 1);
		slot[at] = t->slot[i];
	}
	mem_free(t->slot);
	t->slot = slot;
	t->nslots = n;
	return true;
}

/* NULL: no memory. */
static const char *name_keep(reader *r, const char *s, size_t n)
{
	names *t = &r->names;

	if (2 * t->n >= t->nslots && !names_grow(t))
		return NULL;
	size_t at = (size_t)hash_of(s, n) & (t->nslots - 1);
	while (t->slot[at]) {
		if (strncmp(t->slot[at], s, n) == 0 && t->slot[at][n] == '\0')
			return t->slot[at];
		at = (at + 1) & (t->nslots - 1);
	}
	t->slot[at] = mem_arena_dup_n(r->arena, s, n);
	t->n += t->slot[at] != NULL;
	return t->slot[at];
}

/* Room for one more behind n of them. */
static bool list_grow(void **list, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return true;
	size_t more = *cap ? 2 * *cap : 256;
	void *p = mem_resize(*list, more * size);
	if (!p)
		return false;
	*list = p;
	*cap = more;
	return true;
}

static bool ends_in(const text *t, const char *end)
{
	size_t n = strlen(end);
	return t->n >= n && memcmp(t->data + t->n - n, end, n) == 0;
}

static dck_status op_keep(reader *r)
{
	const event *e = &r->event;
	ort_trace *t = &r->trace;
	void *list = t->ops;
	ort_trace_op op = {
	    .thread = e->tid,
	    .begin_us = (uint64_t)e->ts,
	    .duration_us = (uint64_t)e->dur,
	    .memory_bytes = e->requested != INT64_MIN ? e->requested : e->memory,
	};

	/* "_fence_before" and "_fence_after" of older versions are no operators. */
	if (!ends_in(&e->name, kernel_time))
		return DCK_OK;
	if (!list_grow(&list, t->nops, &r->ops_cap, sizeof(op)))
		return no_memory(r);
	t->ops = list;
	op.name = name_keep(r, e->name.data, e->name.n - (sizeof(kernel_time) - 1));
	if (e->has_type && e->type.n > 0)
		op.type = name_keep(r, e->type.data, e->type.n);
	if (e->has_provider && e->provider.n > 0)
		op.provider = name_keep(r, e->provider.data, e->provider.n);
	if (!op.name || mem_arena_failed(r->arena))
		return no_memory(r);
	t->ops[t->nops++] = op;
	return DCK_OK;
}

static dck_status run_keep(reader *r)
{
	const event *e = &r->event;
	ort_trace *t = &r->trace;
	void *list = t->runs;

	if (!text_is(&e->name, "model_run"))
		return DCK_OK;
	if (!list_grow(&list, t->nruns, &r->runs_cap, sizeof(*t->runs)))
		return no_memory(r);
	t->runs = list;
	t->runs[t->nruns++] = (ort_trace_run){.thread = e->tid,
					      .begin_us = (uint64_t)e->ts,
					      .duration_us = (uint64_t)e->dur,
					      .ops_before = t->nops};
	return DCK_OK;
}

/* A kernel on a device follows the operator that started it, and names it. */
static dck_status kernel_keep(reader *r)
{
	const event *e = &r->event;
	ort_trace *t = &r->trace;

	if (!e->has_parent || t->nops == 0 || !ends_in(&e->parent, kernel_time))
		return DCK_OK;
	ort_trace_op *op = &t->ops[t->nops - 1];
	size_t n = e->parent.n - (sizeof(kernel_time) - 1);
	if (strlen(op->name) == n && memcmp(op->name, e->parent.data, n) == 0) {
		op->has_device = true;
		op->device_us += (uint64_t)e->dur;
		if (op->device_us > US_MAX / 2)
			return malformed(r, "an event's 'ts' or 'dur' is no time");
	}
	return DCK_OK;
}

static dck_status event_keep(reader *r)
{
	static const struct {
		const char *category;
		dck_status (*keep)(reader *r);
	} kinds[] = {{"Node", op_keep}, {"Session", run_keep}, {"Kernel", kernel_keep}};
	const event *e = &r->event;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!text_is(&e->category, kinds[i].category))
			continue;
		if (!e->has_ts || e->ts < 0 || e->dur < 0 || (uint64_t)e->ts > US_MAX / 2 ||
		    (uint64_t)e->dur > US_MAX / 2)
			return malformed(r, "an event's 'ts' or 'dur' is no time");
		return kinds[i].keep(r);
	}
	return DCK_OK;
}

static void event_clear(event *e)
{
	text *const texts[] = {&e->name, &e->category, &e->type, &e->provider, &e->parent};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		texts[i]->n = 0;
	e->has_type = e->has_provider = e->has_parent = e->has_ts = false;
	e->ts = e->dur = e->tid = 0;
	e->memory = e->requested = INT64_MIN;
}

/* --- the file */

static dck_status events_read(reader *r)
{
	DCK_TRY(expect(r, '['));
	while (next_solid(r) != ']') {
		event_clear(&r->event);
		DCK_TRY(object_read(r, of_event));
		DCK_TRY(event_keep(r));
		if (++r->trace.nevents > EVENTS_MAX)
			DCK_FAIL(r->err, E_LIMIT, "%s has more than %u events", r->source->label,
				 EVENTS_MAX);
		if (next_solid(r) != ']')
			DCK_TRY(expect(r, ','));
	}
	r->at++;
	return next_solid(r) < 0 ? DCK_OK : malformed(r, "something follows the list of events");
}

/* The lists move into the arena, as they are known by now. */
static dck_status lists_take(reader *r, ort_trace *ret)
{
	ort_trace t = r->trace;

	t.ops = mem_arena_array(r->arena, t.nops, sizeof(*t.ops));
	t.runs = mem_arena_array(r->arena, t.nruns, sizeof(*t.runs));
	if (mem_arena_failed(r->arena))
		return no_memory(r);
	if (t.nops > 0)
		memcpy(t.ops, r->trace.ops, t.nops * sizeof(*t.ops));
	if (t.nruns > 0)
		memcpy(t.runs, r->trace.runs, t.nruns * sizeof(*t.runs));
	*ret = t;
	return DCK_OK;
}

dck_status ort_trace_read(const ort_trace_source *s, bool escaped, mem_arena *a, ort_trace *ret,
			  dck_err *err)
{
	reader r = {.source = s, .escaped = escaped, .arena = a, .err = err};

	r.window = mem_alloc(WINDOW);
	dck_status status = r.window ? events_read(&r) : no_memory(&r);
	if (status == DCK_OK)
		status = lists_take(&r, ret);
	mem_free(r.window);
	mem_free(r.scratch.data);
	mem_free(r.event.name.data);
	mem_free(r.event.category.data);
	mem_free(r.event.type.data);
	mem_free(r.event.provider.data);
	mem_free(r.event.parent.data);
	mem_free(r.names.slot);
	mem_free(r.trace.ops);
	mem_free(r.trace.runs);
	return status;
}

static size_t file_read(void *self, void *to, size_t n)
{
	return fread(to, 1, n, self);
}

dck_status ort_trace_read_file(const char *path, bool escaped, mem_arena *a, ort_trace *ret,
			       dck_err *err)
{
	char label[300];
	FILE *f = fopen(path, "rbe");

	if (!f)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot open ONNX Runtime's profile '%s'", path);
	snprintf(label, sizeof(label), "ONNX Runtime's profile '%s'", path);
	dck_status status =
	    ort_trace_read(&(ort_trace_source){file_read, f, label}, escaped, a, ret, err);
	int e = errno;
	bool failed = ferror(f) != 0;
	fclose(f);
	if (failed)
		DCK_FAIL_ERRNO(err, E_IO, e, "cannot read ONNX Runtime's profile '%s'", path);
	return status;
}

typedef struct bytes {
	const char *at;
	size_t n;
} bytes;

static size_t bytes_read(void *self, void *to, size_t n)
{
	bytes *b = self;

	if (n > b->n)
		n = b->n;
	if (n > 0)
		memcpy(to, b->at, n);
	b->at += n;
	b->n -= n;
	return n;
}

dck_status ort_trace_read_bytes(const void *data, size_t n, bool escaped, mem_arena *a,
				ort_trace *ret, dck_err *err)
{
	bytes b = {data, n};

	return ort_trace_read(&(ort_trace_source){bytes_read, &b, "ONNX Runtime's profile"},
			      escaped, a, ret, err);
}
