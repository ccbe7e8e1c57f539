/* opt.h - table-driven options. A row has the option's name, the field of its value, its default,
 * its bounds and its help. Parsing, --help, man page, completion and the names in other languages
 * come from the row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_OPT_H
#define DCK_OPT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dck_opt_kind {
	DCK_OPT_FLAG,	/* bool                                                    */
	DCK_OPT_COUNT,	/* uint64_t: "300", "1_000", "2k"                          */
	DCK_OPT_TIME,	/* uint64_t nanoseconds: "250ms", "2s", "1m"; unit required */
	DCK_OPT_BYTES,	/* uint64_t bytes: "64MiB", "2GB", "4096"                  */
	DCK_OPT_REAL,	/* double                                                  */
	DCK_OPT_SHARE,	/* double, 0.01 for "1%" or "0.01"                         */
	DCK_OPT_TEXT,	/* const char *, borrowed from the caller's text           */
	DCK_OPT_CHOICE, /* int: index into choices                                 */
	DCK_OPT_LIST	/* dck_list: the option may be repeated, each adds an item */
} dck_opt_kind;

#define DCK_LIST_MAX 64
typedef struct dck_list {
	const char *item[DCK_LIST_MAX]; /* borrowed from the caller's text */
	size_t n;
} dck_list;

typedef struct dck_opt {
	const char *name; /* "max-time"; NULL ends the table              */
	dck_opt_kind kind;
	size_t at;		    /* offsetof(the owner's config, field)          */
	const char *arg;	    /* "TIME" in help; NULL: a flag */
	const char *def;	    /* default, parsed like a value; NULL: zero */
	const char *help;	    /* one line, no full stop                       */
	const char *const *choices; /* NULL-ended; for CHOICE only                  */
	double min, max;	    /* both 0: no bounds; of a TEXT, max 1: once    */
	char letter;		    /* 'b' of "-b", equal in every table; 0: none */
	/* Names separated by blanks. One of `needs` must be given with this option, none of
	 * `excludes`; "warmup=auto" means this value, given or by default. NULL: none. */
	const char *needs, *excludes;
	size_t given; /* offsetof a bool, set if a value is given; 0: none */
} dck_opt;

/* Makes a row of a table; the member's type is checked against the kind at compile time (C11):
 *	DCK_OPTION(COUNT, dck_plan, runs, "runs", "N", NULL, "measure exactly N runs",
 *		   .letter = 'r', .min = 1, .max = 1e12),
 * Any other field may follow the help, by its name. For C alone: C++ has no _Generic. */
#define DCK_OPTION(KIND, owner, member, word, placeholder, value, ...)   \
	{                                                                \
		.name = word, .kind = DCK_OPT_##KIND,                    \
		.at = _Generic(((owner *)0)->member, DCK_OPT_TYPE_##KIND \
			       : offsetof(owner, member)),               \
		.arg = placeholder, .def = value, .help = __VA_ARGS__    \
	}
#define DCK_FLAG(owner, member, word, ...) \
	DCK_OPTION(FLAG, owner, member, word, NULL, NULL, __VA_ARGS__)
#define DCK_OPT_TYPE_FLAG   bool
#define DCK_OPT_TYPE_COUNT  uint64_t
#define DCK_OPT_TYPE_TIME   uint64_t
#define DCK_OPT_TYPE_BYTES  uint64_t
#define DCK_OPT_TYPE_REAL   double
#define DCK_OPT_TYPE_SHARE  double
#define DCK_OPT_TYPE_TEXT   const char *
#define DCK_OPT_TYPE_CHOICE int
#define DCK_OPT_TYPE_LIST   dck_list

/* Writes every row's default into *cfg (fields without one become zero).
 * E_ARG names the row whose default cannot be read. @since 0.1 */
DCK_API dck_status dck_opt_defaults(const dck_opt *table, void *cfg, dck_err *err);

/* Parses `text` into the field of row `name`. `text` is borrowed for the lifetime of *cfg; for a
 * FLAG it may be NULL (true), "true" or "false". E_ABSENT: no such row (the message names the
 * nearest); E_ARG: not a value of that kind, or out of bounds. @since 0.1 */
DCK_API dck_status dck_opt_set(const dck_opt *table, void *cfg, const char *name, const char *text,
			       dck_err *err);

/* Write a duration with three significant digits ("17.8 ms", "720 ns"), a byte count ("4.23 MiB"),
 * a count with thousands separators ("11,689,512"), or a value with an SI prefix ("1.82 GFLOP";
 * without a unit, whole numbers below 1000 have no decimals). They write at most `size` bytes into
 * buf, end with NUL, and return buf. NaN gives "?". @since 0.1 */
DCK_API const char *dck_text_time(double ns, char *buf, size_t size);
DCK_API const char *dck_text_bytes(double bytes, char *buf, size_t size);
DCK_API const char *dck_text_count(int64_t n, char *buf, size_t size);
DCK_API const char *dck_text_si(double value, const char *unit, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
