/* python_names.c - cache of code objects: from an address to function, file and line table,
 * validated by the object's members.
 *
 * It is an open-addressing hash table (linear probing, at most half full). A code object may be
 * freed and its address reused, so every lookup reads the members that identify the object (type,
 * file, name, line table and its first bytes) and compares them with the stored ones; if they
 * differ it is read again. An object is accepted only if its type is named "code". Strings are
 * decoded from the representations of PEP 393 to UTF-8, with U+FFFD for lone surrogates; lines come
 * from the version's line table (python_line()).
 *
 * Bounds: at half of CODES_MAX rows, or half of ARENA_MAX bytes, all is dropped, which may happen
 * in any lookup: so names are valid until the next call. Every read goes through `memory`, and a
 * length is checked before memory is allocated for it (TEXT_MAX, LINES_MAX). One thread at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "profiler/python/python_layout.h"
#include <string.h>

enum {
	CODES_FIRST = 1 << 8,  /* a power of two, as the next */
	CODES_MAX = 1 << 14,   /* then all are forgotten */
	ARENA_MAX = 256 << 20, /* bytes; the same */
	TEXT_MAX = 4096,       /* characters of a name; the rest is cut off */
	LINES_MAX = 4 << 20,   /* bytes of a table of lines */
};

/* Members that distinguish an object from a later one at its address: the ones that are read, and
 * the first bytes of its line table, whose address may be reused as well. */
typedef struct code_members {
	uint64_t type, file, name, qualified, lines, lines_size, lines_begin;
	int32_t first_line;
} code_members;

typedef struct known_code {
	uint64_t address; /* 0: this slot is free */
	code_members members;
	const char *function, *file;
	const unsigned char *lines;
	size_t lines_n;
} known_code;

struct python_names {
	python_process p;
	unwind_memory memory;
	uint64_t code_type; /* 0: not known yet */
	mem_arena *texts;
	known_code *table;
	size_t n, cap;
};

python_names *python_names_new(const python_process *p, const unwind_memory *memory)
{
	python_names *n = mem_zalloc(1, sizeof *n);

	if (!n)
		return NULL;
	n->p = *p;
	n->memory = *memory;
	n->texts = mem_arena_new(0);
	n->cap = CODES_FIRST;
	n->table = mem_zalloc(n->cap, sizeof *n->table);
	if (!n->texts || !n->table) {
		python_names_free(n);
		return NULL;
	}
	mem_arena_limit(n->texts, ARENA_MAX);
	return n;
}

void python_names_free(python_names *n)
{
	if (!n)
		return;
	mem_arena_free(n->texts);
	mem_free(n->table);
	mem_free(n);
}

static bool names_forget(python_names *n)
{
	mem_arena_free(n->texts);
	n->texts = mem_arena_new(0);
	memset(n->table, 0, n->cap * sizeof *n->table);
	n->n = 0;
	if (n->texts)
		mem_arena_limit(n->texts, ARENA_MAX);
	return n->texts != NULL;
}

static bool python_names_get(const python_names *n, uint64_t address, void *to, size_t bytes)
{
	return n->memory.read(n->memory.self, address, to, bytes);
}

/* --- texts */

/* Decodes a str's state: bytes of a character, whether the characters follow the object, whether
 * they are ASCII. Two bits precede these, and in free-threaded versions one or two bytes. */
static bool text_kind(uint32_t state, unsigned *ret_bytes, bool *ret_ascii)
{
	static const unsigned places[] = {2, 8, 16};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		unsigned bits = state >> places[i], kind = bits & 7;
		bool compact = bits >> 3 & 1, ascii = bits >> 4 & 1;

		if (compact && (kind == 1 || ((kind == 2 || kind == 4) && !ascii))) {
			*ret_bytes = kind;
			*ret_ascii = ascii;
			return true;
		}
	}
	return false;
}

/* Returns a str as UTF-8; NULL: not a str, or no memory. */
static const char *python_text_get(python_names *n, uint64_t address)
{
	const python_layout *at = &n->p.at;
	unsigned char *raw;
	char *text, *to;
	int64_t length;
	uint32_t state;
	unsigned bytes;
	bool ascii;

	if (!address || !python_names_get(n, address + at->text_length, &length, sizeof length) ||
	    !python_names_get(n, address + at->text_state, &state, sizeof state) || length < 0 ||
	    length > 1 << 30 || !text_kind(state, &bytes, &ascii))
		return NULL;
	if (length > TEXT_MAX)
		length = TEXT_MAX;
	/* The characters go to the end of the memory for the UTF-8, so writing never overtakes
	 * reading. */
	text = to = mem_arena_alloc(n->texts, (size_t)length * 4 + 1);
	if (!text)
		return NULL;
	raw = (unsigned char *)text + (size_t)length * (4 - bytes);
	if (!python_names_get(n, address + (ascii ? at->text_ascii : at->text_compact), raw,
			      (size_t)length * bytes))
		return NULL;
	for (int64_t i = 0; i < length; i++) {
		uint32_t c = 0;

		memcpy(&c, raw + (size_t)i * bytes, bytes);
		/* Lone surrogates represent bytes of a file name that is not UTF-8 (PEP 383). */
		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = 0xfffd;
		to += utf8_put(to, c);
	}
	*to = '\0';
	return text;
}

/* --- code objects */

static bool members_get(const python_names *n, uint64_t code, code_members *ret)
{
	const python_layout *at = &n->p.at;

	memset(ret, 0, sizeof *ret); /* they are compared as bytes */
	if (python_names_get(n, code + at->code_lines, &ret->lines, 8) &&
	    python_names_get(n, ret->lines + at->bytes_size, &ret->lines_size, 8))
		python_names_get(n, ret->lines + at->bytes_value, &ret->lines_begin, 8);
	return python_names_get(n, code + at->object_type, &ret->type, 8) &&
	       python_names_get(n, code + at->code_file, &ret->file, 8) &&
	       python_names_get(n, code + at->code_name, &ret->name, 8) &&
	       python_names_get(n, code + at->code_first_line, &ret->first_line, 4) &&
	       (at->code_qualified == PYTHON_NONE ||
		python_names_get(n, code + at->code_qualified, &ret->qualified, 8));
}

/* Returns whether objects of this type are code objects. The first type named "code" is
 * remembered. */
static bool type_is_code(python_names *n, uint64_t type)
{
	uint64_t name;
	char text[5];

	if (n->code_type)
		return type == n->code_type;
	if (!python_names_get(n, type + n->p.at.type_name, &name, sizeof name) ||
	    !python_names_get(n, name, text, sizeof text) || memcmp(text, "code", 5) != 0)
		return false;
	n->code_type = type;
	return true;
}

static void lines_get(python_names *n, known_code *c)
{
	unsigned char *bytes;
	int64_t size;

	c->lines_n = 0;
	if (!python_names_get(n, c->members.lines + n->p.at.bytes_size, &size, sizeof size) ||
	    size <= 0 || size > LINES_MAX)
		return;
	bytes = mem_arena_alloc(n->texts, (size_t)size);
	if (bytes &&
	    python_names_get(n, c->members.lines + n->p.at.bytes_value, bytes, (size_t)size)) {
		c->lines = bytes;
		c->lines_n = (size_t)size;
	}
}

/* Returns the object's slot, or the free slot where it belongs. */
static known_code *code_place(const python_names *n, uint64_t code)
{
	size_t i = hash_number(HASH_START, code) & (n->cap - 1);

	while (n->table[i].address && n->table[i].address != code)
		i = (i + 1) & (n->cap - 1);
	return &n->table[i];
}

/* Makes space for one more object. false: no memory. */
static bool python_room_make(python_names *n)
{
	python_names grown = *n;

	if (n->n < n->cap / 2 && mem_arena_bytes(n->texts) <= ARENA_MAX / 2)
		return true;
	if (n->cap == CODES_MAX || mem_arena_bytes(n->texts) > ARENA_MAX / 2)
		return names_forget(n);
	grown.cap = 2 * n->cap;
	grown.table = mem_zalloc(grown.cap, sizeof *grown.table);
	if (!grown.table)
		return false;
	for (size_t i = 0; i < n->cap; i++)
		if (n->table[i].address)
			*code_place(&grown, n->table[i].address) = n->table[i];
	mem_free(n->table);
	*n = grown;
	return true;
}

static bool code_read(python_names *n, known_code *c)
{
	uint64_t name = c->members.qualified ? c->members.qualified : c->members.name;

	if (!type_is_code(n, c->members.type))
		return false;
	c->function = python_text_get(n, name);
	c->file = python_text_get(n, c->members.file);
	lines_get(n, c);
	return c->function && c->file;
}

bool python_names_find(python_names *n, uint64_t code, int32_t instruction, python_name *ret)
{
	known_code now = {.address = code}, *c;

	if (!code || code % 8 || !members_get(n, code, &now.members))
		return false;
	c = code_place(n, code);
	if (!c->address || memcmp(&c->members, &now.members, sizeof now.members) != 0) {
		if (!python_room_make(n))
			return false;
		c = code_place(n, code);
		if (!code_read(n, &now))
			return false;
		n->n += !c->address;
		*c = now;
	}
	*ret = (python_name){
	    .function = c->function,
	    .file = c->file,
	    .first_line = c->members.first_line,
	    .line =
		python_line(n->p.version, c->lines, c->lines_n, c->members.first_line, instruction),
	};
	return true;
}
