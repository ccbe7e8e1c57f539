/* count_names.h - names of counted functions, and the file with those of a forked process.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_COUNT_NAMES_H
#define DCK_PYTHON_COUNT_NAMES_H

#include "ext.h"

/* Returns the standard library profiler's name of a C function, a new reference. of: the object
 * whose method it is; NULL: no method. */
PyObject *count_name_of_c(PyMethodDef *def, PyObject *of, PyObject *module);
/* Makes the file; false: it failed. */
bool count_name_file(const char *path);
/* Appends NUL-terminated fields: number, line, name, qualified name, file; a C function, of which
 * `what` is the name, has the name alone. */
void count_name_log(const char *path, uint64_t number, PyObject *what);

#endif
