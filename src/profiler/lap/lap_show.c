/* lap_show.c - live output of laps (dck_laps_start()): a line per lap that ends, scalars for
 * TensorBoard, and a status line on a terminal.
 *
 * lap_show_ended() runs in the thread that ends a lap, under the lock of the laps and after the
 * clocks of that lap were read, so its cost is not in that lap. A second thread redraws the status
 * line every 200 ms under the same lock; each line first erases the status line (CSI K, ECMA-48),
 * so the two never mix. A slow file or terminal delays all laps, since they need this lock.
 *
 * Invariants: the lock of the laps guards `show`, except `live` and `thread`, which only
 * dck_laps_start() and dck_laps_stop() use, called by one thread at a time. The first failure is
 * stored until dck_laps_stop() returns it, and no line is written after it. A child of fork()
 * writes nothing, because lines and file belong to its parent.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/lap/lap_show.h"
#include "deepclock/unstable.h"
#include "base/err.h"
#include "base/sink.h"
#include "base/utf8.h"
#include "os/os.h"
#include "profiler/lap/lap_line.h"
#include "profiler/lap/tensorboard.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ERASE "\r\033[K"

enum { LIVE_EVERY_NS = 200000000, LIVE_FROM_NS = 1000000000, LIVE_COLUMNS = 79 };

static struct {
	bool on;
	long process; /* a child of fork() shows nothing: lines and file are its parent's */
	dck_laps_config asked;
	tensorboard *board;
	dck_err why; /* the first failure */
	bool drawn;  /* the status line is on the terminal */
	bool live;
	pthread_t thread;
} show;

static atomic_bool stop;

static void show_failed(const dck_err *why)
{
	if (show.why.code == DCK_OK)
		show.why = *why;
}

static void lap_line_write(const char *before, const char *text, const char *after)
{
	dck_sink out;
	dck_err err = {0};

	if (show.why.code != DCK_OK)
		return;
	dck_sink_fd(&out, show.asked.fd);
	sink_text(&out, before);
	sink_text(&out, text);
	sink_text(&out, after);
	if (dck_sink_finish(&out, &err) != DCK_OK)
		show_failed(&err);
}

static const char *stamp(char *ret, size_t size)
{
	const time_t now = (time_t)(os_unix_ns() / 1000000000);
	struct tm local;

	ret[0] = '\0';
	if (show.asked.stamps && localtime_r(&now, &local))
		strftime(ret, size, "%Y-%m-%d %H:%M:%S ", &local);
	return ret;
}

static void show_line_put(const char *line)
{
	char before[64], date[32];

	snprintf(before, sizeof before, "%s%s", show.drawn ? ERASE : "", stamp(date, sizeof date));
	lap_line_write(before, line, "\n");
	show.drawn = false;
}

/* --- TensorBoard */

static void scalar(const dck_lap *l, int64_t now, const char *name, double v)
{
	char tag[256];

	if (snprintf(tag, sizeof tag, "%s/%s", l->name->text, name) >= (int)sizeof tag)
		utf8_cut_end(tag);
	tensorboard_scalar(show.board, tag, l->step, now, v);
}

static void scalars(const dck_lap *l, const lap_times *t)
{
	const int64_t now = os_unix_ns();
	const uint64_t rss = os_child_rss((pid_t)show.process);
	const char *unit = "";
	const double items = lap_items(l, &unit);
	char rate[128];
	dck_err err = {0};

	for (size_t i = LAP_OWN_COLUMNS; i < l->name->ncolumns; i++)
		if (l->given[i - LAP_OWN_COLUMNS])
			scalar(l, now, l->name->column[i].name, l->value[i - LAP_OWN_COLUMNS]);
	scalar(l, now, "wall_seconds", t->wall_ns / 1e9);
	scalar(l, now, "cpu_seconds", t->cpu_ns / 1e9);
	snprintf(rate, sizeof rate, "%s_per_second", unit);
	if (!isnan(items) && t->wall_ns > 0)
		scalar(l, now, rate, items * 1e9 / t->wall_ns);
	if (rss > 0)
		scalar(l, now, "resident_bytes", (double)rss);
	if (tensorboard_flush(show.board, &err) == DCK_OK)
		return;
	show_failed(&err);
	tensorboard_close(show.board);
	show.board = NULL;
}

void lap_show_ended(const dck_lap *l, const lap_times *t, const char *line)
{
	if (!show.on || show.process != os_process_id())
		return;
	if (l->depth < show.asked.depth)
		show_line_put(line);
	if (show.board)
		scalars(l, t);
}

/* --- the live line */

/* Writes "experiment 12.3 s | epoch 3/5 4.20 s". Returns false until one of them has been open for
 * LIVE_FROM_NS. */
static bool live_text(const lap_state *s, unsigned depth, char *ret, size_t size)
{
	const uint64_t now = os_now_ns();
	bool long_enough = false;
	size_t used = 0;

	ret[0] = '\0';
	for (const dck_lap *l = s->oldest; l; l = l->newer) {
		char one[DCK_LAP_LINE_SIZE];

		if (l->depth > 0 && l->depth >= depth)
			continue;
		long_enough |= now > l->begin_ns && now - l->begin_ns >= LIVE_FROM_NS;
		lap_line_open(l, now, one, sizeof one);
		const int n = snprintf(ret + used, size - used, "%s%s", used ? " | " : "", one);
		used += n > 0 ? (size_t)n : 0;
		if (used >= size)
			break;
	}
	if (used >= size)
		utf8_cut_end(ret);
	return long_enough;
}

char *dck_laps_open_line(unsigned depth, char *ret, size_t size)
{
	const lap_state *s = lap_lock();

	if (size > 0 && !live_text(s, depth, ret, size))
		ret[0] = '\0';
	lap_unlock();
	return ret;
}

static void live_draw(void)
{
	const lap_state *s = lap_lock();
	char text[LIVE_COLUMNS + 1];

	if (live_text(s, show.asked.depth, text, sizeof text)) {
		lap_line_write(ERASE, text, "");
		show.drawn = true;
	} else if (show.drawn) {
		lap_line_write(ERASE, "", "");
		show.drawn = false;
	}
	lap_unlock();
}

static bool show_stop_asked(void *self)
{
	(void)self;
	return stop;
}

static void *live_run(void *self)
{
	(void)self;
	while (!stop) {
		(void)os_sleep_ns(LIVE_EVERY_NS, show_stop_asked, NULL);
		if (!stop)
			live_draw();
	}
	return NULL;
}

static void live_stop(void)
{
	if (!show.live)
		return;
	show.live = false;
	if (show.process != os_process_id())
		return; /* the thread is the parent's */
	stop = true;
	pthread_join(show.thread, NULL);
}

dck_status dck_laps_stop(dck_err *err)
{
	live_stop();
	lap_lock();
	if (show.drawn && show.process == os_process_id())
		lap_line_write(ERASE, "", "");
	tensorboard_close(show.board);
	const dck_status status = err_forward(&show.why, err);
	memset(&show, 0, sizeof show);
	lap_unlock();
	return status;
}

dck_status dck_laps_start(const dck_laps_config *config, dck_err *err)
{
	tensorboard *board = NULL;

	(void)dck_laps_stop(NULL);
	if (config->tensorboard)
		DCK_TRY(tensorboard_open(config->tensorboard, &board, err));
	lap_lock();
	show.on = true;
	show.process = os_process_id();
	show.asked = *config;
	show.asked.tensorboard = NULL; /* borrowed only until now */
	show.board = board;
	lap_unlock();
	if (!config->live || !os_is_terminal(config->fd))
		return DCK_OK;
	stop = false;
	const int failure = pthread_create(&show.thread, NULL, live_run, NULL);
	if (failure) {
		(void)dck_laps_stop(NULL);
		DCK_FAIL_ERRNO(err, E_LIMIT, failure, "cannot begin the thread of the live line");
	}
	show.live = true;
	return DCK_OK;
}
