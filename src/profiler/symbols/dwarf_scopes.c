/* SPDX-License-Identifier: Apache-2.0
 *
 * An entry has no pointer to the one around it, so the scopes of a unit are listed once, in a walk
 * over those of its entries that may contain functions. Damaged files: ENTRIES_MAX bounds the walk,
 * SCOPE_DEPTH_MAX its depth and that of a name, ORIGINS_MAX a chain of references. */
#include "profiler/symbols/dwarf_scopes.h"

#ifdef HAVE_LIBDW

#include "base/mem.h"
#include "profiler/unwind/address_search.h"

#include <stddef.h>
#include <string.h>

enum { SCOPE_ENTRIES_MAX = 1 << 24, SCOPE_DEPTH_MAX = 64, ORIGINS_MAX = 8 };

void dwarf_scopes_done(dwarf_scopes *s)
{
	mem_free(s->all);
	*s = (dwarf_scopes){0};
}

/* Languages whose scopes are part of a name, as "a::b". */
static bool has_scopes(Dwarf_Die *cu)
{
	Dwarf_Attribute a;
	Dwarf_Word language;

	if (!late_dw.attr(cu, DW_AT_language, &a) || late_dw.formudata(&a, &language) != 0)
		return false;
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2a: /* C++17 and C++20, which older headers do not have */
	case 0x2b:
	case DW_LANG_Rust:
		return true;
	default:
		return false;
	}
}

static bool scope_contains(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type || tag == DW_TAG_subprogram;
}

/* Lists what is below an entry. false: no memory, or too much. */
static bool scopes_list(dwarf_scopes *s, Dwarf_Die *parent, uint32_t around, unsigned depth,
			unsigned *left)
{
	Dwarf_Die die;

	if (depth == SCOPE_DEPTH_MAX || late_dw.child(parent, &die) != 0)
		return true;
	do {
		const int tag = late_dw.tag(&die);
		uint32_t own = around;

		if (!--*left)
			return false;
		if (scope_contains(tag)) {
			if (!mem_reserve(&s->all, &s->cap, s->n + 1, sizeof *s->all))
				return false;
			s->all[s->n++] = (dwarf_scope){late_dw.dieoffset(&die), around};
			own = (uint32_t)s->n;
		} else if (tag != DW_TAG_lexical_block) {
			continue;
		}
		if (!scopes_list(s, &die, own, depth + 1, left))
			return false;
	} while (late_dw.siblingof(&die, &die) == 0);
	return true;
}

/* Follows an entry to that of its declaration. */
static void scope_origin(Dwarf_Die *die)
{
	static const unsigned references[] = {DW_AT_abstract_origin, DW_AT_specification};
	Dwarf_Attribute a;
	Dwarf_Die to;

	for (int i = 0; i < ORIGINS_MAX; i++) {
		bool found = false;

		for (size_t k = 0; k < 2 && !found; k++)
			found =
			    late_dw.attr(die, references[k], &a) && late_dw.formref_die(&a, &to);
		if (!found)
			return;
		*die = to;
	}
}

/* Returns the scope of an entry; NULL: it is of another unit. */
static const dwarf_scope *scope_find(const dwarf_scopes *s, Dwarf_Die *die)
{
	const uint64_t offset = late_dw.dieoffset(die);
	const size_t n =
	    address_search(s->all, s->n, sizeof *s->all, offsetof(dwarf_scope, offset), offset);

	return n && s->all[n - 1].offset == offset ? &s->all[n - 1] : NULL;
}

/* Puts a part of the name before what begins at *at. */
static bool scope_put(char *ret, size_t *at, const char *part)
{
	const size_t n = strlen(part), between = ret[*at] ? 2 : 0;

	if (n + between > *at)
		return false;
	*at -= n + between;
	memcpy(ret + *at, part, n);
	memcpy(ret + *at + n, "::", between);
	return true;
}

static const char *scope_name(Dwarf_Die *die, int tag, bool of_operator)
{
	const char *name = late_dw.diename(die);

	if (name)
		return name;
	if (tag == DW_TAG_namespace)
		return "(anonymous namespace)";
	return of_operator ? "{lambda}" : "{unnamed type}";
}

static unsigned scope_line(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Word line;

	return late_dw.attr_integrate(die, DW_AT_decl_line, &a) &&
		       late_dw.formudata(&a, &line) == 0 && line <= UINT32_MAX
		   ? (unsigned)line
		   : 0;
}

bool dwarf_scopes_name(dwarf_scopes *s, Dwarf_Die *cu, Dwarf_Die *function, char *ret, size_t size,
		       unsigned *ret_line)
{
	const char *name = late_dw.diename(function);
	unsigned left = SCOPE_ENTRIES_MAX, line = scope_line(function);
	size_t at = size - 1;
	Dwarf_Die die = *function;
	bool local = false, in_lambda = name && strcmp(name, "operator()") == 0;

	if (!name || !has_scopes(cu))
		return false;
	if (!s->is_read && !scopes_list(s, cu, 0, 0, &left))
		s->n = 0;
	s->is_read = true;
	ret[at] = '\0';
	scope_origin(&die);
	const dwarf_scope *one = scope_find(s, &die);
	if (!one || !one->around || !scope_put(ret, &at, name))
		return false;
	for (unsigned i = 0; one && one->around && i < SCOPE_DEPTH_MAX; i++) {
		one = &s->all[one->around - 1];
		if (!late_dw.offdie(late_dw.cu_getdwarf(function->cu), one->offset, &die))
			return false;
		const int tag = late_dw.tag(&die);

		if (tag == DW_TAG_subprogram) {
			local = true;
			scope_origin(&die);
			one = scope_find(s, &die);
		}
		if (!scope_put(ret, &at, scope_name(&die, tag, in_lambda)))
			return false;
		line = line ? line : scope_line(&die);
		in_lambda = false;
	}
	memmove(ret, ret + at, size - at);
	*ret_line = local ? line : 0;
	return true;
}

#endif
