/* python_library.h - which Python files belong to libraries: the standard library, and packages
 * that an installer put where they are. All others are the user's own code.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_PYTHON_PYTHON_LIBRARY_H
#define STACK_PYTHON_PYTHON_LIBRARY_H

#include <stdbool.h>

typedef struct python_library python_library; /* directories that were checked */

python_library *python_library_new(void); /* @owned; NULL: no memory */
void python_library_free(python_library *l);
/* Whether the file of a Python frame belongs to a library: "<frozen ...>", a file below
 * "site-packages", "dist-packages" or "lib/python3.N", or a module of a package whose directory has
 * a "*.dist-info" next to it (pip install --target). */
bool python_library_has(python_library *l, const char *file);

#endif
