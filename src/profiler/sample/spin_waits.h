/* spin_waits.h - which functions wait by running: threads of BLAS, OpenMP and engines that look for
 * work again and again before they sleep. Their CPU time is no work of the program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SPIN_WAITS_H
#define SAMPLE_SPIN_WAITS_H

#include "deepclock/record.h"

/* The library whose threads wait busily where `f` runs code of its own; NULL: they do not. caller:
 * the frame around it; NULL: there is none. */
const char *spin_waits_library(const dck_frame *f, const dck_frame *caller);

#endif
