/* zone_limits.h - how long ranges of some names may take: --limit NAME=TIME.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_ZONE_LIMITS_H
#define TRACE_ZONE_LIMITS_H

#include "deepclock/opt.h"

/* E_ARG: an item is not NAME=TIME. The last '=' separates, since a name may contain '='. */
dck_status zone_limits_check(const dck_list *limits, dck_err *err);
/* Returns the limit of a name; 0: none. Of two limits for one name the last counts. */
uint64_t zone_limit_of(const dck_list *limits, const char *name);

#endif
