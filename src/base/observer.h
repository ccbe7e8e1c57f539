/* observer.h - calls the optional members of a dck_observer (progress, cancel). In each function
 * `watch` may be NULL, and so may every member of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_OBSERVER_H
#define BASE_OBSERVER_H

#include "deepclock/bench.h"

bool observer_cancelled(const dck_observer *watch);

/* Returns a progress with only the phase; the rest is 0 or NaN. */
dck_progress progress_indeterminate(const char *phase);
/* Returns a progress with `done` of `all`; the time left is extrapolated from elapsed_ns. */
dck_progress progress_fraction(const char *phase, uint64_t done, uint64_t all, uint64_t elapsed_ns);
void observer_show(const dck_observer *watch, const dck_progress *p);
/* Reports that a phase begins. `watch` is a const dck_observer *. */
void observer_phase(void *watch, const char *phase);

#endif
