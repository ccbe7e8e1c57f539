/* accuracy_run.c - batched inference of one or more models over the same labelled items, in
 * lockstep.
 *
 * items_run() opens all models, reads the items (.npy, all in memory, together at most
 * labels_limit()), pairs each input of each model with its items (feed), and then works chunk by
 * chunk. A chunk has the size of the largest batch. Each model runs it in batches of the size it
 * was opened with; the last batch is filled up with copies of its last item, whose outputs are
 * dropped. From the outputs of a chunk come the predictions (labels_pick()), and from the second
 * model on the differences from the reference's outputs (compared_part()).
 *
 * r->done counts the items that all models have finished. A failure or an interruption ends the
 * loop, and the chunks before it are still a result. Batch axes are checked before the first run,
 * and the size of an output after each run, since an engine may return anything. Memory is in the
 * caller's arena, except one row of scores; targets and arrays are closed on every path.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/accuracy/accuracy_run.h"
#include "study/accuracy/accuracy_record.h"
#include "base/dtype.h"
#include "base/err.h"
#include "base/observer.h"
#include "measure/subject/subject_facts.h"
#include "measure/subject/npy.h"
#include "measure/subject/shape_resolve.h"
#include "os/os.h"
#include "measure/verify/rebatch_check.h"
#include <stdio.h>
#include <string.h>

#define BATCH 64 /* default items at once */

/* The labelled items of one input: all of them in memory. */
typedef struct items {
	const char *name; /* of the input; NULL: the only one */
	const char *file;
	npy_array x;
} items;

/* How one input of one subject gets its items. */
typedef struct feed {
	const items *from;
	size_t index;	  /* of the input */
	dck_tensor batch; /* of the subject's type and shape, with separate memory */
	size_t bytes;	  /* of one item in the file */
	bool converts;
} feed;

typedef struct candidate {
	subject_target target;
	size_t batch; /* items of one run */
	feed *feeds;
	size_t nfeeds;
	size_t output;
	dck_tensor chunk; /* this output for the present chunk; with separate memory */
	size_t item_bytes, columns;
} candidate;

typedef struct run_job {
	accuracy_run *r;
	items *items;
	size_t nitems; /* inputs that have items */
	candidate *candidates;
	size_t nopen;
	size_t chunk; /* items at a time */
	uint64_t begin_ns;
} run_job;

/* --- the items */

/* Splits "NAME=FILE.npy" where the first subject has an input of that name; else all of it is the
 * file. */
static void item_name(const subject_target *t, const char *text, items *ret)
{
	ret->file = text;
	for (size_t i = 0; i < t->nin && !ret->name; i++) {
		const char *file = subject_pair_rest(text, t->in[i].name);

		if (file) {
			ret->name = t->in[i].name;
			ret->file = file;
		}
	}
}

static dck_status accuracy_items_read(run_job *j, dck_err *err)
{
	const dck_list *list = &j->r->config->inputs;
	const subject_target *t = &j->candidates[0].target;
	uint64_t left = labels_limit();

	j->items = mem_arena_array(j->r->arena, list->n, sizeof *j->items);
	DCK_NEED(j->items, err, "for the labelled items");
	for (size_t i = 0; i < list->n; i++) {
		items *it = &j->items[i];

		item_name(t, list->item[i], it);
		if (!it->name && strchr(it->file, '=') && !os_file_exists(it->file))
			DCK_FAIL(err, E_ARG,
				 "--inputs is '%s': there is no such file, "
				 "and the model has no such input; its first is '%s'",
				 it->file, t->in[0].name);
		bool there = false;

		DCK_TRY(npy_in_memory(&j->r->config->arrays, it->file, &there, &it->x, err));
		if (!there)
			DCK_TRY(npy_read(it->file, (size_t)left, &it->x, err));
		j->nitems++;
		left -= it->x.bytes < left ? it->x.bytes : left;
		if (it->x.rank == 0 || (size_t)it->x.dim[0] != j->r->truth->n)
			DCK_FAIL(err, E_ARG,
				 "'%s' has %lld items along axis 0 and '%s' %zu labels: "
				 "they must be of the same items",
				 it->file, it->x.rank > 0 ? (long long)it->x.dim[0] : 1,
				 j->r->truth->from, j->r->truth->n);
	}
	return DCK_OK;
}

/* --- which items go where */

static const items *items_find(const run_job *j, const candidate *l, size_t input)
{
	const char *name = l->target.in[input].name;

	for (size_t i = 0; i < j->nitems; i++)
		if (j->items[i].name && strcmp(j->items[i].name, name) == 0)
			return &j->items[i];
	/* A file without a name is for the input at its position, as is any where subjects name
	 * their inputs differently. */
	for (size_t i = 0; i < j->nitems; i++)
		if (i == input && (!j->items[i].name || l != j->candidates))
			return &j->items[i];
	return NULL;
}

/* Returns whether sizes of an item agree, except dimensions of 1: 28x28 fits 1x28x28. A flat item
 * fits any shape. */
static bool item_fits(const int64_t *a, size_t na, const int64_t *b, size_t nb)
{
	int64_t x[DCK_RANK_MAX], y[DCK_RANK_MAX], size_x = 1, size_y = 1;
	size_t nx = 0, ny = 0;

	for (size_t i = 0; i < na; i++) {
		size_x *= a[i];
		if (a[i] != 1)
			x[nx++] = a[i];
	}
	for (size_t i = 0; i < nb; i++) {
		size_y *= b[i];
		if (b[i] != 1)
			y[ny++] = b[i];
	}
	if (nx <= 1 || ny <= 1)
		return size_x == size_y;
	return nx == ny && memcmp(x, y, nx * sizeof *x) == 0;
}

static dck_status feed_make(const run_job *j, candidate *l, const items *from, size_t input,
			    dck_err *err)
{
	const dck_tensor *like = subject_inputs_get(l->target.inputs, 0, input);
	const npy_array *x = &from->x;
	const char *name = l->target.in[input].name;
	feed *f = &l->feeds[l->nfeeds++];
	bool same = x->dtype.code == like->dtype.code && x->dtype.bits == like->dtype.bits;

	*f = (feed){.from = from, .index = input, .batch = *like, .converts = !same};
	if (like->rank < 1 || (size_t)like->dim[0] != l->batch)
		DCK_FAIL(err, E_ARG,
			 "axis 0 of the input '%s' is not the batch, along which items are given",
			 name);
	if (!item_fits(x->dim + 1, x->rank - 1, like->dim + 1, (size_t)like->rank - 1))
		DCK_FAIL(
		    err, E_ARG, "an item of '%s' is %s, the input '%s' needs %s", from->file,
		    subject_dims_text(j->r->arena, x->dim + 1, NULL, x->rank - 1), name,
		    subject_dims_text(j->r->arena, like->dim + 1, NULL, (size_t)like->rank - 1));
	if (!same && !(dtype_is_float(x->dtype) && dtype_is_float(like->dtype)))
		DCK_FAIL(err, E_ARG,
			 "'%s' has %s, the input '%s' needs %s: save the items as the model was "
			 "trained on them, scaled and with array.astype('%s')",
			 from->file, dck_dtype_text(x->dtype), name, dck_dtype_text(like->dtype),
			 dck_dtype_text(like->dtype));
	f->bytes = x->bytes / (size_t)x->dim[0];
	f->batch.data = mem_arena_alloc(j->r->arena, (size_t)like->bytes);
	return f->batch.data ? DCK_OK : ERR_NO_MEMORY(err, "for the labelled items");
}

/* Returns whether --input gives the input the same contents for all items. */
static bool given_alike(const dck_subject *s, const char *name)
{
	for (size_t i = 0; i < s->model.input.n; i++)
		if (subject_pair_rest(s->model.input.item[i], name))
			return true;
	return false;
}

static dck_status feeds_make(const run_job *j, size_t which, dck_err *err)
{
	candidate *l = &j->candidates[which];

	l->feeds = mem_arena_array(j->r->arena, l->target.nin, sizeof *l->feeds);
	DCK_NEED(l->feeds, err, "for the labelled items");
	for (size_t i = 0; i < l->target.nin; i++) {
		const items *from = items_find(j, l, i);

		if (from)
			DCK_TRY(feed_make(j, l, from, i, err));
		else if (!given_alike(j->r->all[which].subject, l->target.in[i].name))
			DCK_FAIL(err, E_ARG,
				 "the input '%s' has no items: give them with --inputs %s=FILE.npy",
				 l->target.in[i].name, l->target.in[i].name);
	}
	if (l->nfeeds < j->nitems)
		DCK_FAIL(err, E_ARG,
			 "--inputs names %zu files and '%s' takes %zu of them: "
			 "write NAME=FILE.npy with the names of its inputs",
			 j->nitems, j->r->all[which].name, l->nfeeds);
	return DCK_OK;
}

/* --- opening */

/* Returns the items of one run: the first axis of the first input that may have items. */
static size_t batch_of(const dck_subject *s, const subject_target *t)
{
	for (size_t i = 0; i < t->nin; i++) {
		const dck_tensor *x = subject_inputs_get(t->inputs, 0, i);

		if (!given_alike(s, t->in[i].name))
			return x->rank > 0 && x->dim[0] > 0 ? (size_t)x->dim[0] : 1;
	}
	return 1;
}

static dck_status output_find(const run_job *j, candidate *l, dck_err *err)
{
	const char *name = j->r->config->output;
	const subject_target *t = &l->target;

	if (!t->engine.ops->output || t->nout == 0)
		DCK_FAIL(err, E_UNSUP, "the engine '%s' gives no outputs, so nothing is predicted",
			 t->engine.ops->name);
	l->output = name ? subject_tensor_find(t->out, t->nout, name) : 0;
	if (l->output == SIZE_MAX)
		DCK_FAIL(err, E_ARG,
			 "--output is '%s', which the model does not have: its first is '%s'", name,
			 t->out[0].name);
	return DCK_OK;
}

static dck_status accuracy_candidate_open(run_job *j, size_t which, dck_err *err)
{
	candidate *l = &j->candidates[which];
	dck_subject s = *j->r->all[which].subject;

	s.model.input_pool = 1;
	/* A fixed batch stays unless another is requested. */
	if (s.model.batch == 0) {
		s.model.batch = j->r->truth->n < BATCH ? j->r->truth->n : BATCH;
		s.model.batch_optional = true;
	}
	DCK_TRY(verify_open_given(&l->target, &s, j->r->watch, err));
	j->nopen = which + 1;
	if (l->target.nin == 0)
		DCK_FAIL(err, E_UNSUP, "'%s' has no inputs", j->r->all[which].name);
	l->batch = batch_of(&s, &l->target);
	j->chunk = l->batch > j->chunk ? l->batch : j->chunk;
	return output_find(j, l, err);
}

/* --- running */

/* Copies items first to first + rows into the batch; the last one fills it up. */
static dck_status feed_give(const subject_target *t, const feed *f, size_t batch, size_t first,
			    size_t rows, dck_err *err)
{
	const npy_array *x = &f->from->x;
	const char *data = (const char *)x->data + first * f->bytes;
	const size_t own = (size_t)f->batch.bytes / batch;
	char *to = f->batch.data;

	if (f->converts) {
		dck_tensor from = f->batch, part = f->batch;

		from.data = (void *)(uintptr_t)data;
		from.dtype = x->dtype;
		from.dim[0] = part.dim[0] = (int64_t)rows;
		(void)compared_convert(&part, &from);
	} else {
		memcpy(to, data, rows * own);
	}
	for (size_t i = rows; i < batch; i++)
		memcpy(to + i * own, to + (rows - 1) * own, own);
	return engine_bind_input(t->engine.ops, t->context, f->index, &f->batch, err);
}

/* Checks the shape of the output, and allocates a chunk of it. */
static dck_status chunk_make(const run_job *j, candidate *l, const dck_tensor *out, dck_err *err)
{
	const char *name = l->target.out[l->output].name;
	const size_t each = dck_dtype_bytes(out->dtype);
	size_t columns = 1, axes = 0;

	for (int32_t d = 1; d < out->rank; d++) {
		columns *= (size_t)out->dim[d];
		axes += out->dim[d] != 1;
	}
	if (each == 0 || out->rank < 1 || (size_t)out->dim[0] != l->batch)
		DCK_FAIL(err, E_UNSUP,
			 "axis 0 of the output '%s' is not the batch of %zu: "
			 "it holds no prediction for each item; name another with --output",
			 name, l->batch);
	if (columns == 0 ||
	    (columns == 1 && out->dtype.code != DCK_DTYPE_INT && out->dtype.code != DCK_DTYPE_UINT))
		DCK_FAIL(err, E_UNSUP,
			 "the output '%s' has one score for each item: "
			 "a class is picked from two or more",
			 name);
	if (axes > 1) /* a map of scores, features: its highest number is not a class */
		DCK_FAIL(err, E_UNSUP,
			 "the output '%s' is %s for each item: a class is picked from one axis of "
			 "scores; name another with --output",
			 name,
			 subject_dims_text(j->r->arena, out->dim + 1, NULL, (size_t)out->rank - 1));
	l->columns = columns > 1 ? columns : 0;
	DCK_TRY(accuracy_top_k_check(j->r->config->top_k, l->columns, err));
	l->item_bytes = columns * each;
	l->chunk = *out;
	l->chunk.data = mem_arena_alloc(j->r->arena, j->chunk * l->item_bytes);
	return l->chunk.data ? DCK_OK : ERR_NO_MEMORY(err, "for the labelled items");
}

static dck_status candidate_run(const run_job *j, candidate *l, size_t first, size_t n,
				dck_err *err)
{
	const dck_engine *e = l->target.engine.ops;

	for (size_t at = 0; at < n; at += l->batch) {
		const size_t rows = n - at < l->batch ? n - at : l->batch;
		dck_tensor out;

		for (size_t i = 0; i < l->nfeeds; i++)
			DCK_TRY(
			    feed_give(&l->target, &l->feeds[i], l->batch, first + at, rows, err));
		DCK_TRY(engine_prepare(e, l->target.context, err));
		DCK_TRY(engine_run(e, l->target.context, err));
		DCK_TRY(engine_output(e, l->target.context, l->output, &out, err));
		if (!l->chunk.data)
			DCK_TRY(chunk_make(j, l, &out, err));
		if (out.bytes != l->batch * l->item_bytes)
			DCK_FAIL(err, E_UNSUP,
				 "the output '%s' changes its shape from run to run: "
				 "it holds no prediction for each item",
				 l->target.out[l->output].name);
		memcpy((char *)l->chunk.data + at * l->item_bytes, out.data, rows * l->item_bytes);
	}
	l->chunk.dim[0] = (int64_t)n;
	l->chunk.bytes = n * l->item_bytes;
	return DCK_OK;
}

static dck_status predictions_take(const run_job *j, size_t which, size_t first, size_t n,
				   double *row, dck_err *err)
{
	candidate *l = &j->candidates[which];
	labels *p = &j->r->predictions[which];
	const labels *truth = j->r->truth;

	if (!p->number)
		DCK_TRY(labels_new(j->r->arena, j->r->all[which].name, truth->n, l->columns,
				   l->columns > 0 && !truth->text && j->r->config->top_k > 1, p,
				   err));
	for (size_t i = 0; i < n; i++) {
		if (l->columns == 0) {
			(void)compared_load(&l->chunk, i, 1, row);
			p->number[first + i] = (int64_t)row[0];
			continue;
		}
		if (!compared_load(&l->chunk, i * l->columns, l->columns, row))
			DCK_FAIL(err, E_UNSUP, "the output '%s' is not of real numbers",
				 l->target.out[l->output].name);
		labels_pick(p, first + i, row, truth);
	}
	return DCK_OK;
}

/* Takes nothing of a chunk before every model has run it: one that fails leaves no trace of it in
 * the predictions of the others. */
static dck_status chunk_run(run_job *j, size_t first, size_t n, double **row, dck_err *err)
{
	accuracy_run *r = j->r;
	size_t columns = 1; /* of the widest output */

	for (size_t i = 0; i < r->n; i++) {
		candidate *l = &j->candidates[i];

		DCK_TRY(candidate_run(j, l, first, n, err));
		columns = l->columns > columns ? l->columns : columns;
	}
	if (!*row)
		*row = mem_alloc(columns * sizeof **row);
	DCK_NEED(*row, err, "for the labelled items");
	for (size_t i = 0; i < r->n; i++) {
		candidate *l = &j->candidates[i];

		DCK_TRY(predictions_take(j, i, first, n, *row, err));
		if (i > 0)
			DCK_TRY(compared_part(&r->scores[i - 1], &j->candidates[0].chunk, &l->chunk,
					      r->limits, err));
	}
	return DCK_OK;
}

static void accuracy_progress_show(const run_job *j, size_t done)
{
	const dck_progress p =
	    progress_fraction("items", done, j->r->truth->n, os_now_ns() - j->begin_ns);

	observer_show(j->r->watch, &p);
}

static dck_status chunks_run(run_job *j, dck_err *err)
{
	accuracy_run *r = j->r;
	const size_t all = r->truth->n;
	double *row = NULL;

	j->begin_ns = os_now_ns();
	while (r->done < all && r->stopped == DCK_OK) {
		const size_t n = all - r->done < j->chunk ? all - r->done : j->chunk;

		accuracy_progress_show(j, r->done);
		r->stopped = observer_cancelled(r->watch)
				 ? ERR_SET(&r->why, E_CANCEL, "interrupted")
				 : chunk_run(j, r->done, n, &row, &r->why);
		if (r->stopped == DCK_OK)
			r->done += n;
	}
	mem_free(row);
	return r->done > 0 ? DCK_OK : err_pass(r->stopped, &r->why, err);
}

/* --- all of it */

static void accuracy_facts_put(const run_job *j)
{
	const candidate *l = &j->candidates[0];
	record_builder *b = j->r->b;
	char key[160];

	subject_facts_of(b, j->r->all[0].subject, &l->target);
	for (size_t i = 0; i < l->nfeeds; i++) {
		snprintf(key, sizeof key, "input/%s", l->target.in[l->feeds[i].index].name);
		record_fact_fmt(b, "subject", key, "%zu items from '%s', %zu at a time",
				j->r->truth->n, l->feeds[i].from->file, l->batch);
	}
	subject_facts_engine(b, &l->target);
	record_fact_text(b, "accuracy", "output", l->target.out[l->output].name);
}

static dck_status items_run(run_job *j, dck_err *err)
{
	accuracy_run *r = j->r;

	for (size_t i = 0; i < r->n; i++)
		DCK_TRY(accuracy_candidate_open(j, i, err));
	DCK_TRY(accuracy_items_read(j, err));
	for (size_t i = 0; i < r->n; i++)
		DCK_TRY(feeds_make(j, i, err));
	accuracy_facts_put(j);
	for (size_t i = 1; i < r->n; i++) {
		DCK_TRY(compared_begin(&r->scores[i - 1],
				       j->candidates[0].target.out[j->candidates[0].output].name,
				       "the labelled items, the same for both", err));
		r->scores[i - 1].label = r->all[i].name;
	}
	DCK_TRY(chunks_run(j, err));
	for (size_t i = 1; i < r->n; i++)
		DCK_TRY(compared_end(&r->scores[i - 1], err));
	for (size_t i = 0; i < r->n; i++)
		r->predictions[i].n = r->done;
	return DCK_OK;
}

dck_status accuracy_run_all(accuracy_run *r, dck_err *err)
{
	run_job j = {.r = r};
	dck_status status;

	j.candidates = mem_arena_array(r->arena, r->n, sizeof *j.candidates);
	r->predictions = mem_arena_array(r->arena, r->n, sizeof *r->predictions);
	r->scores = mem_arena_array(r->arena, r->n, sizeof *r->scores);
	status = j.candidates && r->predictions && r->scores
		     ? items_run(&j, err)
		     : ERR_NO_MEMORY(err, "for the labelled items");
	for (size_t i = 0; i < j.nopen; i++)
		subject_target_close(&j.candidates[i].target);
	for (size_t i = 0; i < j.nitems; i++)
		npy_done(&j.items[i].x);
	for (size_t i = 0; status != DCK_OK && r->scores && i + 1 < r->n; i++)
		compared_done(&r->scores[i]);
	return status;
}
