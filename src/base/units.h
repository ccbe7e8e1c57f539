/* units.h - parsing of all units; units.c also prints them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "deepclock/opt.h"

dck_status units_parse_time(const char *text, uint64_t *ret_ns, dck_err *err);
dck_status units_parse_bytes(const char *text, uint64_t *ret_bytes, dck_err *err);
dck_status units_parse_count(const char *text, uint64_t *ret_n, dck_err *err);
/* Parses "1,2,4", the value of that option, into at most max numbers from 1 to 10^9: ascending,
 * each once. */
dck_status units_parse_counts(const char *option, const char *text, uint64_t *ret, size_t max,
			      size_t *ret_n, dck_err *err);
dck_status units_parse_real(const char *text, double *ret_v, dck_err *err);
dck_status units_parse_share(const char *text, double *ret_v, dck_err *err);
/* Parses "1x3x224x224" into at most cap dims, each >= 0. */
dck_status units_parse_dims(const char *text, int64_t *ret_dims, size_t cap, size_t *ret_rank,
			    dck_err *err);

/* The text of a value, for use as an argument: it exists until the end of the enclosing block. */
#define UNITS_TEXT_SIZE	   64
#define UNITS_TIME(ns)	   dck_text_time(ns, (char[UNITS_TEXT_SIZE]){0}, UNITS_TEXT_SIZE)
#define UNITS_BYTES(bytes) dck_text_bytes(bytes, (char[UNITS_TEXT_SIZE]){0}, UNITS_TEXT_SIZE)
#define UNITS_COUNT(n)	   dck_text_count(n, (char[UNITS_TEXT_SIZE]){0}, UNITS_TEXT_SIZE)
#define UNITS_SI(v, unit)  dck_text_si(v, unit, (char[UNITS_TEXT_SIZE]){0}, UNITS_TEXT_SIZE)

/* The words that follow a count of n. */
#define COUNTED(n, one, many) ((n) == 1 ? (one) : (many))

/* Returns the bytes of a mu, as in \u00b5s, at the beginning of s; 0: s does not begin with one. */
size_t units_mu(const char *s);

#endif
