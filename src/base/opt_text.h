/* opt_text.h - configs of callers that were compiled with another version; and the way back from an
 * option's value to the text that its parser reads: for the command line of another process, or its
 * environment.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_OPT_TEXT_H
#define BASE_OPT_TEXT_H

#include "base/mem.h"
#include "deepclock/opt.h"

/* Zeroes struct_size bytes, the caller's size of a config that has `size` here, and writes into
 * them struct_size and the defaults of the tables (NULL-ended). */
void opt_config_init(void *config, uint32_t struct_size, size_t size, const dck_opt *const *tables);
/* *own, which has the defaults, becomes what was given, as far as its struct_size goes; given NULL:
 * it stays. E_ARG: `init` was not called for it; E_VERSION: a member is set that this library does
 * not know. */
dck_status opt_config_get(const void *given, void *own, size_t size, const char *init,
			  dck_err *err);
#define OPT_CONFIG_GET(given, own, init, err) \
	((init)(own), opt_config_get(given, own, sizeof *(own), #init, err))

/* Of the field of a row, by its kind. */
extern const size_t opt_sizes[DCK_OPT_LIST + 1];

/* Whether both configs of that row's table hold the same value. */
bool opt_same(const dck_opt *row, const void *cfg, const void *other);
/* "12", "5ns", "true", ...; of the arena, or borrowed from *cfg. NULL: a text that is not set, or
 * no memory. Not of a LIST, which has a text for each item. */
const char *opt_text(mem_arena *a, const dck_opt *row, const void *cfg);

#endif
