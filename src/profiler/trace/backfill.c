/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/backfill.h"

#include "profiler/trace/zone_names.h"

#include <stdio.h>
#include <string.h>

enum { PAST_NAME_BYTES = 256 };

void dck_past_begin(past *p, uint64_t ns)
{
	*p = (past){.on = trace_is_recording(), .at = thread_buffer_me.next, .ns = {ns, ns}};
	thread_buffer_me.quiet = thread_buffer_me.next;
	if (p->on)
		p->ticks[0] = p->ticks[1] = ticks_now();
}

bool dck_past_end(past *p, uint64_t ns)
{
	if (!p->on || !trace_is_recording() || thread_buffer_me.next != p->at)
		return false;
	p->ns[1] = ns;
	p->ticks[1] = ticks_now();
	return true;
}

static uint64_t ticks_of(const past *p, uint64_t ns)
{
	if (ns <= p->ns[0])
		return p->ticks[0];
	if (ns >= p->ns[1])
		return p->ticks[1];
	const double share = (double)(ns - p->ns[0]) / (double)(p->ns[1] - p->ns[0]);
	return p->ticks[0] + (uint64_t)(share * (double)(p->ticks[1] - p->ticks[0]));
}

uint32_t dck_past_name(const char *category, const char *text)
{
	char cut[PAST_NAME_BYTES];

	if (strlen(text) < sizeof cut)
		return zone_name_intern_in(category, text, "", 0);
	snprintf(cut, sizeof cut, "%.*s...", (int)sizeof cut - 4, text);
	return zone_name_intern_in(category, cut, "", 0);
}

void dck_past_push(const past *p, uint32_t name, uint64_t ns)
{
	thread_buffer_put(ticks_of(p, ns), LANE_WORD(LANE_PUSH, name));
}

void dck_past_pop(const past *p, uint64_t ns)
{
	thread_buffer_put(ticks_of(p, ns), LANE_WORD(LANE_POP, 0));
}

void dck_past_number(const past *p, uint32_t name, double value, uint64_t ns)
{
	thread_buffer_put_value(ticks_of(p, ns), LANE_WORD(LANE_NUMBER, name),
				thread_buffer_bits(value));
}

bool dck_past_thread_begin(past *p, int tid, const char *name)
{
	return thread_buffer_proxy_begin(&p->own, tid, name);
}

void dck_past_thread_end(past *p)
{
	thread_buffer_guest_end(&p->own);
}
