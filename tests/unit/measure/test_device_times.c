/* test_device_times.c - the test of barriers and the parts of a run, on a device with a simulated
 * queue and clock, so that every number is exact.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "deepclock/record.h"
#include "deepclock/unstable.h"
#include "measure/device_times.h"
#include "stat/stat.h"
#include "base/err.h"
#include "base/mem.h"
#include "record/record_begin.h"

/* A simulated device: a queue that drains while the host's time advances. */
struct dck_engine_context {
	uint64_t now_ns, busy_until_ns;
	uint64_t enqueue_ns, run_ns, copy_ns; /* a copy of the results to the host */
	uint64_t first_copy_ns;		      /* more, of the first copy after work */
	bool copied;
	unsigned polls; /* readings of the clock since the last call: many let time pass */
	bool call_waits, synchronize_waits;
	uint64_t tail_ns;   /* of a run, after its smallest output is available */
	uint64_t early_ns;  /* before the end of a run, synchronize() returns */
	uint64_t slow_runs; /* so many runs are 30 times as long */
	unsigned preempted; /* so many of each five waits begin 40 ms later: the host did not run */
	unsigned waits;
	unsigned barriers, chosen;
	uint64_t enqueued, fail_at;
	uint64_t in_bytes, out_bytes;
	double clock_rate;     /* of the device's clock over the host's */
	bool events_elsewhere; /* in a stream that has no work */
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static const char *fake_barrier(dck_engine_context *c, unsigned index)
{
	static const char *const names[] = {"the call", "synchronize", "a small copy", "a copy"};

	if (index >= c->barriers)
		return NULL;
	return index + 1 == c->barriers ? names[3] : names[index];
}

static void fake_choose(dck_engine_context *c, unsigned index)
{
	c->chosen = index;
}

static dck_status fake_enqueue(dck_engine_context *c, dck_err *err)
{
	if (++c->enqueued == c->fail_at)
		DCK_FAIL(err, E_ENGINE, "the device is lost");
	c->polls = 0;
	c->copied = false;
	c->now_ns += c->enqueue_ns;
	c->busy_until_ns =
	    later(c->busy_until_ns, c->now_ns) + c->run_ns * (c->enqueued <= c->slow_runs ? 30 : 1);
	if (c->call_waits)
		c->now_ns = c->busy_until_ns;
	return DCK_OK;
}

static dck_status fake_wait(dck_engine_context *c, unsigned barrier, dck_err *err)
{
	(void)err;
	c->polls = 0;
	if (barrier == 0)
		return DCK_OK;
	if (barrier + 1 == c->barriers) {
		c->now_ns = later(c->now_ns, c->busy_until_ns) + c->copy_ns +
			    (c->copied ? 0 : c->first_copy_ns);
		c->copied = true;
	} else if (barrier == 1) {
		c->now_ns += c->waits++ % 5 < c->preempted ? 40000000u : 1000u;
		if (c->synchronize_waits)
			c->now_ns = later(c->now_ns, c->busy_until_ns - c->early_ns);
	} else {
		c->now_ns = later(c->now_ns, c->busy_until_ns - c->tail_ns) + 10000;
	}
	return DCK_OK;
}

static dck_status fake_transfer(dck_engine_context *c, bool to_device, uint64_t *ret_bytes,
				dck_err *err)
{
	(void)err;
	c->polls = 0;
	*ret_bytes = to_device ? c->in_bytes : c->out_bytes;
	c->now_ns += to_device ? 200000 : c->copy_ns;
	return DCK_OK;
}

static const dck_engine device_engine = {
    .struct_size = sizeof(dck_engine),
    .name = "fake",
    .barrier = fake_barrier,
    .barrier_choose = fake_choose,
    .enqueue = fake_enqueue,
    .wait = fake_wait,
    .transfer = fake_transfer,
};

static uint64_t device_now(void *self)
{
	dck_engine_context *c = self;

	if (++c->polls > 8)
		c->now_ns += 100;
	return c->now_ns;
}

/* A device with runs of 1 ms, enqueued in 10 us and read back in 50 us. */
static dck_engine_context device_new(unsigned barriers)
{
	return (dck_engine_context){.now_ns = 1000000,
				    .enqueue_ns = 10000,
				    .run_ns = 1000000,
				    .copy_ns = 50000,
				    .barriers = barriers,
				    .chosen = 99,
				    .in_bytes = 4096,
				    .out_bytes = 1024};
}

static device_proof prove_from(dck_engine_context *c, unsigned first)
{
	const dck_clock clock = {.now_ns = device_now, .self = c};
	device_proof p;
	uint64_t runs = 0;
	dck_err err = {0};

	if (device_barrier_prove(&device_engine, c, &clock, first, &p, &runs, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(runs, c->enqueued);
	return p;
}

static device_proof prove(dck_engine_context *c)
{
	return prove_from(c, 0);
}

/* An event is reached when the work before it has ended. */
static int fake_between_events(void *arg, uint64_t runs, double *ret_ns)
{
	dck_engine_context *c = arg;
	const uint64_t begin_ns =
	    c->events_elsewhere ? c->now_ns : later(c->now_ns, c->busy_until_ns);
	dck_err err;

	for (; runs > 0; runs--)
		if (fake_enqueue(c, &err) != DCK_OK)
			return 1;
	if (!c->events_elsewhere)
		c->now_ns = later(c->now_ns, c->busy_until_ns);
	*ret_ns = (double)(c->now_ns - begin_ns) * c->clock_rate;
	return 0;
}

static dck_record *recorded_events(dck_engine_context *c, const device_proof *p,
				   const dck_function_device *function)
{
	const device_events events = {function, c};
	const dck_clock clock = {.now_ns = device_now, .self = c};
	record_builder *b = record_begin("test");
	double *scratch = mem_alloc(stat_scratch(64) * sizeof *scratch);
	dck_record *r = NULL;
	uint64_t runs = 0;
	dck_err err = {0};

	assert_true(b && scratch);
	device_proof_record(b, p);
	device_times_record(b, &device_engine, c, &clock, events, 0, p, 1e9, 0.95, scratch, &runs);
	mem_free(scratch);
	if (record_finish(b, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static dck_record *recorded(dck_engine_context *c, const device_proof *p)
{
	return recorded_events(c, p, NULL);
}

static const char *fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "device", key);

	return f && (f->value.kind == DCK_VALUE_TEXT || f->value.kind == DCK_VALUE_ABSENT)
		   ? f->value.as.text
		   : NULL;
}

/* The barrier returns early despite its documentation: results are copied, as recorded. */
static void a_barrier_that_returns(void **state)
{
	dck_engine_context c = device_new(3);

	(void)state;
	const device_proof p = prove(&c);
	assert_true(p.proven);
	assert_int_equal(p.chosen, 2);
	assert_int_equal(c.chosen, 2);
	assert_int_equal(p.runs, 32); /* 16 runs take 16.06 ms, and 20 ms are required */
	assert_true(p.idle_ns == 50000 && p.run_ns == 1060000);
	assert_true(p.barrier[0].left_ns == 31690000 && p.barrier[0].call_ns == 0);
	assert_true(p.barrier[1].left_ns == 31689000 && p.barrier[1].call_ns == 1000);
	assert_true(isnan(p.barrier[2].left_ns));
	dck_record *r = recorded(&c, &p);
	assert_string_equal(fact(r, "barrier"), "a copy");
	assert_string_equal(fact(r, "barrier_proof"),
			    "left of 32 runs: 31.7 ms of 32.1 ms after the call, 31.7 ms of "
			    "32.1 ms after synchronize");
	const dck_note *n = dck_record_note(r, "barrier-returns");
	assert_non_null(n);
	assert_string_equal(
	    n->text,
	    "synchronize returned after 1.00 µs, when 31.7 ms of 32.1 ms of work were left "
	    "to do: each run ends with a copy in its place, and the 50.0 µs that this "
	    "takes with nothing to wait for are in every latency; in a program of yours, "
	    "read a result before the clock stops");
	/* Enqueueing a run takes 10 us, never the 1060 us of the whole run. */
	const dck_metric *m = dck_record_metric(r, "device/enqueue");
	assert_true(m->value.as.r == 10000 && m->lo == 10000 && m->hi == 10000 && m->level == 0.95);
	assert_true(dck_record_value(r, "transfer/to_device") == 250000);
	assert_true(fabs(dck_record_value(r, "transfer/to_device_rate") - 4096 / 250e-6) < 1);
	assert_true(dck_record_value(r, "transfer/from_device") == 50000);
	assert_true(fabs(dck_record_value(r, "transfer/from_device_rate") - 1024 / 50e-6) < 1);
	assert_int_equal(dck_record_series(r, "enqueue")->n, 50);
	dck_record_free(r);
}

static void a_barrier_that_waits(void **state)
{
	dck_engine_context c = device_new(3);

	(void)state;
	c.synchronize_waits = true;
	const device_proof p = prove(&c);
	assert_int_equal(p.chosen, 1);
	assert_int_equal(c.chosen, 1);
	assert_true(p.barrier[1].left_ns == 0);
	assert_true(p.barrier[1].call_ns == 31690000);
	dck_record *r = recorded(&c, &p);
	assert_string_equal(fact(r, "barrier"), "synchronize");
	assert_null(dck_record_note(r, "barrier-returns"));
	dck_record_free(r);
}

/* A call that blocks needs no barrier. */
static void a_call_that_waits(void **state)
{
	dck_engine_context c = device_new(3);

	(void)state;
	c.call_waits = true;
	const device_proof p = prove(&c);
	assert_int_equal(p.chosen, 0);
	assert_true(p.barrier[0].left_ns == 0 && isnan(p.barrier[1].left_ns));
}

/* The host is as slow as the device: of many runs only the end of the last remains, which equals a
 * single run. */
static void bound_by_the_host(void **state)
{
	dck_engine_context c = device_new(3);

	(void)state;
	c.enqueue_ns = c.run_ns = 100000;
	const device_proof p = prove(&c);
	assert_true(p.barrier[0].left_ns == 100000);
	assert_int_equal(p.chosen, 2);
}

/* Nearly all of a run is the host's: the end of the call leaves less than a twentieth of it, which
 * is work all the same. What a test does not resolve is not. */
static void nearly_bound_by_the_host(void **state)
{
	dck_engine_context c = device_new(3);
	device_proof p;

	(void)state;
	c.enqueue_ns = 1000000;
	c.run_ns = 40000;
	c.synchronize_waits = true;
	p = prove(&c);
	assert_true(p.barrier[0].left_ns == 40000 && p.barrier[0].paused_ns == 0);
	assert_int_equal(p.chosen, 1);
	c = device_new(3);
	c.enqueue_ns = 1000000;
	c.run_ns = 5000;
	p = prove(&c);
	assert_true(p.barrier[0].left_ns == 5000);
	assert_int_equal(p.chosen, 0);
}

/* One output may be available before the others. */
static void a_small_copy(void **state)
{
	dck_engine_context c = device_new(4);

	(void)state;
	assert_int_equal(prove(&c).chosen, 2);
	c = device_new(4);
	c.tail_ns = 500000;
	const device_proof p = prove(&c);
	assert_int_equal(p.chosen, 3);
	assert_true(p.barrier[2].left_ns == 490000);
}

/* A copy takes longer after work than after a copy. That is not work: a pause does not shorten it.
 */
static void a_first_copy(void **state)
{
	dck_engine_context c = device_new(3);
	device_proof p;

	(void)state;
	c.run_ns = 40000;
	c.copy_ns = 9000;
	c.first_copy_ns = 14000;
	c.synchronize_waits = true;
	p = prove(&c);
	assert_int_equal(p.chosen, 1);
	assert_true(p.barrier[1].left_ns == 14000 && p.barrier[1].paused_ns == 14000);
	assert_true(isnan(p.barrier[0].paused_ns)); /* it leaves more than half a run */
	dck_record *r = recorded(&c, &p);
	assert_non_null(strstr(fact(r, "barrier_proof"),
			       "14.0 µs of 20.5 ms after synchronize (14.0 µs after a pause)"));
	assert_null(dck_record_note(r, "barrier-unresolved"));
	dck_record_free(r);

	/* The third barrier of four leaves a fifth of a run, which ends during the pause. */
	c = device_new(4);
	c.run_ns = 100000;
	c.tail_ns = 30000;
	p = prove(&c);
	assert_true(p.barrier[2].left_ns == 20000 && p.barrier[2].paused_ns == 0);
	assert_int_equal(p.chosen, 3);
	/* The same of the documented one. */
	c = device_new(3);
	c.run_ns = 100000;
	c.synchronize_waits = true;
	c.early_ns = 20000;
	p = prove(&c);
	assert_true(p.barrier[1].left_ns == 20000 && p.barrier[1].paused_ns == 0);
	assert_int_equal(p.chosen, 2);
	r = recorded(&c, &p);
	assert_null(dck_record_note(r, "barrier-returns"));
	assert_non_null(
	    strstr(dck_record_note(r, "barrier-unresolved")->text,
		   "the test of synchronize does not resolve 20.0 µs, of runs of 160 µs: "
		   "each run ends with a copy in its place, and the 50.0 µs that"));
	dck_record_free(r);
}

/* On a busy machine the work also ends while a host that does not wait is preempted. */
static void a_host_that_is_preempted(void **state)
{
	dck_engine_context c = device_new(3);
	device_proof p;

	(void)state;
	c.preempted = 4;
	p = prove(&c);
	assert_int_equal(p.chosen, 2);
	dck_record *r = recorded(&c, &p);
	assert_non_null(dck_record_note(r, "barrier-returns"));
	dck_record_free(r);
	/* A delay while it waits for the results is not a barrier that returns. */
	c = device_new(3);
	c.preempted = 4;
	c.synchronize_waits = true;
	p = prove(&c);
	assert_int_equal(p.chosen, 1);
}

/* What is left is compared with the work in the same trial: other programs had slowed the device
 * when its runs were measured. */
static void a_device_that_becomes_faster(void **state)
{
	dck_engine_context c = device_new(3);

	(void)state;
	c.run_ns = 3000000;
	c.slow_runs = 5;
	const device_proof p = prove(&c);
	assert_int_equal(p.runs, 1);
	assert_true(p.run_ns == 90060000 && p.barrier[1].left_ns == 2999000);
	assert_int_equal(p.chosen, 2);
}

static void no_device(void **state)
{
	dck_engine_context c = device_new(0);

	(void)state;
	const device_proof p = prove(&c);
	assert_true(p.n == 0 && !p.proven && c.enqueued == 0);
	dck_engine old = device_engine; /* of an older ABI */
	old.struct_size = offsetof(dck_engine, barrier);
	device_proof q;
	dck_err err = {0};
	c.barriers = 3;
	assert_int_equal(device_barriers_list(&old, &c, &q, &err), DCK_OK);
	assert_int_equal(q.n, 0);
}

static void untested(void **state)
{
	dck_engine_context c = device_new(3);
	device_proof p;
	dck_err err = {0};

	(void)state;
	assert_int_equal(device_barriers_list(&device_engine, &c, &p, &err), DCK_OK);
	assert_int_equal(p.chosen, 2);
	c.in_bytes = 0;
	dck_record *r = recorded(&c, &p);
	assert_string_equal(fact(r, "barrier"), "a copy");
	assert_string_equal(fact(r, "barrier_proof"),
			    "not tested, since there was no warm-up; the barrier is certain");
	const dck_metric *m = dck_record_metric(r, "transfer/to_device_rate");
	assert_true(m->value.kind == DCK_VALUE_ABSENT);
	assert_string_equal(m->value.as.text, "deepclock has no input in the device's memory");
	dck_record_free(r);
}

/* Even if the call waits, a function is synchronized in each run. */
static void a_function(void **state)
{
	dck_engine_context c = device_new(3);

	(void)state;
	c.call_waits = c.synchronize_waits = true;
	device_proof p = prove_from(&c, 1);
	assert_true(p.proven && p.chosen == 1 && p.barrier[0].left_ns == 0);
	/* Nothing is copied, so nothing can test what synchronizes. */
	c = device_new(2);
	p = prove_from(&c, 1);
	assert_true(!p.proven && p.chosen == 1 && c.chosen == 1 && isnan(p.barrier[0].left_ns));
	dck_record *r = recorded(&c, &p);
	assert_string_equal(fact(r, "barrier_proof"),
			    "not tested, since the function returns no tensor on the device, whose "
			    "copy would be certain to wait");
	dck_record_free(r);
}

static const char *why_absent(const dck_record *r, const char *tag)
{
	const dck_metric *m = dck_record_metric(r, tag);

	assert_true(m && m->value.kind == DCK_VALUE_ABSENT);
	return m->value.as.text;
}

/* The device's own time of a run is neither the launch nor the launch and the run. */
static void events(void **state)
{
	const dck_function_device function = {.between_events = fake_between_events},
				  without = {.no_events = "it has no events"};
	dck_engine_context c = device_new(3);
	dck_record *r;

	(void)state;
	c.clock_rate = 1;
	device_proof p = prove(&c);
	r = recorded_events(&c, &p, &function);
	const dck_metric *m = dck_record_metric(r, "device/time");
	assert_true(m->value.as.r == 1000000 && m->lo == 1000000 && m->hi == 1000000);
	assert_int_equal(dck_record_series(r, "device")->n, 50);
	assert_string_equal(fact(r, "events_proof"), "32.0 ms between the events around 32 runs, "
						     "32.1 ms on the host's clock");
	dck_record_free(r);

	c.clock_rate = 1.2;
	r = recorded_events(&c, &p, &function);
	assert_string_equal(why_absent(r, "device/time"),
			    "its events are 38.4 ms apart, around work that took 32.1 ms on the "
			    "host's clock: the device's clock is wrong");
	dck_record_free(r);
	c.clock_rate = 0.01;
	r = recorded_events(&c, &p, &function);
	assert_string_equal(why_absent(r, "device/time"),
			    "its events are 320 µs apart, around work that took 32.1 ms on the "
			    "host's clock: the work is not in the current stream, or the device's "
			    "clock is wrong");
	dck_record_free(r);
	c.clock_rate = 1;
	c.events_elsewhere = true;
	r = recorded_events(&c, &p, &function);
	assert_string_equal(why_absent(r, "device/time"),
			    "its events are 320 µs apart, around work that took 32.1 ms on the "
			    "host's clock: the work is not in the current stream, or the device's "
			    "clock is wrong");
	dck_record_free(r);
	r = recorded_events(&c, &p, &without);
	assert_string_equal(why_absent(r, "device/time"), "it has no events");
	dck_record_free(r);
	p.runs = 0;
	r = recorded_events(&c, &p, &function);
	assert_string_equal(why_absent(r, "device/time"),
			    "its events were not tested, since there was no warm-up");
	dck_record_free(r);
}

/* Without events: neither what the barrier takes nor the launch is in the time of a run. */
static void time_by_growth(void **state)
{
	dck_engine_context c = device_new(3);
	device_proof p = prove(&c);
	dck_record *r = recorded(&c, &p);
	const dck_metric *m = dck_record_metric(r, "device/time");

	(void)state;
	assert_true(m->value.as.r == 1000000 && m->lo == 1000000 && m->hi == 1000000);
	assert_string_equal(m->how,
			    "median of 11: by how much longer 64 runs take than 32, over 32");
	dck_record_free(r);
	c.enqueue_ns = 980000; /* the host is nearly as slow */
	r = recorded(&c, &p);
	assert_non_null(strstr(why_absent(r, "device/time"), "a call takes as long"));
	dck_record_free(r);
	c.enqueue_ns = 10000;
	p.run_ns = 1e9; /* 96 runs of 1 s */
	r = recorded(&c, &p);
	assert_non_null(strstr(why_absent(r, "device/time"), "96 runs of 1.00 s take longer"));
	dck_record_free(r);
	p.runs = 0;
	r = recorded(&c, &p);
	assert_non_null(strstr(why_absent(r, "device/time"), "no warm-up"));
	dck_record_free(r);
}

static void a_lost_device(void **state)
{
	const dck_clock clock = {.now_ns = device_now, .self = NULL};
	dck_engine_context c = device_new(3);
	dck_clock mine = clock;
	device_proof p;
	uint64_t runs = 0;
	dck_err err = {0};

	(void)state;
	mine.self = &c;
	c.fail_at = 3;
	assert_int_equal(device_barrier_prove(&device_engine, &c, &mine, 0, &p, &runs, &err),
			 DCK_E_ENGINE);
	assert_string_equal(err.msg, "the device is lost");
	assert_int_equal(c.chosen, 99);
	c = device_new(3);
	assert_int_equal(device_barriers_list(&device_engine, &c, &p, &err), DCK_OK);
	c.fail_at = 1;
	dck_record *r = recorded(&c, &p);
	assert_string_equal(dck_record_metric(r, "device/enqueue")->value.as.text,
			    "the device is lost");
	assert_true(dck_record_value(r, "transfer/from_device") > 0);
	dck_record_free(r);
}

/* A session that is opened again waits as the first one did, without a test. */
static void again(void **state)
{
	dck_engine_context c = device_new(3), other = device_new(3), none = device_new(0);
	dck_err err = {0};

	(void)state;
	c.synchronize_waits = true;
	device_proof p = prove(&c);
	assert_int_equal(device_barrier_again(&device_engine, &other, &p, &err), DCK_OK);
	assert_int_equal(other.chosen, 1);
	assert_int_equal(other.enqueued, 0);
	assert_true(p.proven && p.chosen == 1 && p.barrier[1].call_ns == 31690000);
	assert_int_equal(device_barrier_again(&device_engine, &none, &p, &err), DCK_OK);
	assert_true(p.n == 0 && !p.proven && none.chosen == 99);
}

static dck_record *noted(dck_engine_context *c, double latency_ns)
{
	const dck_clock clock = {.now_ns = device_now, .self = c};
	record_builder *b = record_begin("test");
	double *scratch = mem_alloc(stat_scratch(64) * sizeof *scratch);
	const device_proof p = prove(c);
	dck_record *r = NULL;
	uint64_t runs = 0;
	dck_err err = {0};

	assert_true(b && scratch);
	const device_parts parts = device_times_record(
	    b, &device_engine, c, &clock, (device_events){0}, 0, &p, 1e9, 0.95, scratch, &runs);
	device_parts_notes(b, &p, &parts, latency_ns);
	mem_free(scratch);
	if (record_finish(b, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

/* Enqueueing takes 600 us of 1150 us: the device waits for the host. */
static void bound_by_enqueueing(void **state)
{
	dck_engine_context c = device_new(3);

	(void)state;
	c.enqueue_ns = 600000;
	c.run_ns = 500000;
	dck_record *r = noted(&c, 1150000);
	const dck_note *n = dck_record_note(r, "enqueue-bound");
	assert_non_null(n);
	assert_non_null(strstr(n->text, "the host takes 600 µs of the 1.15 ms of a run to enqueue "
					"its operators, so that the device waits for the host"));
	assert_null(dck_record_note(r, "transfer-bound"));
	dck_record_free(r);
	/* Half of it is not most of it. */
	c = device_new(3);
	c.enqueue_ns = 500000;
	c.run_ns = 450000;
	r = noted(&c, 1000000);
	assert_null(dck_record_note(r, "enqueue-bound"));
	dck_record_free(r);
	/* A call that waits is not enqueueing. */
	c = device_new(3);
	c.call_waits = true;
	r = noted(&c, 1010000);
	assert_null(dck_record_note(r, "enqueue-bound"));
	dck_record_free(r);
}

/* Inputs take 200 us, and 250 us with the copy of the outputs that waits for them. A latency that
 * ends with this copy includes its 50 us. */
static void bound_by_transfers(void **state)
{
	static const struct {
		bool synchronize_waits;
		double latency_ns;
		const char *text; /* NULL: no note */
	} cases[] = {
	    {false, 199000,
	     "copying the inputs to the device takes 200 µs, longer than a run, 199 µs, which does "
	     "not include it"},
	    {false, 200000, NULL},
	    {true, 249000,
	     "copying the inputs to the device and the outputs back takes 250 µs, longer than a run, "
	     "249 µs"},
	    {true, 250000, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		dck_engine_context c = device_new(3);

		c.synchronize_waits = cases[i].synchronize_waits;
		dck_record *r = noted(&c, cases[i].latency_ns);
		const dck_note *n = dck_record_note(r, "transfer-bound");
		assert_true(!n == !cases[i].text);
		if (n)
			assert_ptr_equal(strstr(n->text, cases[i].text), n->text);
		dck_record_free(r);
	}
	/* Of parts that are not known none is longer. */
	const device_parts unknown = {NAN, NAN, NAN};
	dck_engine_context c = device_new(3);
	const device_proof p = prove(&c);
	assert_false(device_enqueue_bound(&p, &unknown, 1));
	assert_false(device_transfer_bound(&p, &unknown, 0));
}

/* Each part is timed six times at least, however short the time for it is. */
static void a_short_budget(void **state)
{
	dck_engine_context c = device_new(3);
	const dck_clock clock = {.now_ns = device_now, .self = &c};
	record_builder *b = record_begin("test");
	double *scratch = mem_alloc(stat_scratch(64) * sizeof *scratch);
	const device_proof p = prove(&c);
	dck_record *r = NULL;
	uint64_t runs = 0;
	dck_err err = {0};

	(void)state;
	assert_true(b && scratch);
	device_times_record(b, &device_engine, &c, &clock, (device_events){0}, 0, &p, 2.5e6, 0.95,
			    scratch, &runs);
	mem_free(scratch);
	assert_int_equal(record_finish(b, &r, &err), DCK_OK);
	assert_int_equal(dck_record_series(r, "enqueue")->n, 6);    /* of 1.06 ms each */
	assert_int_equal(dck_record_series(r, "to_device")->n, 10); /* of 250 us each */
	assert_int_equal(dck_record_series(r, "from_device")->n, 50);
	dck_record_free(r);
	/* Runs that are long against it. */
	b = record_begin("test");
	scratch = mem_alloc(stat_scratch(64) * sizeof *scratch);
	assert_true(b && scratch);
	device_times_record(b, &device_engine, &c, &clock, (device_events){0}, 0, &p, 0.5e6, 0.95,
			    scratch, &runs);
	mem_free(scratch);
	assert_int_equal(record_finish(b, &r, &err), DCK_OK);
	assert_int_equal(dck_record_series(r, "enqueue")->n, 2);
	assert_true(dck_record_value(r, "device/enqueue") > 0);
	assert_true(!(dck_record_metric(r, "device/enqueue")->level > 0));
	dck_record_free(r);
}

/* Launch times are not operator times, unless the device measured them. */
static void operators(void **state)
{
	dck_engine_context c = device_new(3);
	const dck_op_event events[] = {
	    {.name = "a", .type = "A", .run = 0, .duration_ns = 9000000},
	    {.name = "a", .type = "A", .run = 1, .duration_ns = 4000},
	    {.name = "b", .type = "B", .run = 1, .duration_ns = 2000},
	    {.name = "c", .type = "C", .run = 1, .duration_ns = 1000, .depth = 1},
	};
	const uint64_t run_ns[] = {1, 1};
	dck_profile f = {
	    .struct_size = sizeof f, .events = events, .nevents = 4, .nruns = 2, .run_ns = run_ns};
	dck_err err = {0};

	(void)state;
	assert_int_equal(device_profile_check(&device_engine, &c, &f, 1060000, &err), DCK_E_UNSUP);
	assert_string_equal(
	    err.msg, "the engine 'fake' reports how long the host takes to launch operators "
		     "on the device (6.00 µs of the 1.06 ms of a run), and not how long they "
		     "run there");
	f.flags = DCK_PROFILE_DEVICE_TIME;
	assert_int_equal(device_profile_check(&device_engine, &c, &f, 1060000, &err), DCK_OK);
	f.flags = 0;
	c.barriers = 0;
	assert_int_equal(device_profile_check(&device_engine, &c, &f, 1060000, &err), DCK_OK);
	/* Each run waits for the device and copies, and the times still measure launches. */
	f.flags = DCK_PROFILE_LAUNCH_TIME;
	assert_int_equal(device_profile_check(&device_engine, &c, &f, 1060000, &err), DCK_E_UNSUP);
}

int test_device_times(void);
int test_device_times(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_barrier_that_returns),
	    cmocka_unit_test(a_barrier_that_waits),
	    cmocka_unit_test(a_call_that_waits),
	    cmocka_unit_test(bound_by_the_host),
	    cmocka_unit_test(nearly_bound_by_the_host),
	    cmocka_unit_test(a_small_copy),
	    cmocka_unit_test(a_first_copy),
	    cmocka_unit_test(a_host_that_is_preempted),
	    cmocka_unit_test(a_device_that_becomes_faster),
	    cmocka_unit_test(no_device),
	    cmocka_unit_test(untested),
	    cmocka_unit_test(a_function),
	    cmocka_unit_test(events),
	    cmocka_unit_test(time_by_growth),
	    cmocka_unit_test(a_lost_device),
	    cmocka_unit_test(again),
	    cmocka_unit_test(bound_by_enqueueing),
	    cmocka_unit_test(bound_by_transfers),
	    cmocka_unit_test(a_short_budget),
	    cmocka_unit_test(operators),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
