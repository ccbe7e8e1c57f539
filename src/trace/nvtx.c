/* nvtx.c - programs that are annotated with NVTX are recorded unchanged: NVTX loads the library
 * that NVTX_INJECTION64_PATH names, and calls what is below. Layouts and numbers:
 * nvtx3/nvToolsExt.h and nvtx3/nvtxDetail/nvtxTypes.h of NVIDIA's NVTX, version 3,
 * https://github.com/NVIDIA/NVTX.
 *
 *     NVTX_INJECTION64_PATH=libdeepclock.so DEEPCLOCK_TRACE=out.pftrace python3 train.py
 *
 * A range of a domain is called "DOMAIN:NAME". A payload becomes the number "payload" of its range.
 * Categories and colours have no place in what is recorded, and are left out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/zone.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

enum { NAME_MAX_BYTES = 512 };
enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { NO_NESTING = -2 }; /* NVTX_NO_PUSH_POP_TRACKING: what a push returns when nobody listens */

typedef void (*any_function)(void);

typedef struct callbacks {
	size_t struct_size;
	/* 0: there is no such module. Each entry points to the place of a function. */
	int (*get)(int module, any_function ***ret_table, unsigned *ret_size);
} callbacks;

typedef enum payload_kind { U64 = 1, I64, DOUBLE, U32, I32, FLOAT } payload_kind;
typedef enum message_kind { ASCII = 1, WIDE, REGISTERED } message_kind;

/* nvtxEventAttributes_t, which may be longer in later versions. */
typedef struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t colour_kind;
	uint32_t colour;
	int32_t payload_kind, reserved;
	union {
		uint64_t u64;
		int64_t i64;
		double d;
		uint32_t u32;
		int32_t i32;
		float f;
	} payload;
	int32_t message_kind;
	union {
		const char *ascii;
		const wchar_t *wide;
		const struct name *registered;
	} message;
} attributes;

/* A domain, or a registered string: what a handle points to. Never freed, since handles are kept by
 * whoever has them. */
typedef struct name {
	dck_zone_site site; /* its number is looked up once */
	struct name *next;
	char text[];
} name;

static name *_Atomic names;

static _Thread_local int depth; /* ranges that are open on this thread */

static bool listening(void)
{
	return __atomic_load_n(&dck_trace_on, __ATOMIC_RELAXED) != 0;
}

/* --- names */

static void wide_put(const wchar_t *from, char *to, size_t size)
{
	size_t used = 0;

	for (; from && *from && used + UTF8_BYTES_MAX < size; from++)
		used += utf8_put(to + used, (uint32_t)*from > 0x10ffff ? 0xfffd : (uint32_t)*from);
	to[used] = '\0';
}

/* Bytes of the text, or as many as may be kept of a long one. */
static int cut(const char *text, size_t most)
{
	const size_t n = strnlen(text, most + 1);

	return (int)(n <= most ? n : utf8_cut(text, most));
}

static void text_put(const char *domain, const char *text, char *to)
{
	enum { DOMAIN_BYTES = NAME_MAX_BYTES / 4, TEXT_BYTES = NAME_MAX_BYTES / 2 };

	text = text ? text : "";
	if (domain)
		snprintf(to, NAME_MAX_BYTES, "%.*s:%.*s", cut(domain, DOMAIN_BYTES), domain,
			 cut(text, TEXT_BYTES), text);
	else
		snprintf(to, NAME_MAX_BYTES, "%.*s", cut(text, TEXT_BYTES), text);
}

static name *name_new(const char *domain, const char *text)
{
	char whole[NAME_MAX_BYTES];

	text_put(domain, text, whole);
	const size_t n = strlen(whole) + 1;
	name *ret = mem_alloc(sizeof *ret + n);
	if (!ret)
		return NULL;
	memcpy(ret->text, whole, n);
	ret->site = (dck_zone_site){.name = ret->text, .file = ""};
	ret->next = names;
	while (!atomic_compare_exchange_weak(&names, &ret->next, ret))
		;
	return ret;
}

static const char *domain_text(const name *domain)
{
	return domain ? domain->text : NULL;
}

/* A place whose name is made for one event. */
typedef struct made {
	dck_zone_site site;
	char text[NAME_MAX_BYTES];
} made;

/* The place that the event's message names: a registered one, or *m. */
static dck_zone_site *site_of(const name *domain, const attributes *a, made *m)
{
	char wide[NAME_MAX_BYTES];

	if (a->message_kind == REGISTERED && a->message.registered)
		return (dck_zone_site *)&a->message.registered->site;
	if (a->message_kind == WIDE)
		wide_put(a->message.wide, wide, sizeof wide);
	text_put(domain_text(domain),
		 a->message_kind == ASCII  ? a->message.ascii
		 : a->message_kind == WIDE ? wide
					   : "(no name)",
		 m->text);
	m->site = (dck_zone_site){.name = m->text, .file = ""};
	return &m->site;
}

static double payload_of(const attributes *a)
{
	switch (a->payload_kind) {
	case U64:
		return (double)a->payload.u64;
	case I64:
		return (double)a->payload.i64;
	case DOUBLE:
		return a->payload.d;
	case U32:
		return a->payload.u32;
	case I32:
		return a->payload.i32;
	case FLOAT:
		return (double)a->payload.f;
	default:
		return NAN;
	}
}

static void payload_number(const attributes *a)
{
	static dck_zone_site site = {.name = "payload", .file = ""};
	const double v = payload_of(a);

	if (!isnan(v))
		dck_zone_number(&site, v);
}

/* --- events */

static int push(const name *domain, const attributes *a)
{
	made m;

	if (!listening() || !a)
		return NO_NESTING;
	dck_zone_push(site_of(domain, a, &m));
	payload_number(a);
	return depth++;
}

static int pop(const name *domain)
{
	(void)domain; /* the innermost range of the thread, whichever domain it is of */
	if (depth == 0)
		return NO_NESTING;
	if (listening())
		dck_zone_pop();
	return --depth;
}

static void mark(const name *domain, const attributes *a)
{
	made m;

	if (listening() && a)
		dck_zone_mark(site_of(domain, a, &m));
}

static uint64_t start(const name *domain, const attributes *a)
{
	made m;

	return listening() && a ? dck_zone_start(site_of(domain, a, &m)).id : 0;
}

static void end(const name *domain, uint64_t id)
{
	(void)domain;
	if (listening() && id)
		dck_zone_end((dck_range){id});
}

static attributes ascii(const char *text)
{
	return (attributes){.message_kind = ASCII, .message.ascii = text};
}

static attributes wide(const wchar_t *text)
{
	return (attributes){.message_kind = WIDE, .message.wide = text};
}

/* --- the functions that programs call, by the numbers of the two modules */

static void mark_ex(const attributes *a)
{
	mark(NULL, a);
}

static void mark_a(const char *text)
{
	const attributes a = ascii(text);

	mark(NULL, &a);
}

static void mark_w(const wchar_t *text)
{
	const attributes a = wide(text);

	mark(NULL, &a);
}

static uint64_t start_ex(const attributes *a)
{
	return start(NULL, a);
}

static uint64_t start_a(const char *text)
{
	const attributes a = ascii(text);

	return start(NULL, &a);
}

static uint64_t start_w(const wchar_t *text)
{
	const attributes a = wide(text);

	return start(NULL, &a);
}

static void end_core(uint64_t id)
{
	end(NULL, id);
}

static int push_ex(const attributes *a)
{
	return push(NULL, a);
}

static int push_a(const char *text)
{
	const attributes a = ascii(text);

	return push(NULL, &a);
}

static int push_w(const wchar_t *text)
{
	const attributes a = wide(text);

	return push(NULL, &a);
}

static int pop_core(void)
{
	return pop(NULL);
}

static name *string_a(const name *domain, const char *text)
{
	return name_new(domain_text(domain), text);
}

static name *string_w(const name *domain, const wchar_t *text)
{
	char utf8[NAME_MAX_BYTES];

	wide_put(text, utf8, sizeof utf8);
	return name_new(domain_text(domain), utf8);
}

static name *domain_a(const char *text)
{
	return name_new(NULL, text);
}

static name *domain_w(const wchar_t *text)
{
	return string_w(NULL, text);
}

#define AT(number, f) [number] = (any_function)(f)
static const any_function core[] = {
    AT(1, mark_ex), AT(2, mark_a),  AT(3, mark_w),    AT(4, start_ex),
    AT(5, start_a), AT(6, start_w), AT(7, end_core),  AT(8, push_ex),
    AT(9, push_a),  AT(10, push_w), AT(11, pop_core),
};
static const any_function core2[] = {
    AT(1, mark),      AT(2, start),	AT(3, end),	  AT(4, push),	    AT(5, pop),
    AT(10, string_a), AT(11, string_w), AT(12, domain_a), AT(13, domain_w),
};
#undef AT

static bool put(const callbacks *c, int module, const any_function *functions, unsigned n)
{
	any_function **table = NULL;
	unsigned size = 0;

	if (!c->get(module, &table, &size) || !table)
		return false;
	for (unsigned i = 1; i < n && i < size; i++)
		if (functions[i] && table[i])
			*table[i] = functions[i];
	return true;
}

DCK_API int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
	const callbacks *c = get_table ? get_table(TABLE_CALLBACKS) : NULL;

	if (!c || c->struct_size < sizeof *c || !c->get)
		return 0;
	/* A program may have been built with an older NVTX, without domains. */
	(void)put(c, MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
	return put(c, MODULE_CORE, core, sizeof core / sizeof core[0]);
}
