/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/verdict.h"
#include "deepclock/compare.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const verdict_texts[] = {
    [VERDICT_UNDECIDED] = "undecided",
    [VERDICT_SAME] = "same",
    [VERDICT_FASTER] = "faster",
    [VERDICT_SLOWER] = "slower",
};

enum { GATE_FINE = 0, GATE_SLOWER = 3, GATE_UNDECIDED = 4 };
static const struct {
	int gate;
	const char *text;
} gates_known[] = {
    {GATE_FINE, "not worse"}, {GATE_SLOWER, "regressed"}, {GATE_UNDECIDED, "undecided"}};

verdict verdict_of(double lo, double hi, double margin)
{
	const double above = 1 + margin, below = 1 / above;

	if (isnan(lo) || isnan(hi))
		return VERDICT_UNDECIDED;
	if (lo > above)
		return VERDICT_SLOWER;
	if (hi < below)
		return VERDICT_FASTER;
	if (margin > 0 && lo >= below && hi <= above)
		return VERDICT_SAME;
	return VERDICT_UNDECIDED;
}

int verdict_gate(double lo, double hi, double margin)
{
	if (isnan(lo) || isnan(hi))
		return GATE_UNDECIDED;
	if (lo > 1 + margin)
		return GATE_SLOWER;
	return hi <= 1 + margin ? GATE_FINE : GATE_UNDECIDED;
}

double verdict_more(double value, double lo, double hi, double margin)
{
	const double edge = log1p(margin);
	const double at = log(value), half = (log(hi) - log(lo)) / 2;
	const double distance = fmin(fabs(at - edge), fabs(at + edge));

	/* At the margin itself no number of rounds decides. */
	if (!(half > 0) || !(distance > 0.05 * half))
		return NAN;
	return fmax(1, half * half / (distance * distance));
}

void verdict_facts(record_builder *b, const char *const *names, const verdict *verdicts,
		   const int *gates, size_t n)
{
	int worst = GATE_FINE;
	char key[160];

	for (size_t i = 0; i < n; i++) {
		if (i == 0)
			record_fact_text(b, "compare", "verdict", verdict_texts[verdicts[i]]);
		snprintf(key, sizeof key, "verdict/%s", names[i]);
		if (n > 1)
			record_fact_text(b, "compare", key, verdict_texts[verdicts[i]]);
		/* A regression is news even where another alternative is open. */
		if (gates[i] == GATE_SLOWER || (gates[i] == GATE_UNDECIDED && worst == GATE_FINE))
			worst = gates[i];
	}
	for (size_t i = 0; i < sizeof gates_known / sizeof gates_known[0]; i++)
		if (gates_known[i].gate == worst)
			record_fact_text(b, "compare", "gate", gates_known[i].text);
}

int dck_compare_gate(const dck_record *r)
{
	const dck_fact *f = dck_record_fact(r, "compare", "gate");

	for (size_t i = 0;
	     f && f->value.kind == DCK_VALUE_TEXT && i < sizeof gates_known / sizeof gates_known[0];
	     i++)
		if (strcmp(f->value.as.text, gates_known[i].text) == 0)
			return gates_known[i].gate;
	return GATE_UNDECIDED;
}
