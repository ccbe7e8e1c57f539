/* count_events.c - performance counters of one run by perf's names: perf_event_open(2)
 * (os/counters/perf_count.h), with the child's resource usage of wait4(2) as the fallback.
 *
 * count_events_open() parses the comma-separated lists, drops duplicates, and opens each event on
 * the calling thread: the child that this thread starts next inherits the counters. An event that
 * cannot be opened keeps the reason. If `usage_rows` has a row for it, its value is taken from the
 * resource usage, which covers processes that ended and were waited for; else the metric is absent
 * with that reason.
 *
 * If events share a hardware counter, the kernel multiplexes them. Then value x enabled / running
 * is reported, as perf stat does, and the metric states the share of time. Instructions per cycle
 * is a quotient of rates over running time, so that it is right for events that ran at different
 * times. A run has at most COUNT_EVENTS_MAX events.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/count/count_events.h"
#include "deepclock/unstable.h"

#include "base/commas.h"
#include "base/err.h"
#include "base/mem.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Default events without --events: the events that always exist and the most useful hardware
 * counters. */
static const char usual[] =
    "task-clock,cpu-clock,context-switches,cpu-migrations,page-faults,minor-faults,major-faults,"
    "cpu-cycles,instructions,branch-instructions,branch-misses,cache-misses,user_time,system_time,"
    "duration_time";

#define USE(member) offsetof(os_child_usage, member)
/* Counters of a program that has ended, with all its children that were waited for. */
static const struct {
	const char *name;
	size_t n, of[2]; /* the sum of n members of os_child_usage; 0: the time from start to end */
	const char *help; /* NULL: it is an event of the kernel's too */
} usage_rows[] = {
    {"task-clock", 2, {USE(user_ns), USE(system_ns)}, NULL},
    {"cpu-clock", 2, {USE(user_ns), USE(system_ns)}, NULL},
    {"context-switches", 2, {USE(voluntary_switches), USE(involuntary_switches)}, NULL},
    {"page-faults", 2, {USE(minor_faults), USE(major_faults)}, NULL},
    {"minor-faults", 1, {USE(minor_faults)}, NULL},
    {"major-faults", 1, {USE(major_faults)}, NULL},
    {"user_time", 1, {USE(user_ns)}, "processor time outside the kernel"},
    {"system_time", 1, {USE(system_ns)}, "processor time inside the kernel"},
    {"duration_time", 0, {0}, "time from the program's start to its end"},
};
enum { NUSAGE = sizeof usage_rows / sizeof usage_rows[0] };

static uint64_t usage_value(int row, const os_child_usage *u)
{
	uint64_t sum = 0, one;

	for (size_t i = 0; i < usage_rows[row].n; i++) {
		memcpy(&one, (const char *)u + usage_rows[row].of[i], sizeof one);
		sum += one;
	}
	return sum;
}

static int usage_find(const char *name)
{
	for (int i = 0; i < NUSAGE; i++)
		if (!strcmp(usage_rows[i].name, name))
			return i;
	return -1;
}

/* Returns the event whose name is nearest to an unknown one, or NULL. */
static const char *nearest(const char *name)
{
	const char *names[64];
	size_t n, ndefs;
	const perf_event_def *defs = perf_event_defs(&ndefs);

	for (n = 0; n < ndefs && n < 32; n++)
		names[n] = defs[n].name;
	for (size_t i = 0; i < ndefs && n < 48; i++)
		if (defs[i].alias)
			names[n++] = defs[i].alias;
	for (int i = 0; i < NUSAGE; i++)
		if (usage_rows[i].help)
			names[n++] = usage_rows[i].name;
	return dck_nearest(name, names, n);
}

static dck_status events_event_add(count_events *e, const char *name, dck_err *err)
{
	count_event own = {.counter = {.fd = -1}, .usage_row = usage_find(name)};

	if (own.usage_row >= 0 && usage_rows[own.usage_row].help) {
		snprintf(own.event.name, sizeof own.event.name, "%.40s", name);
		own.event.ns = true;
		own.why = "";
	} else if (!perf_event_find(name, &own.event)) {
		const char *near = nearest(name);

		DCK_FAIL(
		    err, E_ARG,
		    "there is no event '%.64s'%s%s%s: 'deepclock count --events list' shows them",
		    name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	} else {
		own.usage_row = own.event.user_only ? -1 : usage_find(own.event.name);
	}
	for (size_t i = 0; i < e->n; i++)
		if (!strcmp(e->all[i].event.name, own.event.name))
			return DCK_OK;
	if (e->n == COUNT_EVENTS_MAX)
		DCK_FAIL(err, E_LIMIT, "more than %d events at one time", COUNT_EVENTS_MAX);
	e->all[e->n++] = own;
	return DCK_OK;
}

static dck_status events_add(count_events *e, const char *names, dck_err *err)
{
	char name[64];

	for (commas_item item; commas_next(&names, &item);)
		DCK_TRY(events_event_add(e, commas_word(&item, name, sizeof name), err));
	return DCK_OK;
}

dck_status count_events_open(count_events *e, const dck_list *names, dck_err *err)
{
	e->n = 0;
	if (!names || names->n == 0)
		DCK_TRY(events_add(e, usual, err));
	for (size_t i = 0; names && i < names->n; i++)
		DCK_TRY(events_add(e, names->item[i], err));
	for (size_t i = 0; i < e->n; i++)
		if (!e->all[i].why)
			perf_counter_open(&e->all[i].event, &e->all[i].counter, &e->all[i].why);
	return DCK_OK;
}

void count_events_done(count_events *e)
{
	for (size_t i = 0; i < e->n; i++)
		perf_counter_close(&e->all[i].counter);
	e->n = 0;
}

void count_event_put(const count_event *e, const perf_counted *c, const char *tag,
		     record_builder *b)
{
	const char *whose =
	    e->counter.user_only && !e->event.user_only
		? "counted outside the kernel alone, since this user may see no more"
		: "counted by the kernel";

	char how[160];

	if (c->running_ns == 0 && c->enabled_ns > 0) {
		record_metric_absent(
		    b, tag, "it never got one of the processor's counters, which others use");
		return;
	}
	if (c->running_ns >= c->enabled_ns) {
		record_metric_int(b, tag, (int64_t)c->value, whose);
		return;
	}
	const double share = (double)c->running_ns / (double)c->enabled_ns;
	mem_print(how, sizeof how,
		  "%s in %.1f %% of the time, and scaled: several events shared a counter", whose,
		  100 * share);
	record_metric_real(b, tag, (double)c->value / share, how);
}

uint64_t count_events_value(const count_events *e, const char *name, const os_child_usage *usage)
{
	perf_counted c;

	for (size_t i = 0; i < e->n; i++)
		if (!strcmp(e->all[i].event.name, name) && !e->all[i].counter.user_only &&
		    perf_counter_read(&e->all[i].counter, &c) && c.running_ns >= c.enabled_ns)
			return c.value;
	return usage_value(usage_find(name), usage);
}

/* Writes instructions per cycle, the first figure that most readers need. */
static void ratio_put(const count_events *e, record_builder *b)
{
	perf_counted cycles = {0}, instructions = {0};

	for (size_t i = 0; i < e->n; i++) {
		if (!strcmp(e->all[i].event.name, "cpu-cycles"))
			perf_counter_read(&e->all[i].counter, &cycles);
		if (!strcmp(e->all[i].event.name, "instructions"))
			perf_counter_read(&e->all[i].counter, &instructions);
	}
	if (cycles.running_ns == 0 || instructions.running_ns == 0 || cycles.value == 0)
		return;
	record_metric_real(b, "counter/instructions_per_cycle",
			   (double)instructions.value / (double)instructions.running_ns /
			       ((double)cycles.value / (double)cycles.running_ns),
			   "instructions / cpu-cycles");
}

void count_events_put(const count_events *e, const os_child_usage *usage, uint64_t elapsed_ns,
		      record_builder *b)
{
	char tag[96];

	for (size_t i = 0; i < e->n; i++) {
		const count_event *own = &e->all[i];
		const int at = own->usage_row;
		perf_counted c;

		snprintf(tag, sizeof tag, "counter/%s", own->event.name);
		if (perf_counter_read(&own->counter, &c))
			count_event_put(own, &c, tag, b);
		else if (at >= 0 && usage_rows[at].n == 0)
			record_metric_int(b, tag, (int64_t)elapsed_ns,
					  "from the program's start to its end");
		else if (at >= 0 && usage)
			record_metric_int(b, tag, (int64_t)usage_value(at, usage),
					  "of the processes that ended and were waited for");
		else
			record_metric_absent(b, tag,
					     *own->why ? own->why : "the program did not end");
	}
	ratio_put(e, b);
}

/* --- the list of events */

/* Returns the i-th event that is known at the end only, or NULL. */
static const char *usage_name(size_t i, const char **ret_help)
{
	for (int k = 0; k < NUSAGE; k++)
		if (usage_rows[k].help && i-- == 0) {
			*ret_help = usage_rows[k].help;
			return usage_rows[k].name;
		}
	return NULL;
}

static _Thread_local char cache[48]; /* the cache event that was returned last */

bool dck_count_event_get(size_t i, dck_count_event *ret)
{
	perf_event e;
	size_t n;
	dck_count_event own = {0};
	const char *help = NULL, *name = NULL;
	size_t nusage = 0;

	const perf_event_def *defs = perf_event_defs(&n);
	while (usage_name(nusage, &help))
		nusage++;
	if (i < n) {
		own = (dck_count_event){defs[i].name, defs[i].alias, defs[i].help, NULL};
	} else if ((name = usage_name(i - n, &help))) {
		*ret = (dck_count_event){name, NULL, help, NULL};
		return true;
	} else {
		if (!perf_event_cache_name(i - n - nusage, cache, sizeof cache))
			return false;
		own = (dck_count_event){cache, NULL, "cache event", NULL};
	}
	if (perf_event_find(own.name, &e) && !perf_counter_open(&e, NULL, &own.absent) &&
	    usage_find(own.name) >= 0)
		own.absent = NULL; /* the kernel reports it at the end */
	*ret = own;
	return true;
}
