/* off.c - with DCK_ZONES_OFF all macros compile, as statements, to nothing: this program is linked
 * without the library. C99 and C++11.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define DCK_ZONES_OFF
#include "deepclock/device_zone.h"
#include "deepclock/zone.h"
#include <stddef.h>

int main(void)
{
	int asked = 0;
	dck_device_queue *queue = NULL;
	dck_range r = DCK_START("range");

	DCK_ZONE("zone");
	if (asked)
		DCK_PUSH("push");
	else
		DCK_POP();
	DCK_NUMBER("number", ++asked);
	DCK_COUNTER("counter", ++asked);
	DCK_MARK("mark");
	DCK_END(r);
	DCK_DEVICE_ZONE(queue, "device zone");
	if (asked)
		DCK_DEVICE_PUSH(queue, "device push");
	else
		DCK_DEVICE_POP(queue);
	return asked;
}
