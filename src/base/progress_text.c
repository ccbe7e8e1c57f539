/* progress_text.c - how far a measurement is, in one line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "base/mem.h"
#include "deepclock/bench.h"
#include "deepclock/unstable.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR 20

static void progress_append(char *buf, size_t size, const char *text)
{
	size_t n = strlen(buf);

	if (n + 1 < size)
		snprintf(buf + n, size - n, "%s", text);
}

static void bar_text(double ratio, bool utf8, char *buf, size_t size)
{
	int full;

	if (!(ratio >= 0))
		return;
	full = (int)(fmin(ratio, 1) * BAR);
	progress_append(buf, size, utf8 ? "  " : "  [");
	for (int i = 0; i < BAR; i++)
		progress_append(buf, size, utf8 ? i < full ? "█" : "░" : i < full ? "#" : "-");
	progress_append(buf, size, utf8 ? "" : "]");
}

static unsigned progress_columns_of(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* The interval too, where it fits. */
static void estimate_text(const dck_progress *now, bool utf8, unsigned width, char *buf,
			  size_t size)
{
	char value[32], lo[32], hi[32], text[128];

	if (isnan(now->estimate_ns))
		return;
	snprintf(text, sizeof text, "  %s", dck_text_time(now->estimate_ns, value, sizeof value));
	progress_append(buf, size, text);
	if (isnan(now->lo_ns) || isnan(now->hi_ns))
		return;
	snprintf(text, sizeof text, "  %s%s%s", dck_text_time(now->lo_ns, lo, sizeof lo),
		 utf8 ? "…" : "..", dck_text_time(now->hi_ns, hi, sizeof hi));
	if (progress_columns_of(buf) + progress_columns_of(text) <= width)
		progress_append(buf, size, text);
}

static void eta_text(const dck_progress *now, char *buf, size_t size)
{
	char text[64];
	double s = now->eta_ns / 1e9;

	if (isnan(s) || s < 0)
		return;
	if (s < 100)
		snprintf(text, sizeof text, "  %.0f s left", ceil(s));
	else
		snprintf(text, sizeof text, "  %.0f min left", ceil(s / 60));
	progress_append(buf, size, text);
}

/* "  56.2 it/s": runs, rounds or processes, whatever is counted. */
static void rate_text(const dck_progress *now, char *buf, size_t size)
{
	const double rate = 1e9 * (double)now->runs / (double)now->elapsed_ns;
	char text[64], count[32];

	if (now->runs == 0 || now->elapsed_ns == 0)
		return;
	if (rate >= 1000)
		snprintf(text, sizeof text, "  %s it/s",
			 dck_text_count((int64_t)fmin(rate, 1e15), count, sizeof count));
	else
		mem_print(text, sizeof text, "  %.3g it/s", rate);
	progress_append(buf, size, text);
}

static void count_text(const dck_progress *now, char *buf, size_t size)
{
	char text[128], done[32], all[32];

	dck_text_count((int64_t)now->runs, done, sizeof done);
	if (now->runs_total > 0)
		snprintf(text, sizeof text, "  %s of %s  %.0f %%", done,
			 dck_text_count((int64_t)now->runs_total, all, sizeof all),
			 floor(fmin(100, 100 * (double)now->runs / (double)now->runs_total)));
	else
		snprintf(text, sizeof text, "  %s run%s", done, now->runs == 1 ? "" : "s");
	if (now->runs > 0 || now->runs_total > 0)
		progress_append(buf, size, text);
}

/* Cuts after `width` code points. */
static void progress_cut(char *buf, unsigned width)
{
	for (; *buf; buf++)
		if (((unsigned char)*buf & 0xc0) != 0x80 && width-- == 0) {
			*buf = 0;
			return;
		}
}

char *dck_progress_text(const dck_progress *now, bool utf8, unsigned width, char *buf, size_t size)
{
	if (size == 0)
		return buf;
	snprintf(buf, size, "%-10s", now->phase ? now->phase : "");
	count_text(now, buf, size);
	if (now->runs_total > 0) { /* the percentage repeats the bar */
		rate_text(now, buf, size);
		eta_text(now, buf, size);
		estimate_text(now, utf8, width, buf, size);
	} else {
		if (width >= 72)
			bar_text(now->done_ratio, utf8, buf, size);
		estimate_text(now, utf8, UINT_MAX, buf, size);
		eta_text(now, buf, size);
	}
	if (!utf8)
		dck_text_ascii_units(buf);
	utf8_sanitize(buf);
	progress_cut(buf, width);
	return buf;
}
