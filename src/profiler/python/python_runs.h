/* python_runs.h - whether a program is run by Python.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_PYTHON_PYTHON_RUNS_H
#define STACK_PYTHON_PYTHON_RUNS_H

#include <stdbool.h>

/* The file is Python's interpreter: "python3.11", "libpython3.11.so.1.0". */
bool python_is(const char *path);
/* Whether the program, or the script, would be run by Python. argv0 is searched in PATH. */
bool python_runs(const char *argv0);

#endif
