/* A tree with too many call paths is pruned: the heaviest stay, all sums are unchanged, a note
 * reports it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "record/tree/cct.h"
#include "record/tree/call_tree.h"
#include "record/tree/tree_prune.h"
#include "fault_alloc.h"

enum { PEAK, CALLS, COLUMNS };
static const dck_column weights[COLUMNS] = {{"peak", "at peak", DCK_UNIT_BYTE},
					    {"calls", "calls", DCK_UNIT_ONE}};

/* n stacks of up to 12 of 40 functions, some of them much heavier than others. */
static void random_paths(cct *p, size_t n)
{
	uint64_t rng = 20;

	assert_int_equal(cct_init(p, weights, COLUMNS, NULL), DCK_OK);
	for (size_t i = 0; i < n; i++) {
		uint32_t frames[12];
		const size_t depth = rng_below(&rng, 13);

		for (size_t k = 0; k < depth; k++) {
			char name[20];

			snprintf(name, sizeof name, "f%u",
				 (unsigned)rng_below(&rng, 40) % (unsigned)(2 + 6 * k));
			frames[k] = cct_frame(p, &(dck_frame){.name = name});
		}
		const uint32_t path = cct_insert_stack(p, frames, depth);
		cct_add(p, path, CALLS, 1);
		if (rng_below(&rng, 3) == 0)
			cct_add(p, path, PEAK, (double)(1u << rng_below(&rng, 24)));
	}
}

/* Writes a path's text, its name in another tree, to the end of `buf`; returns its start. */
static const char *path_text(const dck_tree *t, uint32_t node, char *buf, size_t size)
{
	size_t at = size - 1;

	buf[at] = '\0';
	for (; node != DCK_TREE_ROOT; node = t->nodes[node].parent) {
		const char *name = t->frames[t->nodes[node].frame].name;
		const size_t n = strlen(name);

		assert_true(at > n);
		at -= n;
		memcpy(buf + at, name, n);
		buf[--at] = ';';
	}
	return buf + at;
}

static uint32_t path_find(const call_tree *c, const char *text)
{
	char buf[400];
	uint32_t n = call_tree_next(c, CALL_NONE);

	while (n != CALL_NONE && strcmp(path_text(c->t, n, buf, sizeof buf), text) != 0)
		n = call_tree_next(c, n);
	return n;
}

static double weight_of(const call_tree *c, uint32_t node)
{
	double share = 0;

	for (size_t k = 0; k < COLUMNS; k++)
		share = fmax(share, c->total[node * COLUMNS + k] / call_tree_sum(c, k));
	return share;
}

static void the_heaviest_stay_and_sums_are_exact(void **state)
{
	enum { KEPT = 60 };
	double lightest = INFINITY, heaviest = 0;
	size_t light = 0, kept = 0;
	tree_folded f;
	call_tree all, some;
	char buf[400];
	cct p;
	dck_tree t;

	(void)state;
	random_paths(&p, 400);
	assert_int_equal(cct_view(&p, &t, NULL), DCK_OK);
	assert_true(t.nnodes > 4 * KEPT);
	assert_int_equal(tree_prune(&t, KEPT, &f, NULL), DCK_OK);
	assert_int_equal(call_tree_open(&all, &t, NULL), DCK_OK);
	assert_int_equal(call_tree_open(&some, &f.t, NULL), DCK_OK);
	for (size_t k = 0; k < COLUMNS; k++)
		assert_true(call_tree_sum(&all, k) == call_tree_sum(&some, k));
	for (uint32_t i = 0; i < f.t.nnodes; i++) {
		if (strcmp(f.t.frames[f.t.nodes[i].frame].name, TREE_LIGHT_NAME) == 0) {
			light++;
			continue;
		}
		const uint32_t was = path_find(&all, path_text(&f.t, i, buf, sizeof buf));
		assert_true(was != CALL_NONE);
		for (size_t k = 0; k < COLUMNS; k++) {
			assert_true(all.total[was * COLUMNS + k] == some.total[i * COLUMNS + k]);
			assert_true(t.weights[was * COLUMNS + k] == f.t.weights[i * COLUMNS + k]);
		}
		lightest = fmin(lightest, weight_of(&all, was));
		kept++;
	}
	assert_int_equal(kept, KEPT);
	assert_true(light > 0 && light <= KEPT + 1);
	assert_int_equal(f.paths, t.nnodes - KEPT);
	for (uint32_t i = 0; i < t.nnodes; i++)
		if (path_find(&some, path_text(&t, i, buf, sizeof buf)) == CALL_NONE)
			heaviest = fmax(heaviest, weight_of(&all, i));
	assert_true(heaviest == f.most && heaviest <= lightest);
	for (size_t k = 0; k < COLUMNS; k++) {
		double folded = 0;

		for (uint32_t i = 0; i < f.t.nnodes; i++)
			if (f.t.nodes[i].frame == 0)
				folded += f.t.weights[i * COLUMNS + k];
		assert_true(folded > 0 &&
			    fabs(folded / call_tree_sum(&all, k) - f.part[k]) < 1e-12);
	}
	call_tree_done(&all);
	call_tree_done(&some);
	tree_folded_done(&f);
	cct_view_done(&t);
	cct_done(&p);
}

static void a_small_tree_stays(void **state)
{
	tree_folded f;
	cct p;
	dck_tree t;

	(void)state;
	random_paths(&p, 50);
	assert_int_equal(cct_view(&p, &t, NULL), DCK_OK);
	assert_int_equal(tree_prune(&t, t.nnodes, &f, NULL), DCK_OK);
	assert_int_equal(f.t.nnodes, t.nnodes);
	assert_int_equal(f.paths, 0);
	assert_memory_equal(f.t.weights, t.weights, t.nnodes * COLUMNS * sizeof *t.weights);
	tree_folded_done(&f);
	record_builder *b = record_new();
	dck_record *r;
	assert_int_equal(tree_prune_put(&t, b, NULL), DCK_OK);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_null(dck_record_note(r, "tree-pruned"));
	assert_int_equal(r->trees[0].nnodes, t.nnodes);
	dck_record_free(r);
	cct_view_done(&t);
	cct_done(&p);
}

/* Nodes of equal weight: the first of them stay, with their ancestors. */
static void a_record_has_a_bound_and_says_so(void **state)
{
	enum { WIDE = 300 };
	record_builder *b = record_new();
	uint32_t frames[WIDE];
	dck_record *r;
	cct p;

	(void)state;
	assert_int_equal(cct_init(&p, weights, COLUMNS, NULL), DCK_OK);
	for (uint32_t i = 0; i < WIDE; i++) {
		char name[20];

		snprintf(name, sizeof name, "f%u", i);
		frames[i] = cct_frame(&p, &(dck_frame){.name = name});
	}
	for (uint32_t i = 0; i < WIDE * WIDE; i++)
		cct_add(&p,
			cct_insert_stack(&p, (uint32_t[]){frames[i / WIDE], frames[i % WIDE]}, 2),
			CALLS, 1);
	assert_int_equal(cct_tree(&p, "calls", "Calls", b, NULL), DCK_OK);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	const dck_tree *t = dck_record_tree(r, "calls");
	double sum = 0;
	for (size_t i = 0; i < t->nnodes; i++)
		sum += t->weights[i * COLUMNS + CALLS];
	assert_true(sum == WIDE * WIDE);
	assert_true(t->nnodes > TREE_NODES_KEPT && t->nnodes <= TREE_NODES_KEPT + WIDE);
	assert_non_null(strstr(dck_record_note(r, "tree-pruned")->text,
			       "40300 of 90300 call paths of calls, each of at most 0.0011 % of "
			       "anything, are summed up as (light paths) below the paths around "
			       "them: 0 % of peak, 45 % of calls"));
	dck_record_free(r);
	cct_done(&p);
}

static void no_memory_is_told(void **state)
{
	fault_alloc faults;
	bool done = false;
	cct p;
	dck_tree t;

	(void)state;
	random_paths(&p, 100);
	assert_int_equal(cct_view(&p, &t, NULL), DCK_OK);
	for (size_t n = 1; !done; n++) {
		tree_folded f = {0};

		fault_alloc_begin(&faults, n);
		const dck_status status = tree_prune(&t, 20, &f, NULL);
		done = faults.calls < n;
		assert_int_equal(status, done ? DCK_OK : DCK_E_NOMEM);
		tree_folded_done(&f);
		dck_set_allocator(NULL);
		assert_int_equal(faults.out, 0);
	}
	cct_view_done(&t);
	cct_done(&p);
}

int test_tree_fold(void);
int test_tree_fold(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_heaviest_stay_and_sums_are_exact),
	    cmocka_unit_test(a_small_tree_stays),
	    cmocka_unit_test(a_record_has_a_bound_and_says_so),
	    cmocka_unit_test(no_memory_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
