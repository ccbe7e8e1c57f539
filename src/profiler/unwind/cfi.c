/* cfi.c - DWARF Call Frame Information: finds the entry (FDE) that covers an address in .eh_frame
 * and runs its instructions to the row of that address.
 *
 * Lookup is a binary search in the sorted table of .eh_frame_hdr, or, where that is missing or of
 * another encoding, a scan of at most SCAN_MAX entries. read_function() decodes the FDE and
 * read_common() its CIE. evaluate() runs the CIE's instructions, stores that row for
 * DW_CFA_restore, then runs the FDE's until they pass the address. Expressions are not run here:
 * the row has their offsets in the section (dwarf_expression.h).
 *
 * Async-signal-safe: no allocation, no lock, no call but memcpy() and memset(). Sections may be
 * hostile: each read is bounded by dwarf_bytes.h, a program has INSTRUCTIONS_MAX bytes at most,
 * DW_CFA_remember_state nests REMEMBERED_MAX deep, values must fit into 32 bits; registers that are
 * not followed (vectors) are skipped. Malformed data gives CFI_DAMAGED or CFI_NONE, never a guess.
 * Formats: Linux Standard Base Core, "Exception Frames"; DWARF 5, 6.4 "Call Frame Information".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/cfi.h"

#include "profiler/unwind/dwarf_bytes.h"

enum {
	PTR_OMIT = 0xff,
	PTR_INDIRECT = 0x80,
	PTR_PCREL = 0x10,
	PTR_TEXTREL = 0x20,
	PTR_DATAREL = 0x30
};

enum {
	REMEMBERED_MAX = 3,	    /* compilers need one; hand-written code two */
	INSTRUCTIONS_MAX = 1 << 20, /* bytes; the longest known function has 200 kB */
	SCAN_MAX = 1 << 16,	    /* entries, without a table to search in */
};

enum {
	CFA_NOP,
	CFA_SET_LOC,
	CFA_ADVANCE_LOC1,
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
	CFA_ADVANCE_LOC = 0x40, /* the operand is in the lower six bits */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
};

/* A common information entry (CIE). */
typedef struct common {
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	unsigned encoding;
	bool augmented, signal;
	dwarf_bytes code;
} common;

typedef struct function {
	uint64_t begin, size;
	common cie;
	dwarf_bytes code;
} function;

static dwarf_bytes from(const unwind_section *s, uint64_t offset)
{
	dwarf_bytes b = {s->bytes, s->bytes + s->size, false};

	dwarf_skip(&b, offset);
	return b;
}

uint64_t cfi_pointer(dwarf_bytes *b, const unwind_module *m, const unwind_section *s,
		     unsigned encoding)
{
	uint64_t here = s->address + (uint64_t)(b->at - s->bytes), v;

	switch (encoding & 0x0f) {
	case 0x00: /* same size as an address */
	case 0x04:
	case 0x0c:
		v = dwarf_fixed(b, 8);
		break;
	case 0x01:
		v = dwarf_uleb(b);
		break;
	case 0x02:
		v = dwarf_fixed(b, 2);
		break;
	case 0x03:
		v = dwarf_fixed(b, 4);
		break;
	case 0x09:
		v = (uint64_t)dwarf_sleb(b);
		break;
	case 0x0a:
		v = (uint64_t)dwarf_fixed_signed(b, 2);
		break;
	case 0x0b:
		v = (uint64_t)dwarf_fixed_signed(b, 4);
		break;
	default:
		b->bad = true;
		return 0;
	}
	switch (encoding & 0x70) {
	case 0:
		return v;
	case PTR_PCREL:
		return here + v;
	case PTR_TEXTREL:
		return m->text + v;
	case PTR_DATAREL:
		/* In .eh_frame_hdr it is relative to that section itself. */
		return (s == &m->hdr ? s->address : m->data) + v;
	default:
		b->bad = true;
		return 0;
	}
}

/* Reads the length at the start of an entry; *b then ends where the entry does. 0: the
 * terminator. */
static uint64_t entry(dwarf_bytes *b)
{
	uint64_t n = dwarf_fixed(b, 4);

	if (n == UINT32_MAX)
		n = dwarf_fixed(b, 8);
	if (b->bad || n > (uint64_t)(b->end - b->at)) {
		b->bad = true;
		return 0;
	}
	b->end = b->at + n;
	return n;
}

/* Reads the augmentation data, by the letters after 'z'. */
static void read_augmentation(dwarf_bytes *b, const unwind_module *m, const unsigned char *letters,
			      common *ret)
{
	dwarf_bytes data = *b;
	uint64_t n = dwarf_uleb(&data);

	*b = data;
	dwarf_skip(b, n);
	if (b->bad)
		return;
	data.end = b->at;
	for (; *letters && !data.bad; letters++) {
		switch (*letters) {
		case 'R':
			ret->encoding = (unsigned)dwarf_fixed(&data, 1);
			break;
		case 'P': { /* only its length is used */
			unsigned encoding = (unsigned)dwarf_fixed(&data, 1);

			cfi_pointer(&data, m, &m->frame, encoding & 0x0f);
			break;
		}
		case 'L':
			dwarf_skip(&data, 1);
			break;
		case 'S':
			ret->signal = true;
			break;
		case 'B': /* AArch64: the other key, and tagged memory */
		case 'G':
			break;
		default: /* unknown, but its length is not needed */
			return;
		}
	}
	b->bad |= data.bad;
}

static bool read_common(const unwind_module *m, uint64_t offset, common *ret)
{
	dwarf_bytes b = from(&m->frame, offset);
	common c = {.encoding = 0};

	if (!entry(&b) || dwarf_fixed(&b, 4) != 0)
		return false;
	unsigned version = (unsigned)dwarf_fixed(&b, 1);
	const unsigned char *letters = b.at;

	while (dwarf_fixed(&b, 1))
		;
	if (b.bad || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4)
		dwarf_skip(&b, 2);		      /* sizes of addresses and of segments */
	if (letters[0] == 'e' && letters[1] == 'h') { /* GCC 2 */
		dwarf_skip(&b, 8);
		letters += 2;
	}
	c.code_align = dwarf_uleb(&b);
	c.data_align = dwarf_sleb(&b);
	c.return_register = version == 1 ? dwarf_fixed(&b, 1) : dwarf_uleb(&b);
	if (*letters == 'z') {
		c.augmented = true;
		read_augmentation(&b, m, letters + 1, &c);
	} else if (*letters) {
		return false;
	}
	c.code = b;
	*ret = c;
	return !b.bad && c.return_register < UNWIND_REGS;
}

/* Reads the entry at that offset. CFI_NONE: it is a CIE; *ret_next: the offset of the next
 * entry. */
static cfi_found read_function(const unwind_module *m, uint64_t offset, function *ret,
			       uint64_t *ret_next)
{
	dwarf_bytes b = from(&m->frame, offset);

	if (!entry(&b))
		return CFI_DAMAGED;
	*ret_next = (uint64_t)(b.end - m->frame.bytes);
	uint64_t here = (uint64_t)(b.at - m->frame.bytes), back = dwarf_fixed(&b, 4);

	if (!back)
		return CFI_NONE;
	if (b.bad || back > here || !read_common(m, here - back, &ret->cie))
		return CFI_DAMAGED;
	ret->begin = cfi_pointer(&b, m, &m->frame, ret->cie.encoding);
	ret->size = cfi_pointer(&b, m, &m->frame, ret->cie.encoding & 0x0f);
	if (ret->cie.augmented)
		dwarf_skip(&b, dwarf_uleb(&b));
	ret->code = b;
	return b.bad ? CFI_DAMAGED : CFI_FOUND;
}

/* --- lookup of the entry for an address */

/* Reads row i of the table of .eh_frame_hdr: an address, or in column 1 an entry. i is in
 * bounds. */
static int32_t table_at(const unsigned char *table, uint64_t i, unsigned column)
{
	int32_t v;

	memcpy(&v, table + 8 * i + 4 * column, 4);
	return v;
}

/* Searches the sorted table of .eh_frame_hdr. CFI_DAMAGED: the table is unusable. */
static cfi_found search(const unwind_module *m, uint64_t place, function *ret)
{
	dwarf_bytes b = from(&m->hdr, 0);
	unsigned version = (unsigned)dwarf_fixed(&b, 1), frame = (unsigned)dwarf_fixed(&b, 1),
		 count = (unsigned)dwarf_fixed(&b, 1), table = (unsigned)dwarf_fixed(&b, 1);

	/* All linkers write offsets of four bytes from the section's start. */
	if (b.bad || version != 1 || count == PTR_OMIT || table != (PTR_DATAREL | 0x0b))
		return CFI_DAMAGED;
	cfi_pointer(&b, m, &m->hdr, frame);
	uint64_t n = cfi_pointer(&b, m, &m->hdr, count), low = 0, next;

	if (b.bad || !n || n > (uint64_t)(b.end - b.at) / 8)
		return CFI_DAMAGED;
	int64_t wanted = (int64_t)(place - m->hdr.address);

	if (wanted < table_at(b.at, 0, 0))
		return CFI_NONE;
	for (uint64_t high = n; high - low > 1;) {
		uint64_t middle = low + (high - low) / 2;

		if (table_at(b.at, middle, 0) <= wanted)
			low = middle;
		else
			high = middle;
	}
	uint64_t at = m->hdr.address + (uint64_t)(int64_t)table_at(b.at, low, 1) - m->frame.address;

	if (at >= m->frame.size || read_function(m, at, ret, &next) != CFI_FOUND)
		return CFI_NONE;
	return place - ret->begin < ret->size ? CFI_FOUND : CFI_NONE;
}

bool cfi_next_function(const unwind_module *m, uint64_t *at, uint64_t *ret_entry,
		       uint64_t *ret_begin)
{
	function f;

	while (*at < m->frame.size) {
		uint64_t here = *at;
		cfi_found found = read_function(m, here, &f, at);

		if (found == CFI_FOUND) {
			*ret_entry = here;
			*ret_begin = f.begin;
			return true;
		}
		if (found == CFI_DAMAGED)
			break;
	}
	return false;
}

static cfi_found cfi_scan(const unwind_module *m, uint64_t place, function *ret)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < SCAN_MAX && at < m->frame.size; i++) {
		switch (read_function(m, at, ret, &at)) {
		case CFI_DAMAGED:
			return CFI_NONE;
		case CFI_NONE:
			break;
		case CFI_FOUND:
			if (place - ret->begin < ret->size)
				return CFI_FOUND;
		}
	}
	return CFI_NONE;
}

/* --- The instructions. */

typedef struct interpreter {
	const unwind_module *m;
	const common *cie;
	uint64_t at, place;
	cfi_row now, first, remembered[REMEMBERED_MAX];
	unsigned n_remembered;
	bool bad;
} interpreter;

static int32_t small(interpreter *p, int64_t v)
{
	if (v < INT32_MIN + 1 || v > INT32_MAX)
		p->bad = true;
	return (int32_t)v;
}

static int64_t factored(const interpreter *p, int64_t v)
{
	int64_t product;

	return __builtin_mul_overflow(v, p->cie->data_align, &product) ? INT64_MAX : product;
}

static void set(interpreter *p, uint64_t reg, cfi_how how, int64_t value)
{
	if (reg >= UNWIND_REGS) /* vectors, flags: not needed */
		return;
	p->now.how[reg] = (uint8_t)how;
	p->now.value[reg] = small(p, value);
}

static void set_cfa(interpreter *p, uint64_t reg, int64_t offset)
{
	if (reg >= UNWIND_REGS)
		p->bad = true;
	p->now.cfa_is_expr = false;
	p->now.cfa_register = (uint8_t)reg;
	p->now.cfa = small(p, offset);
}

/* Returns the offset of the expression at *b, and skips it. */
static int64_t unwind_expression(interpreter *p, dwarf_bytes *b)
{
	int64_t at = b->at - p->m->frame.bytes;

	dwarf_skip(b, dwarf_uleb(b));
	return at;
}

static void cfi_advance(interpreter *p, uint64_t by)
{
	p->at += by * p->cie->code_align;
}

static void restore(interpreter *p, uint64_t reg)
{
	if (reg < UNWIND_REGS)
		set(p, reg, (cfi_how)p->first.how[reg], p->first.value[reg]);
}

static void instruction_cfa(interpreter *p, unsigned op, dwarf_bytes *b)
{
	uint64_t reg = p->now.cfa_register;

	switch (op) {
	case CFA_DEF_CFA:
		reg = dwarf_uleb(b);
		set_cfa(p, reg, (int64_t)dwarf_uleb(b));
		break;
	case CFA_DEF_CFA_SF:
		reg = dwarf_uleb(b);
		set_cfa(p, reg, factored(p, dwarf_sleb(b)));
		break;
	case CFA_DEF_CFA_REGISTER:
		p->bad |= p->now.cfa_is_expr;
		set_cfa(p, dwarf_uleb(b), p->now.cfa);
		break;
	case CFA_DEF_CFA_OFFSET:
		p->bad |= p->now.cfa_is_expr;
		set_cfa(p, reg, (int64_t)dwarf_uleb(b));
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		p->bad |= p->now.cfa_is_expr;
		set_cfa(p, reg, factored(p, dwarf_sleb(b)));
		break;
	case CFA_DEF_CFA_EXPRESSION:
		p->now.cfa_is_expr = true;
		p->now.cfa = small(p, unwind_expression(p, b));
		break;
	default:
		p->bad = true;
	}
}

static void instruction(interpreter *p, unsigned op, dwarf_bytes *b)
{
	uint64_t reg;

	switch (op) {
	case CFA_NOP:
		break;
	case CFA_SET_LOC:
		p->at = cfi_pointer(b, p->m, &p->m->frame, p->cie->encoding);
		break;
	case CFA_ADVANCE_LOC1:
		cfi_advance(p, dwarf_fixed(b, 1));
		break;
	case CFA_ADVANCE_LOC2:
		cfi_advance(p, dwarf_fixed(b, 2));
		break;
	case CFA_ADVANCE_LOC4:
		cfi_advance(p, dwarf_fixed(b, 4));
		break;
	case CFA_OFFSET_EXTENDED:
		reg = dwarf_uleb(b);
		set(p, reg, CFI_OFFSET, factored(p, (int64_t)dwarf_uleb(b)));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		reg = dwarf_uleb(b);
		set(p, reg, CFI_OFFSET, factored(p, dwarf_sleb(b)));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		reg = dwarf_uleb(b);
		set(p, reg, CFI_OFFSET, factored(p, (int64_t)(0 - dwarf_uleb(b))));
		break;
	case CFA_VAL_OFFSET:
		reg = dwarf_uleb(b);
		set(p, reg, CFI_VAL_OFFSET, factored(p, (int64_t)dwarf_uleb(b)));
		break;
	case CFA_VAL_OFFSET_SF:
		reg = dwarf_uleb(b);
		set(p, reg, CFI_VAL_OFFSET, factored(p, dwarf_sleb(b)));
		break;
	case CFA_RESTORE_EXTENDED:
		restore(p, dwarf_uleb(b));
		break;
	case CFA_UNDEFINED:
		set(p, dwarf_uleb(b), CFI_UNDEFINED, 0);
		break;
	case CFA_SAME_VALUE:
		set(p, dwarf_uleb(b), CFI_SAME, 0);
		break;
	case CFA_REGISTER:
		reg = dwarf_uleb(b);
		set(p, reg, CFI_REGISTER, (int64_t)(dwarf_uleb(b) & INT32_MAX));
		break;
	case CFA_EXPRESSION:
		reg = dwarf_uleb(b);
		set(p, reg, CFI_EXPRESSION, unwind_expression(p, b));
		break;
	case CFA_VAL_EXPRESSION:
		reg = dwarf_uleb(b);
		set(p, reg, CFI_VAL_EXPRESSION, unwind_expression(p, b));
		break;
	case CFA_REMEMBER_STATE:
		if (p->n_remembered == REMEMBERED_MAX)
			p->bad = true;
		else
			p->remembered[p->n_remembered++] = p->now;
		break;
	case CFA_RESTORE_STATE:
		if (!p->n_remembered)
			p->bad = true;
		else
			p->now = p->remembered[--p->n_remembered];
		break;
	case CFA_AARCH64_NEGATE_RA_STATE:
		p->now.is_signed = !p->now.is_signed;
		break;
	case CFA_GNU_ARGS_SIZE:
		dwarf_uleb(b);
		break;
	default:
		instruction_cfa(p, op, b);
	}
}

/* Runs the instructions up to the address. */
static bool cfi_program_run(interpreter *p, dwarf_bytes b)
{
	if (b.end - b.at > INSTRUCTIONS_MAX)
		return false;
	while (dwarf_more(&b) && !p->bad) {
		unsigned op = (unsigned)dwarf_fixed(&b, 1), low = op & 63;

		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC:
			cfi_advance(p, low);
			break;
		case CFA_OFFSET:
			set(p, low, CFI_OFFSET, factored(p, (int64_t)dwarf_uleb(&b)));
			break;
		case CFA_RESTORE:
			restore(p, low);
			break;
		default:
			instruction(p, op, &b);
		}
		if (p->at > p->place)
			break;
	}
	return !b.bad && !p->bad;
}

static cfi_found evaluate(const unwind_module *m, const function *f, uint64_t place, cfi_row *ret)
{
	/* The common part is for the whole function. */
	interpreter p = {.m = m, .cie = &f->cie, .at = place, .place = place};

	if (!cfi_program_run(&p, f->cie.code))
		return CFI_DAMAGED;
	p.first = p.now;
	p.at = f->begin;
	if (!cfi_program_run(&p, f->code))
		return CFI_DAMAGED;
	*ret = p.now;
	ret->signal = f->cie.signal;
	ret->return_register = (uint8_t)f->cie.return_register;
	return CFI_FOUND;
}

static cfi_found cfi_function_of(const unwind_module *m, uint64_t place, function *ret)
{
	cfi_found found = CFI_DAMAGED;

	if (!m->frame.size || m->frame.size > INT32_MAX)
		return CFI_NONE;
	if (m->hdr.size)
		found = search(m, place, ret);
	return found == CFI_DAMAGED ? cfi_scan(m, place, ret) : found;
}

cfi_found cfi_find_row(const unwind_module *m, uint64_t place, cfi_row *ret)
{
	function f;
	const cfi_found found = cfi_function_of(m, place, &f);

	return found == CFI_FOUND ? evaluate(m, &f, place, ret) : found;
}

bool unwind_function(const unwind_module *m, uint64_t place, uint64_t *ret_begin)
{
	function f;

	if (cfi_function_of(m, place, &f) != CFI_FOUND)
		return false;
	*ret_begin = f.begin;
	return true;
}

bool cfi_expression(const unwind_module *m, int32_t at, const unsigned char **ret, size_t *ret_n)
{
	dwarf_bytes b = from(&m->frame, (uint64_t)(int64_t)at);
	uint64_t n = dwarf_uleb(&b);
	const unsigned char *code = b.at;

	dwarf_skip(&b, n);
	if (b.bad)
		return false;
	*ret = code;
	*ret_n = (size_t)n;
	return true;
}
