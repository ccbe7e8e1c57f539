/* lap.c - begins a lap, sets its values, ends it. The clocks are read last at the beginning and
 * first at the end, so that the overhead of a lap is outside its interval.
 *
 *     dck_lap *lap = dck_lap_begin("epoch");
 *     ...
 *     dck_lap_end(lap);
 *
 * Invariants: an open lap is in the list of open laps; an ended lap is freed when the last lap
 * inside it has ended, because those point to it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/lap.h"
#include "deepclock/unstable.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/os.h"
#include "profiler/lap/lap_line.h"
#include "profiler/lap/lap_show.h"
#include "profiler/lap/lap_store.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Not the system's thread number, which may be reused. 0: the thread has not started a lap. */
static _Thread_local uint64_t me;

static dck_lap *lap_innermost_of(const lap_state *s, uint64_t thread)
{
	dck_lap *l = s->newest;

	while (l && l->thread != thread)
		l = l->older;
	return l;
}

/* Releases a reference; a lap without references is freed and releases its parent. */
static void let_go(dck_lap *l)
{
	while (l && --l->holders == 0) {
		dck_lap *parent = l->parent;

		while (l->children) {
			lap_child *next = l->children->next;

			mem_free(l->children);
			l->children = next;
		}
		mem_free(l);
		l = parent;
	}
}

static void append(lap_state *s, dck_lap *l)
{
	l->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = l;
	s->newest = l;
	s->open++;
}

static void lap_take_out(lap_state *s, dck_lap *l)
{
	*(l->older ? &l->older->newer : &s->oldest) = l->newer;
	*(l->newer ? &l->newer->older : &s->newest) = l->older;
	s->open--;
}

/* When the expected laps are complete, the next lap starts a new series: a notebook's cell that is
 * run again, a second training. An open lap belongs to the old series. */
static void series_begin(lap_child *place)
{
	if (place->total == 0 || place->ended < place->total || place->ended < place->begun)
		return;
	place->begun = place->ended = 0;
	place->wall_sum_ns = 0;
}

static dck_lap *lap_new(lap_state *s, const char *name)
{
	if (me == 0)
		me = ++s->threads;
	lap_name *n = lap_name_get(s, name && *name ? name : "lap");
	dck_lap *parent = lap_innermost_of(s, me);
	lap_child *place = n ? lap_child_get(s, parent, n) : NULL;
	dck_lap *l = place ? mem_zalloc(1, sizeof *l) : NULL;

	if (!l) {
		++*(!n && s->nnames == LAP_NAMES_MAX ? &s->unnamed : &s->lost);
		return NULL;
	}
	series_begin(place);
	*l = (dck_lap){.parent = parent,
		       .name = n,
		       .place = place,
		       .index = ++place->begun,
		       .step = ++n->begun,
		       .depth = parent ? parent->depth + 1 : 0,
		       .holders = 1,
		       .thread = me};
	for (size_t i = 0; i < LAP_VALUES_MAX; i++)
		l->value[i] = NAN;
	if (parent)
		parent->holders++;
	append(s, l);
	return l;
}

/* A recording of ranges has the laps too; theirs are ranges that any thread may end. */
static dck_range range_begin(const dck_lap *l)
{
	dck_zone_site site = {.name = l->name->text, .file = ""};

	return dck_trace_on ? dck_zone_start(&site) : (dck_range){0};
}

dck_lap *dck_lap_begin(const char *name)
{
	lap_state *s = lap_lock();
	dck_lap *l = lap_new(s, name);

	if (l) {
		l->range = range_begin(l);
		l->begin_thread_ns = os_thread_cpu_ns();
		l->begin_cpu_ns = os_process_cpu_ns();
		l->begin_ns = os_now_ns();
		if (s->base_ns == 0) {
			s->base_ns = l->begin_ns;
			s->base_unix_ns = os_unix_ns();
		}
	}
	lap_unlock();
	return l;
}

void dck_lap_total(dck_lap *l, uint64_t total)
{
	if (!l)
		return;
	lap_lock();
	l->place->total = total;
	lap_unlock();
}

void dck_lap_value(dck_lap *l, const char *name, double value, const char *unit)
{
	if (!l || !name || (!isfinite(value) && strcmp(name, "items") == 0))
		return;
	lap_state *s = lap_lock();
	const size_t i = lap_value_column(l->name, name, unit);
	if (i < LAP_VALUES_MAX) {
		l->value[i] = value;
		l->given[i] = true;
	} else {
		s->values_lost++;
	}
	lap_unlock();
}

void dck_lap_device(dck_lap *l, dck_device_queue *q)
{
	if (l && !l->span)
		l->span = dck_device_span_begin(q);
}

uint64_t dck_lap_elapsed_ns(const dck_lap *l)
{
	return l ? os_now_ns() - l->begin_ns : 0;
}

/* Not negative where a clock went back, as after a checkpoint or a migration. */
static uint64_t lap_since(uint64_t now_ns, uint64_t begin_ns)
{
	return now_ns > begin_ns ? now_ns - begin_ns : 0;
}

/* The device's time is read first: it waits for what belongs to the lap. */
static void device_end(dck_lap *l)
{
	if (!l || !l->span)
		return;
	const double ns = dck_device_span_end(l->span);

	if (isfinite(ns))
		dck_lap_value(l, "device", ns, "ns");
}

void dck_lap_end_result(dck_lap *l, dck_lap_result *ret)
{
	device_end(l);
	const uint64_t now_ns = os_now_ns(), cpu_ns = os_process_cpu_ns(),
		       thread_ns = os_thread_cpu_ns();

	memset(ret, 0, sizeof *ret);
	if (!l)
		return;
	if (l->range.id)
		dck_zone_end(l->range);
	lap_state *s = lap_lock();
	ret->wall_ns = now_ns - l->begin_ns;
	ret->cpu_ns = lap_since(cpu_ns, l->begin_cpu_ns);
	ret->index = l->index;
	const lap_times t = {.wall_ns = (double)ret->wall_ns,
			     .cpu_ns = (double)ret->cpu_ns,
			     .thread_cpu_ns = l->thread == me
						  ? (double)lap_since(thread_ns, l->begin_thread_ns)
						  : NAN};

	if (!lap_keep(s, l, &t))
		s->lost++;
	lap_take_out(s, l);
	lap_line_text(l, &t, ret->line, sizeof ret->line);
	lap_show_ended(l, &t, ret->line);
	let_go(l);
	lap_unlock();
}

char *dck_lap_end_line(dck_lap *l, char *ret, size_t size)
{
	dck_lap_result result;

	dck_lap_end_result(l, &result);
	if (ret && size > 0) {
		snprintf(ret, size, "%s", result.line);
		utf8_cut_end(ret);
	}
	return ret;
}

void dck_lap_end(dck_lap *l)
{
	dck_lap_end_line(l, NULL, 0);
}

void dck_laps_reset(void)
{
	lap_forget(lap_lock());
	lap_unlock();
}
