/* capture.c - capture windows (--capture-range): a lock-free gate by which threads record only
 * while a range of a requested name is open anywhere in the process.
 *
 * `window_state` has two counters in one word: windows opened, and open ranges that hold the
 * window. One compare-and-swap changes both, so exactly one thread opens a window and one closes
 * it. The times are in a ring of WINDOWS entries. The beginning is the first time stored. The end
 * goes from OPEN to CLOSING to a time, and the clock is read after CLOSING is visible; any thread
 * that finds CLOSING stores the time (helping), so none waits for an interrupted one.
 *
 * `held_windows` counts, per thread, the depth of the stacks that hold a window, because a pop has
 * no name. Ranges that any thread may end are in `started`, an open-addressing hash table with at
 * most STARTED_NEAR probes.
 *
 * All but arming is async-signal-safe: no lock, no allocation, thread-local storage of the
 * initial-exec model. capture_arm() is called while nothing records, and never frees a list of
 * names, because a late thread may still read it. The drain alone releases windows; if WINDOWS are
 * unreleased, new windows are not recorded, but counted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/capture.h"
#include "deepclock/unstable.h"

#include "base/hash.h"
#include "base/mem.h"
#include "profiler/trace/zone_names.h"

#include <string.h>

enum {
	WINDOWS = 4096,	    /* maximum lag of the drain or of a late event */
	MANY = WINDOWS / 2, /* from this number on some are released */
	STACKS = 4,	    /* per thread, that may hold a window at a time */
	STARTED = 4096,	    /* ranges that any thread may end */
	STARTED_NEAR = 32,  /* slots that are probed, from its hash on */
	UNKNOWN = 0,
	NO,
	YES /* whether a name is requested */
};
#define OPEN	   UINT64_MAX
#define CLOSING	   (UINT64_MAX - 1)
#define OPENED_ONE (UINT64_C(1) << 63) /* flag of a range in `started`: it holds a window */

_Atomic bool capture_on, zones_plain;

/* The requested names. Never freed: a thread may still read them after the recording. */
typedef struct asked_names {
	struct asked_names *next;
	dck_list names; /* @owned */
	_Atomic uint8_t known[ZONE_NAMES_MAX];
} asked_names;
static asked_names *all_asked;
static _Atomic(asked_names *) asked_now;

static struct {
	_Atomic uint64_t begin, end; /* begin 0: not stored yet */
} windows[WINDOWS];
/* Upper half: windows opened. Lower half: open ranges that hold the window. */
static _Atomic uint64_t window_state;
static _Atomic uint32_t windows_released;
static _Atomic uint64_t released_ticks, left_out, times_max;
static _Atomic uint64_t started[STARTED];
static _Atomic uint32_t recordings;

/* The stacks of this thread that hold a window, and the depth of each, counted from the outermost
 * range that holds it. */
static _Thread_local struct {
	uint32_t recording; /* to which this belongs */
	struct {
		uint32_t stack, depth;
	} on[STACKS];
} held_windows __attribute__((tls_model("initial-exec")));

static uint32_t capture_begun(uint64_t s)
{
	return (uint32_t)(s >> 32);
}

bool capture_open(void)
{
	return (uint32_t)atomic_load_explicit(&window_state, memory_order_relaxed) != 0;
}

/* --- names */

/* Compares with "step" or "mine:step", or with "step@mine" or "step@*", as NVIDIA's tools write
 * them. */
static bool capture_is_meant(const char *text, const char *name)
{
	const char *at = strrchr(text, '@');
	const size_t n = at ? (size_t)(at - text) : 0, whole = strlen(name);

	if (!strcmp(text, name))
		return true;
	if (!at || whole < n || strncmp(name + whole - n, text, n) != 0)
		return false;
	const size_t before = whole - n; /* "mine:" */
	if (!strcmp(at + 1, "*"))
		return !before || name[before - 1] == ':';
	return before == strlen(at + 1) + 1 && name[before - 1] == ':' &&
	       !strncmp(name, at + 1, before - 1);
}

static inline bool is_asked(uint32_t name)
{
	asked_names *a = atomic_load_explicit(&asked_now, memory_order_acquire);

	if (!a || name >= ZONE_NAMES_MAX)
		return false;
	uint8_t known = atomic_load_explicit(&a->known[name], memory_order_relaxed);
	if (known == UNKNOWN) {
		known = NO;
		for (size_t i = 0; i < a->names.n; i++)
			if (capture_is_meant(a->names.item[i], zone_name_get(name)->text))
				known = YES;
		atomic_store_explicit(&a->known[name], known, memory_order_relaxed);
	}
	return known == YES;
}

const char *capture_nearest(void)
{
	const asked_names *a = atomic_load(&asked_now);
	const char **names = a ? mem_zalloc(ZONE_NAMES_MAX, sizeof *names) : NULL, *near = NULL;
	const size_t n = names ? zone_names_list(names, ZONE_NAMES_MAX) : 0;

	for (size_t k = 0; names && !near && k < a->names.n; k++) {
		const char *text = a->names.item[k];

		/* The request lacks the domain. */
		for (size_t i = 0; i < n && !near; i++) {
			const char *colon = strrchr(names[i], ':');

			near = colon && !strcmp(colon + 1, text) ? names[i] : NULL;
		}
		near = near ? near : dck_nearest(text, names, n);
	}
	mem_free(names);
	return near;
}

/* --- windows */

/* Starts a range that holds a window, at *ret_now. Returns false if no further window may open. */
static bool capture_enter(uint64_t *ret_now)
{
	const uint64_t times = atomic_load_explicit(&times_max, memory_order_relaxed);
	uint64_t was = atomic_load(&window_state), is;
	bool first;

	do {
		const uint32_t behind = capture_begun(was) - atomic_load(&windows_released);

		first = !(uint32_t)was;
		if (first && times && capture_begun(was) >= times)
			return false;
		if (first && behind >= WINDOWS) {
			atomic_fetch_add(&left_out, 1);
			return false;
		}
		is = was + 1 + (first ? UINT64_C(1) << 32 : 0);
	} while (!atomic_compare_exchange_weak(&window_state, &was, is));
	/* The window begins at the first timestamp stored; a thread with an earlier timestamp uses
	 * the stored one. */
	const uint64_t now = ticks_now();
	uint64_t begin = 0;
	*ret_now = now;
	if (!atomic_compare_exchange_strong(&windows[(capture_begun(is) - 1) % WINDOWS].begin,
					    &begin, now) &&
	    now < begin)
		*ret_now = begin;
	if (first && capture_begun(is) - atomic_load(&windows_released) == MANY)
		thread_buffers_wake();
	return true;
}

/* Returns the end time of a window that is marked closing. */
static uint64_t capture_end_of(uint32_t i)
{
	uint64_t end = CLOSING;
	const uint64_t now = ticks_now();

	return atomic_compare_exchange_strong(&windows[i % WINDOWS].end, &end, now) ? now : end;
}

static void leave(void)
{
	uint64_t was = atomic_load(&window_state), open = OPEN;

	do {
		if (!(uint32_t)was)
			return;
	} while (!atomic_compare_exchange_weak(&window_state, &was, was - 1));
	if ((uint32_t)was != 1)
		return;
	const uint32_t i = capture_begun(was) - 1;
	if (atomic_compare_exchange_strong(&windows[i % WINDOWS].end, &open, CLOSING))
		(void)capture_end_of(i);
}

bool capture_window_get(uint32_t i, capture_window *ret)
{
	if (capture_begun(atomic_load(&window_state)) - i - 1 >= WINDOWS)
		return false;
	ret->begin = atomic_load(&windows[i % WINDOWS].begin);
	ret->end = atomic_load(&windows[i % WINDOWS].end);
	/* The thread that ends it may not have stored the time yet. */
	if (ret->begin && ret->end == CLOSING)
		ret->end = capture_end_of(i);
	return ret->begin;
}

uint32_t capture_released(void)
{
	return atomic_load(&windows_released);
}

uint32_t capture_releasable(uint64_t ticks)
{
	uint32_t i = atomic_load(&windows_released);
	capture_window w;

	while (capture_begun(atomic_load(&window_state)) - i > MANY && capture_window_get(i, &w) &&
	       w.end <= ticks)
		i++;
	return i;
}

static void window_clear(uint32_t slot)
{
	atomic_store_explicit(&windows[slot].begin, 0, memory_order_relaxed);
	atomic_store_explicit(&windows[slot].end, OPEN, memory_order_relaxed);
}

void capture_release(uint32_t before)
{
	for (uint32_t i = atomic_load(&windows_released); i != before; i++) {
		atomic_fetch_add(&released_ticks, atomic_load(&windows[i % WINDOWS].end) -
						      atomic_load(&windows[i % WINDOWS].begin));
		window_clear(i % WINDOWS);
		atomic_store(&windows_released, i + 1);
	}
}

capture_counts capture_counted(uint64_t now)
{
	capture_counts c = {.windows = capture_begun(atomic_load(&window_state)),
			    .ticks = atomic_load(&released_ticks),
			    .left_out = atomic_load(&left_out)};
	capture_window w, next;

	for (uint32_t i = capture_released(); capture_window_get(i, &w); i++) {
		const uint64_t last = capture_window_get(i + 1, &next) ? next.begin : now;
		const uint64_t end = w.end < last ? w.end : last;

		c.ticks += end > w.begin ? end - w.begin : 0;
	}
	return c;
}

/* --- ranges that any thread may end */

static bool started_put(uint64_t id, uint64_t mark)
{
	const uint64_t at = hash_number(HASH_START, id);

	for (uint64_t i = 0; i < STARTED_NEAR; i++) {
		uint64_t empty = 0;

		if (atomic_compare_exchange_strong(&started[(at + i) % STARTED], &empty, id | mark))
			return true;
	}
	return false;
}

/* Removes and returns the entry of a range; 0: none. */
static uint64_t started_take(uint64_t id)
{
	const uint64_t at = hash_number(HASH_START, id);

	for (uint64_t i = 0; i < STARTED_NEAR; i++) {
		uint64_t got = atomic_load(&started[(at + i) % STARTED]);

		if (got && (got & ~OPENED_ONE) == id &&
		    atomic_compare_exchange_strong(&started[(at + i) % STARTED], &got, 0))
			return got;
	}
	return 0;
}

/* --- events */

typedef struct verdict {
	bool put, leaves;
	uint64_t now; /* 0: not yet read from the clock */
} verdict;

static uint32_t *capture_depth_of(uint32_t stack)
{
	const uint32_t recording = atomic_load_explicit(&recordings, memory_order_relaxed);

	if (held_windows.recording != recording) {
		memset(held_windows.on, 0, sizeof held_windows.on);
		held_windows.recording = recording;
	}
	for (int i = 0; i < STACKS; i++)
		if (held_windows.on[i].depth && held_windows.on[i].stack == stack)
			return &held_windows.on[i].depth;
	return NULL;
}

static bool capture_hold(uint32_t stack, uint64_t *ret_now)
{
	for (int i = 0; i < STACKS; i++)
		if (!held_windows.on[i].depth) {
			if (!capture_enter(ret_now))
				return false;
			held_windows.on[i].stack = stack;
			held_windows.on[i].depth = 1;
			return true;
		}
	return false;
}

static verdict capture_push(uint64_t word)
{
	uint32_t *depth = capture_depth_of(LANE_STACK_OF(word));
	verdict v = {0};

	if (depth)
		(*depth)++;
	else if (is_asked((uint32_t)word))
		v.put = capture_hold(LANE_STACK_OF(word), &v.now);
	v.put = v.put || capture_open();
	return v;
}

static verdict capture_pop(uint64_t word)
{
	uint32_t *depth = capture_depth_of(LANE_STACK_OF(word));

	if (depth && --*depth == 0)
		return (verdict){.put = true, .leaves = true};
	return (verdict){.put = capture_open()};
}

static verdict capture_start(uint64_t word, uint64_t id)
{
	verdict v = {0};

	v.leaves = is_asked((uint32_t)word) && capture_enter(&v.now);
	if (v.leaves || capture_open())
		v.put = started_put(id, v.leaves ? OPENED_ONE : 0);
	v.leaves = v.leaves && !v.put;
	return v;
}

/* A range that started inside a window is recorded to its end. */
static verdict capture_end(uint64_t id)
{
	const uint64_t was = started_take(id);

	return (verdict){.put = was, .leaves = was & OPENED_ONE};
}

/* The fast path outside windows: only a requested range opens one. */
static inline bool counts_for_nothing(thread_buffer_kind kind, uint64_t word)
{
	if (capture_open() || kind == LANE_END)
		return false;
	return (kind != LANE_PUSH && kind != LANE_START) || !is_asked((uint32_t)word);
}

bool capture_put_armed(uint64_t word, uint64_t value, bool has_value)
{
	const thread_buffer_kind kind = LANE_KIND(word);

	if (counts_for_nothing(kind, word))
		return false;
	const verdict v = kind == LANE_PUSH    ? capture_push(word)
			  : kind == LANE_POP   ? capture_pop(word)
			  : kind == LANE_START ? capture_start(word, value)
			  : kind == LANE_END   ? capture_end(value)
					       : (verdict){.put = capture_open()};

	if (v.put && has_value)
		thread_buffer_put_value(v.now ? v.now : ticks_now(), word, value);
	else if (v.put)
		thread_buffer_put(v.now ? v.now : ticks_now(), word);
	if (v.leaves)
		leave();
	return v.put;
}

/* --- arming */

static bool same(const dck_list *a, const dck_list *b)
{
	bool is = a->n == b->n;

	for (size_t i = 0; is && i < a->n; i++)
		is = !strcmp(a->item[i], b->item[i]);
	return is;
}

static asked_names *capture_made(const dck_list *names)
{
	asked_names *a = mem_zalloc(1, sizeof *a);

	for (; a && a->names.n < names->n; a->names.n++) {
		char *text = mem_dup(names->item[a->names.n]);

		if (!text)
			break;
		a->names.item[a->names.n] = text;
	}
	if (a && a->names.n < names->n) {
		while (a->names.n > 0)
			mem_free((char *)(uintptr_t)a->names.item[--a->names.n]);
		mem_free(a);
		return NULL;
	}
	return a;
}

bool capture_arm(const dck_list *names, uint64_t times)
{
	asked_names *a = all_asked;

	capture_disarm();
	if (!names->n)
		return true;
	while (a && !same(&a->names, names))
		a = a->next;
	if (!a) {
		a = capture_made(names);
		if (!a)
			return false;
		a->next = all_asked;
		all_asked = a;
	}
	for (uint32_t i = 0; i < WINDOWS; i++)
		window_clear(i);
	for (size_t i = 0; i < STARTED; i++)
		atomic_store_explicit(&started[i], 0, memory_order_relaxed);
	atomic_store(&window_state, 0);
	atomic_store(&windows_released, 0);
	atomic_store(&released_ticks, 0);
	atomic_store(&left_out, 0);
	atomic_store(&times_max, times);
	atomic_fetch_add(&recordings, 1);
	atomic_store(&asked_now, a);
	atomic_store(&capture_on, true);
	atomic_store(&zones_plain, false); /* in this order: zone.c, listeners() */
	return true;
}

void capture_disarm(void)
{
	atomic_store(&capture_on, false);
}
