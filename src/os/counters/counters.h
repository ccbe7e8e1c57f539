/* counters.h - within src/os.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_COUNTERS_H
#define OS_COUNTERS_H

/* From here on os_usage_get() returns what was used until now, also in a copy of this process,
 * whose own counters begin at 0. */
void counters_keep(void);

#endif
