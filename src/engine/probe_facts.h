/* probe_facts.h - the facts that a runtime's probe returns. dck_engine.probe lends its pairs until
 * the next probe, so each runtime keeps one list.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_PROBE_FACTS_H
#define ENGINE_PROBE_FACTS_H

#include "base/mem.h"
#include "deepclock/plugin.h"
#include "os/os.h"

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

/* Adds a fact; key and value are borrowed. One without a value, and those beyond the limit, are
 * left out. */
static inline void probe_facts_put(probe_facts *f, const char *key, const char *value)
{
	if (value && *value && f->n < PROBE_FACTS_MAX)
		f->facts[f->n++] = (dck_kv){key, value};
}

/* Adds the facts about a library, whose texts are copied. */
static inline void probe_facts_library(probe_facts *f, const os_library *l, const char *how,
				       const char *version)
{
	probe_facts_put(f, "library", mem_arena_dup(f->arena, os_library_path(l)));
	probe_facts_put(f, "found", mem_arena_dup(f->arena, how));
	probe_facts_put(f, "version", mem_arena_dup(f->arena, version));
}

#endif
