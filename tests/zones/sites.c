/* sites.c - a library with zones, loaded and unloaded while the program records.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/device_zone.h"
#include "deepclock/zone.h"
#include <stddef.h>

void sites_run(int n);

void sites_run(int n)
{
	for (int i = 0; i < n; i++) {
		DCK_ZONE("in a library");
		DCK_COUNTER("count", i);
		DCK_DEVICE_ZONE(NULL, "of a device, in a library");
		DCK_DEVICE_PUSH(NULL, "by hand, in a library");
		DCK_DEVICE_POP(NULL);
	}
}
