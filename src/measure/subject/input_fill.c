/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/input_fill.h"
#include "base/decimal.h"
#include "base/err.h"
#include "measure/subject/random.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* One number, up to `end` or the end of the text; it moves on. The same in every locale. */
static bool fill_number_read(const char **text, char end, int64_t *ret_whole, double *ret_real,
			     bool *ret_is_whole)
{
	const char *after;
	decimal_number d;
	uint64_t size = 0;
	bool exact = false;

	if (!decimal_parse(*text + strspn(*text, " "), &d, &after))
		return false;
	*ret_real = decimal_double(&d);
	after += *after == '.'; /* "1." */
	after += strspn(after, " ");
	if (*after != end || !isfinite(*ret_real))
		return false;
	*ret_is_whole = decimal_scaled(&d, 1, &size, &exact) && exact &&
			size <= (uint64_t)INT64_MAX + d.negative;
	*ret_whole = !*ret_is_whole ? 0 : d.negative ? (int64_t)(0 - size) : (int64_t)size;
	*text = after + (end != '\0');
	return true;
}

dck_status input_fill_parse(const char *text, input_fill *ret, bool *ret_is, dck_err *err)
{
	input_fill f = {.whole = true};
	const char *at = text;
	bool low = false, high = false;

	*ret_is = true;
	if (strcmp(text, "zeros") == 0 || strcmp(text, "false") == 0) {
		*ret = f;
	} else if (strcmp(text, "ones") == 0 || strcmp(text, "true") == 0) {
		*ret = (input_fill){true, 1, 1, 1, 1};
	} else if (strncmp(text, "range(", 6) == 0) {
		at += 6;
		if (!fill_number_read(&at, ',', &f.low, &f.rlow, &low) ||
		    !fill_number_read(&at, ')', &f.high, &f.rhigh, &high) || *at ||
		    f.rlow > f.rhigh)
			DCK_FAIL(err, E_ARG,
				 "--input has '%s': write range(LOW,HIGH), the lower end first",
				 text);
		f.whole = low && high;
		*ret = f;
	} else if (fill_number_read(&at, '\0', &f.low, &f.rlow, &f.whole)) {
		f.high = f.low;
		f.rhigh = f.rlow;
		*ret = f;
	} else {
		*ret_is = false;
	}
	return DCK_OK;
}

static dck_status outside(const char *name, dck_dtype t, dck_err *err)
{
	DCK_FAIL(err, E_ARG, "--input gives the input '%s' values that its type, %s, does not hold",
		 name, dck_dtype_text(t));
}

/* Returns the largest number of a type of real numbers. */
static double largest(dck_dtype t)
{
	if (t.code == DCK_DTYPE_BFLOAT)
		return 0x1.FEp127;
	return t.bits == 16 ? 65504 : t.bits == 32 ? (double)FLT_MAX : DBL_MAX;
}

dck_status input_fill_put(const input_fill *f, const char *name, void *p, size_t n, dck_dtype t,
			  uint64_t seed, uint64_t stream, dck_err *err)
{
	const bool integer = t.code == DCK_DTYPE_INT || t.code == DCK_DTYPE_UINT;
	const int64_t least = t.code == DCK_DTYPE_INT
				  ? (t.bits == 64 ? INT64_MIN : -(INT64_C(1) << (t.bits - 1)))
				  : 0;
	const int64_t most = t.code == DCK_DTYPE_BOOL  ? 1
			     : t.bits == 64	       ? INT64_MAX
			     : t.code == DCK_DTYPE_INT ? (INT64_C(1) << (t.bits - 1)) - 1
						       : (INT64_C(1) << t.bits) - 1;

	if (integer || t.code == DCK_DTYPE_BOOL) {
		if (!f->whole)
			DCK_FAIL(err, E_ARG,
				 "--input gives the input '%s' numbers that are not whole, "
				 "but its type is %s",
				 name, dck_dtype_text(t));
		if (f->low < least || f->high > most)
			return outside(name, t, err);
		(void)random_fill_integers(p, n, t, f->low, f->high, seed, stream);
		return DCK_OK;
	}
	if (f->rlow < -largest(t) || f->rhigh > largest(t) || !isfinite(f->rhigh - f->rlow))
		return outside(name, t, err);
	if (!random_fill_reals(p, n, t, f->rlow, f->rhigh, seed, stream))
		DCK_FAIL(err, E_UNSUP, "the input '%s' is of type %s: give its values with a file",
			 name, dck_dtype_text(t));
	return DCK_OK;
}
