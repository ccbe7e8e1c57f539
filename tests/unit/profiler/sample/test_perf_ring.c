/* test_perf_ring.c - records from ring buffers: in time order, across the end of a ring, and
 * invalid bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "profiler/sample/perf_decode.h"
#include "profiler/sample/perf_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { RING = 4096, RINGS = 3, LEAVING = 1, ID = 900 };

typedef struct made {
	struct perf_event_mmap_page page[RINGS];
	unsigned char *
	    data[RINGS]; /* exactly RING bytes each, so that a sanitizer detects an access beyond */
	perf_ring ring[RINGS];
	perf_rings all;
} made;

static made *make(void)
{
	made *m = calloc(1, sizeof *m);

	assert_non_null(m);
	for (size_t i = 0; i < RINGS; i++) {
		m->data[i] = calloc(1, RING);
		m->ring[i] = (perf_ring){.page = &m->page[i], .data = m->data[i], .bytes = RING};
	}
	m->all = (perf_rings){.ring = m->ring, .n = RINGS, .whole = malloc(PERF_RECORD_BYTES)};
	return m;
}

static void unmake(made *m)
{
	for (size_t i = 0; i < RINGS; i++)
		free(m->data[i]);
	free(m->all.whole);
	free(m);
}

static void put(made *m, size_t ring, const void *bytes, size_t n)
{
	struct perf_event_mmap_page *page = &m->page[ring];

	for (size_t i = 0; i < n; i++)
		m->data[ring][(page->data_head + i) % RING] = ((const unsigned char *)bytes)[i];
	page->data_head += n;
}

/* A record under construction. */
typedef struct text {
	unsigned char bytes[1024];
	size_t n;
} text;

static void add(text *t, const void *bytes, size_t n)
{
	memcpy(t->bytes + t->n, bytes, n);
	t->n += n;
}

static void add32(text *t, uint32_t v)
{
	add(t, &v, sizeof v);
}

static void add64(text *t, uint64_t v)
{
	add(t, &v, sizeof v);
}

static const struct perf_event_header *header(text *t, uint32_t type, uint16_t misc)
{
	const struct perf_event_header h = {.type = type, .misc = misc, .size = (uint16_t)t->n};

	memcpy(t->bytes, &h, sizeof h);
	return (const void *)t->bytes;
}

static text begin(void)
{
	return (text){.n = sizeof(struct perf_event_header)};
}

static void trailer(text *t, uint32_t pid, uint32_t tid, uint64_t at_ns)
{
	add32(t, pid);
	add32(t, tid);
	add64(t, at_ns);
	add64(t, ID);
}

static void comm(made *m, size_t ring, const char *name, uint64_t at_ns)
{
	char padded[16] = "";
	text t = begin();

	strncpy(padded, name, sizeof padded - 1);
	add32(&t, 7);
	add32(&t, 8);
	add(&t, padded, sizeof padded);
	trailer(&t, 7, 8, at_ns);
	header(&t, PERF_RECORD_COMM, 0);
	put(m, ring, t.bytes, t.n);
}

/* Expects these names of the records up to that time. */
static void expect_names(made *m, uint64_t until, const char *names)
{
	const struct perf_event_header *h;
	char got[4096] = "";
	sample_event e;

	perf_rings_begin(&m->all);
	while ((h = perf_rings_next(&m->all, until))) {
		perf_record_decode(h, LEAVING, &e);
		assert_int_equal(e.kind, SAMPLE_NAME);
		assert_int_equal(e.pid, 7);
		assert_int_equal(e.tid, 8);
		strcat(strcat(got, e.as.name.text), " ");
	}
	perf_rings_end(&m->all);
	assert_string_equal(got, names);
}

static void records_come_in_the_order_of_their_time(void **state)
{
	made *m = make();

	(void)state;
	comm(m, 0, "b", 20);
	comm(m, 1, "a", 10);
	comm(m, 0, "d", 40);
	comm(m, 2, "c", 30);
	expect_names(m, 30, "a b c ");
	comm(m, 1, "e", 35);
	expect_names(m, UINT64_MAX, "e d ");
	for (size_t i = 0; i < RINGS; i++) /* and the kernel may reuse their space */
		assert_true(m->page[i].data_tail == m->page[i].data_head);
	assert_int_equal(m->all.damaged, 0);
	unmake(m);
}

static void a_record_goes_over_the_end_of_its_ring(void **state)
{
	made *m = make();
	uint64_t wrapped = 0;

	(void)state;
	/* 56 bytes each, so that the ring ends at every offset of a record, also in its header. */
	for (unsigned i = 0; i < 1000; i++) {
		char name[12], expected[16];

		snprintf(name, sizeof name, "n%u", i);
		snprintf(expected, sizeof expected, "n%u ", i);
		wrapped += m->page[0].data_head % RING + 56 > RING;
		comm(m, 0, name, i + 1);
		expect_names(m, UINT64_MAX, expected);
	}
	assert_true(wrapped > 3);
	unmake(m);
}

static void what_is_no_record_empties_its_ring(void **state)
{
	static const uint16_t sizes[] = {0, 4, 7, 12, 4096, 65528};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		made *m = make();
		struct perf_event_header h = {.type = PERF_RECORD_COMM, .size = sizes[i]};

		comm(m, 0, "good", 5);
		put(m, 0, &h, sizeof h);
		put(m, 0, &h, sizeof h);
		comm(m, 1, "other", 6);
		expect_names(m, UINT64_MAX, "good other ");
		assert_int_equal(m->all.damaged, 1);
		comm(m, 0, "again", 7);
		expect_names(m, UINT64_MAX, "again ");
		unmake(m);
	}
	/* More than the ring's size. */
	made *m = make();
	m->page[0].data_head = 3 * RING;
	expect_names(m, UINT64_MAX, "");
	assert_int_equal(m->all.damaged, 1);
	unmake(m);
}

/* --- decoding */

static text sample_of(uint64_t period, uint64_t room, uint64_t used, uint64_t abi)
{
	const uint64_t mask = perf_registers();
	text t = begin();

	add32(&t, 70);
	add32(&t, 71);
	add64(&t, 1234);
	add64(&t, ID);
	add64(&t, period);
	add64(&t, abi);
	for (unsigned i = 0; abi && i < 64; i++)
		if (mask >> i & 1)
			add64(&t, 1000 + i);
	add64(&t, room);
	for (uint64_t i = 0; i < room; i++)
		add(&t, "s", 1);
	if (room)
		add64(&t, used);
	header(&t, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	return t;
}

static sample_event decode(text *t)
{
	sample_event e;

	perf_record_decode((const void *)t->bytes, LEAVING, &e);
	return e;
}

static void a_sample_has_registers_and_stack(void **state)
{
	text t = sample_of(500, 16, 9, PERF_SAMPLE_REGS_ABI_64);
	sample_event e = decode(&t);

	(void)state;
	if (!UNWIND_HERE)
		skip();
	assert_int_equal(e.kind, SAMPLE_TAKEN);
	assert_int_equal(e.pid, 70);
	assert_int_equal(e.tid, 71);
	assert_int_equal(e.at_ns, 1234);
	assert_true(e.id == ID);
	assert_int_equal(perf_record_time((const void *)t.bytes), 1234);
	assert_int_equal(e.as.taken.weight_ns, 500);
	assert_int_equal(e.as.taken.where, SAMPLE_IN_PROGRAM);
	assert_int_equal(e.as.taken.stack_bytes, 9);
	assert_false(e.as.taken.stack_full);
	assert_memory_equal(e.as.taken.stack, "sssssssss", 9);
#if defined(__x86_64__)
	assert_int_equal(e.as.taken.regs.r[UNWIND_PC], 1008);
	assert_int_equal(e.as.taken.regs.r[UNWIND_SP], 1007);
	assert_int_equal(e.as.taken.regs.r[UNWIND_FP], 1006);
	assert_int_equal(e.as.taken.regs.r[3], 1001); /* rbx */
	assert_int_equal(e.as.taken.regs.r[15], 1023);
#endif
	assert_true(e.as.taken.regs.known == UNWIND_ALL_KNOWN);
	t = sample_of(500, 16, 16, PERF_SAMPLE_REGS_ABI_64);
	e = decode(&t);
	assert_true(e.as.taken.stack_full);
	t = sample_of(LEAVING, 16, 16, PERF_SAMPLE_REGS_ABI_64);
	header(&t, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(decode(&t).as.taken.where, SAMPLE_LEAVING);
	t = sample_of(500, 16, 16, PERF_SAMPLE_REGS_ABI_64);
	header(&t, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(decode(&t).as.taken.where, SAMPLE_IN_KERNEL);
	/* A sample of a kernel thread: no user registers or stack. */
	t = sample_of(500, 0, 0, PERF_SAMPLE_REGS_ABI_NONE);
	e = decode(&t);
	assert_int_equal(e.kind, SAMPLE_TAKEN);
	assert_true(e.as.taken.regs.known == 0);
	assert_int_equal(e.as.taken.stack_bytes, 0);
}

static void a_sample_that_lies_is_none(void **state)
{
	(void)state;
	text t = sample_of(500, 16, 17, PERF_SAMPLE_REGS_ABI_64);
	assert_int_equal(decode(&t).kind, SAMPLE_NOTHING);
	for (size_t n = sizeof(struct perf_event_header); n < t.n; n += 8) {
		text cut = sample_of(500, 16, 16, PERF_SAMPLE_REGS_ABI_64);

		cut.n = n;
		header(&cut, PERF_RECORD_SAMPLE, 0);
		assert_int_equal(decode(&cut).kind, SAMPLE_NOTHING);
	}
}

static void code_that_is_mapped(void **state)
{
	char file[16] = "/lib/a.so";
	text t = begin();
	sample_event e;

	(void)state;
	add32(&t, 70);
	add32(&t, 71);
	add64(&t, 0x1000);
	add64(&t, 0x2000);
	add64(&t, 0x3000);
	add64(&t, 9); /* device */
	add64(&t, 77);
	add64(&t, 9);
	add64(&t, 9);
	add(&t, file, sizeof file);
	trailer(&t, 70, 71, 99);
	header(&t, PERF_RECORD_MMAP2, 0);
	e = decode(&t);
	assert_int_equal(e.kind, SAMPLE_MAP);
	assert_int_equal(e.at_ns, 99);
	assert_int_equal(e.as.map.address, 0x1000);
	assert_int_equal(e.as.map.bytes, 0x2000);
	assert_int_equal(e.as.map.offset, 0x3000);
	assert_int_equal(e.as.map.inode, 77);
	assert_string_equal(e.as.map.file, "/lib/a.so");
	/* A name without a terminating zero. */
	memset(t.bytes + t.n - 40, 'x', 16);
	assert_int_equal(decode(&t).kind, SAMPLE_NOTHING);
}

static void threads_and_switches(void **state)
{
	text t = begin();
	sample_event e;

	(void)state;
	add32(&t, 70);
	add32(&t, 60);
	add32(&t, 71);
	add32(&t, 61);
	add64(&t, 5);
	trailer(&t, 60, 61, 99);
	header(&t, PERF_RECORD_FORK, 0);
	e = decode(&t);
	assert_int_equal(e.kind, SAMPLE_FORK);
	assert_int_equal(e.pid, 70);
	assert_int_equal(e.tid, 71);
	assert_int_equal(e.as.fork.parent_pid, 60);
	assert_int_equal(e.as.fork.parent_tid, 61);
	header(&t, PERF_RECORD_EXIT, 0);
	assert_int_equal(decode(&t).kind, SAMPLE_EXIT);
	t = begin();
	trailer(&t, 70, 71, 99);
	header(&t, PERF_RECORD_SWITCH,
	       PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	e = decode(&t);
	assert_int_equal(e.kind, SAMPLE_OFF);
	assert_int_equal(e.tid, 71);
	assert_true(e.as.off.preempted);
	assert_true(e.id == ID);
	header(&t, PERF_RECORD_SWITCH, 0);
	assert_int_equal(decode(&t).kind, SAMPLE_ON);
	t = begin();
	add64(&t, 3);
	add64(&t, 17);
	trailer(&t, 70, 71, 99);
	header(&t, PERF_RECORD_LOST, 0);
	e = decode(&t);
	assert_int_equal(e.kind, SAMPLE_LOST);
	assert_int_equal(e.as.lost.n, 17);
}

/* Any bytes: the decoded events stay inside the ring. */
static void any_bytes_are_read_safely(void **state)
{
	uint64_t rng = 14;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		made *m = make();
		const struct perf_event_header *h;
		sample_event e;
		size_t seen = 0;

		for (size_t i = 0; i < RINGS; i++) {
			const uint64_t from = rng_next(&rng) % RING / 8 * 8;

			for (size_t k = 0; k < RING; k += 8) {
				const uint64_t v = rng_next(&rng);
				struct perf_event_header like = {
				    .type = (uint32_t)(v % 20),
				    .misc = (uint16_t)(v >> 8),
				    .size = (uint16_t)((v >> 32) % 64 * 8)};

				memcpy(m->data[i] + k, v & 1 ? (void *)&like : (void *)&v, 8);
			}
			m->ring[i].tail = m->page[i].data_tail = from;
			m->page[i].data_head = from + rng_next(&rng) % (RING + 8);
		}
		perf_rings_begin(&m->all);
		while ((h = perf_rings_next(&m->all, UINT64_MAX))) {
			perf_record_decode(h, LEAVING, &e);
			if (e.kind == SAMPLE_TAKEN)
				for (size_t i = 0; i < e.as.taken.stack_bytes; i++)
					seen += e.as.taken.stack[i];
			if (e.kind == SAMPLE_NAME || e.kind == SAMPLE_EXEC)
				seen += strlen(e.as.name.text);
			if (e.kind == SAMPLE_MAP)
				seen += strlen(e.as.map.file);
		}
		perf_rings_end(&m->all);
		assert_true(seen < UINT64_MAX);
		for (size_t i = 0; i < RINGS; i++)
			assert_true(m->page[i].data_tail <= m->page[i].data_head);
		unmake(m);
	}
}

int test_perf_ring(void);
int test_perf_ring(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(records_come_in_the_order_of_their_time),
	    cmocka_unit_test(a_record_goes_over_the_end_of_its_ring),
	    cmocka_unit_test(what_is_no_record_empties_its_ring),
	    cmocka_unit_test(a_sample_has_registers_and_stack),
	    cmocka_unit_test(a_sample_that_lies_is_none),
	    cmocka_unit_test(code_that_is_mapped),
	    cmocka_unit_test(threads_and_switches),
	    cmocka_unit_test(any_bytes_are_read_safely),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
