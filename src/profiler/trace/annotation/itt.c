/* itt.c - programs that are annotated with ITT, Intel's ranges, are recorded unchanged: the static
 * part of ITT in a program loads the collector that INTEL_LIBITTNOTIFY64 names, and calls the
 * functions below. oneTBB, oneDNN, OpenVINO and PyTorch are annotated so. Layouts and names:
 * ittnotify.h and ittnotify_config.h of https://github.com/intel/ittapi, version 3.
 *
 *     INTEL_LIBITTNOTIFY64=libdeepclock.so DEEPCLOCK_TRACE=out.pftrace ./program
 *
 * Domains, strings and counters are created by the static part until it loads the collector, and
 * then by the collector, which may store private data in their `extra`. A task is a range of its
 * domain's stack. An overlapped task, and a frame, is a range that any thread may end. Functions
 * that are in no table here (locks, memory, stacks, times of other clocks, pause and resume) are
 * not forwarded by the static part.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/base.h"

#include "base/hash.h"
#include "base/mem.h"
#include "os/os.h"
#include "profiler/timeline/timeline.h"
#include "profiler/trace/annotation/annotation.h"

#include <pthread.h>
#include <string.h>

typedef void (*any_function)(void);

/* __itt_global, as far as it is needed. Each annotated library has its own. */
typedef struct part {
	unsigned char magic[8];
	unsigned long version[3];
	volatile long initialized, mutex_initialized, counter;
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct api {
		const char *name; /* NULL: the last */
		any_function *function;
		void *init;
		any_function null; /* the function used while nothing is recorded */
		int group;
	} * api;
} part;

typedef struct itt_domain { /* __itt_domain */
	volatile int flags;
	const char *name;
	void *wide;
	int extra1;
	void *extra2; /* annotation * */
	struct itt_domain *next;
} itt_domain;

typedef struct string { /* __itt_string_handle */
	const char *text;
	void *wide;
	int extra1;
	void *extra2; /* number of its name in a domain, and that domain's stack: itt_named() */
} string;

typedef struct counter { /* __itt_counter_info_t */
	const char *name;
	void *wide;
	const char *domain;
	void *domain_wide;
	int type; /* number_kind */
	long index;
	int extra1;   /* number of its name */
	void *extra2; /* its value, when it is counted up and down */
	struct counter *next;
} counter;

typedef struct task_id {
	unsigned long long d[3];
} task_id;

/* __itt_metadata_type */
typedef enum number_kind {
	NUMBER_U64 = 1,
	NUMBER_S64,
	NUMBER_U32,
	NUMBER_S32,
	NUMBER_U16,
	NUMBER_S16,
	NUMBER_FLOAT,
	NUMBER_DOUBLE
} number_kind;

/* --- what programs make: never freed, as the handles are theirs */

enum { STRING_SLOTS = 1 << 16 };
static _Atomic(itt_domain *) itt_domains;
static _Atomic(counter *) counters;
static _Atomic(string *) strings[STRING_SLOTS]; /* by hash */

static itt_domain *domain_create(const char *text)
{
	annotation *a = text ? annotation_domain(text) : NULL;

	if (!a)
		return NULL;
	for (itt_domain *d = atomic_load(&itt_domains); d; d = d->next)
		if (d->extra2 == a)
			return d;
	itt_domain *d = mem_zalloc(1, sizeof *d);
	if (!d)
		return NULL;
	*d = (itt_domain){
	    .flags = 1, .name = a->text, .extra2 = a, .next = atomic_load(&itt_domains)};
	while (!atomic_compare_exchange_weak(&itt_domains, &d->next, d))
		;
	return d;
}

/* Equal texts have one string handle: some programs create it before each task. */
static string *string_create(const char *text)
{
	static string other = {.text = TRACE_OTHER_NAMES};
	char whole[ANNOTATION_TEXT];

	if (!text)
		return NULL;
	annotation_text(NULL, text, whole);
	const size_t n = strlen(whole) + 1, from = (size_t)hash_text(HASH_START, whole);
	for (size_t i = 0; i < STRING_SLOTS / 64; i++) {
		_Atomic(string *) *slot = &strings[(from + i) % STRING_SLOTS];
		string *s = atomic_load(slot);

		if (!s) {
			string *made = mem_zalloc(1, sizeof *made + n);
			if (!made)
				return NULL;
			made->text = memcpy(made + 1, whole, n);
			if (atomic_compare_exchange_strong(slot, &s, made))
				return made;
			mem_free(made);
		}
		if (!strcmp(s->text, whole))
			return s;
	}
	return &other;
}

static counter *counter_create_typed(const char *text, const char *domain_text, int kind)
{
	annotation *a = text ? annotation_name_new(domain_text, text) : NULL;
	counter *c = a ? mem_zalloc(1, sizeof *c) : NULL;

	if (!c)
		return NULL;
	/* The name is the whole one. */
	*c = (counter){.name = a->text, .type = kind, .next = atomic_load(&counters)};
	while (!atomic_compare_exchange_weak(&counters, &c->next, c))
		;
	return c;
}

static counter *counter_create(const char *text, const char *domain_text)
{
	return counter_create_typed(text, domain_text, NUMBER_U64);
}

static counter *counter_create_in(const itt_domain *d, const char *text, int kind)
{
	return counter_create_typed(text, d ? d->name : NULL, kind);
}

/* --- names */

static const annotation *domain_of(const itt_domain *d)
{
	void **kept = (void **)&d->extra2;
	annotation *a = __atomic_load_n(kept, __ATOMIC_ACQUIRE);

	if (!a) {
		a = annotation_domain(d->name);
		__atomic_store_n(kept, a, __ATOMIC_RELEASE);
	}
	return a;
}

static uint32_t itt_stack_of(const itt_domain *d)
{
	const annotation *a = domain_of(d);

	return a ? a->stack : ANNOTATION_STACK_NONE;
}

static uint32_t itt_named(const itt_domain *d, const char *text)
{
	char whole[ANNOTATION_TEXT];

	annotation_text(annotation_text_of(domain_of(d)), text, whole);
	return annotation_id(whole, NULL);
}

/* Returns the id of a string's name in a domain. It is cached for the last domain: one word has
 * both, so that other threads never read half of it. */
static uint32_t itt_name_of(const itt_domain *d, string *s)
{
	enum { BITS = 16 };
	const uintptr_t stack = itt_stack_of(d);

	if (!s)
		return itt_named(d, "(no name)");
	const uintptr_t kept = (uintptr_t)__atomic_load_n(&s->extra2, __ATOMIC_RELAXED);
	if (kept && kept >> BITS == stack)
		return kept & ((1u << BITS) - 1);
	const uintptr_t id = itt_named(d, s->text);
	if (stack <= UINTPTR_MAX >> BITS && id >> BITS == 0)
		__atomic_store_n(&s->extra2, (void *)(stack << BITS | id), __ATOMIC_RELAXED);
	return (uint32_t)id;
}

/* --- tasks */

static void task_begin(const itt_domain *d, task_id id, task_id parent, string *name)
{
	(void)id, (void)parent;
	if (annotation_on())
		annotation_push(itt_stack_of(d), itt_name_of(d, name));
}

/* Starts a task named by a function's address. */
static void task_begin_fn(const itt_domain *d, task_id id, task_id parent, void *function)
{
	(void)function;
	task_begin(d, id, parent, NULL);
}

static void task_end(const itt_domain *d)
{
	annotation_pop(itt_stack_of(d));
}

/* The number of a range that the program identifies; of 2^62 it is hardly another's. */
static uint64_t itt_range_of(const itt_domain *d, const task_id *id)
{
	static const task_id none = {0};
	uint64_t hash = hash_number(HASH_START, (uintptr_t)d);

	for (int i = 0; i < 3; i++)
		hash = hash_number(hash, (id ? id : &none)->d[i]);
	return ANNOTATION_RANGE | hash >> 2;
}

static void overlapped_begin(const itt_domain *d, task_id id, task_id parent, string *name)
{
	(void)parent;
	if (annotation_on())
		annotation_start_as(itt_range_of(d, &id), itt_name_of(d, name));
}

static void overlapped_end(const itt_domain *d, task_id id)
{
	annotation_end(itt_range_of(d, &id));
}

static void frame_begin(const itt_domain *d, const task_id *id)
{
	if (annotation_on())
		annotation_start_as(itt_range_of(d, id), itt_named(d, "frame"));
}

static void frame_end(const itt_domain *d, const task_id *id)
{
	annotation_end(itt_range_of(d, id));
}

static void marker(const itt_domain *d, task_id id, string *name, int scope)
{
	(void)id, (void)scope;
	if (annotation_on())
		annotation_mark(itt_name_of(d, name));
}

/* --- numbers */

static double itt_number_of(number_kind kind, const void *at)
{
	union {
		uint64_t u64;
		int64_t s64;
		uint32_t u32;
		int32_t s32;
		uint16_t u16;
		int16_t s16;
		float f;
		double d;
	} v;
	static const unsigned char sizes[] = {8, 8, 8, 4, 4, 2, 2, 4, 8};

	memcpy(&v, at, sizes[kind >= NUMBER_U64 && kind <= NUMBER_DOUBLE ? kind : NUMBER_U64]);
	switch (kind) {
	case NUMBER_S64:
		return (double)v.s64;
	case NUMBER_U32:
		return v.u32;
	case NUMBER_S32:
		return v.s32;
	case NUMBER_U16:
		return v.u16;
	case NUMBER_S16:
		return v.s16;
	case NUMBER_FLOAT:
		return (double)v.f;
	case NUMBER_DOUBLE:
		return v.d;
	case NUMBER_U64:
	default:
		return (double)v.u64;
	}
}

/* Annotates the innermost task; a task with an id is not annotated, because it may be any open
 * one. */
static void metadata(const itt_domain *d, task_id id, string *key, int kind, size_t n,
		     const void *data)
{
	(void)d;
	if (kind < NUMBER_U64 || kind > NUMBER_DOUBLE) /* bytes of an unknown type */
		return;
	if (annotation_on() && key && n == 1 && data && !id.d[0] && !id.d[1] && !id.d[2])
		annotation_number(annotation_id(key->text, NULL),
				  itt_number_of((number_kind)kind, data));
}

static void counter_put(counter *c, double value)
{
	char whole[ANNOTATION_TEXT];
	uint32_t name = (uint32_t)__atomic_load_n(&c->extra1, __ATOMIC_RELAXED);

	if (!annotation_on())
		return;
	if (!name) {
		annotation_text(c->domain, c->name, whole);
		name = annotation_id(whole, NULL);
		__atomic_store_n(&c->extra1, (int)name, __ATOMIC_RELAXED);
	}
	annotation_counter(name, value);
}

static void counter_set(counter *c, const void *value)
{
	if (c && value)
		counter_put(c, itt_number_of((number_kind)c->type, value));
}

static void counter_add(counter *c, intptr_t by)
{
	if (c)
		counter_put(c, (double)__atomic_add_fetch((intptr_t *)(void *)&c->extra2, by,
							  __ATOMIC_RELAXED));
}

static void counter_inc(counter *c)
{
	counter_add(c, 1);
}

static void counter_dec(counter *c)
{
	counter_add(c, -1);
}

static void counter_inc_by(counter *c, unsigned long long by)
{
	counter_add(c, (intptr_t)by);
}

static void counter_dec_by(counter *c, unsigned long long by)
{
	counter_add(c, -(intptr_t)by);
}

/* --- events, the older way: ranges without a domain, which may overlap. */

enum { EVENTS_MAX = 1024 };
static struct event {
	uint32_t stack;
	_Atomic uint32_t name;
} events[EVENTS_MAX];
static _Atomic int nevents;

/* From 1 on; 0: there are too many. */
static int event_create(const char *text, int n)
{
	char whole[ANNOTATION_TEXT];
	const int at = atomic_fetch_add(&nevents, 1);

	if (at < 0 || at >= EVENTS_MAX) {
		atomic_store(&nevents, EVENTS_MAX); /* stays full */
		return 0;
	}
	(void)n; /* length of a text that is also NUL-terminated */
	annotation_text(NULL, text, whole);
	events[at].stack = annotation_stack_new();
	atomic_store(&events[at].name, annotation_id(whole, NULL));
	return at + 1;
}

static struct event *event_at(int number)
{
	const bool is = number > 0 && number <= EVENTS_MAX && events[number - 1].name;

	return is ? &events[number - 1] : NULL;
}

static int event_start(int number)
{
	const struct event *e = event_at(number);

	if (e)
		annotation_push(e->stack, e->name);
	return 0;
}

static int itt_event_end(int number)
{
	const struct event *e = event_at(number);

	if (e)
		annotation_pop(e->stack);
	return 0;
}

static void thread_name(const char *text)
{
	annotation_thread((uint32_t)os_thread_id(), text);
}

/* --- the functions, by their names */

static const struct {
	const char *name;
	any_function function;
} itt_functions[] = {
#define NAMED(name, f)                           \
	{                                        \
		"__itt_" name, (any_function)(f) \
	}
    NAMED("domain_create", domain_create),
    NAMED("string_handle_create", string_create),
    NAMED("counter_create", counter_create),
    NAMED("counter_create_typed", counter_create_typed),
    NAMED("counter_create_v3", counter_create_in),
    NAMED("task_begin", task_begin),
    NAMED("task_begin_fn", task_begin_fn),
    NAMED("task_end", task_end),
    NAMED("task_begin_overlapped", overlapped_begin),
    NAMED("task_end_overlapped", overlapped_end),
    NAMED("frame_begin_v3", frame_begin),
    NAMED("frame_end_v3", frame_end),
    NAMED("marker", marker),
    NAMED("metadata_add", metadata),
    NAMED("counter_set_value", counter_set),
    NAMED("counter_set_value_v3", counter_set),
    NAMED("counter_inc", counter_inc),
    NAMED("counter_dec", counter_dec),
    NAMED("counter_inc_delta", counter_inc_by),
    NAMED("counter_dec_delta", counter_dec_by),
    NAMED("event_create", event_create),
    NAMED("event_start", event_start),
    NAMED("event_end", itt_event_end),
    NAMED("thread_set_name", thread_name),
#undef NAMED
};

static any_function itt_function_of(const char *name)
{
	for (size_t i = 0; i < sizeof itt_functions / sizeof itt_functions[0]; i++)
		if (!strcmp(itt_functions[i].name, name))
			return itt_functions[i].function;
	return NULL;
}

/* Exported, as dck_nvtx_install() is. */
DCK_API void dck_itt_install(part *p);
DCK_API void __itt_api_init(part *p, int groups);

__attribute__((noinline)) void dck_itt_install(part *p)
{
	static const unsigned char magic[] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};

	if (!p || memcmp(p->magic, magic, sizeof magic) || p->version[0] < 3 || !p->api)
		return;
	for (struct api *a = p->api; a->name; a++) {
		const any_function f = itt_function_of(a->name);

		*a->function = f ? f : a->null;
	}
}

void __itt_api_init(part *p, int groups)
{
	(void)groups;
	dck_itt_install(p);
}
