/* fuzz_trace.c - any bytes as ONNX Runtime's profile: refused with a message, or read as events
 * that can be grouped into runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "engine/ort/ort_trace.h"
#include "engine/ort/ort_watch.h"
#include "../unit/engine/trace_bytes.h"

#include <stdlib.h>
#include <string.h>

static void look(const dck_profile *p, const ort_trace *t)
{
	if (p->nevents > t->nops || p->nruns > t->nruns)
		abort();
	for (size_t i = 0; i < p->nevents; i++) {
		const dck_op_event *e = &p->events[i];
		if (!e->name || !e->type || e->run >= p->nruns)
			abort();
		if (i > 0 &&
		    (e->run < e[-1].run || (e->run == e[-1].run && e->begin_ns < e[-1].begin_ns)))
			abort();
		if (strlen(e->name) > (1u << 20))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	for (int escaped = 0; escaped < 2; escaped++) {
		mem_arena *a = mem_arena_new(0);
		dck_profile p = {0};
		ort_trace t = {0};
		dck_err err = {0};

		if (!a)
			return 0;
		dck_status status = trace_read_bytes(bytes, n, escaped, a, &t, &err);
		if (status == DCK_OK && ort_profile_group(&t, NULL, a, &p, &err) == DCK_OK)
			look(&p, &t);
		else if (err.msg[0] == '\0')
			abort();
		mem_arena_free(a);
	}
	return 0;
}
