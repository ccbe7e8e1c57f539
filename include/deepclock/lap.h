/* lap.h - stopwatches inside a program, for epochs, steps and experiments, concurrent and nested.
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
 * prints for each epoch a line such as
 *
 *     epoch 3/5 | loss 0.2103 | 6.10 s wall, 11.9 s cpu | 9,836 items/s | left 12.2 s
 *
 * A lap measures wall time (CLOCK_MONOTONIC), CPU time of the process, and CPU time of the thread
 * if the same thread begins and ends the lap. Its parent is the innermost lap that is open on its
 * thread. Laps are for durations of a microsecond and more; any thread may use them. No function
 * here fails: without memory a lap is NULL, which every function accepts, and the record counts it.
 * libdeepclock_zones has all but dck_laps_record().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_LAP_H
#define DCK_LAP_H

#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_lap dck_lap;

#define DCK_LAP_LINE_SIZE 512 /* holds any line */

/* Begins a lap; name is copied (NULL or "": "lap"). @owned, dck_lap_end() or dck_lap_end_line().
 * @since 0.1 */
DCK_API dck_lap *dck_lap_begin(const char *name);

/* Sets the expected number of laps of this name in the enclosing lap (0: unknown). The lap's line
 * then has its index and the time left: the number of remaining laps times the mean of the ended
 * ones. When all of them have ended, the next lap of this name begins a new series, with index 1.
 * @since 0.1 */
DCK_API void dck_lap_total(dck_lap *l, uint64_t total);

/* Sets a number of the lap, or replaces its former value. name and unit ("B", "tokens"; NULL: none)
 * are copied. The value named "items" is the number of processed items and yields a rate: items/s,
 * or its unit per second. Values named "wall", "cpu" and "thread_cpu", which the lap measures, are
 * recorded as "wall_value" and so on. Laps of one name have at most 16 values. NaN and infinity are
 * in the line and in TensorBoard's file; the series of the record has the finite values alone, with
 * their times. Such a number of items is ignored. @since 0.1 */
DCK_API void dck_lap_value(dck_lap *l, const char *name, double value, const char *unit);

/* Measures also what the queue of a device takes, from here to the end of the lap, as the value
 * "device" in ns: device_zone.h. The end of the lap then waits for the queue, which is part of its
 * wall time, and is in the thread that uses the queue. q NULL: nothing. Once for a lap. @since 0.1
 */
struct dck_device_queue;
DCK_API void dck_lap_device(dck_lap *l, struct dck_device_queue *q);

/* Returns the wall time since the lap began, in ns; 0 for NULL. @since 0.1 */
DCK_API uint64_t dck_lap_elapsed_ns(const dck_lap *l);

/* Ends the lap and frees it. Open laps inside it remain open. @since 0.1 */
DCK_API void dck_lap_end(dck_lap *l);

/* Ends and frees the lap, and writes its line into ret (NUL-ended, truncated to size, no newline;
 * "" for NULL). Returns ret. @since 0.1 */
DCK_API char *dck_lap_end_line(dck_lap *l, char *ret, size_t size);

/* Automatic output when laps end. {.fd = 2, .depth = 1} is a good start. */
typedef struct dck_laps_config {
	int fd;		/* file descriptor for the line of each ended lap; see depth */
	unsigned depth; /* lines for laps inside fewer than this number of others; 0: none */
	bool live;	/* on a terminal: a live line of the open laps, after 1 s */
	bool stamps;	/* local date and time before each line */
	/* Directory for TensorBoard's event file, created if missing. Each value, wall and CPU
	 * time, rate and resident memory of a lap becomes a scalar NAME/VALUE, whose step is the
	 * lap's index, written when the lap ends. NULL: none. */
	const char *tensorboard;
} dck_laps_config;

/* Starts this output, or replaces its configuration, which is copied. Errors: E_IO (the directory
 * or the file cannot be created), E_NOMEM, E_LIMIT (no thread for `live`). @since 0.1 */
DCK_API dck_status dck_laps_start(const dck_laps_config *config, dck_err *err) DCK_MUST_USE;

/* Stops the output. E_IO: lines or scalars could not be written, e.g. on a full disk; the laps
 * themselves are complete. @since 0.1 */
DCK_API dck_status dck_laps_stop(dck_err *err);

/* Makes a record of the ended laps: for each name the series laps/NAME/wall, .../cpu,
 * .../thread_cpu (ns) and one for each value, a row of table `laps`, and metrics lap/.../NAME with
 * intervals. Beyond 65,536 laps of a name the series are thinned, repeatedly by half; count, sum
 * and extremes cover all laps. *ret is owned: dck_record_free(). Errors: E_NOMEM. @since 0.1 */
DCK_API dck_status dck_laps_record(dck_record **ret, dck_err *err) DCK_MUST_USE;

/* Discards all ended laps; open laps continue. @since 0.1 */
DCK_API void dck_laps_reset(void);

#ifdef __cplusplus
}
#endif
#endif
