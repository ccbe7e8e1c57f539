/* The timeline's levels of detail: however ranges are merged, sums by name equal those of the
 * table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "deepclock/unstable.h"
#include "profiler/timeline/timeline_lod_parts.h"

enum { THREADS = 5, NAMES = 12, KEYS = 64 };

static uint64_t rng;

static uint64_t some(uint64_t below)
{
	return rng_next(&rng) % below;
}

/* --- rows */

static uint64_t took_by(const lod_track *r)
{
	uint64_t took = 0;

	for (uint32_t i = 0; i < r->nranges; i++)
		took += r->ranges[i].took_ns;
	for (uint32_t i = 0; i < r->nblocks; i++)
		took += r->blocks[i].took_ns;
	return took;
}

static void what_is_long_or_alone_stays(void **state)
{
	lod_track r = {0};

	(void)state;
	lod_track_put(&r, &(lod_range){.begin_ns = 10, .took_ns = 3, .key = 1}, 4, NULL);
	lod_track_put(&r, &(lod_range){.begin_ns = 16, .took_ns = 5, .key = 1}, 4, NULL);
	lod_track_put(&r, &(lod_range){.begin_ns = 22, .took_ns = 2, .key = 2}, 4, NULL);
	lod_track_put(&r, &(lod_range){.begin_ns = 25, .took_ns = 1, .key = 2}, 4, NULL);
	lod_track_put(&r, &(lod_range){.begin_ns = 27, .took_ns = 100, .key = 3}, 4, NULL);
	assert_int_equal(r.nranges, 2);
	assert_int_equal(r.ranges[0].begin_ns, 10);
	assert_int_equal(r.ranges[1].took_ns, 100);
	assert_int_equal(r.nblocks, 1);
	assert_int_equal(r.blocks[0].bin, 1);
	assert_int_equal(r.blocks[0].ranges, 3);
	assert_int_equal(r.blocks[0].took_ns, 8);
	assert_int_equal(r.blocks[0].key, 1);
	lod_track_done(&r);
}

/* Ranges merged at a step directly, or at a shorter step first, give the same result. */
static void any_way_to_a_step_gives_the_same(void **state)
{
	for (int shift = 3; shift < 30; shift += 4) {
		lod_track exact = {0}, fine = {0}, direct = {0}, twice = {0}, once = {0};
		uint64_t ns = 0, all = 0;

		(void)state;
		rng = (uint64_t)shift;
		for (int i = 0; i < 3000; i++) {
			ns += some(2000);
			const lod_range one = {.begin_ns = ns,
					       .took_ns = some(UINT64_C(1) << some(24)),
					       .key = 1 + (uint32_t)some(9)};
			ns += one.took_ns;
			all += one.took_ns;
			lod_track_put(&exact, &one, LOD_EXACT, NULL);
			lod_track_put(&fine, &one, shift - 2, NULL);
			lod_track_put(&direct, &one, shift, NULL);
		}
		lod_track_downsample(&exact, LOD_EXACT, shift, NULL, &once);
		lod_track_downsample(&fine, shift - 2, shift, NULL, &twice);
		assert_int_equal(took_by(&direct), all);
		assert_int_equal(took_by(&once), all);
		assert_int_equal(took_by(&twice), all);
		assert_int_equal(direct.nranges, once.nranges);
		assert_int_equal(direct.nblocks, once.nblocks);
		assert_int_equal(direct.nranges, twice.nranges);
		assert_int_equal(direct.nblocks, twice.nblocks);
		for (uint32_t i = 0; i < once.nblocks; i++) {
			assert_int_equal(once.blocks[i].ranges, twice.blocks[i].ranges);
			assert_int_equal(once.blocks[i].took_ns, direct.blocks[i].took_ns);
			assert_true(once.blocks[i].ranges > 1);
		}
		lod_track_done(&exact);
		lod_track_done(&fine);
		lod_track_done(&direct);
		lod_track_done(&once);
		lod_track_done(&twice);
	}
}

/* --- a whole timeline */

static timeline_lod *pic;
static zone_aggregate sums;
static zone_stack threads[THREADS + 1];

static void names_tell(uint32_t n)
{
	char text[40];

	for (uint32_t i = 1; i <= n; i++) {
		snprintf(text, sizeof text, "name %u", i);
		timeline_lod_name(pic, i, &(trace_name){.text = text, .n = strlen(text)});
	}
}

static void begin(const timeline_lod_limits *limits, uint32_t names)
{
	assert_int_equal(timeline_lod_new(&pic, limits, NULL), DCK_OK);
	sums = (zone_aggregate){.ended = timeline_lod_range, .listener = pic};
	names_tell(names);
	for (uint32_t i = 1; i <= THREADS; i++) {
		threads[i] = (zone_stack){.track = i};
		timeline_lod_track(
		    pic, &(trace_track){.id = i, .kind = TRACE_THREAD, .tid = (int32_t)i});
		timeline_lod_track(pic, &(trace_track){.id = THREADS + i,
						       .kind = TRACE_COUNTER_TRACK,
						       .parent = i,
						       .name = "value"});
	}
}

static void end(dck_timeline *t)
{
	for (uint32_t i = 1; i <= THREADS; i++)
		zone_stack_done(&threads[i]);
	zone_aggregate_done(&sums);
	timeline_lod_free(pic);
	dck_timeline_done(t);
}

/* Threads with recursive ranges, ranges that any thread may end, marks and values. */
static void random_events(uint64_t n, uint32_t names)
{
	uint64_t ns[THREADS + 1] = {0};
	uint64_t id = 1;
	uint64_t unmatched;

	rng = 7;
	for (uint64_t k = 0; k < n; k++) {
		const uint32_t i = 1 + (uint32_t)some(THREADS);
		const uint32_t name = 1 + (uint32_t)some(names);
		zone_stack *t = &threads[i];
		const uint64_t what = some(100);

		ns[i] += some(UINT64_C(1) << some(14));
		if (what < 2)
			zone_aggregate_range(&sums, 0, id++, false, name, ns[i]);
		else if (what < 4 && id > 4)
			zone_aggregate_range(&sums, 0, id - 1 - some(3), true, 0, ns[i]);
		else if (what < 6)
			timeline_lod_events(pic, i, &(trace_event){ns[i], name, TRACE_INSTANT, {0}},
					    1);
		else if (what < 12)
			timeline_lod_events(
			    pic, THREADS + i,
			    &(trace_event){ns[i], 0, TRACE_COUNTER, {(double)some(50)}}, 1);
		else if (t->depth == 0 || (t->depth < 300 && some(2)))
			zone_aggregate_begin(&sums, t, ns[i], name);
		else
			zone_aggregate_end(&sums, t, ns[i], true);
	}
	for (uint32_t i = 1; i <= THREADS; i++)
		zone_aggregate_close(&sums, &threads[i], ns[i]);
	zone_aggregate_close_ranges(&sums, ns[1], NULL, &unmatched);
}

typedef struct added {
	uint64_t calls, total, self;
} added;

static void add(added *to, uint32_t key, uint64_t ranges, uint64_t took, uint64_t self)
{
	const timeline_lod_key *k = &pic->keys[key];

	if (k->flags & PICTURE_MARK)
		return;
	added *a = &to[key > PICTURE_FLAGS ? k->name : 0];
	a->calls += k->flags & PICTURE_PIECE ? 0 : ranges;
	a->total += k->flags & PICTURE_INNER ? 0 : took;
	a->self += k->flags & PICTURE_NO_SELF ? 0 : self;
}

/* Sums the timeline by name; 0: names without a separate key. */
static void add_up(added *to)
{
	for (uint32_t i = 0; i < pic->nrows; i++)
		for (uint32_t k = 0; k < pic->rows[i].nranges; k++) {
			const lod_range *one = &pic->rows[i].ranges[k];

			add(to, one->key, 1, one->took_ns, one->self_ns);
		}
	for (uint32_t i = 0; i < pic->nsums; i++)
		add(to, pic->sums[i].key, pic->sums[i].ranges, pic->sums[i].took_ns,
		    pic->sums[i].self_ns);
}

static uint64_t fact(const dck_timeline *t, const char *key)
{
	const char *found = strstr(t->json.data, key);

	assert_non_null(found);
	return strtoull(found + strlen(key), NULL, 10);
}

static void assert_nothing_lost(const dck_timeline *t)
{
	assert_int_equal(fact(t, "\"alone\":") + fact(t, "\"merged\":"),
			 fact(t, "\"ranges_told\":") + fact(t, "\"marks_told\":"));
	assert_int_equal(fact(t, "\"bytes\":"), t->columns.n);
}

static void by_name_it_is_the_table(const timeline_lod_limits *limits, uint64_t events, bool merged)
{
	added a[NAMES + 1] = {{0}};
	dck_timeline t = {0};

	begin(limits, NAMES);
	random_events(events, NAMES);
	assert_int_equal(timeline_lod_finish(pic, &t, NULL), DCK_OK);
	add_up(a);
	assert_nothing_lost(&t);
	assert_int_equal(fact(&t, "\"merged\":") > 0, merged);
	for (uint32_t i = 1; i <= NAMES; i++) {
		const zone_stats *z = zone_aggregate_of(&sums, i);

		assert_non_null(z);
		assert_int_equal(a[i].calls, z->calls + z->unfinished);
		assert_int_equal(a[i].total, z->total_ns);
		assert_int_equal(a[i].self, z->self_ns);
	}
	end(&t);
}

static void of_few_events_all_are_kept(void **state)
{
	(void)state;
	by_name_it_is_the_table(&(timeline_lod_limits){0}, 20000, false);
}

static void of_many_the_sums_by_name_are_the_tables(void **state)
{
	(void)state;
	for (uint32_t ranges = 300; ranges < 60000; ranges *= 3)
		by_name_it_is_the_table(&(timeline_lod_limits){.ranges = ranges, .values = 100},
					200000, true);
}

static void it_is_never_larger_than_its_limit(void **state)
{
	(void)state;
	for (size_t bytes = 40000; bytes < 2000000; bytes *= 4) {
		dck_timeline t = {0};

		begin(&(timeline_lod_limits){.bytes = bytes}, NAMES);
		random_events(200000, NAMES);
		assert_int_equal(timeline_lod_finish(pic, &t, NULL), DCK_OK);
		assert_true(t.columns.n <= bytes);
		assert_nothing_lost(&t);
		end(&t);
	}
}

/* More names than sums: the excess is merged, and no time is lost. */
static void too_many_names_are_put_together(void **state)
{
	enum { MANY = 20000 };
	added *a = calloc(MANY + 1, sizeof *a), all = {0};
	dck_timeline t = {0};
	uint64_t total = 0, self = 0;

	(void)state;
	begin(&(timeline_lod_limits){.ranges = 2000, .sums = 3000}, MANY);
	random_events(150000, MANY);
	assert_int_equal(timeline_lod_finish(pic, &t, NULL), DCK_OK);
	assert_nothing_lost(&t);
	assert_true(pic->nsums <= 2 * 3000);
	add_up(a);
	for (uint32_t i = 0; i <= MANY; i++) {
		const zone_stats *z = zone_aggregate_of(&sums, i);

		all.total += a[i].total;
		all.self += a[i].self;
		total += z ? z->total_ns : 0;
		self += z ? z->self_ns : 0;
	}
	assert_true(a[0].total > 0);
	assert_int_equal(all.total, total);
	assert_int_equal(all.self, self);
	end(&t);
	free(a);
}

static void times_beyond_all_measure_are_held(void **state)
{
	dck_timeline t = {0};

	(void)state;
	begin(&(timeline_lod_limits){.ranges = 64, .sums = 64, .values = 16}, NAMES);
	for (uint64_t i = 0; i < 2000; i++) {
		zone_aggregate_range(&sums, 0, 1 + i, false, 1 + (uint32_t)(i % NAMES), i << 52);
		zone_aggregate_range(&sums, 0, 1 + i, true, 0, UINT64_MAX - i);
		timeline_lod_events(pic, 1, &(trace_event){i << 53, 1, TRACE_INSTANT, {0}}, 1);
		timeline_lod_events(pic, THREADS + 1,
				    &(trace_event){i << 53, 0, TRACE_COUNTER, {1e300 * (double)i}},
				    1);
	}
	assert_int_equal(timeline_lod_finish(pic, &t, NULL), DCK_OK);
	assert_nothing_lost(&t);
	for (size_t i = 0; i < t.step.n; i++)
		assert_true(t.step.ranges[i].took_ns <= t.step.took_ns - t.step.ranges[i].begin_ns);
	end(&t);
}

/* With any number of threads, ranges without a track have a row. */
static void more_threads_than_rows(void **state)
{
	enum { MORE = PICTURE_ROWS_MAX + 10 };
	dck_timeline t = {0};
	zone_closed one = {.name = 1, .begin_ns = 5, .took_ns = 7, .self_ns = 7, .whole = true};

	(void)state;
	begin(&(timeline_lod_limits){0}, NAMES);
	for (uint32_t i = 1; i <= MORE; i++) {
		timeline_lod_track(pic, &(trace_track){.id = 100 + i, .kind = TRACE_THREAD});
		one.track = 100 + i;
		timeline_lod_range(pic, &one);
	}
	one.track = 0;
	timeline_lod_range(pic, &one);
	timeline_lod_range(pic, &one);
	assert_int_equal(timeline_lod_finish(pic, &t, NULL), DCK_OK);
	assert_nothing_lost(&t);
	assert_int_equal(pic->lanes, 2);
	assert_int_equal(fact(&t, "\"undrawn\":"), 10 + PICTURE_ROWS_FIRST);
	end(&t);
}

/* --- the step for a figure */

static void step_is_sound(const dck_step *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const dck_step_range *one = &s->ranges[i];

		assert_true(one->row < s->nrows && one->ranges > 0 && one->name);
		assert_true(one->begin_ns <= s->took_ns &&
			    one->took_ns <= s->took_ns - one->begin_ns);
		if (i > 0)
			assert_true(one->row > one[-1].row ||
				    (one->row == one[-1].row && one->begin_ns >= one[-1].begin_ns));
	}
	assert_true(s->nrows == 0 || s->tracks[0]);
}

static void any_step_is_bounded(void **state)
{
	(void)state;
	for (uint32_t ranges = 300; ranges < 60000; ranges *= 6) {
		dck_timeline t = {0};

		begin(&(timeline_lod_limits){.ranges = ranges}, NAMES);
		random_events(200000, NAMES);
		assert_int_equal(timeline_lod_finish(pic, &t, NULL), DCK_OK);
		step_is_sound(&t.step);
		assert_true(t.step.n > 0 && t.step.n <= (size_t)t.step.nrows * 2 * 2000);
		end(&t);
	}
}

static void name_put(uint32_t id, const char *text)
{
	timeline_lod_name(pic, id, &(trace_name){.text = text, .n = strlen(text)});
}

static void range_put(uint32_t track, uint32_t name, uint64_t begin_ns, uint64_t took_ns)
{
	zone_aggregate_begin(&sums, &threads[track], begin_ns, name);
	zone_aggregate_end(&sums, &threads[track], begin_ns + took_ns, true);
}

/* The name "Step" decides, though another name repeats and takes more; numbers are ignored. */
static void the_median_of_steps_is_the_step(void **state)
{
	static const uint64_t took[] = {900, 500, 700};
	dck_timeline t = {0};

	(void)state;
	begin(&(timeline_lod_limits){0}, 0);
	name_put(1, "load");
	name_put(2, "Step#1");
	name_put(3, "Step#2");
	name_put(4, "Step#33");
	range_put(1, 1, 100, 4000);
	range_put(1, 1, 4200, 4000);
	for (uint32_t i = 0; i < 3; i++)
		range_put(2, 2 + i, 1000 + 1000 * i, took[i]);
	assert_int_equal(timeline_lod_finish(pic, &t, NULL), DCK_OK);
	step_is_sound(&t.step);
	assert_string_equal(t.step.name, "Step#33");
	assert_int_equal(t.step.of, 3);
	assert_int_equal(t.step.took_ns, 700);
	/* The step's track first, then concurrent ranges, clipped to the step. */
	assert_int_equal(t.step.n, 2);
	assert_string_equal(t.step.tracks[0], "thread 2");
	assert_string_equal(t.step.ranges[1].name, "load");
	assert_int_equal(t.step.ranges[1].begin_ns, 0);
	assert_int_equal(t.step.ranges[1].took_ns, 700);
	end(&t);
}

static void without_a_repeated_name_it_is_all_of_it(void **state)
{
	dck_timeline t = {0};

	(void)state;
	begin(&(timeline_lod_limits){0}, 0);
	name_put(1, "main");
	range_put(1, 1, 100, 300);
	assert_int_equal(timeline_lod_finish(pic, &t, NULL), DCK_OK);
	assert_null(t.step.name);
	assert_int_equal(t.step.n, 1);
	assert_int_equal(t.step.ranges[0].begin_ns, 100);
	end(&t);
	/* An empty timeline. */
	begin(&(timeline_lod_limits){0}, 0);
	t = (dck_timeline){0};
	assert_int_equal(timeline_lod_finish(pic, &t, NULL), DCK_OK);
	assert_int_equal(t.step.n, 0);
	end(&t);
}

int test_picture(void);
int test_picture(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_long_or_alone_stays),
	    cmocka_unit_test(any_way_to_a_step_gives_the_same),
	    cmocka_unit_test(of_few_events_all_are_kept),
	    cmocka_unit_test(of_many_the_sums_by_name_are_the_tables),
	    cmocka_unit_test(it_is_never_larger_than_its_limit),
	    cmocka_unit_test(too_many_names_are_put_together),
	    cmocka_unit_test(more_threads_than_rows),
	    cmocka_unit_test(times_beyond_all_measure_are_held),
	    cmocka_unit_test(any_step_is_bounded),
	    cmocka_unit_test(the_median_of_steps_is_the_step),
	    cmocka_unit_test(without_a_repeated_name_it_is_all_of_it),
	};

	return cmocka_run_group_tests_name("picture", tests, NULL, NULL);
}
