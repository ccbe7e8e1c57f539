/* kserve.h - KServe's v2 REST protocol: the body of a request, made from the model's metadata. Pure
 * functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_KSERVE_H
#define HTTP_KSERVE_H

#include "deepclock/report.h"

/* Appends the body of a request with random tensors for each input that `metadata` declares (the
 * answer to GET /v2/models/NAME); an open size is 1. E_FORMAT: it is not such an answer; E_UNSUP:
 * an input's type has no numbers in JSON. */
dck_status kserve_body(const char *metadata, size_t n, uint64_t seed, dck_buffer *to, dck_err *err);

#endif
