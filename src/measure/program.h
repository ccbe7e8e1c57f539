/* program.h - finds the deepclock program, which fresh processes are, for a caller of the library
 * that names none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_PROGRAM_H
#define MEASURE_PROGRAM_H

#include "base/mem.h"

/* Returns its path, owned by the arena: the one beside this library, or else in PATH, if it is of
 * this version, since it reads the options of its own. NULL: there is none; *ret_why says what was
 * searched (owned by the arena; NULL: no memory). */
const char *program_find(mem_arena *a, const char **ret_why);

#endif
