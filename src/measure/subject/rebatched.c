/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/rebatched.h"
#include "base/err.h"
#include "base/sink.h"
#include "model/onnx/onnx.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool has_files(const onnx_graph *g)
{
	for (size_t i = 0; i < g->ninitializers; i++)
		if (g->initializers[i].location == 1)
			return true;
	return false;
}

/* Directory and name of the file that holds the weights. Links are followed, because engines
 * reject links that lead out of a directory; but files next to the model are searched in the
 * directory of the given path. */
static dck_status rebatched_place_of(const char *path, const onnx_graph *g, mem_arena *a,
				     const char **directory, const char **name, dck_err *err)
{
	char real[PATH_MAX];
	const char *from = has_files(g) || !realpath(path, real) ? path : real;
	const char *slash = strrchr(from, '/');

	*name = mem_arena_dup(a, slash ? slash + 1 : from);
	if (!slash)
		*directory = ".";
	else
		*directory = mem_arena_dup_n(a, from, slash == from ? 1 : (size_t)(slash - from));
	return *name && *directory ? DCK_OK : ERR_NO_MEMORY(err, "to free the model's batch");
}

static dck_status rebatched_refuse(const onnx_model *m, int64_t was, const dck_err *why,
				   dck_err *err)
{
	const onnx_graph *g = m->graph;
	const char *input = g->ninputs && g->inputs[0].name ? g->inputs[0].name : "?";

	DCK_FAIL(
	    err, E_ARG,
	    "the model fixes axis 0 of the input '%s' at %lld and cannot be made to take another "
	    "batch: %s; export it with a symbolic batch dimension (torch.onnx.export: dynamic_axes)",
	    input, (long long)was, why->msg);
}

dck_status rebatched_make(const char *path, const dck_model_config *c, bool directory, mem_arena *a,
			  rebatched_model *ret, dck_err *err)
{
	const char *name = NULL;
	rebatched_model f = {0};
	onnx_model *m = NULL;
	dck_err why = {0};
	int64_t was = 0;

	if (c->batch == 0 || c->batch_optional)
		return DCK_OK;
	mem_arena_limit(a, mem_arena_bytes(a) + ONNX_MEMORY_MAX);
	DCK_TRY(onnx_read_file(path, a, &m, err));
	if (!batch_fixed(m, &was) || was == (int64_t)c->batch)
		return DCK_OK;
	if (directory)
		DCK_TRY(rebatched_place_of(path, m->graph, a, &f.directory, &name, err));
	dck_status status = rebatch(path, m, (int64_t)c->batch, name, a, &f.model, &why);
	if (status == DCK_E_UNSUP)
		return rebatched_refuse(m, was, &why, err);
	DCK_TRY(err_pass(status, &why, err));
	f.done = true;
	*ret = f;
	return DCK_OK;
}

rebatch_info rebatched_facts(const rebatched_model *f, int64_t items)
{
	const batch_model *m = &f->model;
	rebatch_info r = {.done = true, .was = m->was, .items = items, .rewritten = m->rewritten};

	for (size_t i = 0; i < m->ninputs; i++)
		if (m->inputs[i].shared)
			text_add(r.shared, sizeof r.shared, "%s'%s'", *r.shared ? ", " : "",
				 m->inputs[i].name);
	return r;
}

bool rebatched_fixed(const char *path, int64_t *ret_was)
{
	mem_arena *a = mem_arena_new(0);
	onnx_model *m = NULL;
	bool fixed = a && onnx_read_file(path, a, &m, NULL) == DCK_OK && batch_fixed(m, ret_was);

	mem_arena_free(a);
	return fixed;
}

const dck_subject *rebatched_trusted(const dck_subject *s, dck_subject *copy)
{
	if (s->kind != DCK_SUBJECT_MODEL)
		return s;
	*copy = *s;
	copy->model.skip_batch_check = true;
	return copy;
}

void rebatched_done(rebatched_model *f)
{
	batch_done(&f->model);
	*f = (rebatched_model){0};
}
