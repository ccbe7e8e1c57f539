/* trace_options.c - the table of recording options, and their transfer to the recorded program by
 * environment variables.
 *
 * dck_trace_options is the one definition: the command line, its help, the facts of records and the
 * environment are loops over this table. Option --max-size is DEEPCLOCK_TRACE_MAX_SIZE, a list has
 * a line per item, and --out is DEEPCLOCK_TRACE. An option with its default is an empty variable,
 * which replaces one of our own environment and is read as the default.
 *
 * The recorded program reads variables by secure_getenv(3), so a set-user-ID program ignores them,
 * and checks each value like an argument of the command line. A rate of the time stamp counter
 * (DEEPCLOCK_TRACE_TICK) is used only from 100 MHz to 100 GHz. Texts are copied into the caller's
 * arena.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/trace_options.h"
#include "deepclock/unstable.h"

#include "base/err.h"
#include "base/opt_text.h"
#include "os/os.h"
#include "profiler/timeline/zone_percentiles.h"
#include "profiler/trace/zone_limits.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const children_choices[] = {
    [DCK_TRACE_MERGE] = "merge", [DCK_TRACE_APART] = "apart", NULL};

const dck_opt dck_trace_options[] = {
    DCK_OPTION(TEXT, dck_trace_config, path, "out", "FILE", "trace.pftrace", "where the trace goes",
	       .letter = 'o'),
    DCK_OPTION(LIST, dck_trace_config, capture_ranges, "capture-range", "NAME", NULL,
	       "record only while a range of that name is open; may be repeated"),
    DCK_OPTION(COUNT, dck_trace_config, capture_times, "capture-times", "N", NULL,
	       "only the first N times", .min = 1, .max = 4e9, .needs = "capture-range"),
    DCK_OPTION(BYTES, dck_trace_config, last, "last", "SIZE", NULL,
	       "retain about this size of the newest events, and write them at the end",
	       .min = 65536, .max = 1e12, .excludes = "max-size"),
    DCK_OPTION(TEXT, dck_trace_config, dump_on, "dump-on", "SIGNAL", NULL,
	       "write them to a separate file at each of these signals: SIGUSR2", .needs = "last"),
    DCK_OPTION(LIST, dck_trace_config, limits, "limit", "NAME=TIME", NULL,
	       "and when a zone of that name takes longer; may be repeated", .needs = "last"),
    DCK_OPTION(BYTES, dck_trace_config, max_size, "max-size", "SIZE", NULL,
	       "the trace grows no larger", .min = 65536, .max = 1e18),
    DCK_OPTION(BYTES, dck_trace_config, buffer_bytes, "buffer", "SIZE", "64MiB",
	       "memory of the program for events that are not yet written", .min = 65536,
	       .max = 1073741824.0),
    DCK_FLAG(dck_trace_config, lossless, "lossless",
	     "a thread that finds this memory full waits, instead of dropping events"),
    DCK_OPTION(TIME, dck_trace_config, waits_ns, "waits", "TIME", "10us",
	       "record blocking calls that last at least this long", .min = 1, .max = 1e18),
    DCK_FLAG(dck_trace_config, no_waits, "no-waits",
	     "do not preload the interposition library: blocking calls are not recorded",
	     .excludes = "waits"),
    DCK_OPTION(TEXT, dck_trace_config, percentiles, "percentiles", "LIST", NULL,
	       "columns of the table: how long the calls took: p50,p90,p99"),
    DCK_OPTION(CHOICE, dck_trace_config, children, "children", "HOW", "merge",
	       "what becomes of the traces of child processes", .choices = children_choices),
    DCK_FLAG(dck_trace_config, sample, "sample",
	     "sample the stacks of its threads too, from inside the program",
	     .excludes = "max-size"),
    DCK_OPTION(COUNT, dck_trace_config, sample_rate, "sample-rate", "HZ", "997",
	       "samples of each second of a thread's time", .min = 1, .max = 100000,
	       .needs = "sample"),
    DCK_FLAG(dck_trace_config, cuda, "cuda",
	     "record kernels and copies on NVIDIA's GPUs, and the calls that start them"),
    {0},
};

static const char trace_variable[] = "DEEPCLOCK_TRACE";
static const char between[] = "\n"; /* the items of a list */

/* Returns the variable of an option: "DEEPCLOCK_TRACE_MAX_SIZE" for "max-size". */
static const char *trace_name_of(mem_arena *a, const dck_opt *row)
{
	if (row == dck_opt_find(dck_trace_options, "out"))
		return trace_variable;
	char *name = mem_arena_fmt(a, "%s_%s", trace_variable, row->name);

	for (char *c = name; c && *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	return name;
}

static const char *trace_list_text(mem_arena *a, const dck_list *list)
{
	const char *text = list->n ? list->item[0] : NULL;

	for (size_t i = 1; i < list->n && text; i++)
		text = mem_arena_fmt(a, "%s%s%s", text, between, list->item[i]);
	return text;
}

dck_status trace_environment_put(mem_arena *a, const dck_trace_config *c, const char **set,
				 size_t max, size_t *n, dck_err *err)
{
	dck_trace_config plain;

	DCK_TRY(dck_opt_defaults(dck_trace_options, &plain, err));
	plain.path = NULL;
	for (const dck_opt *o = dck_trace_options; o->name; o++) {
		const char *name = trace_name_of(a, o), *text = NULL;

		if (o->kind == DCK_OPT_LIST)
			text = trace_list_text(a, (const void *)((const char *)c + o->at));
		else if (!opt_same(o, c, &plain))
			text = opt_text(a, o, c);

		if (*n == max)
			DCK_FAIL(err, E_LIMIT, "recording has more than %zu options", max);
		/* An option that is not given must not come from our own environment. */
		set[(*n)++] = mem_arena_fmt(a, "%s=%s", name, text ? text : "");
	}
	return mem_arena_failed(a) ? ERR_NO_MEMORY(err, "for the environment of a program")
				   : DCK_OK;
}

static dck_status capture_check(const dck_trace_config *c, dck_err *err)
{
	for (size_t i = 0; i < c->capture_ranges.n; i++)
		if (!c->capture_ranges.item[i][0] || c->capture_ranges.item[i][0] == '@')
			DCK_FAIL(err, E_ARG, "'%.80s' is not a range: NAME, or NAME@DOMAIN",
				 c->capture_ranges.item[i]);
	if (c->capture_times && !c->capture_ranges.n)
		DCK_FAIL(err, E_ARG, "no range is named that is recorded %llu times",
			 (unsigned long long)c->capture_times);
	return DCK_OK;
}

/* In a zeroed config 0 is the default. */
static dck_status trace_fields_check(const dck_trace_config *c, dck_err *err)
{
	dck_trace_config plain, own = *c;

	DCK_TRY(dck_opt_defaults(dck_trace_options, &plain, err));
	if (own.buffer_bytes == 0)
		own.buffer_bytes = plain.buffer_bytes;
	if (own.waits_ns == 0)
		own.waits_ns = plain.waits_ns;
	if (own.sample_rate == 0)
		own.sample_rate = plain.sample_rate;
	return opt_fields_check(dck_trace_options, &own, err);
}

dck_status trace_config_check(const dck_trace_config *c, dck_err *err)
{
	const int number = c->dump_on ? os_signal_read(c->dump_on) : 0;
	zone_percentiles percentiles;

	DCK_TRY(trace_fields_check(c, err));
	DCK_TRY(zone_limits_check(&c->limits, err));
	DCK_TRY(capture_check(c, err));
	DCK_TRY(zone_percentiles_read(c->percentiles, &percentiles, err));
	if (!c->last && (c->dump_on || c->limits.n))
		DCK_FAIL(err, E_ARG,
			 "the newest events are written at a signal, or at a zone that takes too "
			 "long, only if these are retained: give their size (last)");
	if (!c->dump_on)
		return DCK_OK;
	if (!number)
		DCK_FAIL(err, E_ARG, "'%.40s' is not a signal: SIGUSR1, SIGUSR2, or another's name",
			 c->dump_on);
	if (!os_signal_may_ask(number))
		DCK_FAIL(
		    err, E_ARG,
		    "%.40s cannot request the newest events: it ends or stops a program; SIGUSR2 can",
		    c->dump_on);
	return DCK_OK;
}

static dck_status trace_list_get(const dck_opt *o, char *text, dck_trace_config *ret, dck_err *err)
{
	char *rest;

	for (char *item = strtok_r(text, between, &rest); item;
	     item = strtok_r(NULL, between, &rest))
		DCK_TRY(dck_opt_read(o, ret, item, err));
	return DCK_OK;
}

bool trace_environment_names(void)
{
	const char *path = secure_getenv(trace_variable);

	return path && *path;
}

dck_status trace_environment_get(mem_arena *a, dck_trace_config *ret, dck_err *err)
{
	DCK_TRY(dck_opt_defaults(dck_trace_options, ret, err));
	ret->path = NULL;
	for (const dck_opt *o = dck_trace_options; o->name; o++) {
		const char *name = trace_name_of(a, o), *text = name ? secure_getenv(name) : NULL;
		char *own = mem_arena_dup(a, text);

		DCK_NEED(!mem_arena_failed(a), err, "for the options of recording");
		if (!own || !*own)
			continue;
		DCK_TRY(o->kind == DCK_OPT_LIST ? trace_list_get(o, own, ret, err)
						: dck_opt_read(o, ret, own, err));
	}
	return DCK_OK;
}

dck_status trace_config_copy(mem_arena *a, const dck_trace_config *c, dck_trace_config *ret,
			     dck_err *err)
{
	*ret = *c;
	for (const dck_opt *o = dck_trace_options; o->name; o++) {
		void *at = (char *)ret + o->at;

		if (o->kind == DCK_OPT_TEXT)
			*(const char **)at = mem_arena_dup(a, *(const char **)at);
		for (size_t i = 0; o->kind == DCK_OPT_LIST && i < ((dck_list *)at)->n; i++)
			((dck_list *)at)->item[i] = mem_arena_dup(a, ((dck_list *)at)->item[i]);
	}
	return mem_arena_failed(a) ? ERR_NO_MEMORY(err, "for the options of recording") : DCK_OK;
}

const char *trace_path_absolute(mem_arena *a, const char *path)
{
	char here[4096];

	if (!path || path[0] == '/' || !os_getcwd(here, sizeof here))
		return path;
	return mem_arena_fmt(a, "%s/%s", here, path);
}

static const char tick_variable[] = "DEEPCLOCK_TRACE_TICK";

const char *trace_tick_put(mem_arena *a)
{
	os_clock_state s = {0};

	if (!os_clock_tsc(&s, NULL))
		return NULL;
	return mem_arena_fmt(a, "%s=%llu", tick_variable, (unsigned long long)s.ns_per_tick_q32);
}

uint64_t trace_tick_from_env(void)
{
	/* Rates from 100 MHz to 100 GHz. */
	const uint64_t least = (UINT64_C(1) << 32) / 100, most = (UINT64_C(1) << 32) * 10;
	const char *text = secure_getenv(tick_variable);
	const uint64_t tick = text ? strtoull(text, NULL, 10) : 0;

	return tick >= least && tick <= most ? tick : 0;
}
