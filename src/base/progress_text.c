/* progress_text.c - how far a measurement is, in one line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "deepclock/bench.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BAR 20

static void add(char *buf, size_t size, const char *text)
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
	add(buf, size, utf8 ? "  " : "  [");
	for (int i = 0; i < BAR; i++)
		add(buf, size, utf8 ? i < full ? "█" : "░" : i < full ? "#" : "-");
	add(buf, size, utf8 ? "" : "]");
}

static void estimate_text(const dck_progress *now, bool utf8, char *buf, size_t size)
{
	char value[32], lo[32], hi[32], text[128];

	if (isnan(now->estimate_ns))
		return;
	dck_text_time(now->estimate_ns, value, sizeof value);
	if (isnan(now->lo_ns) || isnan(now->hi_ns))
		snprintf(text, sizeof text, "  %s", value);
	else
		snprintf(text, sizeof text, "  %s  %s%s%s", value,
			 dck_text_time(now->lo_ns, lo, sizeof lo), utf8 ? "…" : "..",
			 dck_text_time(now->hi_ns, hi, sizeof hi));
	add(buf, size, text);
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
	add(buf, size, text);
}

/* Cuts after `width` code points. */
static void cut(char *buf, unsigned width)
{
	for (; *buf; buf++)
		if (((unsigned char)*buf & 0xc0) != 0x80 && width-- == 0) {
			*buf = 0;
			return;
		}
}

char *dck_progress_text(const dck_progress *now, bool utf8, unsigned width, char *buf, size_t size)
{
	char text[64], count[32];

	snprintf(buf, size, "%-10s", now->phase ? now->phase : "");
	if (now->runs > 0) {
		dck_text_count((int64_t)now->runs, count, sizeof count);
		snprintf(text, sizeof text, "  %s run%s", count, now->runs == 1 ? "" : "s");
		add(buf, size, text);
	}
	if (width >= 72)
		bar_text(now->done_ratio, utf8, buf, size);
	estimate_text(now, utf8, buf, size);
	eta_text(now, buf, size);
	if (!utf8)
		dck_text_ascii_units(buf);
	utf8_tame(buf);
	cut(buf, width);
	return buf;
}
