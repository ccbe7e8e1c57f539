/* lap_line.h - a lap as one line for people.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAP_LAP_LINE_H
#define LAP_LAP_LINE_H

#include "profiler/lap/lap_store.h"

/* "epoch 3/5 | loss 0.2103 | 6.10 s wall, 11.9 s cpu | 9,836 items/s | left 12.2 s"; the lap has
 * ended and is counted. */
void lap_line_text(const dck_lap *l, const lap_times *t, char *ret, size_t size);
/* "9,836 items/s"; returns ret. */
const char *lap_rate_text(double rate, const char *unit, char *ret, size_t size);
/* "epoch 3/5 4.2 s": of one that is open at now_ns. */
void lap_line_open(const dck_lap *l, uint64_t now_ns, char *ret, size_t size);

#endif
