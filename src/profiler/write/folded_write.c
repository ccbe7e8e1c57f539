/* folded_write.c - writes call paths as folded stacks: one line per path with its self weight.
 *
 *	main 9;forward;conv2d 123456
 *
 * For two compared records both weights are written, as difffolded.pl does.
 *
 * Source: https://github.com/brendangregg/FlameGraph
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"
#include "profiler/write/tree_format.h"

#include <inttypes.h>
#include <string.h>

static dck_status folded_write_trees(const form_doc *d, dck_err *err)
{
	const form_tree *f = &d->trees[0];
	const char *path[FORM_DEPTH_MAX];
	const bool diff = !f->threads && strcmp(f->t.name, "diff") == 0 && f->t.ncolumns == 2;

	(void)err;
	for (uint32_t n = f->c.first; n != CALL_NONE; n = call_tree_next(&f->c, n)) {
		const size_t own = n * f->t.ncolumns;
		const double a = f->t.weights[own], b = diff ? f->t.weights[own + 1] : 0;
		const int64_t weight = tree_format_weight(f, n);

		path[f->depth[n]] = form_frame(f, n)->name;
		if (diff ? a == 0 && b == 0 : weight <= 0)
			continue;
		for (uint32_t i = 0; i <= f->depth[n]; i++) {
			sink_text(d->sink, i ? ";" : "");
			form_put_line(d->sink, path[i], ';');
		}
		if (diff)
			sink_fmt(d->sink, " %" PRId64 " %" PRId64 "\n", form_integer(a),
				 form_integer(b));
		else
			sink_fmt(d->sink, " %" PRId64 "\n", weight);
	}
	return DCK_OK;
}

const tree_format form_folded = {.write = folded_write_trees};
