/* folded_write.c - writes call paths as folded stacks: one line per path with its self weight.
 *
 *	main 9;forward;conv2d 123456
 *
 * For two compared records both weights are written, as difffolded.pl does. So readers take a
 * number at the end of a stack for the first of two weights: the blank before it becomes a low
 * line, and "layer 3" is "layer_3". The number of a thread is never at the end.
 *
 * Source: https://github.com/brendangregg/FlameGraph
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "base/id_table.h"
#include "base/sink.h"
#include "profiler/write/tree_format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Returns where a number starts that ends the text; n: it ends in none. */
static size_t folded_number_from(const char *text, size_t n)
{
	size_t at = n, digits = 0, points = 0;

	for (; at > 0; at--) {
		const char c = text[at - 1];

		if (c != '.' && (c < '0' || c > '9'))
			break;
		*(c == '.' ? &points : &digits) += 1;
	}
	return digits > 0 && points <= 1 ? at : n;
}

/* number: a number may end the name. */
static void folded_put_name(dck_sink *out, const char *name, bool number)
{
	char shown[STRING_NAME_MAX];
	const size_t n = utf8_sanitize_copy(shown, name, strlen(name));
	const size_t at = number ? n : folded_number_from(shown, n);

	for (size_t i = 0; i < n; i++)
		if (shown[i] == ';')
			shown[i] = ' ';
	if (at > 0 && at < n && shown[at - 1] == ' ')
		shown[at - 1] = '_';
	sink_put(out, shown, n);
}

/* Readers take decimals, which weights without a unit may have, but no exponents. */
static void folded_put_weight(dck_sink *out, double v)
{
	const double size = fabs(v);

	if (size >= 1000 || size == floor(size))
		sink_fmt(out, " %" PRId64, form_integer(v));
	else if (size >= 1e-4)
		sink_fmt(out, " %s", DECIMAL_TEXT(6, v));
	else
		sink_fmt(out, " %s", FIXED_TEXT(12, v));
}

static dck_status folded_write_trees(const form_doc *d, dck_err *err)
{
	const form_tree *f = &d->trees[0];
	const char *path[FORM_DEPTH_MAX];
	const bool diff = !f->threads && strcmp(f->t.name, "diff") == 0 && f->t.ncolumns == 2;

	(void)err;
	for (uint32_t n = f->c.first; n != CALL_NONE; n = call_tree_next(&f->c, n)) {
		const size_t own = n * f->t.ncolumns;
		const double a = f->t.weights[own], b = diff ? f->t.weights[own + 1] : 0;
		const double weight = f->t.weights[own + f->weight];

		path[f->depth[n]] = form_frame(f, n)->name;
		if (diff ? a == 0 && b == 0 : !(weight > 0))
			continue;
		for (uint32_t i = 0; i <= f->depth[n]; i++) {
			sink_text(d->sink, i ? ";" : "");
			folded_put_name(d->sink, path[i], diff || (f->threads && i == 0));
		}
		folded_put_weight(d->sink, diff ? a : weight);
		if (diff)
			folded_put_weight(d->sink, b);
		sink_text(d->sink, "\n");
	}
	return DCK_OK;
}

const tree_format form_folded = {.write = folded_write_trees};
