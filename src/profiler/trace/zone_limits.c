/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/zone_limits.h"

#include "base/err.h"
#include "base/units.h"

#include <string.h>

dck_status zone_limits_check(const dck_list *limits, dck_err *err)
{
	for (size_t i = 0; i < limits->n; i++) {
		const char *item = limits->item[i], *equals = strrchr(item, '=');
		uint64_t ns = 0;

		if (!equals || equals == item ||
		    units_parse_time(equals + 1, &ns, NULL) != DCK_OK || !ns)
			DCK_FAIL(err, E_ARG, "'%.80s' is not a limit: NAME=TIME, as in step=20ms",
				 item);
	}
	return DCK_OK;
}

uint64_t zone_limit_of(const dck_list *limits, const char *name)
{
	uint64_t found = 0;

	for (size_t i = 0; i < limits->n; i++) {
		const char *item = limits->item[i], *equals = strrchr(item, '=');
		uint64_t ns;

		if (equals && strlen(name) == (size_t)(equals - item) &&
		    strncmp(name, item, (size_t)(equals - item)) == 0 &&
		    units_parse_time(equals + 1, &ns, NULL) == DCK_OK)
			found = ns;
	}
	return found;
}
