/* cupti_find.h - loads CUPTI, NVIDIA's library for profilers, into the program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CUDA_CUPTI_FIND_H
#define CUDA_CUPTI_FIND_H

#include "cupti_api.h"

#include <stdbool.h>

typedef struct cupti_functions {
#define X(member, symbol, parameters) cupti_result(*member) parameters;
	CUPTI_API(X)
#undef X
} cupti_functions;

/* Loads the library and its functions, of which register_timestamp may be NULL. false: *ret_why is
 * the reason, static. */
bool cupti_load(cupti_functions *ret, const char **ret_why);

#endif
