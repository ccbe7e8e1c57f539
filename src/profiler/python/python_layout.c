/* python_layout.c - offsets of the interpreter's structures: for 3.8 to 3.12 from their headers;
 * 3.13 and 3.14 have a table of offsets at the start of _PyRuntime (_Py_DebugOffsets), of which
 * only the order is defined here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_layout.h"
#include <string.h>

enum { KNOWN_FIRST = 8, KNOWN = 5, TABLES_FIRST = 13, TABLES = 2 };
enum { NO = UINT16_MAX };

typedef struct layout_row {
	size_t member;
	uint16_t known[KNOWN];	   /* 3.8 to 3.12: its offset; NO: this version has none */
	uint16_t index_of[TABLES]; /* 3.13, 3.14: its index in _Py_DebugOffsets; the cookie is 0 */
} layout_row;

#define ROW(m) offsetof(python_layout, m)
static const layout_row rows[] = {
    {ROW(runtime_interpreter), {32, 32, 32, 40, 40}, {5, 5}},
    {ROW(interpreter_next), {0, 0, 0, 0, 0}, {8, 8}},
    {ROW(interpreter_thread), {8, 8, 8, 16, 72}, {9, 9}},
    {ROW(thread_next), {8, 8, 8, 8, 8}, {21, 24}},
    {ROW(thread_interpreter), {16, 16, 16, 16, 16}, {22, 25}},
    {ROW(thread_frame), {24, 24, 24, 56, 56}, {23, 26}},
    {ROW(thread_pthread), {176, 176, 176, 152, 136}, {24, 27}},
    {ROW(thread_tid), {NO, NO, NO, 160, 144}, {25, 28}},
    {ROW(cframe_frame), {NO, NO, NO, 8, 0}, {NO, NO}},
    {ROW(frame_previous), {24, 24, 24, 48, 8}, {29, 32}},
    {ROW(frame_code), {32, 32, 32, 32, 0}, {30, 33}},
    {ROW(frame_instruction), {104, 104, 96, 56, 56}, {31, 34}},
    {ROW(frame_owner), {NO, NO, NO, NO, 70}, {33, 36}},
    {ROW(frame_is_entry), {NO, NO, NO, 68, NO}, {NO, NO}},
    {ROW(frame_bytecode), {NO, NO, NO, NO, NO}, {NO, 38}},
    {ROW(code_file), {104, 104, 104, 112, 112}, {35, 40}},
    {ROW(code_name), {112, 112, 112, 120, 120}, {36, 41}},
    {ROW(code_qualified), {NO, NO, NO, 128, 128}, {37, 42}},
    {ROW(code_lines), {120, 120, 120, 136, 136}, {38, 43}},
    {ROW(code_first_line), {40, 40, 40, 72, 68}, {39, 44}},
    {ROW(code_start), {NO, NO, NO, 184, 192}, {43, 48}},
    {ROW(code_copies), {NO, NO, NO, NO, NO}, {NO, 49}},
    {ROW(object_type), {8, 8, 8, 8, 8}, {45, 51}},
    {ROW(type_name), {24, 24, 24, 24, 24}, {47, 53}},
    {ROW(bytes_size), {16, 16, 16, 16, 16}, {65, 75}},
    {ROW(bytes_value), {32, 32, 32, 32, 32}, {66, 76}},
    {ROW(text_state), {32, 32, 32, 32, 32}, {68, 78}},
    {ROW(text_length), {16, 16, 16, 16, 16}, {69, 79}},
    {ROW(text_ascii), {48, 48, 48, 48, 40}, {70, 80}},
    /* Not in the table: two words further, since 3.12. */
    {ROW(text_compact), {72, 72, 72, 72, 56}, {70, 80}},
};
#undef ROW

static void row_set(python_layout *l, const layout_row *r, uint32_t value)
{
	memcpy((unsigned char *)l + r->member, &value, sizeof value);
}

bool python_layout_known(uint32_t version, python_layout *ret)
{
	unsigned i = PYTHON_MINOR(version) - KNOWN_FIRST;

	if (version >> 24 != 3 || i >= KNOWN)
		return false;
	for (const layout_row *r = rows; r < rows + sizeof rows / sizeof *rows; r++)
		row_set(ret, r, r->known[i] == NO ? PYTHON_NONE : r->known[i]);
	return true;
}

static uint64_t layout_word_at(const unsigned char *offsets, unsigned i)
{
	uint64_t word;

	memcpy(&word, offsets + i * sizeof word, sizeof word);
	return word;
}

bool python_layout_from_debug_offsets(const unsigned char *offsets, python_process *ret)
{
	uint64_t version = layout_word_at(offsets, 1), free_threaded = layout_word_at(offsets, 2);
	unsigned which;
	bool sane = true;

	which = (unsigned)PYTHON_MINOR(version) - TABLES_FIRST;
	if (memcmp(offsets, PYTHON_COOKIE, 8) != 0 || version >> 24 != 3 || which >= TABLES)
		return false;
	ret->version = (uint32_t)version;
	ret->free_threaded = free_threaded != 0;
	for (const layout_row *r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
		uint64_t value = r->index_of[which] == NO
				     ? PYTHON_NONE
				     : layout_word_at(offsets, r->index_of[which]);

		/* An interpreter's state is some hundred kilobytes at most. */
		sane &= value < 1 << 24 || value == PYTHON_NONE;
		row_set(&ret->at, r, (uint32_t)value);
	}
	ret->at.text_compact += 16;
	if (!ret->free_threaded)
		ret->at.frame_bytecode = ret->at.code_copies = PYTHON_NONE;
	return sane;
}
