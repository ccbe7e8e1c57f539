/* lap_show.h - automatic output when laps end: lines, TensorBoard, and a live line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAP_LAP_SHOW_H
#define LAP_LAP_SHOW_H

#include "profiler/lap/lap_store.h"

/* Call when a lap has ended, with its output line, under the lock. */
void lap_show_ended(const dck_lap *l, const lap_times *t, const char *line);

#endif
