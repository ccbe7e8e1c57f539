/* engine_checked.c - validates the results of engine functions before any caller uses them, because
 * plug-ins and engine libraries are third-party code. An invalid result is a failure whose message
 * names the engine, the function and the error.
 *
 *	DCK_TRY(engine_open(e, &params, &model, err));
 *	DCK_TRY(engine_output(e, context, 0, &tensor, err));
 *
 * Other code calls these members of the table only through this file, except for a timed run, which
 * calls engine_answer() afterwards. An invalid pointer and a crash cannot be checked: an engine
 * runs as the user and is trusted not to be malicious, but not to be correct.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TENSORS_MAX 65536u /* models have thousands where each layer's state is an input */
#define PAIRS_MAX   4096u
#define EVENTS_MAX  (1u << 28)

#define WRONG(err, e, what, ...) return wrong((err), (e), (what), __VA_ARGS__)

DCK_PRINTF(4, 5)
static dck_status wrong(dck_err *err, const dck_engine *e, const char *what, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	DCK_FAIL(err, E_ENGINE, "the engine '%s' returned an invalid result from %s(): %s", e->name,
		 what, text);
}

void engine_why_begin(dck_err *why)
{
	why->code = DCK_OK;
	why->file = NULL;
	why->line = 0;
	why->native_code = 0;
	why->msg[0] = '\0';
}

static bool status_is_known(dck_status status)
{
#define X(name, value, text) || status == DCK_##name
	return false DCK_STATUS_MAP(X);
#undef X
}

/* Returns E_NOMEM if a failed engine's message reports a lack of memory: ONNX Runtime, CUDA and C++
 * have no code for it. Messages of deepclock itself are not compared: they have the code. */
static dck_status memory_status(dck_status status, const char *msg, int n)
{
	static const char *const phrases[] = {
	    "bad_alloc",     "bad allocation",	       "out of memory",
	    "Out of memory", "OUT_OF_MEMORY",	       "Failed to allocate memory",
	    "ALLOC_FAILED",  "Cannot allocate memory", "not enough memory",
	};

	if (status != DCK_E_ENGINE && status != DCK_E_DEVICE)
		return status;
	for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
		if (memmem(msg, (size_t)n, phrases[i], strlen(phrases[i])))
			return DCK_E_NOMEM;
	return status;
}

dck_status engine_answer(const dck_engine *e, const char *what, dck_status status,
			 const dck_err *why, dck_err *err)
{
	/* The message may be unterminated or empty. */
	const int n = (int)strnlen(why->msg, sizeof why->msg);
	bool ours = false;

	if (status == DCK_OK)
		return DCK_OK;
	for (size_t i = 0; engine_table[i]; i++)
		ours |= e == engine_table[i];
	if (!status_is_known(status))
		WRONG(err, e, what, "%d is not a status%s%.*s", (int)status, n > 0 ? ": " : "",
		      n < 120 ? n : 120, why->msg);
	status = memory_status(status, why->msg, n);
	if (n == 0)
		err_set(err, status, __FILE__, __LINE__,
			"the engine '%s' failed in %s() without a message (%s)", e->name, what,
			dck_status_text(status));
	else
		err_set(err, status, ours ? why->file : NULL, ours ? why->line : 0, "%.*s", n,
			why->msg);
	if (err)
		err->native_code = why->native_code;
	return status;
}

/* Calls a member with a separate `why`, because the caller's err may be NULL. */
#define ASK(e, what, err, call)                                                 \
	do {                                                                    \
		dck_err why;                                                    \
                                                                                \
		engine_why_begin(&why);                                         \
		const dck_status asked_ = (call);                               \
		if (asked_ != DCK_OK)                                           \
			return engine_answer((e), (what), asked_, &why, (err)); \
	} while (0)

/* --- opening */

dck_status engine_open(const dck_engine *e, const dck_open_params *p, dck_engine_model **ret,
		       dck_err *err)
{
	dck_engine_model *m = NULL;

	ASK(e, "open", err, e->open(p, &m, &why));
	if (!m)
		WRONG(err, e, "open", "it succeeds and gives no model");
	*ret = m;
	return DCK_OK;
}

dck_status engine_open_times(const dck_engine *e, dck_engine_model *m, dck_open_times *ret,
			     dck_err *err)
{
	dck_open_times t = {.struct_size = sizeof t};

	if (e->open_times)
		e->open_times(m, &t);
	if ((t.valid & 1 && t.library_ns > INT64_MAX) || (t.valid & 2 && t.session_ns > INT64_MAX))
		WRONG(err, e, "open_times", "it took more than 292 years");
	*ret = t;
	return DCK_OK;
}

dck_status engine_context_new(const dck_engine *e, dck_engine_model *m, dck_engine_context **ret,
			      dck_err *err)
{
	dck_engine_context *c = NULL;

	ASK(e, "context_new", err, e->context_new(m, &c, &why));
	if (!c)
		WRONG(err, e, "context_new", "it succeeds and gives no context");
	*ret = c;
	return DCK_OK;
}

/* --- tensors */

/* Bytes of a shape without open dimensions; false: more than there can be. */
static bool shape_bytes(dck_dtype t, const int64_t *dim, int32_t rank, uint64_t *ret)
{
	uint64_t bytes = dck_dtype_bytes(t);
	bool none = false;

	for (int32_t i = 0; i < rank; i++) {
		none |= dim[i] == 0;
		if (dim[i] > 0 && __builtin_mul_overflow(bytes, (uint64_t)dim[i], &bytes))
			return false;
	}
	*ret = none ? 0 : bytes;
	return bytes <= INT64_MAX;
}

static dck_status info_check(const dck_engine *e, const char *which, size_t i,
			     const dck_tensor_info *t, dck_err *err)
{
	uint64_t bytes;

	if (!t->name || !engine_text_ends(t->name))
		WRONG(err, e, "describe", "%s %zu has %s", which, i,
		      t->name ? "a name without an end" : "no name");
	if (t->rank > DCK_RANK_MAX)
		WRONG(err, e, "describe", "%s '%.60s' has %d dimensions, and %d is the most", which,
		      t->name, (int)t->rank, DCK_RANK_MAX);
	for (int32_t d = 0; d < t->rank; d++) {
		if (t->dim[d] < -1)
			WRONG(err, e, "describe", "dimension %d of %s '%.60s' is %lld", (int)d,
			      which, t->name, (long long)t->dim[d]);
		if (t->dim[d] < 0 && t->symbol[d] && !engine_text_ends(t->symbol[d]))
			WRONG(err, e, "describe",
			      "a dimension of %s '%.60s' has a name without end", which, t->name);
	}
	if (!shape_bytes(t->dtype, t->dim, t->rank, &bytes))
		WRONG(err, e, "describe", "%s '%.60s' is larger than any memory", which, t->name);
	return DCK_OK;
}

static dck_status infos_check(const dck_engine *e, const char *which, const dck_tensor_info *t,
			      size_t n, dck_err *err)
{
	if (n > 0 && !t)
		WRONG(err, e, "describe", "it reports %zu %ss and gives no list of them", n, which);
	if (n > TENSORS_MAX)
		WRONG(err, e, "describe", "it reports %zu %ss, and %u is the most", n, which,
		      TENSORS_MAX);
	for (size_t i = 0; i < n; i++)
		DCK_TRY(info_check(e, which, i, &t[i], err));
	return DCK_OK;
}

dck_status engine_describe(const dck_engine *e, dck_engine_model *m, const dck_tensor_info **ret_in,
			   size_t *ret_nin, const dck_tensor_info **ret_out, size_t *ret_nout,
			   dck_err *err)
{
	const dck_tensor_info *in = NULL, *out = NULL;
	size_t nin = 0, nout = 0;

	ASK(e, "describe", err, e->describe(m, &in, &nin, &out, &nout, &why));
	DCK_TRY(infos_check(e, "input", in, nin, err));
	DCK_TRY(infos_check(e, "output", out, nout, err));
	/* Options name inputs, so two of one name could not be distinguished. */
	for (size_t i = 1; i < nin; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(in[i].name, in[k].name) == 0)
				WRONG(err, e, "describe", "two inputs are called '%.60s'",
				      in[i].name);
	*ret_in = in;
	*ret_nin = nin;
	*ret_out = out;
	*ret_nout = nout;
	return DCK_OK;
}

dck_status engine_bind_input(const dck_engine *e, dck_engine_context *c, size_t index,
			     const dck_tensor *t, dck_err *err)
{
	ASK(e, "bind_input", err, e->bind_input(c, index, t, &why));
	return DCK_OK;
}

dck_status engine_prepare(const dck_engine *e, dck_engine_context *c, dck_err *err)
{
	if (e->prepare)
		ASK(e, "prepare", err, e->prepare(c, &why));
	return DCK_OK;
}

dck_status engine_run(const dck_engine *e, dck_engine_context *c, dck_err *err)
{
	ASK(e, "run", err, e->run(c, &why));
	return DCK_OK;
}

dck_status engine_output(const dck_engine *e, dck_engine_context *c, size_t index, dck_tensor *ret,
			 dck_err *err)
{
	dck_tensor t = {.rank = -1};
	uint64_t bytes;

	ASK(e, "output", err, e->output(c, index, &t, &why));
	if (t.rank < 0 || t.rank > DCK_RANK_MAX)
		WRONG(err, e, "output", "output %zu has %d dimensions; they are 0 to %d", index,
		      (int)t.rank, DCK_RANK_MAX);
	for (int32_t d = 0; d < t.rank; d++)
		if (t.dim[d] < 0)
			WRONG(err, e, "output", "dimension %d of output %zu is %lld", (int)d, index,
			      (long long)t.dim[d]);
	if (!shape_bytes(t.dtype, t.dim, t.rank, &bytes))
		WRONG(err, e, "output", "output %zu is larger than any memory", index);
	if (bytes == 0) { /* none, or no fixed element size: no data to read */
		*ret = t;
		return DCK_OK;
	}
	if (!t.data)
		WRONG(err, e, "output", "output %zu has a shape and no data", index);
	if (t.bytes != bytes)
		WRONG(err, e, "output", "output %zu has %llu bytes, and its shape needs %llu",
		      index, (unsigned long long)t.bytes, (unsigned long long)bytes);
	*ret = t;
	return DCK_OK;
}

/* --- other reports */

static dck_status pairs_check(const dck_engine *e, const char *what, const dck_kv *kv, size_t n,
			      dck_err *err)
{
	if (n > 0 && !kv)
		WRONG(err, e, what, "it reports %zu facts and gives no list of them", n);
	if (n > PAIRS_MAX)
		WRONG(err, e, what, "it reports %zu facts, and %u is the most", n, PAIRS_MAX);
	for (size_t i = 0; i < n; i++)
		if (!kv[i].key || !*kv[i].key || !kv[i].value || !engine_text_ends(kv[i].key) ||
		    !engine_text_ends(kv[i].value))
			WRONG(err, e, what, "fact %zu has no name, no value, or one without end",
			      i);
	return DCK_OK;
}

dck_status engine_facts(const dck_engine *e, dck_engine_model *m, const dck_kv **ret, size_t *ret_n,
			dck_err *err)
{
	const dck_kv *kv = NULL;
	size_t n = 0;

	if (e->facts)
		ASK(e, "facts", err, e->facts(m, &kv, &n, &why));
	DCK_TRY(pairs_check(e, "facts", kv, n, err));
	*ret = kv;
	*ret_n = n;
	return DCK_OK;
}

dck_status engine_probe(const dck_engine *e, const char *library_path, const dck_kv **ret,
			size_t *ret_n, dck_err *err)
{
	const dck_kv *kv = NULL;
	size_t n = 0;

	ASK(e, "probe", err, e->probe(library_path, &kv, &n, &why));
	DCK_TRY(pairs_check(e, "probe", kv, n, err));
	*ret = kv;
	*ret_n = n;
	return DCK_OK;
}

dck_status engine_usage(const dck_engine *e, dck_engine_context *c, dck_usage *ret, dck_err *err)
{
	dck_usage u = {.struct_size = sizeof u};

	ASK(e, "usage", err, e->usage(c, &u, &why));
	/* Sums of them must still be numbers. */
	if (u.user_ns > INT64_MAX || u.system_ns > INT64_MAX || u.peak_rss_bytes > INT64_MAX ||
	    u.voluntary_switches > INT64_MAX || u.involuntary_switches > INT64_MAX)
		WRONG(err, e, "usage", "a run used more than can be");
	*ret = u;
	return DCK_OK;
}

static const char *profile_fault(const dck_profile *p)
{
	if (p->nevents > EVENTS_MAX || p->nruns > EVENTS_MAX)
		return "there are more events or runs than can be";
	if ((p->nevents > 0 && !p->events) || (p->nruns > 0 && !p->run_ns))
		return "a list is missing";
	for (size_t i = 0; i < p->nruns; i++)
		if (p->run_ns[i] > INT64_MAX || (p->run_begin_ns && p->run_begin_ns[i] > INT64_MAX))
			return "a run took more than 292 years";
	for (size_t i = 0; i < p->nevents; i++) {
		const dck_op_event *o = &p->events[i];

		if (!o->name || !o->type || o->run >= p->nruns ||
		    (i > 0 && o->run < p->events[i - 1].run))
			return "each event needs a name, a type and one of its runs, in order";
		if (!engine_text_ends(o->name) || !engine_text_ends(o->type) ||
		    (o->provider && !engine_text_ends(o->provider)))
			return "a name has no end";
		if (o->begin_ns > INT64_MAX || o->duration_ns > INT64_MAX)
			return "an event is more than 292 years away";
		if (p->device_begin_ns && p->device_end_ns && p->device_end_ns[i] > 0 &&
		    (p->device_end_ns[i] > INT64_MAX ||
		     p->device_begin_ns[i] > p->device_end_ns[i]))
			return "an operator ends on the device before it begins, or in 292 years";
	}
	return NULL;
}

dck_status engine_profile(const dck_engine *e, dck_engine_model *m, dck_profile *ret, dck_err *err)
{
	dck_profile p = {.struct_size = sizeof p};

	DCK_TRY(engine_can_observe(e, DCK_OBSERVE_OPERATORS, err));
	ASK(e, "profile", err, e->profile(m, &p, &why));
	const char *fault = profile_fault(&p);
	if (fault)
		WRONG(err, e, "profile", "%s", fault);
	*ret = p;
	return DCK_OK;
}

dck_status engine_memory(const dck_engine *e, dck_engine_model *m, dck_memory *ret, dck_err *err)
{
	dck_memory x = {.struct_size = sizeof x};

	DCK_TRY(engine_can_observe(e, DCK_OBSERVE_MEMORY, err));
	ASK(e, "memory", err, e->memory(m, &x, &why));
	if ((x.valid & DCK_MEMORY_IN_USE && x.in_use_bytes > INT64_MAX) ||
	    (x.valid & DCK_MEMORY_PEAK && x.peak_bytes > INT64_MAX) ||
	    (x.valid & DCK_MEMORY_RESERVED && x.reserved_bytes > INT64_MAX) ||
	    (x.valid & DCK_MEMORY_ALLOCS && x.allocs > INT64_MAX) ||
	    (x.valid & DCK_MEMORY_RUN && x.run_peak_bytes > INT64_MAX))
		WRONG(err, e, "memory", "it uses more than can be");
	*ret = x;
	return DCK_OK;
}

/* --- devices */

dck_status engine_barriers(const dck_engine *e, dck_engine_context *c, const char **names,
			   unsigned max, unsigned *ret_n, dck_err *err)
{
	unsigned n = 0;

	for (const char *name; engine_may_enqueue(e) && (name = e->barrier(c, n)); n++) {
		if (n == max)
			WRONG(err, e, "barrier", "it has more than %u of them", max);
		if (!*name || !engine_text_ends(name))
			WRONG(err, e, "barrier", "%u has no name", n);
		names[n] = name;
	}
	if (n == 1)
		WRONG(err, e, "barrier", "it has the end of the call alone, and none that waits");
	*ret_n = n;
	return DCK_OK;
}

dck_status engine_enqueue(const dck_engine *e, dck_engine_context *c, dck_err *err)
{
	ASK(e, "enqueue", err, e->enqueue(c, &why));
	return DCK_OK;
}

dck_status engine_bind_from(const dck_engine *e, dck_engine_context *c, size_t index,
			    dck_engine_context *from, size_t output, dck_err *err)
{
	ASK(e, "bind_from", err, e->bind_from(c, index, from, output, &why));
	return DCK_OK;
}

dck_status engine_wait(const dck_engine *e, dck_engine_context *c, unsigned barrier, dck_err *err)
{
	ASK(e, "wait", err, e->wait(c, barrier, &why));
	return DCK_OK;
}

/* --- generation */

dck_status engine_generation(const dck_engine *e, dck_engine_context *c, dck_generation *ret,
			     dck_err *err)
{
	dck_generation g = {.struct_size = sizeof g};

	ASK(e, "generation", err, e->generation(c, &g, &why));
	if (g.vocabulary < 1 || g.vocabulary > INT32_MAX)
		WRONG(err, e, "generation", "the vocabulary has %lld tokens",
		      (long long)g.vocabulary);
	if (!engine_text_ends(g.end_of_sequence) || !engine_text_ends(g.loop))
		WRONG(err, e, "generation", "a text is missing");
	*ret = g;
	return DCK_OK;
}

dck_status engine_generate_begin(const dck_engine *e, dck_engine_context *c, const int64_t *ids,
				 size_t batch, size_t n, size_t most, dck_err *err)
{
	ASK(e, "generate_begin", err, e->generate_begin(c, ids, batch, n, most, &why));
	return DCK_OK;
}

dck_status engine_generate_next(const dck_engine *e, dck_engine_context *c, int64_t *ret,
				dck_err *err)
{
	ASK(e, "generate_next", err, e->generate_next(c, ret, &why));
	return DCK_OK;
}

dck_status engine_transfer(const dck_engine *e, dck_engine_context *c, bool to_device,
			   uint64_t *ret_bytes, dck_err *err)
{
	uint64_t bytes = 0;

	ASK(e, "transfer", err, e->transfer(c, to_device, &bytes, &why));
	if (bytes > INT64_MAX)
		WRONG(err, e, "transfer", "it copied more than any memory has");
	*ret_bytes = bytes;
	return DCK_OK;
}
