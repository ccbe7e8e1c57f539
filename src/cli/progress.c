/* progress.c - the line that shows a measurement in progress. Lossy: drawn at most ten times a
 * second, and at once when the phase changes, since a phase may take long without a sound.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REDRAW_NS 100000000u

void cli_progress_init(cli_progress *p, const cli_common *common, bool wanted)
{
	dck_style style = cli_style(common, STDERR_FILENO);

	*p = (cli_progress){
	    .on = wanted && !common->quiet && cli_term_can_redraw(STDERR_FILENO),
	    .utf8 = style.utf8,
	    .colour = style.colour,
	};
}

void cli_progress_erase(cli_progress *p)
{
	flockfile(stderr);
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
	fflush(stderr);
	funlockfile(stderr);
}

void cli_progress_draw(cli_progress *p, const dck_progress *now)
{
	char line[512];
	struct timespec t;
	uint64_t now_ns;
	bool same =
	    p->phase == now->phase || (p->phase && now->phase && !strcmp(p->phase, now->phase));

	if (!p->on)
		return;
	clock_gettime(CLOCK_MONOTONIC, &t);
	now_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	if (same && now_ns - p->last_ns < REDRAW_NS)
		return;
	p->last_ns = now_ns;
	p->phase = now->phase;
	/* One column stays free: some terminals wrap when the last one is written. */
	dck_progress_text(now, p->utf8, cli_term_width(STDERR_FILENO) - 1, line, sizeof line);
	flockfile(stderr);
	fprintf(stderr, p->colour ? "\r\033[K\033[2m%s\033[0m" : "\r\033[K%s", line);
	p->drawn = true;
	fflush(stderr);
	funlockfile(stderr);
}
