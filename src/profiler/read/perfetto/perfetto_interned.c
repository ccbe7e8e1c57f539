/* perfetto_interned.c - reads what the sequences of a Perfetto trace intern (InternedData): texts,
 * source locations, and the frames of stacks. At most INTERNED_MAX iids are known at a time
 * (E_LIMIT).
 *
 * Source: protos/perfetto/trace/interned_data/interned_data.proto of Perfetto.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "profiler/read/perfetto/perfetto_reading.h"

enum { INTERNED_MAX = 1 << 22 }; /* iids of all sequences together */

static dck_status perfetto_read_text(wire_reader r, uint64_t *ret_iid, uint32_t *ret,
				     perfetto_reader *x)
{
	wire_field f;

	while (perfetto_each(x, &r, &f)) {
		if (f.number == PF_NAME_IID)
			*ret_iid = f.value;
		else if (f.number == PF_NAME_TEXT)
			DCK_TRY(perfetto_text(&r, &f, ret, x));
	}
	return x->status;
}

static dck_status interned_text(wire_reader r, perfetto_sequence *q, uint64_t *ret_iid,
				uint32_t *ret, perfetto_reader *x)
{
	(void)q;
	return perfetto_read_text(r, ret_iid, ret, x);
}

static dck_status interned_place(wire_reader r, perfetto_sequence *q, uint64_t *ret_iid,
				 uint32_t *ret, perfetto_reader *x)
{
	(void)q;
	return perfetto_place(r, ret_iid, ret, x);
}

typedef dck_status interned_read(wire_reader r, perfetto_sequence *q, uint64_t *ret_iid,
				 uint32_t *ret, perfetto_reader *x);

static dck_status interned_put(wire_reader one, uint32_t field, interned_read *read,
			       perfetto_sequence *q, perfetto_reader *x)
{
	hash_map *to = perfetto_interned_of(q, field);
	const uint32_t had = to->n;
	uint64_t iid = 0;
	uint32_t value = 0;

	DCK_TRY(read(one, q, &iid, &value, x));
	if (value && !hash_map_put(to, iid, value))
		return ERR_NO_MEMORY(x->err, "for the names of a trace");
	x->ninterned += to->n - had;
	if (x->ninterned > INTERNED_MAX)
		DCK_FAIL(x->err, E_LIMIT, "the trace interns more than %d names at a time",
			 (int)INTERNED_MAX);
	return DCK_OK;
}

dck_status perfetto_interned(wire_reader r, perfetto_sequence *q, perfetto_reader *x)
{
	enum { TEXTS, MAPPINGS, FRAMES, CALLSTACKS, PASSES };
	/* A row may refer to rows of an earlier pass, which may follow it in the message. */
	static const struct {
		interned_read *read;
		unsigned pass;
	} fields[PF_INTERNED_MAPPINGS + 1] = {
	    [PF_INTERNED_CATEGORIES] = {interned_text, TEXTS},
	    [PF_INTERNED_EVENT_NAMES] = {interned_text, TEXTS},
	    [PF_INTERNED_NUMBER_NAMES] = {interned_text, TEXTS},
	    [PF_INTERNED_SOURCES] = {interned_place, TEXTS},
	    [PF_INTERNED_FUNCTIONS] = {interned_text, TEXTS},
	    [PF_INTERNED_FRAMES] = {perfetto_frame, FRAMES},
	    [PF_INTERNED_CALLSTACKS] = {perfetto_callstack, CALLSTACKS},
	    [PF_INTERNED_MODULES] = {interned_text, TEXTS},
	    [PF_INTERNED_FILES] = {interned_text, TEXTS},
	    [PF_INTERNED_MAPPINGS] = {perfetto_mapping, MAPPINGS},
	};
	unsigned passes = TEXTS + 1;

	for (unsigned pass = TEXTS; pass < passes; pass++) {
		wire_reader from = r, one;
		wire_field f;

		while (perfetto_each(x, &from, &f)) {
			if (f.number > PF_INTERNED_MAPPINGS || !fields[f.number].read)
				continue;
			if (fields[f.number].pass != pass) {
				passes = PASSES;
				continue;
			}
			DCK_TRY(wire_enter(&from, &f, "a name", &one, x->err));
			DCK_TRY(interned_put(one, f.number, fields[f.number].read, q, x));
		}
		DCK_TRY(x->status);
	}
	return DCK_OK;
}
