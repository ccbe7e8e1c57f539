/* zone_names.h - what a Python program calls its zones, and the places that zone.h wants of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_ZONE_NAMES_H
#define DCK_PYTHON_ZONE_NAMES_H

#include "ext.h"
#include <deepclock/zone.h>

/* A name that was met. */
typedef struct zone_name {
	PyObject *text, *utf8; /* bytes */
	PyObject *file;	       /* bytes, NULL: not known */
	Py_hash_t hash;
	dck_zone_site site;
} zone_name;

enum { ZONE_NAMES_NEAR = 256 };

/* The head of the table: names by the address of their str, the last that was found of each
 * address's place; never NULL. */
typedef struct zone_names_near {
	PyObject_HEAD zone_name *by_address[ZONE_NAMES_NEAR];
} zone_names_near;

/* The table of them: an object, made once for the module. */
PyObject *zone_names_new(PyObject *module);

/* The place of a zone of that name, which lives as long as the table. `code`: where it is; NULL:
 * where Python is when the name is met first. NULL with an exception set: the name is no str, or
 * there is no memory. */
dck_zone_site *zone_names_site(PyObject *names, PyObject *name, PyCodeObject *code);

static inline zone_name **zone_names_place(PyObject *names, const PyObject *name)
{
	/* Objects lie 16 bytes apart at least. */
	return &((zone_names_near *)names)->by_address[(uintptr_t)name / 16 % ZONE_NAMES_NEAR];
}

/* The same, without a call where the very object was found before, as a literal mostly was. The
 * table holds that object, so that no other can have its address. */
static inline dck_zone_site *zone_names_get(PyObject *names, PyObject *name)
{
	zone_name *near = __atomic_load_n(zone_names_place(names, name), __ATOMIC_ACQUIRE);

	return __builtin_expect(near->text == name, 1) ? &near->site
						       : zone_names_site(names, name, NULL);
}

#endif
