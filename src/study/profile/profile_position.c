/* SPDX-License-Identifier: Apache-2.0 */
#include "study/profile/profile_position.h"
#include "base/err.h"

#include <string.h>

/* Returns the name of an output with the scope of its operator. */
static const char *position_key(profile_positions *t, const cost_op *c, const val *out)
{
	return c->scope ? mem_arena_fmt(t->arena, "%s\n%s", c->scope, out->name) : out->name;
}

dck_status profile_positions_find(profile_positions *t, const cost_result *m, mem_arena *a,
				  dck_err *err)
{
	size_t most = 1, *reached = mem_arena_array(a, m->nops + 1, sizeof *reached);
	name_index scopes;

	t->arena = a;
	for (size_t i = 0; i < m->nops; i++)
		most += m->ops[i].nout;
	t->position = mem_arena_array(a, most, sizeof *t->position);
	DCK_NEED(reached && t->position && name_index_init(&scopes, a, m->nops + 1) &&
		     name_index_init(&t->made, a, most),
		 err, "for the operators' times");
	for (size_t i = 0; i < m->nops; i++) {
		const cost_op *o = &m->ops[i];
		size_t *place = &reached[name_index_intern(&scopes, o->scope ? o->scope : "")];

		for (size_t k = 0; k < o->nout; k++) {
			const char *key = o->out[k] ? position_key(t, o, o->out[k]) : "";
			const size_t before = t->made.n;

			DCK_NEED(key, err, "for the operators' times");
			if (*key && name_index_intern(&t->made, key) == before)
				t->position[before] = *place;
		}
		*place += strcmp(o->node->op, "Constant") != 0;
	}
	return DCK_OK;
}

const char *profile_position_name(profile_positions *t, const cost_op *c)
{
	const char *key = c->nout && c->out[0] ? position_key(t, c, c->out[0]) : "";
	const size_t at = key ? name_index_find(&t->made, key) : NAME_INDEX_NONE;

	if (!key)
		return NULL;
	return at == NAME_INDEX_NONE
		   ? ""
		   : mem_arena_fmt(t->arena, "%s_%zu", c->node->op, t->position[at]);
}
