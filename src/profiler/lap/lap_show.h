/* lap_show.h - what happens by itself when laps end: lines, TensorBoard, and a live line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAP_LAP_SHOW_H
#define LAP_LAP_SHOW_H

#include "profiler/lap/lap_store.h"

/* The lap has ended, and `line` says so; the lock is held. */
void lap_show_ended(const dck_lap *l, const lap_times *t, const char *line);

#endif
