/* annotation.h - events of programs that are annotated for other tools, by NVTX (nvtx.c) or ITT
 * (itt.c), as events of ours. A range of a domain is called "DOMAIN:NAME".
 *
 * In both each domain has ranges that nest on their thread for themselves: one domain's may end
 * while another's, that began later, is still open. So each domain has a stack of its own, whose
 * number goes with the event; nesting.c puts them together.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_ANNOTATION_H
#define TRACE_ANNOTATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

enum { ANNOTATION_TEXT = 512 }; /* bytes of a name; a longer one is cut */

/* A domain, or a name in one: what a handle points to. Never freed, since callers keep the
 * handles. */
typedef struct annotation {
	struct annotation *next;
	uint32_t stack;	     /* of a domain */
	_Atomic uint32_t id; /* of a name, annotation_id(); 0: not asked for yet */
	char text[];
} annotation;

enum { ANNOTATION_STACK_NONE = 1 };  /* of ranges without a domain; 0 is the zones' */
enum { ANNOTATION_NO_NESTING = -2 }; /* NVTX_NO_PUSH_POP_TRACKING: nothing is recorded */

static inline const char *annotation_text_of(const annotation *a)
{
	return a ? a->text : NULL;
}

/* Whether anything records. */
bool annotation_on(void);

/* "DOMAIN:TEXT"; NULL stands for none. */
void annotation_text(const char *domain, const char *text, char to[ANNOTATION_TEXT]);
void annotation_text_wide(const wchar_t *from, char to[ANNOTATION_TEXT]);
/* The number of a name; category NULL: none. It counts where the name is met first. */
uint32_t annotation_id(const char *text, const char *category);

annotation *annotation_name_new(const char *domain, const char *text); /* NULL: no memory */
/* The domain of that name, made when there is none. NULL: no memory. */
annotation *annotation_domain(const char *text);
uint32_t annotation_stack_new(void);

/* How many ranges of that stack are open on this thread around the one that begins or ended; below
 * 0: none was. */
int annotation_push(uint32_t stack, uint32_t name);
int annotation_pop(uint32_t stack);
void annotation_mark(uint32_t name);
void annotation_number(uint32_t name, double value); /* of the innermost range */
void annotation_counter(uint32_t name, double value);
uint64_t annotation_start(uint32_t name); /* 0: nothing records */
/* The same; the caller chose the range's number, which has this bit and no higher one. */
#define ANNOTATION_RANGE (UINT64_C(1) << 62)
void annotation_start_as(uint64_t id, uint32_t name);
void annotation_end(uint64_t id);
/* What that thread of this process is called. */
void annotation_thread(uint32_t tid, const char *text);

#endif
