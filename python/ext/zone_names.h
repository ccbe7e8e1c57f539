/* zone_names.h - names of a Python program's zones, and the zone sites (zone.h) of these names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_ZONE_NAMES_H
#define DCK_PYTHON_ZONE_NAMES_H

#include "ext.h"
#include <deepclock/zone.h>

/* A known name. */
typedef struct zone_name {
	PyObject *text, *utf8; /* bytes */
	PyObject *file;	       /* bytes, NULL: not known */
	Py_hash_t hash;
	dck_zone_site site;
} zone_name;

enum { ZONE_NAMES_NEAR = 256 };

/* Head of the table: a direct-mapped cache from the address of a str to its name; never NULL. */
typedef struct zone_names_near {
	PyObject_HEAD zone_name *by_address[ZONE_NAMES_NEAR];
} zone_names_near;

/* Makes the table of names, one object per module. */
PyObject *zone_names_new(PyObject *module);

/* false, with an exception set: it is not a str, or has a NUL, which would end a C string. */
bool zone_name_fits(PyObject *name);

/* Returns the zone site of a name; it lives as long as the table. `code` is the source location of
 * a new name; NULL: the current frame. NULL with an exception set: `name` does not fit, or out of
 * memory. */
dck_zone_site *zone_names_site(PyObject *names, PyObject *name, PyCodeObject *code);

static inline zone_name **zone_names_place(PyObject *names, const PyObject *name)
{
	/* Objects are at least 16 bytes apart. */
	return &((zone_names_near *)names)->by_address[(uintptr_t)name / 16 % ZONE_NAMES_NEAR];
}

/* As zone_names_site(), but without a call if the same object is in the cache, as a literal mostly
 * is. The table references that object, so its address is not reused. */
static inline dck_zone_site *zone_names_get(PyObject *names, PyObject *name)
{
	zone_name *near = __atomic_load_n(zone_names_place(names, name), __ATOMIC_ACQUIRE);

	return __builtin_expect(near->text == name, 1) ? &near->site
						       : zone_names_site(names, name, NULL);
}

#endif
