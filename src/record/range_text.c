/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record_internal.h"
#include "base/decimal.h"
#include "deepclock/report.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns the number at the beginning of a text, and what follows it. */
static double range_number(const char *text, const char **ret_unit)
{
	char bare[RECORD_RANGE_SIZE];
	size_t n = 0, commas = 0;
	const char *end;
	decimal_number d;

	for (const char *c = text; *c && n < sizeof bare - 1; c++)
		if (*c != ',')
			bare[n++] = *c;
		else
			commas++;
	bare[n] = '\0';
	if (!decimal_parse(bare, &d, &end))
		return (double)NAN;
	*ret_unit = text + (end - bare) + commas;
	return decimal_double(&d);
}

void record_range_text(dck_unit unit, double a, double b, char text[2][RECORD_RANGE_SIZE])
{
	const double v[] = {a, b};
	char name[32], number[NUM_TEXT_MAX];
	const char *after = "";

	for (size_t i = 0; i < 2; i++) {
		const dck_value value = {.kind = DCK_VALUE_REAL, .as.r = v[i]};

		dck_text_value(&value, unit, text[i], RECORD_RANGE_SIZE);
	}
	if (a == b || strcmp(text[0], text[1]) != 0)
		return;
	/* The unit in the text is a power of ten, of bytes one of 1024, as is the value over it. */
	double factor = a / range_number(text[0], &after);
	factor = unit == DCK_UNIT_BYTE ? exp2(10 * round(log2(factor) / 10))
				       : pow(10, round(log10(factor)));
	snprintf(name, sizeof name, "%.31s", after);
	if (unit == DCK_UNIT_NS && fabs(a) > 119e9) { /* "2 min 5 s" */
		factor = 1e9;
		snprintf(name, sizeof name, " s");
	}
	if (!isnormal(factor))
		return;
	for (int digits = 5; digits <= 17 && strcmp(text[0], text[1]) == 0; digits++)
		for (size_t i = 0; i < 2; i++) {
			decimal_significant(number, digits, v[i] / factor);
			snprintf(text[i], RECORD_RANGE_SIZE, "%.30s%s", number, name);
		}
}
