/* SPDX-License-Identifier: Apache-2.0 */
#include "base/percentile.h"
#include "base/units.h"
#include <math.h>
#include <string.h>

bool percentile_is(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

bool percentile_parse(const char *text, double *ret)
{
	double percent;

	if (strcmp(text, "median") == 0) {
		*ret = 0.5;
		return true;
	}
	if (text[0] != 'p' || units_parse_real(text + 1, &percent, NULL) != DCK_OK)
		return false;
	/* Nothing but nines: a point is meant after two of them. */
	if (strlen(text) > 3 && text[1 + strspn(text + 1, "9")] == '\0')
		percent /= pow(10, (double)strlen(text) - 3);
	*ret = percent / 100;
	return true;
}
