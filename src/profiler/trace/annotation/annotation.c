/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/annotation/annotation.h"

#include "deepclock/zone.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "profiler/trace/capture.h"
#include "profiler/trace/thread_buffer.h"
#include "profiler/trace/zone_names.h"

#include <stdio.h>
#include <string.h>

/* Few, since little static thread-local storage is available to a library that is loaded late. */
enum { DEPTHS = 24 };

static annotation *_Atomic annotation_names, *_Atomic annotation_domains;
static _Atomic uint32_t stacks = ANNOTATION_STACK_NONE;

/* Ranges that are open on this thread, by stack; the last counts for all further stacks. */
static _Thread_local uint16_t depths[DEPTHS];

bool annotation_on(void)
{
	return __atomic_load_n(&dck_trace_on, __ATOMIC_RELAXED) & LISTEN_RECORD;
}

/* --- names */

void annotation_text_wide(const wchar_t *from, char to[ANNOTATION_TEXT])
{
	size_t used = 0;

	for (; from && *from && used + UTF8_BYTES_MAX < ANNOTATION_TEXT; from++)
		used += utf8_put(to + used, (uint32_t)*from > 0x10ffff ? 0xfffd : (uint32_t)*from);
	to[used] = '\0';
}

/* Returns the length of the text, at most `most`, cut at a character's border. */
static int annotation_cut(const char *text, size_t most)
{
	const size_t n = strnlen(text, most + 1);

	return (int)(n <= most ? n : utf8_cut(text, most));
}

void annotation_text(const char *domain, const char *text, char to[ANNOTATION_TEXT])
{
	enum { DOMAIN_BYTES = ANNOTATION_TEXT / 4, TEXT_BYTES = ANNOTATION_TEXT / 2 };

	text = text ? text : "";
	if (domain)
		snprintf(to, ANNOTATION_TEXT, "%.*s:%.*s", annotation_cut(domain, DOMAIN_BYTES),
			 domain, annotation_cut(text, TEXT_BYTES), text);
	else
		snprintf(to, ANNOTATION_TEXT, "%.*s", annotation_cut(text, TEXT_BYTES), text);
}

uint32_t annotation_id(const char *text, const char *category)
{
	return zone_name_intern_in(category, text, "", 0);
}

uint32_t annotation_stack_new(void)
{
	const uint32_t stack = atomic_fetch_add(&stacks, 1) + 1;

	return stack < LANE_STACK_MAX ? stack : LANE_STACK_MAX;
}

static annotation *annotation_made(annotation *_Atomic *list, const char *domain, const char *text)
{
	char whole[ANNOTATION_TEXT];

	annotation_text(domain, text, whole);
	const size_t n = strlen(whole) + 1;
	annotation *ret = mem_zalloc(1, sizeof *ret + n);
	if (!ret)
		return NULL;
	memcpy(ret->text, whole, n);
	if (list == &annotation_domains)
		ret->stack = annotation_stack_new();
	ret->next = *list;
	while (!atomic_compare_exchange_weak(list, &ret->next, ret))
		;
	return ret;
}

annotation *annotation_name_new(const char *domain, const char *text)
{
	return annotation_made(&annotation_names, domain, text);
}

annotation *annotation_domain(const char *text)
{
	char whole[ANNOTATION_TEXT];

	annotation_text(NULL, text, whole);
	for (annotation *a = annotation_domains; a; a = a->next)
		if (!strcmp(a->text, whole))
			return a;
	return annotation_made(&annotation_domains, NULL, text);
}

/* --- events */

static uint16_t *annotation_depth_of(uint32_t stack)
{
	return &depths[stack < DEPTHS ? stack : DEPTHS - 1];
}

int annotation_push(uint32_t stack, uint32_t name)
{
	uint16_t *depth = annotation_depth_of(stack);

	if (!annotation_on())
		return ANNOTATION_NO_NESTING;
	capture_put(LANE_WORD(LANE_PUSH, name) | LANE_STACK(stack));
	return *depth < UINT16_MAX ? (*depth)++ : UINT16_MAX;
}

int annotation_pop(uint32_t stack)
{
	uint16_t *depth = annotation_depth_of(stack);

	if (!*depth)
		return ANNOTATION_NO_NESTING;
	if (annotation_on())
		capture_put(LANE_WORD(LANE_POP, 0) | LANE_STACK(stack));
	return --*depth;
}

void annotation_mark(uint32_t name)
{
	if (annotation_on())
		capture_put(LANE_WORD(LANE_MARK, name));
}

static void annotation_put_real(thread_buffer_kind kind, uint32_t name, double value)
{
	if (annotation_on())
		capture_put_value(LANE_WORD(kind, name), thread_buffer_bits(value));
}

void annotation_number(uint32_t name, double value)
{
	annotation_put_real(LANE_NUMBER, name, value);
}

void annotation_counter(uint32_t name, double value)
{
	annotation_put_real(LANE_COUNTER, name, value);
}

uint64_t annotation_start(uint32_t name)
{
	const uint64_t id = annotation_on() ? thread_buffer_range() : 0;

	if (id)
		annotation_start_as(id, name);
	return id;
}

void annotation_start_as(uint64_t id, uint32_t name)
{
	if (annotation_on())
		capture_put_value(LANE_WORD(LANE_START, name), id);
}

void annotation_end(uint64_t id)
{
	if (annotation_on() && id)
		capture_put_value(LANE_WORD(LANE_END, 0), id);
}

void annotation_thread(uint32_t tid, const char *text)
{
	char whole[ANNOTATION_TEXT];

	annotation_text(NULL, text, whole);
	if (annotation_on())
		thread_buffer_put_value(ticks_now(),
					LANE_WORD(LANE_THREAD, annotation_id(whole, NULL)), tid);
}
