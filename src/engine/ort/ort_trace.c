/* ort_trace.c - streaming parser of ONNX Runtime's profile, a JSON array of trace events.
 *
 * Events are decoded one at a time into the same struct. of_event[] and of_args[] map a member's
 * name to a field, so members come in any order and unknown ones are skipped; ort_scan.c is the
 * tokenizer. event_keep() selects by category: "Node" is an operator, "Session" a run, "Kernel"
 * adds to the device time of the operator before it. The order of the file, which is the order of
 * ends, is preserved: ort_profile.c relies on it.
 *
 * Names are interned in a hash table with open addressing and linear probing, at most half full,
 * since a long profile repeats few names. Lists grow by doubling and move into the caller's arena
 * at the end; all else is freed on every path.
 *
 * Bounds: EVENTS_MAX events; times are limited so that sums of two do not overflow; memory grows
 * with operators, runs and different names only; args are the only object that is entered, so depth
 * is two.
 *
 * Source: "Trace Event Format", https://perfetto.dev/docs/getting-started/other-formats
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/ort/ort_trace.h"

#include "base/err.h"
#include "base/hash.h"
#include "engine/ort/ort_scan.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define EVENTS_MAX 8000000u /* ONNX Runtime itself stops at 1 000 000 */
#define US_MAX	   ((uint64_t)INT64_MAX / 1000)

static const char kernel_time[] = "_kernel_time";

/* Set of interned names. */
typedef struct name_set {
	const char **slot;
	size_t nslots, n;
} name_set;

typedef struct event {
	ort_text name, category, type, provider, parent;
	bool has_type, has_provider, has_parent, has_ts;
	int64_t ts, dur, tid, memory, requested;
} event;

typedef struct reader {
	ort_scan scan; /* counts the events */
	event event;
	name_set names;
	mem_arena *arena;
	ort_trace trace;
	size_t ops_cap, runs_cap;
} reader;

/* --- members of an event */

typedef enum member_kind { AS_TEXT, AS_NUMBER } member_kind;

typedef struct member {
	const char *key;
	member_kind kind;
	size_t at, has; /* has: of a flag; 0: none */
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

static dck_status ort_member_read(reader *r, const member *m)
{
	char *object = (char *)&r->event;

	if (m->kind == AS_NUMBER) {
		int64_t n = 0;
		DCK_TRY(ort_scan_number(&r->scan, &n));
		memcpy(object + m->at, &n, sizeof n);
	} else {
		if (ort_scan_solid(&r->scan) != '"')
			return ort_scan_skip(&r->scan);
		DCK_TRY(ort_scan_text(&r->scan, (ort_text *)(void *)(object + m->at),
				      m->at == offsetof(event, name)));
	}
	if (m->has)
		*(bool *)(object + m->has) = true;
	return DCK_OK;
}

static const member *member_find(const member *table, const ort_text *key)
{
	for (const member *m = table; m->key; m++)
		if (ort_scan_is(key, m->key))
			return m;
	return NULL;
}

static dck_status object_read(reader *r, const member *table)
{
	const bool in_event = table == of_event;

	DCK_TRY(ort_scan_expect(&r->scan, '{'));
	if (ort_scan_solid(&r->scan) == '}') {
		r->scan.at++;
		return DCK_OK;
	}
	for (;;) {
		DCK_TRY(ort_scan_key(&r->scan, &r->scan.scratch));
		const member *m = member_find(table, &r->scan.scratch);
		if (m)
			DCK_TRY(ort_member_read(r, m));
		else if (in_event && ort_scan_is(&r->scan.scratch, "args") &&
			 ort_scan_solid(&r->scan) == '{')
			DCK_TRY(object_read(r, of_args));
		else
			DCK_TRY(ort_scan_skip(&r->scan));
		if (ort_scan_solid(&r->scan) == '}')
			break;
		DCK_TRY(ort_scan_expect(&r->scan, ','));
	}
	r->scan.at++;
	return DCK_OK;
}

/* --- operators, runs and kernels */

static bool names_grow(name_set *t)
{
	size_t n = t->nslots ? 2 * t->nslots : 256;
	const char **slot = mem_zalloc(n, sizeof *slot);

	if (!slot)
		return false;
	for (size_t i = 0; i < t->nslots; i++) {
		if (!t->slot[i])
			continue;
		size_t at =
		    (size_t)hash_bytes(HASH_START, t->slot[i], strlen(t->slot[i])) & (n - 1);
		while (slot[at])
			at = (at + 1) & (n - 1);
		slot[at] = t->slot[i];
	}
	mem_free(t->slot);
	t->slot = slot;
	t->nslots = n;
	return true;
}

/* Returns the interned name; NULL: no memory. */
static const char *ort_name_keep(reader *r, const char *s, size_t n)
{
	name_set *t = &r->names;

	if (2 * t->n >= t->nslots && !names_grow(t))
		return NULL;
	size_t at = (size_t)hash_bytes(HASH_START, s, n) & (t->nslots - 1);
	while (t->slot[at]) {
		if (strncmp(t->slot[at], s, n) == 0 && t->slot[at][n] == '\0')
			return t->slot[at];
		at = (at + 1) & (t->nslots - 1);
	}
	t->slot[at] = mem_arena_dup_n(r->arena, s, n);
	t->n += t->slot[at] != NULL;
	return t->slot[at];
}

static bool ort_ends_in(const ort_text *t, const char *end)
{
	size_t n = strlen(end);
	return t->n >= n && memcmp(t->data + t->n - n, end, n) == 0;
}

static dck_status op_keep(reader *r)
{
	const event *e = &r->event;
	ort_trace *t = &r->trace;
	ort_trace_op op = {
	    .thread = e->tid,
	    .begin_us = (uint64_t)e->ts,
	    .duration_us = (uint64_t)e->dur,
	    .memory_bytes = e->requested != INT64_MIN ? e->requested : e->memory,
	};

	/* "_fence_before" and "_fence_after" of older versions are not operators. */
	if (!ort_ends_in(&e->name, kernel_time))
		return DCK_OK;
	if (!mem_reserve(&t->ops, &r->ops_cap, t->nops + 1, sizeof(op)))
		return ort_scan_no_memory(&r->scan);
	op.name = ort_name_keep(r, e->name.data, e->name.n - (sizeof kernel_time - 1));
	if (e->has_type && e->type.n > 0)
		op.type = ort_name_keep(r, e->type.data, e->type.n);
	if (e->has_provider && e->provider.n > 0)
		op.provider = ort_name_keep(r, e->provider.data, e->provider.n);
	if (!op.name || mem_arena_failed(r->arena))
		return ort_scan_no_memory(&r->scan);
	t->ops[t->nops++] = op;
	return DCK_OK;
}

static dck_status run_keep(reader *r)
{
	const event *e = &r->event;
	ort_trace *t = &r->trace;

	if (!ort_scan_is(&e->name, "model_run"))
		return DCK_OK;
	if (!mem_reserve(&t->runs, &r->runs_cap, t->nruns + 1, sizeof *t->runs))
		return ort_scan_no_memory(&r->scan);
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

	if (!e->has_parent || t->nops == 0 || !ort_ends_in(&e->parent, kernel_time))
		return DCK_OK;
	ort_trace_op *op = &t->ops[t->nops - 1];
	size_t n = e->parent.n - (sizeof kernel_time - 1);
	if (strlen(op->name) == n && memcmp(op->name, e->parent.data, n) == 0) {
		op->has_device = true;
		op->device_ns += (uint64_t)e->dur * 1000;
		if (op->device_ns / 1000 > US_MAX / 2)
			return ort_scan_malformed(&r->scan,
						  "an event's 'ts' or 'dur' is not a time");
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

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (!ort_scan_is(&e->category, kinds[i].category))
			continue;
		if (!e->has_ts || e->ts < 0 || e->dur < 0 || (uint64_t)e->ts > US_MAX / 2 ||
		    (uint64_t)e->dur > US_MAX / 2)
			return ort_scan_malformed(&r->scan,
						  "an event's 'ts' or 'dur' is not a time");
		return kinds[i].keep(r);
	}
	return DCK_OK;
}

static void event_clear(event *e)
{
	ort_text *const texts[] = {&e->name, &e->category, &e->type, &e->provider, &e->parent};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		texts[i]->n = 0;
	e->has_type = e->has_provider = e->has_parent = e->has_ts = false;
	e->ts = e->dur = e->tid = 0;
	e->memory = e->requested = INT64_MIN;
}

/* --- the file */

static dck_status ort_events_read(reader *r)
{
	DCK_TRY(ort_scan_expect(&r->scan, '['));
	while (ort_scan_solid(&r->scan) != ']') {
		event_clear(&r->event);
		DCK_TRY(object_read(r, of_event));
		DCK_TRY(event_keep(r));
		if (++r->scan.events > EVENTS_MAX)
			DCK_FAIL(r->scan.err, E_LIMIT, "%s has more than %u events",
				 r->scan.source->label, EVENTS_MAX);
		if (ort_scan_solid(&r->scan) != ']')
			DCK_TRY(ort_scan_expect(&r->scan, ','));
	}
	r->scan.at++;
	return ort_scan_solid(&r->scan) < 0
		   ? DCK_OK
		   : ort_scan_malformed(&r->scan, "something follows the list of events");
}

/* Copies the lists into the arena, now that their lengths are known. */
static dck_status lists_take(reader *r, ort_trace *ret)
{
	ort_trace t = r->trace;

	t.nevents = r->scan.events;
	t.ops = mem_arena_array(r->arena, t.nops, sizeof *t.ops);
	t.runs = mem_arena_array(r->arena, t.nruns, sizeof *t.runs);
	if (mem_arena_failed(r->arena))
		return ort_scan_no_memory(&r->scan);
	if (t.nops > 0)
		memcpy(t.ops, r->trace.ops, t.nops * sizeof *t.ops);
	if (t.nruns > 0)
		memcpy(t.runs, r->trace.runs, t.nruns * sizeof *t.runs);
	*ret = t;
	return DCK_OK;
}

dck_status ort_trace_read(const ort_trace_source *s, bool escaped, mem_arena *a, ort_trace *ret,
			  dck_err *err)
{
	reader r = {.arena = a};
	ort_text *const texts[] = {&r.event.name, &r.event.category, &r.event.type,
				   &r.event.provider, &r.event.parent};

	dck_status status = ort_scan_init(&r.scan, s, escaped, err) ? ort_events_read(&r)
								    : ort_scan_no_memory(&r.scan);
	DCK_NEXT(status, lists_take(&r, ret));
	ort_scan_done(&r.scan);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		ort_text_done(texts[i]);
	mem_free(r.names.slot);
	mem_free(r.trace.ops);
	mem_free(r.trace.runs);
	return status;
}

typedef struct profile_file {
	int fd, failed; /* failed: the errno */
	uint64_t at;
} profile_file;

static size_t ort_file_read(void *self, void *to, size_t n)
{
	profile_file *f = self;
	ptrdiff_t got = os_read_at(f->fd, to, n, f->at);

	if (got < 0)
		f->failed = errno;
	f->at += got > 0 ? (size_t)got : 0;
	return got > 0 ? (size_t)got : 0;
}

dck_status ort_trace_read_file(const char *path, bool escaped, mem_arena *a, ort_trace *ret,
			       dck_err *err)
{
	char label[300];
	profile_file f = {.fd = os_open_read(path)};

	if (f.fd < 0)
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot open ONNX Runtime's profile '%s'", path);
	snprintf(label, sizeof label, "ONNX Runtime's profile '%s'", path);
	dck_status status =
	    ort_trace_read(&(ort_trace_source){ort_file_read, &f, label}, escaped, a, ret, err);
	os_close(f.fd);
	if (f.failed)
		DCK_FAIL_ERRNO(err, E_IO, f.failed, "cannot read ONNX Runtime's profile '%s'",
			       path);
	return status;
}
