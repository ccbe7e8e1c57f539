/* resident.h - fast readings of this process's resident set size, and its peak since the previous
 * reading.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_RESIDENT_H
#define DCK_PYTHON_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct resident {
	int now_fd; /* < 0: not available */
	bool peaks; /* the system reports peaks, and they can be reset */
	bool slow;  /* they are read from /proc/self/status */
	uint64_t page;
} resident;

void resident_open(resident *r);
void resident_close(resident *r);
/* Reads the current bytes and the peak since the last call; without support for peaks both are
 * equal. */
void resident_look(const resident *r, uint64_t *ret_now, uint64_t *ret_peak);

#endif
