/* zone_names.h - what a Python program calls its zones, and the places that zone.h wants of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_ZONE_NAMES_H
#define DCK_PYTHON_ZONE_NAMES_H

#include "ext.h"
#include <deepclock/zone.h>

/* The table of them: an object, made once for the module. */
PyObject *zone_names_new(PyObject *module);

/* The place of a zone of that name, which lives as long as the table. `code`: where it is; NULL:
 * where Python is when the name is met first. NULL with an exception set: the name is no str, or
 * there is no memory. */
dck_zone_site *zone_names_site(PyObject *names, PyObject *name, PyCodeObject *code);

#endif
