/* decimal.h - decimal parsing and printing that is the same in every locale: always with '.'.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUM_TEXT_MAX = 400 }; /* bytes, for any of the texts below */

/* Write v as printf's "%.*f", "%#.*g" (with trailing zeros) and "%.*g", and return buf, which has
 * NUM_TEXT_MAX bytes. */
const char *decimal_fixed(char *buf, int decimals, double v);
const char *decimal_significant(char *buf, int digits, double v);
const char *decimal_general(char *buf, int digits, double v);
/* The same as arguments: the text exists until the end of the enclosing block. */
#define FIXED_TEXT(decimals, v) decimal_fixed((char[NUM_TEXT_MAX]){0}, decimals, v)
#define DECIMAL_TEXT(digits, v) decimal_general((char[NUM_TEXT_MAX]){0}, digits, v)

/* Writes v as "%.*f" with separated thousands: "440,383.5". Returns buf. */
const char *decimal_grouped(char *buf, int decimals, double v);

/* Writes a share as "0.45 %", with an exponent only from 1e6 % on. Returns buf. */
const char *decimal_percent(char *buf, int digits, double share);
#define PERCENT_TEXT(digits, share) decimal_percent((char[NUM_TEXT_MAX]){0}, digits, share)

/* A decimal number: (-1)^negative x mantissa x 10^exponent. */
typedef struct decimal_number {
	bool negative;
	uint64_t mantissa;
	int exponent;
} decimal_number;

/* Reads digits with single '_' between them, an optional fraction and an optional exponent from
 * the start of text; *ret_end is the text after them. false: text begins with no number, or with
 * more than 19 significant digits before the point. */
bool decimal_parse(const char *text, decimal_number *ret, const char **ret_end);

/* As strtod() of the C locale: sign, digits with or without a point, exponent; no words, no
 * hexadecimal number. *ret_end: the text after it, or `text` if it begins with no number; NULL is
 * allowed. */
double decimal_strtod(const char *text, const char **ret_end);

/* Returns the nearest double; HUGE_VAL if it is out of range. */
double decimal_double(const decimal_number *d);

/* Computes |d| x scale as an integer of at most 64 bits, rounded half up; false: it does not fit.
 * *ret_exact: no rounding was necessary. */
bool decimal_scaled(const decimal_number *d, uint64_t scale, uint64_t *ret, bool *ret_exact);

#endif
