/* dwarf_lines.c - lines and inlined calls of an address, by DWARF that libdw decodes.
 *
 * Two levels of sorted address ranges: of_units leads to a unit, of_functions of the unit to a
 * function. A lookup is a binary search and at most NESTED steps back, since ranges nest. The
 * units' ranges are listed when the file is opened, a unit's functions at its first address. From
 * the function the entries are descended through blocks to the inlined calls that cover the
 * address. The line table has the innermost frame's line, DW_AT_call_file and DW_AT_call_line those
 * of the frames around it. Under split DWARF the skeleton unit has the lines and the unit in the
 * other file the functions.
 *
 * libdw frees decoded data only with its handle, so after READ_MAX units the handle is closed
 * and opened again: texts are valid until the next call. Damaged files: ENTRIES_MAX bounds the
 * entries of a unit and of one descent, RANGES_MAX the stored ranges of all units, ENTRY_DEPTH_MAX
 * the depth, UNITS_MAX the units. One thread. Without libdw at build time the functions report that
 * it is missing. Source: DWARF 5, 2.17, 3.3.8 and 6.2.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/dwarf_lines.h"

#include "base/err.h"
#include "base/mem.h"
#include "profiler/symbols/dwarf_scopes.h"
#include "profiler/symbols/lazy_dw.h"
#include "profiler/unwind/address_search.h"

#ifdef HAVE_LIBDW

#include <stddef.h>
#include <stdlib.h>

enum {
	UNITS_MAX = 1 << 22,
	READ_MAX = 300,	       /* cached units; a C++ unit takes about a megabyte */
	ENTRIES_MAX = 1 << 24, /* read of one unit: damaged ones may have a cycle */
	RANGES_MAX = 1 << 23,  /* read of all units together: entries may share a long list */
	ENTRY_DEPTH_MAX = 64,
	SCOPED_BYTES = 1024, /* of a qualified name; longer ones are not qualified */
};

typedef struct range {
	Dwarf_Addr begin, end;
	size_t of; /* index of the unit or function */
} range;

typedef struct ranges {
	range *all;
	size_t n, cap;
} ranges;

typedef struct unit {
	Dwarf_Die die;	 /* has the lines */
	Dwarf_Die inner; /* has the functions; with split DWARF a different one */
	Dwarf_Die *functions;
	size_t n_functions, cap;
	ranges of_functions;
	dwarf_scopes scopes;
	bool is_read, nested_read;
} unit;

struct dwarf_lines {
	int fd;
	Dwarf *dw;
	unit *units;
	size_t n_units, cap, n_read, ranges_left;
	ranges of_units;
	char *scoped; /* @owned; SCOPED_BYTES for each frame of an address; NULL: none yet */
};

/* --- Ranges. */

static bool add_range(ranges *r, Dwarf_Addr begin, Dwarf_Addr end, size_t of)
{
	if (begin >= end)
		return true;
	if (!mem_reserve(&r->all, &r->cap, r->n + 1, sizeof *r->all))
		return false;
	r->all[r->n++] = (range){begin, end, of};
	return true;
}

static int lines_by_begin(const void *a, const void *b)
{
	const range *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Returns the range with the highest start that contains the address, since functions may nest;
 * NULL: none. */
static const range *find_range(const ranges *r, Dwarf_Addr address)
{
	enum { NESTED = 16 };
	size_t low = address_search(r->all, r->n, sizeof *r->all, offsetof(range, begin), address);

	for (unsigned i = 0; i < NESTED && low > 0; i++) {
		if (r->all[--low].end > address)
			return &r->all[low];
	}
	return NULL;
}

/* Adds the ranges of an entry (DIE). false: no memory, or too many ranges. */
static bool add_ranges_of(dwarf_lines *d, ranges *to, Dwarf_Die *die, size_t of)
{
	Dwarf_Addr base, begin, end;

	for (ptrdiff_t at = 0; (at = late_dw.ranges(die, at, &base, &begin, &end)) > 0;) {
		if (d->ranges_left == 0)
			return false;
		d->ranges_left--;
		/* Code that the linker discarded has the address 0. */
		if (begin && !add_range(to, begin, end, of))
			return false;
	}
	return true;
}

static bool covers(Dwarf_Die *die, Dwarf_Addr address)
{
	Dwarf_Addr base, begin, end;

	for (ptrdiff_t at = 0, i = 0; i < ENTRIES_MAX; i++) {
		at = late_dw.ranges(die, at, &base, &begin, &end);
		if (at <= 0)
			return false;
		if (address >= begin && address < end)
			return true;
	}
	return false;
}

/* --- Units. */

static void lines_forget(dwarf_lines *d)
{
	for (size_t i = 0; i < d->n_units; i++) {
		mem_free(d->units[i].functions);
		mem_free(d->units[i].of_functions.all);
		dwarf_scopes_done(&d->units[i].scopes);
	}
	mem_free(d->scoped);
	mem_free(d->units);
	mem_free(d->of_units.all);
	if (d->dw)
		late_dw.end(d->dw);
	*d = (dwarf_lines){.fd = d->fd};
}

static bool add_unit(dwarf_lines *d, Dwarf_Die *die, Dwarf_Die *inner)
{
	if (d->n_units >= UNITS_MAX ||
	    !mem_reserve(&d->units, &d->cap, d->n_units + 1, sizeof *d->units))
		return false;
	d->units[d->n_units] = (unit){.die = *die, .inner = *inner};
	return add_ranges_of(d, &d->of_units, die, d->n_units++);
}

static bool open_all(dwarf_lines *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, inner;
	uint8_t kind;

	d->ranges_left = RANGES_MAX;
	d->dw = late_dw.begin(d->fd, DWARF_C_READ);
	if (!d->dw)
		return false;
	while (late_dw.get_units(d->dw, cu, &cu, NULL, &kind, &die, &inner) == 0) {
		if (kind != DW_UT_compile && kind != DW_UT_skeleton)
			continue;
		if (!add_unit(d, &die, late_dw.tag(&inner) == DW_TAG_compile_unit ? &inner : &die))
			return false;
	}
	if (d->of_units.n)
		qsort(d->of_units.all, d->of_units.n, sizeof(range), lines_by_begin);
	return d->n_units > 0;
}

static bool add_function(dwarf_lines *d, unit *u, Dwarf_Die *die)
{
	if (!mem_reserve(&u->functions, &u->cap, u->n_functions + 1, sizeof *u->functions))
		return false;
	u->functions[u->n_functions] = *die;
	return add_ranges_of(d, &u->of_functions, die, u->n_functions++);
}

/* Returns whether entries of that tag may contain functions. */
static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_module ||
	       tag == DW_TAG_enumeration_type;
}

/* Lists the functions with code below an entry. false: no memory, or too many entries or ranges. */
static bool list_functions(dwarf_lines *d, unit *u, Dwarf_Die *parent, unsigned depth,
			   unsigned *left)
{
	Dwarf_Die die;

	if (depth == ENTRY_DEPTH_MAX || late_dw.child(parent, &die) != 0)
		return true;
	do {
		int tag = late_dw.tag(&die);

		if (!--*left)
			return false;
		if (tag == DW_TAG_subprogram
			? !add_function(d, u, &die)
			: is_scope(tag) && !list_functions(d, u, &die, depth + 1, left))
			return false;
	} while (late_dw.siblingof(&die, &die) == 0);
	return true;
}

/* Lists the functions that are in another function: methods of its classes, nested functions. */
static bool list_nested(dwarf_lines *d, unit *u, Dwarf_Die *parent, unsigned depth, unsigned *left)
{
	Dwarf_Die die;

	if (depth == ENTRY_DEPTH_MAX || late_dw.child(parent, &die) != 0)
		return true;
	do {
		const int tag = late_dw.tag(&die);
		bool ok = --*left > 0;

		if (ok && tag == DW_TAG_subprogram)
			ok = add_function(d, u, &die);
		if (ok && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block))
			ok = list_nested(d, u, &die, depth + 1, left);
		else if (ok && is_scope(tag))
			ok = list_functions(d, u, &die, depth + 1, left);
		if (!ok)
			return false;
	} while (late_dw.siblingof(&die, &die) == 0);
	return true;
}

static void functions_sort(unit *u)
{
	if (u->of_functions.n)
		qsort(u->of_functions.all, u->of_functions.n, sizeof(range), lines_by_begin);
}

/* Returns the function that contains the address. Those in others are listed when one is wanted:
 * most units have none, and it takes a walk through all functions. */
static const range *lines_function_at(dwarf_lines *d, unit *u, Dwarf_Addr address)
{
	const range *r = find_range(&u->of_functions, address);
	const size_t n = u->n_functions;
	unsigned left = ENTRIES_MAX;

	if (r || u->nested_read)
		return r;
	u->nested_read = true;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Die outer = u->functions[i];

		if (!list_nested(d, u, &outer, 0, &left))
			break;
	}
	functions_sort(u);
	return find_range(&u->of_functions, address);
}

static void read_unit(dwarf_lines *d, unit *u)
{
	unsigned left = ENTRIES_MAX;

	u->is_read = true;
	d->n_read++;
	list_functions(d, u, &u->inner, 0, &left);
	functions_sort(u);
}

/* --- Frames. */

static unsigned lines_number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;
	Dwarf_Word v = 0;

	if (!late_dw.attr(die, name, &a) || late_dw.formudata(&a, &v) != 0 || v > UINT32_MAX)
		return 0;
	return (unsigned)v;
}

/* Qualifies the name of frame n of an address. */
static void scope_frame(dwarf_lines *d, unit *u, Dwarf_Die *die, size_t n, dwarf_frame *f)
{
	if (!d->scoped)
		d->scoped = mem_alloc((ENTRY_DEPTH_MAX + 1) * SCOPED_BYTES);
	char *text = d->scoped && n <= ENTRY_DEPTH_MAX ? d->scoped + n * SCOPED_BYTES : NULL;
	if (text &&
	    dwarf_scopes_name(&u->scopes, &u->inner, die, text, SCOPED_BYTES, &f->start_line))
		f->name = text;
}

static void name_frame(dwarf_lines *d, unit *u, Dwarf_Die *die, size_t n, dwarf_frame *f)
{
	Dwarf_Attribute a;

	f->name = late_dw.diename(die);
	if (late_dw.attr_integrate(die, DW_AT_linkage_name, &a) ||
	    late_dw.attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		f->linkage_name = late_dw.formstring(&a);
	else
		scope_frame(d, u, die, n, f);
	/* Code without a line may have the file of what was inlined before it. */
	const char *file = f->line ? NULL : late_dw.decl_file(die);
	f->file = file ? file : f->file;
}

/* Puts the inlined calls that cover the address into `stack`, the outermost first. */
static size_t inlined_at(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *stack)
{
	Dwarf_Die parent = *function, die;
	unsigned left = ENTRIES_MAX;
	size_t n = 0;

	for (unsigned depth = 0; depth < ENTRY_DEPTH_MAX && late_dw.child(&parent, &die) == 0;
	     depth++) {
		bool found = false;

		do {
			int tag = late_dw.tag(&die);

			found = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
				 tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
				covers(&die, address);
			if (found && tag == DW_TAG_inlined_subroutine)
				stack[n++] = die;
		} while (!found && --left && late_dw.siblingof(&die, &die) == 0);
		if (!found)
			break;
		parent = die;
	}
	return n;
}

static const char *lines_file_of(unit *u, unsigned which)
{
	Dwarf_Files *files;
	size_t n;

	if (late_dw.getsrcfiles(&u->die, &files, &n) != 0 || which >= n)
		return NULL;
	return late_dw.filesrc(files, which, NULL, NULL);
}

static size_t lines_frames_of(dwarf_lines *d, unit *u, Dwarf_Addr address, dwarf_frame *ret,
			      size_t max)
{
	const range *r = lines_function_at(d, u, address);
	Dwarf_Die inlined[ENTRY_DEPTH_MAX];
	size_t n_inlined = r ? inlined_at(&u->functions[r->of], address, inlined) : 0, n = 0;
	dwarf_frame f = {0};
	Dwarf_Line *line = late_dw.getsrc_die(&u->die, address);
	int number = 0;

	if (line) {
		f.file = late_dw.linesrc(line, NULL, NULL);
		late_dw.lineno(line, &number);
		f.line = number > 0 ? (unsigned)number : 0;
	}
	for (size_t i = n_inlined; i-- > 0 && n < max; n++) {
		name_frame(d, u, &inlined[i], n, &f);
		ret[n] = f;
		f = (dwarf_frame){
		    .file = lines_file_of(u, lines_number_of(&inlined[i], DW_AT_call_file)),
		    .line = lines_number_of(&inlined[i], DW_AT_call_line)};
	}
	if (n == max)
		return n;
	if (r)
		name_frame(d, u, &u->functions[r->of], n, &f);
	if (!r && !line)
		return n;
	ret[n] = f;
	return n + 1;
}

size_t dwarf_lines_find(dwarf_lines *d, uint64_t address, dwarf_frame *ret, size_t max)
{
	const range *r;

	if (d->n_read >= READ_MAX) {
		lines_forget(d);
		if (!open_all(d))
			return 0;
	}
	r = find_range(&d->of_units, address);
	if (!r || !max)
		return 0;
	unit *u = &d->units[r->of];

	if (!u->is_read)
		read_unit(d, u);
	return lines_frames_of(d, u, address, ret, max);
}

dck_status dwarf_lines_open(const char *path, int fd, dwarf_lines **ret, dck_err *err)
{
	dwarf_lines *d;

	DCK_TRY(late_dw_load(err));
	d = mem_zalloc(1, sizeof *d);
	DCK_NEED(d, err, "for the lines of '%s'", path);
	d->fd = fd;
	if (!open_all(d)) {
		dwarf_lines_close(d);
		DCK_FAIL(err, E_ABSENT, "'%s' has no debugging information", path);
	}
	*ret = d;
	return DCK_OK;
}

void dwarf_lines_close(dwarf_lines *d)
{
	if (!d)
		return;
	lines_forget(d);
	mem_free(d);
}

#else

dck_status dwarf_lines_open(const char *path, int fd, dwarf_lines **ret, dck_err *err)
{
	(void)path, (void)fd, (void)ret;
	return late_dw_load(err);
}

void dwarf_lines_close(dwarf_lines *d)
{
	(void)d;
}

size_t dwarf_lines_find(dwarf_lines *d, uint64_t address, dwarf_frame *ret, size_t max)
{
	(void)d, (void)address, (void)ret, (void)max;
	return 0;
}

#endif
