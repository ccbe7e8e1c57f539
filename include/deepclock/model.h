/* model.h - built-in networks, generated with seeded weights; no download is needed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_MODEL_H
#define DCK_MODEL_H

#include "opt.h"
#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_zoo_entry {
	const char *name, *help; /* "resnet18", "residual CNN, 18 layers, ImageNet head" */
	int64_t params;		 /* trained parameters, without running statistics */
	const char *input;	 /* "input 1x3x224x224 float32" with the defaults */
	const char *source;	 /* where the architecture is defined */
} dck_zoo_entry;

typedef struct dck_zoo_config {
	uint64_t batch;		/* 0: 1 */
	const char *image_size; /* "N" or "HxW"; NULL: the network's own */
	uint64_t seq;		/* 0: the network's own */
	bool symbolic;		/* batch, sequence and past are symbolic */
	uint64_t seed;
	/* Of a decoder: tokens in its cache, and its dimensions; 0: the network's own. */
	uint64_t past, layers, hidden, heads, kv_heads, vocabulary;
} dck_zoo_config;
DCK_API extern const dck_opt dck_zoo_options[];

/* Returns all networks; static. @since 0.1 */
DCK_API const dck_zoo_entry *dck_zoo(size_t *ret_n);

/* Writes the network as an ONNX file. c NULL: defaults. The bytes depend only on the arguments.
 * E_ABSENT: no such network; E_ARG: an unsupported size. Errors of the sink come from
 * dck_sink_finish(). @since 0.1 */
DCK_API dck_status dck_zoo_write(const char *name, const dck_zoo_config *c, dck_sink *out,
				 dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
