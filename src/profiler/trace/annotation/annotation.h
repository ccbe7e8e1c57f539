/* annotation.h - records the annotations of programs for other tools, NVTX (nvtx.c) and ITT
 * (itt.c), as zone events. A range of a domain is called "DOMAIN:NAME".
 *
 * In both, the ranges of each domain nest on their thread independently: a range of one domain may
 * end while a later range of another is open. So each domain has a separate stack, whose id is in
 * the event; nesting.c merges the stacks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_ANNOTATION_H
#define TRACE_ANNOTATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

enum { ANNOTATION_TEXT = 512 }; /* bytes of a name; a longer one is cut */

/* A domain, or a name in one: the target of a handle. Never freed, because callers store the
 * handles. */
typedef struct annotation {
	struct annotation *next;
	uint32_t stack;	     /* stack of a domain */
	_Atomic uint32_t id; /* id of a name, annotation_id(); 0: not requested yet */
	char text[];
} annotation;

enum { ANNOTATION_STACK_NONE = 1 };  /* stack of ranges without a domain; 0 is the zones' */
enum { ANNOTATION_NO_NESTING = -2 }; /* NVTX_NO_PUSH_POP_TRACKING: nothing is recorded */

static inline const char *annotation_text_of(const annotation *a)
{
	return a ? a->text : NULL;
}

/* Returns whether a recording is active. */
bool annotation_on(void);

/* Writes "DOMAIN:TEXT"; NULL: none. */
void annotation_text(const char *domain, const char *text, char to[ANNOTATION_TEXT]);
void annotation_text_wide(const wchar_t *from, char to[ANNOTATION_TEXT]);
/* Returns the id of a name; category NULL: none. The category of the first call is used. */
uint32_t annotation_id(const char *text, const char *category);

annotation *annotation_name_new(const char *domain, const char *text); /* NULL: no memory */
/* Returns the domain of that name, created if missing. NULL: no memory. */
annotation *annotation_domain(const char *text);
uint32_t annotation_stack_new(void);

/* Return the number of open ranges of the stack on this thread around the range that starts or
 * ended; below 0: none was open. */
int annotation_push(uint32_t stack, uint32_t name);
int annotation_pop(uint32_t stack);
void annotation_mark(uint32_t name);
void annotation_number(uint32_t name, double value); /* annotates the innermost range */
void annotation_counter(uint32_t name, double value);
uint64_t annotation_start(uint32_t name); /* 0: nothing records */
/* Starts a range with the caller's id, whose highest bit is this one. */
#define ANNOTATION_RANGE (UINT64_C(1) << 62)
void annotation_start_as(uint64_t id, uint32_t name);
void annotation_end(uint64_t id);
/* Sets the name of a thread of this process. */
void annotation_thread(uint32_t tid, const char *text);

#endif
