/* plugin_open.h - a user's shared object as an engine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_PLUGIN_OPEN_H
#define ENGINE_PLUGIN_OPEN_H

#include "engine/engine.h"

/* path: a file; without a slash it is looked for here and not in the loader's path. */
dck_status plugin_open(const char *path, engine_handle *ret, dck_err *err);

#endif
