/* lazy_dw.h - elfutils' reader of debugging information, loaded on first use. A build without its
 * headers behaves as if the library were missing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_LAZY_DW_H
#define SYMBOLS_LAZY_DW_H

#include "deepclock/base.h"

#ifdef HAVE_LIBDW

#include "os/process/lazy_library.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#define LATE_DW(X)                \
	X(dwarf_, attr)           \
	X(dwarf_, attr_integrate) \
	X(dwarf_, begin)          \
	X(dwarf_, child)          \
	X(dwarf_, cu_getdwarf)    \
	X(dwarf_, decl_file)      \
	X(dwarf_, dieoffset)      \
	X(dwarf_, diename)        \
	X(dwarf_, end)            \
	X(dwarf_, filesrc)        \
	X(dwarf_, formref_die)    \
	X(dwarf_, formstring)     \
	X(dwarf_, formudata)      \
	X(dwarf_, get_units)      \
	X(dwarf_, getsrc_die)     \
	X(dwarf_, getsrcfiles)    \
	X(dwarf_, lineno)         \
	X(dwarf_, linesrc)        \
	X(dwarf_, offdie)         \
	X(dwarf_, ranges)         \
	X(dwarf_, siblingof)      \
	X(dwarf_, tag)

extern struct late_dw {
	LATE_DW(OS_LAZY_MEMBER)
} late_dw;

#endif

/* E_ABSENT: names can be found without it, lines cannot. */
dck_status late_dw_load(dck_err *err);

#endif
