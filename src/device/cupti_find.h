/* cupti_find.h - loads CUPTI, NVIDIA's library for profilers, into the process.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_CUPTI_FIND_H
#define DEVICE_CUPTI_FIND_H

#include "device/cupti_api.h"

#include <stdbool.h>

typedef struct cupti_functions {
#define X(member, symbol, parameters) cupti_result(*member) parameters;
	CUPTI_API(X)
#undef X
} cupti_functions;

/* Loads the library and its functions, of which register_timestamp may be NULL. false: *ret_why is
 * the reason, static. */
bool cupti_load(cupti_functions *ret, const char **ret_why);

/* Returns whether a call of CUDA, by its name, enqueues work on a device. */
bool cupti_call_enqueues(const char *name);
/* Returns why a function of CUPTI failed; static. */
const char *cupti_failed(const cupti_functions *f, const char *what, cupti_result result);

#endif
