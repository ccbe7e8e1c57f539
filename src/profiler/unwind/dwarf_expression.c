/* dwarf_expression.c - the stack machine of DWARF expressions, as .eh_frame uses it, and a
 * recogniser of simple ones.
 *
 * dwarf_expression_run() interprets constants, registers, arithmetic, comparisons, stack
 * operations, branches and dereferences; operations that need a compile unit or a frame base do not
 * occur in CFI and are rejected. dwarf_expression_simple() recognises "register + constant", one
 * dereference of it plus a constant, and the linkers' expression for .plt, so that such rules fit
 * into 16 bytes (unwind.h).
 *
 * Async-signal-safe: no allocation, no lock; memory is read through `memory` alone. Hostile code:
 * STEPS_MAX operations, since branches may go back, and STACK_MAX values; an empty or full stack, a
 * division by 0, a branch out of the code and an unknown operation are UNWIND_LOST. Arithmetic is
 * unsigned, and the signed division that overflows is excluded. Source: DWARF 5, 2.5 and 7.7.1.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/dwarf_expression.h"

#include "profiler/unwind/dwarf_bytes.h"

enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU = 0x10,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

enum { STACK_MAX = 24, STEPS_MAX = 512 };

typedef struct machine {
	uint64_t stack[STACK_MAX];
	unsigned n;
	bool bad;
} machine;

static void expression_push(machine *m, uint64_t v)
{
	if (m->n < STACK_MAX)
		m->stack[m->n++] = v;
	else
		m->bad = true;
}

static uint64_t expression_pop(machine *m)
{
	if (m->n)
		return m->stack[--m->n];
	m->bad = true;
	return 0;
}

/* Returns the i-th value from the top. */
static uint64_t expression_peek(machine *m, unsigned i)
{
	if (i < m->n)
		return m->stack[m->n - 1 - i];
	m->bad = true;
	return 0;
}

static uint64_t calculate(machine *m, unsigned op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_AND:
		return a & b;
	case OP_DIV:
		m->bad |= !b;
		/* INT64_MIN / -1 does not fit. */
		return (int64_t)b == -1 ? 0 - a : b ? (uint64_t)((int64_t)a / (int64_t)b) : 0;
	case OP_MOD:
		m->bad |= !b;
		return b ? a % b : 0;
	case OP_MINUS:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_OR:
		return a | b;
	case OP_PLUS:
		return a + b;
	case OP_SHL:
		return b < 64 ? a << b : 0;
	case OP_SHR:
		return b < 64 ? a >> b : 0;
	case OP_SHRA:
		b = b < 64 ? b : 63;
		return a >> b | (a >> 63 ? ~(UINT64_MAX >> b) : 0);
	case OP_XOR:
		return a ^ b;
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_GE:
		return (int64_t)a >= (int64_t)b;
	case OP_GT:
		return (int64_t)a > (int64_t)b;
	case OP_LE:
		return (int64_t)a <= (int64_t)b;
	case OP_LT:
		return (int64_t)a < (int64_t)b;
	default:
		m->bad = true;
		return 0;
	}
}

static bool is_calculation(unsigned op)
{
	return op == OP_AND || (op >= OP_DIV && op <= OP_MUL) || op == OP_OR || op == OP_PLUS ||
	       (op >= OP_SHL && op <= OP_XOR) || (op >= OP_EQ && op <= OP_NE);
}

/* Reads the constant that op pushes; false: it pushes none. */
static bool expression_constant(unsigned op, dwarf_bytes *b, uint64_t *ret)
{
	if (op >= OP_LIT0 && op <= OP_LIT31)
		*ret = op - OP_LIT0;
	else if (op >= OP_CONST1U && op <= OP_CONST8S && op % 2 == 0)
		*ret = dwarf_fixed(b, 1u << (op - OP_CONST1U) / 2);
	else if (op >= OP_CONST1U && op <= OP_CONST8S)
		*ret = (uint64_t)dwarf_fixed_signed(b, 1u << (op - OP_CONST1U) / 2);
	else if (op == OP_ADDR)
		*ret = dwarf_fixed(b, 8);
	else if (op == OP_CONSTU)
		*ret = dwarf_uleb(b);
	else if (op == OP_CONSTS)
		*ret = (uint64_t)dwarf_sleb(b);
	else
		return false;
	return true;
}

/* Reads "register + offset"; false: op is another operation. */
static bool based(unsigned op, dwarf_bytes *b, uint64_t *ret_register, uint64_t *ret_offset)
{
	if (op >= OP_BREG0 && op <= OP_BREG31)
		*ret_register = op - OP_BREG0;
	else if (op == OP_BREGX)
		*ret_register = dwarf_uleb(b);
	else
		return false;
	*ret_offset = (uint64_t)dwarf_sleb(b);
	return true;
}

static unwind_result expression_load(machine *m, const unwind_memory *memory, unsigned n)
{
	uint64_t address = expression_pop(m);
	unsigned char bytes[8];
	dwarf_bytes b = {bytes, bytes + n, false};

	if (m->bad || (n != 1 && n != 2 && n != 4 && n != 8))
		return UNWIND_LOST;
	if (!memory->read(memory->self, address, bytes, n))
		return UNWIND_UNREADABLE;
	expression_push(m, dwarf_fixed(&b, n));
	return UNWIND_OK;
}

static void expression_shuffle(machine *m, unsigned op, dwarf_bytes *b)
{
	uint64_t x, y, z;

	switch (op) {
	case OP_DUP:
		expression_push(m, expression_peek(m, 0));
		break;
	case OP_DROP:
		expression_pop(m);
		break;
	case OP_OVER:
		expression_push(m, expression_peek(m, 1));
		break;
	case OP_PICK:
		expression_push(m, expression_peek(m, (unsigned)dwarf_fixed(b, 1)));
		break;
	case OP_SWAP:
		x = expression_pop(m), y = expression_pop(m);
		expression_push(m, x), expression_push(m, y);
		break;
	case OP_ROT: /* the top goes below the two others */
		x = expression_pop(m), y = expression_pop(m), z = expression_pop(m);
		expression_push(m, x), expression_push(m, z), expression_push(m, y);
		break;
	case OP_ABS:
		x = expression_pop(m);
		expression_push(m, (int64_t)x < 0 ? 0 - x : x);
		break;
	case OP_NEG:
		expression_push(m, 0 - expression_pop(m));
		break;
	case OP_NOT:
		expression_push(m, ~expression_pop(m));
		break;
	case OP_PLUS_UCONST:
		expression_push(m, expression_pop(m) + dwarf_uleb(b));
		break;
	case OP_NOP:
		break;
	default:
		m->bad = true;
	}
}

/* Branches, forwards or back. */
static void expression_jump(machine *m, unsigned op, dwarf_bytes *b, const unsigned char *code)
{
	int64_t by = dwarf_fixed_signed(b, 2);

	if (op == OP_BRA && !expression_pop(m))
		return;
	if (by < code - b->at || by > b->end - b->at)
		m->bad = true;
	else
		b->at += by;
}

unwind_result dwarf_expression_run(const unsigned char *code, size_t n, const uint64_t *first,
				   const unwind_regs *r, const unwind_memory *memory, uint64_t *ret)
{
	machine m = {.n = 0};
	dwarf_bytes b = {code, code + n, false};
	uint64_t x, y;

	if (first)
		expression_push(&m, *first);
	for (unsigned steps = 0; dwarf_more(&b); steps++) {
		unsigned op = (unsigned)dwarf_fixed(&b, 1);

		if (steps == STEPS_MAX)
			return UNWIND_LOST;
		if (expression_constant(op, &b, &x)) {
			expression_push(&m, x);
		} else if (based(op, &b, &x, &y)) {
			if (x >= UNWIND_REGS || !(r->known >> x & 1))
				return UNWIND_NEEDS;
			expression_push(&m, r->r[x] + y);
		} else if (is_calculation(op)) {
			y = expression_pop(&m), x = expression_pop(&m);
			expression_push(&m, calculate(&m, op, x, y));
		} else if (op == OP_DEREF || op == OP_DEREF_SIZE) {
			unwind_result got = expression_load(
			    &m, memory, op == OP_DEREF ? 8 : (unsigned)dwarf_fixed(&b, 1));

			if (got != UNWIND_OK)
				return got;
		} else if (op == OP_BRA || op == OP_SKIP) {
			expression_jump(&m, op, &b, code);
		} else {
			expression_shuffle(&m, op, &b);
		}
		if (m.bad || b.bad)
			return UNWIND_LOST;
	}
	x = expression_pop(&m);
	if (m.bad || b.bad)
		return UNWIND_LOST;
	*ret = x;
	return UNWIND_OK;
}

/* The linkers' expression for .plt: "stack pointer + 8, and 8 more from byte k of an entry on". */
static bool plt_entry(dwarf_bytes *b, uint64_t pc, dwarf_address *a)
{
	static const unsigned char form[] = {OP_BREG0 + 16, 0,		 OP_LIT0 + 15, OP_AND, 0,
					     OP_GE,	    OP_LIT0 + 3, OP_SHL,       OP_PLUS};
	size_t n = (size_t)(b->end - b->at);

	if (n != sizeof form || b->at[4] < OP_LIT0 || b->at[4] > OP_LIT31)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (i != 4 && b->at[i] != form[i])
			return false;
	}
	if ((pc & 15) >= (uint64_t)(b->at[4] - OP_LIT0))
		a->offset += 8;
	b->at = b->end;
	return true;
}

bool dwarf_expression_simple(const unsigned char *code, size_t n, uint64_t pc, dwarf_address *ret)
{
	dwarf_bytes b = {code, code + n, false};
	dwarf_address a = {0};
	uint64_t of, offset;

	if (!based((unsigned)dwarf_fixed(&b, 1), &b, &of, &offset) || of >= UNWIND_REGS)
		return false;
	a.of = (uint8_t)of;
	a.offset = (int64_t)offset;
	if (UNWIND_REGS == 17 && plt_entry(&b, pc, &a)) {
		*ret = a;
		return !b.bad;
	}
	while (dwarf_more(&b)) {
		unsigned op = (unsigned)dwarf_fixed(&b, 1);
		uint64_t v;

		if (op == OP_DEREF && !a.deref) {
			a.deref = true;
			continue;
		}
		if (op == OP_PLUS_UCONST)
			v = dwarf_uleb(&b);
		else if (!expression_constant(op, &b, &v) || dwarf_fixed(&b, 1) != OP_PLUS)
			return false;
		if (a.deref)
			a.added = (int64_t)((uint64_t)a.added + v);
		else
			a.offset = (int64_t)((uint64_t)a.offset + v);
	}
	if (b.bad)
		return false;
	*ret = a;
	return true;
}
