/* history.h - what was measured before: records kept in one SQLite file, found again by subject,
 * command, commit and time, and how a metric moved over them.
 *
 *     dck_history *h;  char text[DCK_COMMIT_SIZE];  dck_err err;
 *     if (dck_history_open(NULL, &h, &err) == DCK_OK) {
 *             const char *commit = dck_history_commit(".", text);
 *             if (dck_history_add(h, record, commit, NULL, &err) != DCK_OK)
 *                     fprintf(stderr, "%s\n", err.msg);
 *             dck_history_close(h);
 *     }
 *
 * Several programs may read and write the file at once. What was added is there, and whole, also
 * when the program or the machine stops in the next moment. A file that is damaged, made by a newer
 * deepclock, or no history at all is refused and not changed. docs/commands/history.md says how it
 * is laid out. The memory of SQLite itself does not go through dck_set_allocator().
 *
 * One dck_history belongs to one thread at a time, and to the process that opened it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_HISTORY_H
#define DCK_HISTORY_H

#include "opt.h"
#include "record.h"
#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_history dck_history;

/* Writes the default path of the history: $DEEPCLOCK_DB, else $XDG_DATA_HOME/deepclock/history.db,
 * else ~/.local/share/deepclock/history.db. E_ABSENT: none of them is set; E_LIMIT: it does not fit
 * into `size` bytes. @since 0.1 */
DCK_API dck_status dck_history_path(char *ret, size_t size, dck_err *err) DCK_MUST_USE;

/* Fill it with its _init function. */
typedef struct dck_history_config {
	uint32_t struct_size; /* set by dck_history_config_init() */
	const char *path;     /* NULL: dck_history_path() */
	uint64_t wait_ns;     /* at most so long for other programs that write; 30 s */
	bool existing;	      /* a file that is not there is E_ABSENT, and none is made */
} dck_history_config;
/* The defaults, for a caller that is compiled with this header. @since 0.1 */
DCK_API void dck_history_config_init_sized(dck_history_config *c, uint32_t struct_size);
static inline void dck_history_config_init(dck_history_config *c)
{
	dck_history_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Opens the history, and makes the file and its directories where there are none. A file of an
 * older version is brought up to date, in one step or not at all. A file without permission to
 * write can be read. *ret is owned: dck_history_close(). c NULL: the defaults. E_FORMAT: no
 * history, or a damaged one; E_VERSION: made by a newer deepclock; E_IO: the system's reason, or
 * another program holds it; E_ABSENT. @since 0.1 */
DCK_API dck_status dck_history_open(const dck_history_config *c, dck_history **ret,
				    dck_err *err) DCK_MUST_USE;
DCK_API void dck_history_close(dck_history *h);		    /* NULL is allowed. @since 0.1 */
DCK_API const char *dck_history_file(const dck_history *h); /* borrowed from h. @since 0.1 */

/* The commit that is checked out in `folder` or the nearest directory above it that is a Git
 * working tree, read from its files without running git: 40 or 64 hexadecimal digits into text,
 * which is returned. NULL: there is none. Changes that are not committed are not seen. @since
 * 0.1 */
#define DCK_COMMIT_SIZE 72
DCK_API const char *dck_history_commit(const char *folder, char *text);

/* --- adding */

/* Keeps the record, in the form dck_record_save() writes. When it returns DCK_OK the record is on
 * the disk. commit NULL: none. *ret_new (NULL allowed): false, it was there already.
 * E_ARG: it has no id, or another record of that id is there; E_IO (a full disk: nothing is lost).
 * @since 0.1 */
DCK_API dck_status dck_history_add(dck_history *h, const dck_record *r, const char *commit,
				   bool *ret_new, dck_err *err) DCK_MUST_USE;

typedef struct dck_history_count {
	uint64_t added, known; /* known: were there already */
} dck_history_count;
/* Adds what a file holds: one record, kept byte for byte, or lines of dck_history_export(), one
 * record each. "-": standard input. commit NULL: what the line says. *ret counts also when it
 * fails: what stood before the bad line is kept. Errors: those of dck_record_load() and
 * dck_history_add(); the sentence names the line. @since 0.1 */
DCK_API dck_status dck_history_import(dck_history *h, const char *path, const char *commit,
				      dck_history_count *ret, dck_err *err) DCK_MUST_USE;

/* --- finding */

/* Which records. Zeroed: all of them. Rows: dck_history_filter_options. */
typedef struct dck_history_filter {
	const char *subject; /* as the record's fact subject/name has it; * and ? stand for any text
				and character */
	const char *command; /* "bench" */
	const char *since;   /* "2026-11-01", "2026-11-01T12:00:00Z", or an age: "90d", "12h" */
	const char *until;   /* the same; not after */
	const char *commit;  /* or the beginning of one */
	uint64_t limit;	     /* the newest so many; 0: all */
} dck_history_filter;
DCK_API extern const dck_opt dck_history_filter_options[];

/* A record as the index has it. Texts are borrowed until the callback returns; NULL: not known. */
typedef struct dck_history_entry {
	const char *id;
	int64_t at_unix_ns; /* when it began; when it was added, where the record does not say */
	const char *command, *verb; /* "deepclock bench zoo:resnet18 --batch 8", "bench" */
	const char *subject, *engine, *cpu, *commit;
	const char *machine, *method; /* equal texts: numbers compare */
	bool incomplete;
	uint64_t bytes; /* of its JSON form */
	/* The metric that was asked for; kind ABSENT: the record has none. */
	dck_value value;
	dck_unit unit;
	double lo, hi, level; /* level 0: no interval */
} dck_history_entry;

/* Calls each(self, entry) for every record of the filter, newest first, until it returns false.
 * metric: a tag; NULL: latency/median. f NULL: all. Takes no more memory for more records.
 * E_ARG: the filter's time cannot be read. @since 0.1 */
DCK_API dck_status dck_history_list(dck_history *h, const dck_history_filter *f, const char *metric,
				    bool (*each)(void *self, const dck_history_entry *e),
				    void *self, dck_err *err) DCK_MUST_USE;
/* How many there are. @since 0.1 */
DCK_API dck_status dck_history_size(dck_history *h, const dck_history_filter *f, uint64_t *ret,
				    dck_err *err) DCK_MUST_USE;

/* The whole id of the record that `name` means: an id or the beginning of one that fits no other,
 * "last", or "last~2", the second before it. id: DCK_HISTORY_ID_SIZE bytes.
 * E_ABSENT: there is none; E_ARG: several begin so. @since 0.1 */
#define DCK_HISTORY_ID_SIZE 136
DCK_API dck_status dck_history_find(dck_history *h, const char *name, char *id,
				    dck_err *err) DCK_MUST_USE;
/* The record of an id (not its beginning). *ret is owned: dck_record_free(). E_ABSENT; E_FORMAT:
 * its text is not what was stored. @since 0.1 */
DCK_API dck_status dck_history_get(dck_history *h, const char *id, dck_record **ret,
				   dck_err *err) DCK_MUST_USE;
/* Its JSON form, byte for byte as it was stored: appended to *ret. @since 0.1 */
DCK_API dck_status dck_history_get_json(dck_history *h, const char *id, dck_buffer *ret,
					dck_err *err) DCK_MUST_USE;

/* The newest complete record that began before r, of the same command, subject, machine and method:
 * what r is to be compared with. *ret is owned: dck_record_free(). E_ABSENT, with what was looked
 * for. @since 0.1 */
DCK_API dck_status dck_history_baseline(dck_history *h, const dck_record *r, dck_record **ret,
					dck_err *err) DCK_MUST_USE;

/* r again with what earlier starts of the same subject, engine, machine and method in the history
 * say of it: metric latency/starts, the mean of all their statistics (the one of r's plan) with its
 * interval between starts, and fact method/starts, how many they are with this one. At most the
 * newest 100 are read. *ret is owned: dck_record_free(). E_ABSENT: there is none, or r is no
 * complete measurement of one process. @since 0.1 */
DCK_API dck_status dck_history_starts(dck_history *h, const dck_record *r, dck_record **ret,
				      dck_err *err) DCK_MUST_USE;

/* Adding and the baseline in one call, for the history at `path` (NULL: the usual one).
 * dck_history_keep() adds to it, and makes it where there is none; commit NULL: the one that is
 * checked out here. Errors: those of dck_history_open() and dck_history_add(). @since 0.1 */
DCK_API dck_status dck_history_keep(const char *path, const dck_record *r, const char *commit,
				    dck_err *err) DCK_MUST_USE;
/* dck_history_baseline() of it, which must be there. *ret is owned: dck_record_free(). Errors:
 * those of dck_history_open() and dck_history_baseline(). @since 0.1 */
DCK_API dck_status dck_history_before(const char *path, const dck_record *r, dck_record **ret,
				      dck_err *err) DCK_MUST_USE;

/* All records of the filter, oldest first, one JSON object in a line: the record with one more
 * member, "history": {"commit": ...}, which readers of records pass over. Errors of the sink come
 * from dck_sink_finish(). @since 0.1 */
DCK_API dck_status dck_history_export(dck_history *h, const dck_history_filter *f, dck_sink *out,
				      dck_err *err) DCK_MUST_USE;
/* Their metrics that are numbers, oldest record first: CSV with a header. @since 0.1 */
DCK_API dck_status dck_history_export_csv(dck_history *h, const dck_history_filter *f,
					  dck_sink *out, dck_err *err) DCK_MUST_USE;

/* --- trend */

typedef enum dck_history_by {
	DCK_HISTORY_BY_RECORD,
	DCK_HISTORY_BY_COMMIT, /* in the order in which commits were first measured */
	DCK_HISTORY_BY_DAY     /* of UTC */
} dck_history_by;

/* Zeroed but for what _init sets. Rows: dck_history_trend_options. */
typedef struct dck_history_trend_config {
	uint32_t struct_size; /* set by dck_history_trend_config_init() */
	const char *metric;   /* tag; NULL: latency/median */
	int by;		      /* dck_history_by */
	bool mixed;	      /* records of other machines and methods too */
	double min_change;    /* changes of the median by less are not marked, as a share */
} dck_history_trend_config;
DCK_API extern const dck_opt dck_history_trend_options[];
/* The defaults, for a caller that is compiled with this header. @since 0.1 */
DCK_API void dck_history_trend_config_init_sized(dck_history_trend_config *c, uint32_t struct_size);
static inline void dck_history_trend_config_init(dck_history_trend_config *c)
{
	dck_history_trend_config_init_sized(c, (uint32_t)sizeof *c);
}

typedef struct dck_history_point {
	const char *id, *commit; /* of its newest record; commit NULL: not known */
	int64_t at_unix_ns;
	uint64_t records;     /* that it is the mean of */
	double value;	      /* of one record: its own; of several: their mean */
	double lo, hi, level; /* one: its interval; several: Student's t. level 0: none */
} dck_history_point;

typedef struct dck_history_change {
	size_t at;	      /* the first point after it */
	double before, after; /* medians of the points up to the neighbouring changes */
	double p; /* how often noise alone would look so, corrected for the number of looks */
} dck_history_change;

typedef struct dck_history_trend {
	dck_metric_def metric;
	const char *subject, *verb, *cpu, *engine;
	const dck_history_point *points; /* oldest first */
	size_t n;
	const dck_history_change *changes;
	size_t nchanges;
	const char *changes_absent; /* why none were looked for; NULL: they were */
	/* Of the points less their levels, with the point before; well above 0: they lean on each
	 * other, and p is smaller than it should be. NaN: too few points. */
	double correlation;
	bool autocorrelated; /* it is, beyond chance */
	uint64_t incomplete; /* records left out: they are incomplete */
	uint64_t other;	     /* left out: another machine or method */
	double min_change;   /* changes by less are not among `changes`, as a share */
} dck_history_trend;

/* How a metric moved over the records of the filter, which all are of one subject and command: that
 * of the newest that has the metric, where f names none. Records of another machine or method than
 * the newest are left out and counted. *ret is owned: dck_history_trend_free().
 * E_ABSENT: no record has it (the sentence names the nearest that exists); E_ARG. @since 0.1 */
DCK_API dck_status dck_history_trend_get(dck_history *h, const dck_history_filter *f,
					 const dck_history_trend_config *c, dck_history_trend **ret,
					 dck_err *err) DCK_MUST_USE;
DCK_API void dck_history_trend_free(dck_history_trend *t); /* NULL is allowed. @since 0.1 */

/* --- upkeep */

/* Which go. Zeroed: none. Rows: dck_history_prune_options. */
typedef struct dck_history_prune_config {
	uint64_t keep; /* all but the newest so many of each subject and command; 0: no such rule */
	const char *older_than; /* "90d", or a date; NULL: no such rule */
	bool dry_run;		/* only count */
} dck_history_prune_config;
DCK_API extern const dck_opt dck_history_prune_options[];
typedef struct dck_history_pruned {
	uint64_t removed, removed_bytes, kept; /* bytes: of the records' JSON forms */
} dck_history_pruned;
/* Removes records that a rule names, of those that the filter names, in one step or not at all.
 * E_ARG: no rule is given. @since 0.1 */
DCK_API dck_status dck_history_prune(dck_history *h, const dck_history_filter *f,
				     const dck_history_prune_config *c, dck_history_pruned *ret,
				     dck_err *err) DCK_MUST_USE;
/* Removes the records with these ids (whole ones, as dck_history_find() gives them) in one step.
 * E_ABSENT: one of them is not there, and all stay. An id that is named twice counts once. @since
 * 0.1 */
DCK_API dck_status dck_history_remove(dck_history *h, const char *const *ids, size_t n,
				      dck_history_pruned *ret, dck_err *err) DCK_MUST_USE;

typedef struct dck_history_health {
	uint64_t records, bytes; /* bytes: of the file */
} dck_history_health;
/* Reads all of it: the file's structure, every record's text, and whether the index says the same.
 * E_FORMAT: the first thing that is wrong. @since 0.1 */
DCK_API dck_status dck_history_check(dck_history *h, dck_history_health *ret,
				     dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
