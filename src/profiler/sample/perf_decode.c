/* perf_decode.c - decodes a record of perf_event's ring buffer, by a bounds-checked cursor.
 *
 * The layout is what os/counters/perf_sampling.c requests: a sample has TID, TIME, ID, PERIOD,
 * REGS_USER and STACK_USER, in this order; all other records end in pid, tid, time and id
 * (sample_id_all, TRAILER). The registers follow in the order of their bits in perf_registers() and
 * are stored by their DWARF numbers, for the unwinder.
 *
 * Invariants: a read beyond the record sets `failed`, and the event is SAMPLE_NOTHING: the ring is
 * shared memory and is not trusted. Nothing is allocated; stack and texts are borrowed from the
 * record. O(registers). Source: perf_event_open(2), linux/perf_event.h, asm/perf_regs.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/perf_decode.h"

#include <stdalign.h>
#include <string.h>

/* Bits of the registers in the kernel's mask (asm/perf_regs.h), ascending, and their DWARF
 * numbers. */
#if defined(__x86_64__)
static const struct {
	uint8_t bit, dwarf;
} registers[] = {
    {0, 0},  {1, 3},  {2, 2},	{3, 1},	  {4, 4},   {5, 5},   {6, 6},	{7, 7},	  {8, 16},
    {16, 8}, {17, 9}, {18, 10}, {19, 11}, {20, 12}, {21, 13}, {22, 14}, {23, 15},
};
#elif defined(__aarch64__)
#define REGISTER(n)  \
	{            \
		n, n \
	}
static const struct {
	uint8_t bit, dwarf;
} registers[] = {
    REGISTER(0),  REGISTER(1),	REGISTER(2),  REGISTER(3),  REGISTER(4),  REGISTER(5),
    REGISTER(6),  REGISTER(7),	REGISTER(8),  REGISTER(9),  REGISTER(10), REGISTER(11),
    REGISTER(12), REGISTER(13), REGISTER(14), REGISTER(15), REGISTER(16), REGISTER(17),
    REGISTER(18), REGISTER(19), REGISTER(20), REGISTER(21), REGISTER(22), REGISTER(23),
    REGISTER(24), REGISTER(25), REGISTER(26), REGISTER(27), REGISTER(28), REGISTER(29),
    REGISTER(30), REGISTER(31), REGISTER(32),
};
#else
static const struct {
	uint8_t bit, dwarf;
} registers[1];
#endif
enum { REGISTERS = UNWIND_HERE ? sizeof registers / sizeof registers[0] : 0 };

uint64_t perf_registers(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < REGISTERS; i++)
		mask |= UINT64_C(1) << registers[i].bit;
	return mask;
}

/* The rest of a record. */
typedef struct reading {
	const unsigned char *at;
	size_t n;
	bool failed;
} reading;

static const void *bytes_consume(reading *r, uint64_t n)
{
	const void *at = r->at;

	if (n > r->n) {
		r->failed = true;
		return NULL;
	}
	r->at += n;
	r->n -= (size_t)n;
	return at;
}

static uint64_t take64(reading *r)
{
	uint64_t v = 0;
	const void *at = bytes_consume(r, sizeof v);

	if (at)
		memcpy(&v, at, sizeof v);
	return v;
}

static int take_id(reading *r)
{
	int32_t v = 0;
	const void *at = bytes_consume(r, sizeof v);

	if (at)
		memcpy(&v, at, sizeof v);
	return v;
}

static reading decode_body_of(const struct perf_event_header *h)
{
	return (reading){(const unsigned char *)h + sizeof *h,
			 h->size > sizeof *h ? h->size - sizeof *h : 0, false};
}

/* All records but samples end in pid, tid, time and id. */
enum { TRAILER = 24, TIME_AND_ID = 16 };

uint64_t perf_record_time(const struct perf_event_header *h)
{
	reading r = decode_body_of(h);

	if (h->type == PERF_RECORD_SAMPLE)
		take64(&r); /* pid, tid */
	else
		bytes_consume(&r, r.n < TIME_AND_ID ? TIME_AND_ID : r.n - TIME_AND_ID);
	return r.failed ? 0 : take64(&r);
}

static void sample(reading *r, uint16_t misc, uint64_t leaving, sample_event *e)
{
	e->pid = take_id(r);
	e->tid = take_id(r);
	e->at_ns = take64(r);
	e->id = take64(r);
	e->as.taken.weight_ns = take64(r);
	e->as.taken.regs = (unwind_regs){.exact = true};
	const uint64_t abi = take64(r); /* of the registers: none, 32 or 64 bits */
	if (abi != PERF_SAMPLE_REGS_ABI_NONE)
		for (size_t i = 0; i < REGISTERS; i++) {
			e->as.taken.regs.r[registers[i].dwarf] = take64(r);
			e->as.taken.regs.known |= UINT64_C(1) << registers[i].dwarf;
		}
	const uint64_t cap = take64(r);
	const unsigned char *stack = cap ? bytes_consume(r, cap) : NULL;
	const uint64_t used = cap ? take64(r) : 0;
	if (r->failed || used > cap)
		return;
	e->kind = SAMPLE_TAKEN;
	e->as.taken.stack = stack;
	e->as.taken.stack_bytes = (size_t)used;
	e->as.taken.stack_full = used == cap;
	if (abi == PERF_SAMPLE_REGS_ABI_32) { /* whose stack has other words */
		e->as.taken.regs.known &= UINT64_C(1) << UNWIND_PC | UINT64_C(1) << UNWIND_SP;
		e->as.taken.stack_bytes = 0;
		e->as.taken.stack_full = false;
	}
	const bool kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	e->as.taken.where = e->as.taken.weight_ns == leaving ? SAMPLE_LEAVING
			    : kernel			     ? SAMPLE_IN_KERNEL
							     : SAMPLE_IN_PROGRAM;
}

/* Returns the text at the end of a record; NULL: it has no NUL. */
static const char *take_text(reading *r)
{
	return r->n && memchr(r->at, '\0', r->n) ? (const char *)r->at : NULL;
}

static void decode_map(reading *r, bool with_inode, sample_event *e)
{
	e->pid = take_id(r);
	e->tid = take_id(r);
	e->as.map.address = take64(r);
	e->as.map.bytes = take64(r);
	e->as.map.offset = take64(r);
	if (with_inode) {
		bytes_consume(r, 8); /* device */
		e->as.map.inode = take64(r);
		bytes_consume(r, 16); /* its generation, protection, flags */
	}
	e->as.map.file = r->failed ? NULL : take_text(r);
	if (e->as.map.file)
		e->kind = SAMPLE_MAP;
}

static void name(reading *r, uint16_t misc, sample_event *e)
{
	e->pid = take_id(r);
	e->tid = take_id(r);
	e->as.name.text = r->failed ? NULL : take_text(r);
	if (e->as.name.text)
		e->kind = misc & PERF_RECORD_MISC_COMM_EXEC ? SAMPLE_EXEC : SAMPLE_NAME;
}

static void task(reading *r, sample_kind kind, sample_event *e)
{
	e->pid = take_id(r);
	const int parent = take_id(r);
	e->tid = take_id(r);
	const int parent_tid = take_id(r);
	if (kind == SAMPLE_FORK) {
		e->as.fork.parent_pid = parent;
		e->as.fork.parent_tid = parent_tid;
	}
	if (!r->failed)
		e->kind = kind;
}

void perf_record_decode(const struct perf_event_header *h, uint64_t leaving, sample_event *e)
{
	reading r = decode_body_of(h);

	*e = (sample_event){.kind = SAMPLE_NOTHING};
	if (h->type == PERF_RECORD_SAMPLE) {
		sample(&r, h->misc, leaving, e);
		return;
	}
	e->at_ns = perf_record_time(h);
	if (r.n < TRAILER)
		return;
	r.n -= TRAILER;
	reading behind = {r.at + r.n, TRAILER, false};
	memcpy(&e->id, r.at + r.n + TRAILER - sizeof e->id, sizeof e->id);
	switch (h->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		decode_map(&r, h->type == PERF_RECORD_MMAP2, e);
		break;
	case PERF_RECORD_COMM:
		name(&r, h->misc, e);
		break;
	case PERF_RECORD_FORK:
		task(&r, SAMPLE_FORK, e);
		break;
	case PERF_RECORD_EXIT:
		task(&r, SAMPLE_EXIT, e);
		break;
	case PERF_RECORD_LOST:
		take64(&r); /* the event's id */
		e->as.lost.n = take64(&r);
		if (!r.failed)
			e->kind = SAMPLE_LOST;
		break;
	case PERF_RECORD_SWITCH:
		e->pid = take_id(&behind);
		e->tid = take_id(&behind);
		e->kind = h->misc & PERF_RECORD_MISC_SWITCH_OUT ? SAMPLE_OFF : SAMPLE_ON;
		if (e->kind == SAMPLE_OFF)
			e->as.off.preempted = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
		break;
	default:
		break;
	}
}
