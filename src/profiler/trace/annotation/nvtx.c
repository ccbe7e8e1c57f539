/* nvtx.c - programs that are annotated with NVTX are recorded unchanged: NVTX loads the library
 * that NVTX_INJECTION64_PATH names, and calls the functions below. Layouts and numbers:
 * nvtx3/nvToolsExt.h and nvtx3/nvtxDetail/nvtxTypes.h of NVIDIA's NVTX, version 3,
 * https://github.com/NVIDIA/NVTX.
 *
 *     NVTX_INJECTION64_PATH=libdeepclock.so DEEPCLOCK_TRACE=out.pftrace python3 train.py
 *
 * A payload becomes the number "payload" of its range. Colours are not recorded: Perfetto derives
 * its own from the names. Functions that are in no table here (resources, the events of
 * user-defined locks, names of devices) are not forwarded by NVTX.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/base.h"

#include "profiler/trace/annotation/annotation.h"
#include "profiler/trace/annotation/nvtx_emit.h"

#include <math.h>
#include <stdio.h>

enum { MODULE_CORE = 1, MODULE_CORE2 = 5 };

typedef void (*any_function)(void);

typedef struct nvtx_callbacks {
	size_t struct_size;
	/* Returns 0: no such module. Each entry points to a function pointer. */
	int (*get)(int module, any_function ***ret_table, unsigned *ret_size);
} nvtx_callbacks;

typedef enum payload_kind { U64 = 1, I64, DOUBLE, U32, I32, FLOAT } payload_kind;
typedef enum message_kind { ASCII = 1, WIDE, REGISTERED } message_kind;

/* nvtxEventAttributes_t, which may be longer in later versions. */
typedef struct nvtx_attributes {
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
		annotation *registered;
	} message;
} nvtx_attributes;

typedef annotation nvtx_domain;

/* --- categories: numbers of the program's own, which it may name, by domain */

enum { CATEGORIES_MAX = 4096 };

static struct category {
	_Atomic(annotation *) name; /* NULL: empty */
	const nvtx_domain *domain;
	uint32_t number;
} categories[CATEGORIES_MAX];
static _Atomic uint32_t ncategories;

static void name_category(const nvtx_domain *d, uint32_t number, const char *text)
{
	annotation *name = annotation_name_new(NULL, text);
	const uint32_t at = name ? atomic_fetch_add(&ncategories, 1) : CATEGORIES_MAX;

	if (at >= CATEGORIES_MAX) {
		if (name) /* stays full */
			atomic_store(&ncategories, CATEGORIES_MAX);
		return;
	}
	categories[at].domain = d;
	categories[at].number = number;
	atomic_store_explicit(&categories[at].name, name, memory_order_release);
}

/* The newest name of a category; of one without a name its number, in `to`. NULL: no category. */
static const char *category_of(const nvtx_domain *d, uint32_t number, char to[16])
{
	uint32_t n = atomic_load(&ncategories);

	if (number == 0)
		return NULL;
	for (n = n < CATEGORIES_MAX ? n : CATEGORIES_MAX; n-- > 0;) {
		const annotation *name =
		    atomic_load_explicit(&categories[n].name, memory_order_acquire);

		if (name && categories[n].domain == d && categories[n].number == number)
			return name->text;
	}
	snprintf(to, 16, "%u", number);
	return to;
}

/* --- events */

/* Returns the id of the event's message. The category is used only for a new name. */
static uint32_t nvtx_name_of(const nvtx_domain *d, const nvtx_attributes *a)
{
	char text[ANNOTATION_TEXT], wide[ANNOTATION_TEXT], number[16];
	annotation *registered = a->message_kind == REGISTERED ? a->message.registered : NULL;

	if (registered && registered->id)
		return registered->id;
	if (a->message_kind == WIDE)
		annotation_text_wide(a->message.wide, wide);
	if (!registered)
		annotation_text(annotation_text_of(d),
				a->message_kind == ASCII  ? a->message.ascii
				: a->message_kind == WIDE ? wide
							  : "(no name)",
				text);
	const uint32_t id = annotation_id(registered ? registered->text : text,
					  category_of(d, a->category, number));
	if (registered)
		registered->id = id;
	return id;
}

static double payload_of(const nvtx_attributes *a)
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

static uint32_t nvtx_stack_of(const nvtx_domain *d)
{
	return d ? d->stack : ANNOTATION_STACK_NONE;
}

static int nvtx_push(const nvtx_domain *d, const nvtx_attributes *a)
{
	if (!a || !annotation_on())
		return ANNOTATION_NO_NESTING;
	const int depth = annotation_push(nvtx_stack_of(d), nvtx_name_of(d, a));
	const double payload = payload_of(a);
	if (!isnan(payload))
		annotation_number(annotation_id("payload", NULL), payload);
	return depth;
}

static int nvtx_pop(const nvtx_domain *d)
{
	return annotation_pop(nvtx_stack_of(d));
}

static void nvtx_mark(const nvtx_domain *d, const nvtx_attributes *a)
{
	if (a && annotation_on())
		annotation_mark(nvtx_name_of(d, a));
}

static uint64_t nvtx_start(const nvtx_domain *d, const nvtx_attributes *a)
{
	return a && annotation_on() ? annotation_start(nvtx_name_of(d, a)) : 0;
}

static void nvtx_end(const nvtx_domain *d, uint64_t id)
{
	(void)d;
	annotation_end(id);
}

static nvtx_attributes ascii(const char *text)
{
	return (nvtx_attributes){.message_kind = ASCII, .message.ascii = text};
}

static nvtx_attributes nvtx_wide(const wchar_t *text)
{
	return (nvtx_attributes){.message_kind = WIDE, .message.wide = text};
}

/* --- the functions that programs call, by the numbers of the two modules */

/* Of attributes, of a text, of a wide text. */
#define CORE_FORMS(type, name, call)                       \
	static type name##_ex(const nvtx_attributes *a)    \
	{                                                  \
		call(NULL, a);                             \
	}                                                  \
	static type name##_a(const char *text)             \
	{                                                  \
		const nvtx_attributes a = ascii(text);     \
		call(NULL, &a);                            \
	}                                                  \
	static type name##_w(const wchar_t *text)          \
	{                                                  \
		const nvtx_attributes a = nvtx_wide(text); \
		call(NULL, &a);                            \
	}
CORE_FORMS(void, mark, nvtx_mark)
CORE_FORMS(uint64_t, start, return nvtx_start)
CORE_FORMS(int, push, return nvtx_push)

static void end_core(uint64_t id)
{
	nvtx_end(NULL, id);
}

static int pop_core(void)
{
	return nvtx_pop(NULL);
}

static annotation *string_a(const nvtx_domain *d, const char *text)
{
	return annotation_name_new(annotation_text_of(d), text);
}

/* The forms of wide texts call those of UTF-8. */
#define WIDE_FORM(type, name, parameters, call)   \
	static type name parameters               \
	{                                         \
		char utf8[ANNOTATION_TEXT];       \
                                                  \
		annotation_text_wide(text, utf8); \
		call;                             \
	}
WIDE_FORM(annotation *, string_w, (const nvtx_domain *d, const wchar_t *text),
	  return string_a(d, utf8))
WIDE_FORM(nvtx_domain *, domain_w, (const wchar_t *text), return annotation_domain(utf8))
WIDE_FORM(void, category_w, (const nvtx_domain *d, uint32_t number, const wchar_t *text),
	  name_category(d, number, utf8))
WIDE_FORM(void, thread_w, (uint32_t tid, const wchar_t *text), annotation_thread(tid, utf8))

/* Strings that were registered in it may still be in use. */
static void domain_destroy(nvtx_domain *d)
{
	(void)d;
}

static void category_core_a(uint32_t number, const char *text)
{
	name_category(NULL, number, text);
}

static void category_core_w(uint32_t number, const wchar_t *text)
{
	category_w(NULL, number, text);
}

#define AT(number, f) [number] = (any_function)(f)
static const any_function core[] = {
    AT(1, mark_ex),	     AT(2, mark_a),
    AT(3, mark_w),	     AT(4, start_ex),
    AT(5, start_a),	     AT(6, start_w),
    AT(7, end_core),	     AT(8, push_ex),
    AT(9, push_a),	     AT(10, push_w),
    AT(11, pop_core),	     AT(12, category_core_a),
    AT(13, category_core_w), AT(14, annotation_thread),
    AT(15, thread_w),
};
static const any_function core2[] = {
    AT(1, nvtx_mark), AT(2, nvtx_start),	 AT(3, nvtx_end),   AT(4, nvtx_push),
    AT(5, nvtx_pop),  AT(8, name_category),	 AT(9, category_w), AT(10, string_a),
    AT(11, string_w), AT(12, annotation_domain), AT(13, domain_w),  AT(14, domain_destroy),
};
#undef AT

static bool callbacks_install(const nvtx_callbacks *c, int module, const any_function *functions,
			      unsigned n)
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

/* Exported, so that NVTX's ranges go to the recorder of the process where NVTX loads a second copy
 * of it (exported.map). */
DCK_API int dck_nvtx_install(const void *(*get_table)(uint32_t id));
DCK_API int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));

__attribute__((noinline)) int dck_nvtx_install(const void *(*get_table)(uint32_t id))
{
	const nvtx_callbacks *c = get_table ? get_table(NVTX_TABLE_CALLBACKS) : NULL;

	if (!c || c->struct_size < sizeof *c || !c->get)
		return 0;
	/* A program may have been built with an older NVTX, without domains. */
	(void)callbacks_install(c, MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
	return callbacks_install(c, MODULE_CORE, core, sizeof core / sizeof core[0]);
}

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
	return dck_nvtx_install(get_table);
}
