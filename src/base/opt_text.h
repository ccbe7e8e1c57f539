/* opt_text.h - configs of callers that were compiled with another version; and option values
 * formatted as the text that their parser reads, for the command line or the environment of another
 * process.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_OPT_TEXT_H
#define BASE_OPT_TEXT_H

#include "base/mem.h"
#include "deepclock/opt.h"

/* Zeroes struct_size bytes, the caller's size of a config that has `size` here, and writes into
 * them struct_size and the defaults of the tables (NULL-ended). */
void opt_config_init(void *config, uint32_t struct_size, size_t size, const dck_opt *const *tables);
#define OPT_CONFIG_INIT(config, struct_size, ...)              \
	opt_config_init(config, struct_size, sizeof *(config), \
			(const dck_opt *const[]){__VA_ARGS__, NULL})
/* Copies the given config, up to its struct_size, over *own, which has the defaults, and checks it
 * by the tables (NULL-ended; NULL alone: the caller checks it). given NULL: *own is unchanged.
 * E_ARG: `init` was not called for it, or a value is out of its bounds; E_VERSION: a member is set
 * that this library does not know. */
dck_status opt_config_get(const void *given, void *own, size_t size, const char *init,
			  const dck_opt *const *tables, dck_err *err);
#define OPT_CONFIG_GET(given, own, init, err, ...)                     \
	((init)(own), opt_config_get(given, own, sizeof *(own), #init, \
				     (const dck_opt *const[]){__VA_ARGS__, NULL}, err))

/* Checks the values of all rows, of a caller in C. E_ARG: that of a CHOICE is none of its choices,
 * an item of a LIST is NULL, or a number is out of its bounds; 0 of a row without a default means
 * "not given". */
dck_status opt_fields_check(const dck_opt *table, const void *cfg, dck_err *err);

/* The size in bytes of a row's field, by its kind. */
extern const size_t opt_sizes[DCK_OPT_LIST + 1];

/* Returns whether both configs have the same value for that row. */
bool opt_same(const dck_opt *row, const void *cfg, const void *other);
/* Returns "12", "5ns", "true", ...; owned by the arena, or borrowed from *cfg. NULL: a text that is
 * not set, or no memory. Not for a LIST, which has a text for each item. */
const char *opt_text(mem_arena *a, const dck_opt *row, const void *cfg);

#endif
