/* spin_waits.h - recognises busy-waiting functions: threads of BLAS, OpenMP and engines that poll
 * for work before they sleep. Their CPU time is not work of the program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SPIN_WAITS_H
#define SAMPLE_SPIN_WAITS_H

#include "deepclock/record.h"

/* Returns the library whose threads busy-wait in `f`'s own code; NULL: none. caller: the frame that
 * called f; NULL: none. */
const char *spin_waits_library(const dck_frame *f, const dck_frame *caller);

#endif
