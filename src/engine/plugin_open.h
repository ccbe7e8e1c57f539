/* plugin_open.h - loads an engine plug-in from a shared library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_PLUGIN_OPEN_H
#define ENGINE_PLUGIN_OPEN_H

#include "engine/engine.h"

/* Opens a plug-in. A path without a slash is relative to the current directory; the loader's search
 * path is not used. The caller owns *ret: engine_release(). */
dck_status plugin_open(const char *path, engine_handle *ret, dck_err *err);

#endif
