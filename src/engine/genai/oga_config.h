/* oga_config.h - what is read of genai_config.json.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_GENAI_OGA_CONFIG_H
#define ENGINE_GENAI_OGA_CONFIG_H

#include "base/mem.h"

typedef struct oga_settings {
	int64_t vocabulary; /* model.vocab_size */
	uint64_t context;   /* model.context_length: tokens; 0: not given */
	uint64_t layers;    /* model.decoder.num_hidden_layers; 0: not given */
	/* Names of the outputs with the cache of layer %d, in the arena; NULL: not given. */
	const char *key, *value;
} oga_settings;

/* Reads the file. E_FORMAT: it is not JSON, or has no model.vocab_size; E_IO, E_ABSENT. */
dck_status oga_config_read(const char *path, mem_arena *a, oga_settings *ret, dck_err *err);
/* Returns a name with the number of the layer in place of %d; NULL: no memory. */
const char *oga_layer_name(mem_arena *a, const char *pattern, uint64_t layer);

#endif
