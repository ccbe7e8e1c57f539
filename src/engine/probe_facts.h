/* probe_facts.h - the facts that a runtime's probe returns. dck_engine.probe lends its pairs until
 * the next probe, so each runtime keeps one list.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_PROBE_FACTS_H
#define ENGINE_PROBE_FACTS_H

#include "base/mem.h"
#include "deepclock/plugin.h"

#define PROBE_FACTS_MAX 40

typedef struct probe_facts {
	mem_arena *arena; /* owns the texts */
	dck_kv facts[PROBE_FACTS_MAX];
	size_t n;
} probe_facts;

/* Drops the last probe's facts. Returns false if there is no memory. */
static inline bool probe_facts_begin(probe_facts *f)
{
	mem_arena_free(f->arena);
	*f = (probe_facts){.arena = mem_arena_new(0)};
	return f->arena != NULL;
}

/* Adds a fact; key and value are borrowed. Those beyond the limit are left out. */
static inline void probe_facts_put(probe_facts *f, const char *key, const char *value)
{
	if (f->n < PROBE_FACTS_MAX)
		f->facts[f->n++] = (dck_kv){key, value};
}

#endif
