/* resident.h - how much of this process is resident, read cheaply and often, with the most that was
 * since the last look.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_RESIDENT_H
#define DCK_PYTHON_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct resident {
	int now_fd, clear_fd; /* below 0: the system has none */
	bool peaks;	      /* the system reports peaks, and they can be reset */
	bool slow;	      /* they are read from /proc/self/status */
	uint64_t page;
} resident;

void resident_open(resident *r);
void resident_close(resident *r);
/* Bytes now, and the most since the last look; that is the same where the system does not report it
 * it.
 */
void resident_look(const resident *r, uint64_t *ret_now, uint64_t *ret_peak);

#endif
