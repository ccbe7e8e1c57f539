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

typedef enum kserve_answer {
	KSERVE_OUTPUTS,
	KSERVE_ERROR, /* it has a member "error" */
	KSERVE_EMPTY, /* JSON without "outputs" */
	KSERVE_MALFORMED
} kserve_answer;

/* Reads the first n bytes of an answer, which are all of it unless `cut`; a cut one that has
 * neither member in them counts as one with outputs. message: of the error, or "". */
kserve_answer kserve_answer_read(const char *data, size_t n, bool cut, char *message, size_t size);

#endif
