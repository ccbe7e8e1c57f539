/* lap.h - stopwatches inside a program: epochs, steps, experiments, several at once, one inside the
 * other.
 *
 *     char line[DCK_LAP_LINE_SIZE];
 *
 *     for (int epoch = 0; epoch < 5; epoch++) {
 *             dck_lap *lap = dck_lap_begin("epoch");
 *             dck_lap_total(lap, 5);
 *             ... train ...
 *             dck_lap_value(lap, "loss", loss, NULL);
 *             dck_lap_value(lap, "items", 60000, NULL);
 *             puts(dck_lap_end_line(lap, line, sizeof line));
 *     }
 *
 * prints for each of them
 *
 *     epoch 3/5 | loss 0.2103 | 6.10 s wall, 11.9 s cpu | 9,836 items/s | left 12.2 s
 *
 * A lap takes wall time (CLOCK_MONOTONIC), CPU time of the process, and CPU time of the thread when
 * the thread that began it ends it. It lies inside the innermost lap that is open on its thread.
 * Laps are for what takes a microsecond and more; any thread may use them. No function here fails:
 * a lap for which there is no memory is NULL, every function accepts that, and the record counts
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_LAP_H
#define DCK_LAP_H

#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_lap dck_lap;

#define DCK_LAP_LINE_SIZE 512 /* room for any line */

/* Begins a lap; name is copied. @owned, dck_lap_end() or dck_lap_end_line(). @since 0.1 */
DCK_API dck_lap *dck_lap_begin(const char *name);

/* So many laps of its name are expected where it lies (within the enclosing lap); 0: not known. Its
 * line then says which of them it is, and how long the others will take: their number times the
 * mean of those that have ended there. @since 0.1 */
DCK_API void dck_lap_total(dck_lap *l, uint64_t total);

/* A number that belongs to the lap; given again it replaces the former. name and unit ("B",
 * "tokens"; NULL: none) are copied. The value named "items" counts what the lap has worked on, and
 * gives a rate: items/s, or its unit per second. At most 16 names for laps of one name; what is not
 * finite is not kept. @since 0.1 */
DCK_API void dck_lap_value(dck_lap *l, const char *name, double value, const char *unit);

/* Wall time since it began, nanoseconds; 0 for NULL. @since 0.1 */
DCK_API uint64_t dck_lap_elapsed_ns(const dck_lap *l);

/* Ends it and frees it. Laps that are open inside it stay open. @since 0.1 */
DCK_API void dck_lap_end(dck_lap *l);

/* The same, and writes its line into ret (NUL-ended, cut to size, no newline; "" for NULL). Returns
 * ret. @since 0.1 */
DCK_API char *dck_lap_end_line(dck_lap *l, char *ret, size_t size);

/* What happens by itself when laps end. {.fd = 2, .depth = 1} is a good beginning. */
typedef struct dck_laps_config {
	int fd;		/* a line for each lap that ends goes there; see depth */
	unsigned depth; /* of laps that lie inside fewer than so many others; 0: no line */
	bool live;   /* on a terminal: what is open, and for how long, from its first second on */
	bool stamps; /* local date and time in front of each line */
	/* Directory for TensorBoard's event file, made when missing: each value, wall and CPU time,
	 * rate and resident memory of each lap as a scalar NAME/VALUE at the step that the lap is,
	 * written as the lap ends. NULL: none. */
	const char *tensorboard;
} dck_laps_config;

/* From now on; replaces what was asked before. Copied. Errors: E_IO (the directory or the file
 * cannot be made), E_NOMEM, E_LIMIT (no thread to be had for `live`). @since 0.1 */
DCK_API dck_status dck_laps_start(const dck_laps_config *config, dck_err *err) DCK_MUST_USE;

/* Ends that. E_IO: lines or scalars could not be written, say for a full disk; the laps themselves
 * are all there. @since 0.1 */
DCK_API dck_status dck_laps_stop(dck_err *err);

/* What the laps that have ended measured: for each name the series laps/NAME/wall, .../cpu,
 * .../thread_cpu (ns) and one for each value, a row of table `laps`, and metrics lap/.../NAME with
 * intervals. Of more than 65,536 laps of a name every second one is dropped from the series, again
 * and again; number, sum and extremes are of all. *ret is owned: dck_record_free(). Errors:
 * E_NOMEM.
 * @since 0.1 */
DCK_API dck_status dck_laps_record(dck_record **ret, dck_err *err) DCK_MUST_USE;

/* Forgets all laps that have ended; open ones go on. @since 0.1 */
DCK_API void dck_laps_reset(void);

#ifdef __cplusplus
}
#endif
#endif
