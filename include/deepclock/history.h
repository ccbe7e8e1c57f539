/* history.h - a database of records in one SQLite file, with queries by subject, command, commit
 * and time, and trends of a metric with change points.
 *
 *     dck_history *h;  char text[DCK_COMMIT_SIZE];  dck_err err;
 *     if (dck_history_open(NULL, &h, &err) == DCK_OK) {
 *             const char *commit = dck_history_commit(".", text);
 *             if (dck_history_add(h, record, commit, NULL, &err) != DCK_OK)
 *                     fprintf(stderr, "%s\n", err.msg);
 *             dck_history_close(h);
 *     }
 *
 * Several programs may read and write the file at once. An added record is durable and complete,
 * even if the program or the machine then stops. A file that is damaged, made by a newer deepclock,
 * or not a history is refused and not changed. docs/commands/history.md documents its layout.
 * SQLite's own memory does not go through dck_set_allocator().
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

/* Returns the version of the layout that this library writes; it reads every version up to it.
 * @since 0.1 */
DCK_API int dck_history_schema(void);

/* Writes the default path of the history: $DEEPCLOCK_DB, else $XDG_DATA_HOME/deepclock/history.db,
 * else ~/.local/share/deepclock/history.db. E_ABSENT: none is set; E_LIMIT: the path does not fit
 * into `size` bytes. @since 0.1 */
DCK_API dck_status dck_history_path(char *ret, size_t size, dck_err *err) DCK_MUST_USE;

/* Initialise it with its _init function. */
typedef struct dck_history_config {
	uint32_t struct_size; /* set by dck_history_config_init() */
	const char *path;     /* NULL: dck_history_path() */
	uint64_t wait_ns;     /* longest wait for other writers; 30 s */
	bool existing;	      /* a missing file is E_ABSENT and is not created */
	/* Stored with each record that is added: where it was measured; NULL: unknown. */
	const char *host, *branch;
} dck_history_config;
/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_history_config_init_sized(dck_history_config *c, uint32_t struct_size);
static inline void dck_history_config_init(dck_history_config *c)
{
	dck_history_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Opens the history, and creates the file and its directories if they are missing. A file of an
 * older version is upgraded atomically. A file without permission to write can be read. *ret is
 * owned: dck_history_close(). c NULL: the defaults. E_FORMAT: not a history, or damaged; E_VERSION:
 * made by a newer deepclock; E_IO: the system's reason, or another program has locked the file;
 * E_ABSENT: c->existing, and there is none; E_UNSUP: the database's library is missing. @since 0.1
 */
DCK_API dck_status dck_history_open(const dck_history_config *c, dck_history **ret,
				    dck_err *err) DCK_MUST_USE;
DCK_API void dck_history_close(dck_history *h);		    /* NULL is allowed. @since 0.1 */
DCK_API const char *dck_history_file(const dck_history *h); /* borrowed from h. @since 0.1 */

/* Reads the commit that is checked out in `directory` or the nearest directory above it that is a
 * Git working tree, from its files, without running git. Writes 40 or 64 hexadecimal digits into
 * text and returns it; NULL: none. Uncommitted changes are not detected. @since 0.1 */
#define DCK_COMMIT_SIZE 72
DCK_API const char *dck_history_commit(const char *directory, char *text);
/* Reads the branch that is checked out, as dck_history_commit() does. Writes at most `size` bytes
 * into text and returns it; NULL: none, or its name has 256 bytes or more, control characters, or
 * invalid UTF-8. @since 0.1 */
DCK_API const char *dck_history_branch(const char *directory, char *text, size_t size);

/* --- adding */

/* Stores the record, in the format of dck_record_save(). When it returns DCK_OK the record is on
 * the disk. commit NULL: none. *ret_new (NULL allowed): false if the record was stored already.
 * E_ARG: the record has no id, or another record has its id; E_IO (a full disk: nothing is lost).
 * @since 0.1 */
DCK_API dck_status dck_history_add(dck_history *h, const dck_record *r, const char *commit,
				   bool *ret_new, dck_err *err) DCK_MUST_USE;

typedef struct dck_history_count {
	uint64_t added, known; /* known: were stored already */
} dck_history_count;
/* Adds the records of a file: one record, stored byte for byte, lines of dck_history_export(),
 * one record each, or another history in a file of SQLite. "-": standard input. commit NULL: the
 * line's commit. *ret is also set on
 * failure: records before the bad line are stored. Errors: those of dck_record_load() and
 * dck_history_add(); the message names the line. @since 0.1 */
DCK_API dck_status dck_history_import(dck_history *h, const char *path, const char *commit,
				      dck_history_count *ret, dck_err *err) DCK_MUST_USE;

/* --- finding */

/* Selects records. Zeroed: all. Options: dck_history_filter_options. */
typedef struct dck_history_filter {
	const char *subject; /* fact subject/name; * and ? are wildcards for texts and characters */
	const char *command; /* "bench" */
	const char *since;   /* "2026-11-01", "2026-11-01T12:00:00Z", or an age: "90d", "12h" */
	const char *until;   /* the same; not after */
	const char *commit;  /* or a prefix of one */
	uint64_t limit;	     /* maximum number, newest first; 0: all */
	const char *host;    /* measured there; wildcards as in subject */
	const char *cpu;     /* fact host/cpu; wildcards as in subject */
	const char *branch;  /* of the commit */
} dck_history_filter;
DCK_API extern const dck_opt dck_history_filter_options[];

/* A record's row of the index. Strings are borrowed until the callback returns; NULL: unknown. */
typedef struct dck_history_entry {
	const char *id;
	int64_t at_unix_ns;	    /* start time, or the time of adding if the record has none */
	const char *command, *verb; /* "deepclock bench zoo:resnet18 --batch 8", "bench" */
	const char *subject, *engine, *cpu, *commit;
	const char *machine, *method; /* records with equal strings are comparable */
	bool incomplete;
	uint64_t bytes; /* size of its JSON */
	/* The requested metric; kind ABSENT: the record has none. */
	dck_value value;
	dck_unit unit;
	double lo, hi, level; /* level 0: no interval */
	const char *host, *branch;
} dck_history_entry;

/* Calls each(self, entry) for every record of the filter, newest first, until it returns false.
 * metric: a tag; NULL: latency/median. f NULL: all. Memory does not grow with the number of
 * records. E_ARG: an invalid time in the filter. @since 0.1 */
DCK_API dck_status dck_history_list(dck_history *h, const dck_history_filter *f, const char *metric,
				    bool (*each)(void *self, const dck_history_entry *e),
				    void *self, dck_err *err) DCK_MUST_USE;
/* Counts the records of the filter, whatever its `limit` is. @since 0.1 */
DCK_API dck_status dck_history_size(dck_history *h, const dck_history_filter *f, uint64_t *ret,
				    dck_err *err) DCK_MUST_USE;

/* Writes the whole id of the record `name`: an id, a unique prefix of one, "last", or "last~2", the
 * second before the last. id: DCK_HISTORY_ID_SIZE bytes. E_ABSENT: no such record; E_ARG: an
 * ambiguous prefix. @since 0.1 */
#define DCK_HISTORY_ID_SIZE 136
DCK_API dck_status dck_history_find(dck_history *h, const char *name, char *id,
				    dck_err *err) DCK_MUST_USE;
/* Reads the record of a whole id. *ret is owned: dck_record_free(). E_ABSENT; E_FORMAT: the text
 * differs from the stored one. @since 0.1 */
DCK_API dck_status dck_history_get(dck_history *h, const char *id, dck_record **ret,
				   dck_err *err) DCK_MUST_USE;
/* Appends the record's JSON to *ret, byte for byte as stored. @since 0.1 */
DCK_API dck_status dck_history_get_json(dck_history *h, const char *id, dck_buffer *ret,
					dck_err *err) DCK_MUST_USE;

/* Finds the baseline of r: the newest complete record that started before r, of the same command,
 * subject, machine and method. *ret is owned: dck_record_free(). E_ABSENT: none; the message names
 * the criteria. @since 0.1 */
DCK_API dck_status dck_history_baseline(dck_history *h, const dck_record *r, dck_record **ret,
					dck_err *err) DCK_MUST_USE;

/* Copies r and adds where earlier records of the same subject, engine, machine and method lie, by
 * the statistic of r's plan: facts history/earlier (their number), earlier_least, earlier_greatest.
 * Of one process it adds the variation between starts too: metric latency/starts, the statistic
 * over all starts with its interval, and fact method/starts, their number including r. At most the
 * newest 100 are read. *ret is owned: dck_record_free(). E_ABSENT: no earlier record, or r is not
 * complete. @since 0.1 */
DCK_API dck_status dck_history_starts(dck_history *h, const dck_record *r, dck_record **ret,
				      dck_err *err) DCK_MUST_USE;

/* Opens the history at `path` (NULL: the default), adds r and closes it; creates a missing history.
 * commit NULL: the commit that is checked out in the working directory. Errors: those of
 * dck_history_open() and dck_history_add(). @since 0.1 */
DCK_API dck_status dck_history_keep(const char *path, const dck_record *r, const char *commit,
				    dck_err *err) DCK_MUST_USE;
/* Opens the history, which must exist, and returns dck_history_baseline(). *ret is owned:
 * dck_record_free(). Errors: those of dck_history_open() and dck_history_baseline(). @since 0.1 */
DCK_API dck_status dck_history_before(const char *path, const dck_record *r, dck_record **ret,
				      dck_err *err) DCK_MUST_USE;

/* Writes all records of the filter, oldest first, as one JSON object per line: the record with one
 * more member, "history": {"commit", "branch", "host"}, which readers of records ignore. Errors of
 * the sink come from dck_sink_finish(). @since 0.1 */
DCK_API dck_status dck_history_export(dck_history *h, const dck_history_filter *f, dck_sink *out,
				      dck_err *err) DCK_MUST_USE;
/* Writes the numeric metrics as CSV with a header, oldest record first. @since 0.1 */
DCK_API dck_status dck_history_export_csv(dck_history *h, const dck_history_filter *f,
					  dck_sink *out, dck_err *err) DCK_MUST_USE;

/* --- trend */

typedef enum dck_history_by {
	DCK_HISTORY_BY_RECORD,
	DCK_HISTORY_BY_COMMIT, /* in the order of each commit's first measurement */
	DCK_HISTORY_BY_DAY     /* of UTC */
} dck_history_by;

/* Initialise it with its _init function. Options: dck_history_trend_options. */
typedef struct dck_history_trend_config {
	uint32_t struct_size; /* set by dck_history_trend_config_init() */
	const char *metric;   /* tag; NULL: latency/median */
	int by;		      /* dck_history_by */
	bool mixed;	      /* include other machines and methods */
	double min_change;    /* smallest reported change of the median, as a share */
	bool undisturbed;     /* of latency/undisturbed; metric is then NULL */
} dck_history_trend_config;
DCK_API extern const dck_opt dck_history_trend_options[];
/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_history_trend_config_init_sized(dck_history_trend_config *c, uint32_t struct_size);
static inline void dck_history_trend_config_init(dck_history_trend_config *c)
{
	dck_history_trend_config_init_sized(c, (uint32_t)sizeof *c);
}

typedef struct dck_history_point {
	const char *id, *commit; /* of its newest record; commit NULL: unknown */
	int64_t at_unix_ns;
	uint64_t records;     /* number of records in the mean */
	double value;	      /* the record's value, or the mean of several */
	double lo, hi, level; /* one: its interval; several: Student's t; level 0: none */
} dck_history_point;

typedef struct dck_history_change {
	size_t at; /* index of the first point after the change; 0: a drift of all points */
	/* Medians of the points between adjacent changes; of a drift the ends of its line. */
	double before, after;
	double p; /* p-value, corrected for multiple tests */
} dck_history_change;

typedef struct dck_history_trend {
	dck_metric_def metric;
	const char *subject, *verb, *cpu, *engine;
	const dck_history_point *points; /* oldest first */
	size_t n;
	const dck_history_change *changes;
	size_t nchanges;
	const char *changes_absent; /* why changes were not searched; NULL: searched */
	/* Lag-1 autocorrelation of the points less their levels; well above 0: p is too small. NaN:
	 * too few points. */
	double correlation;
	bool autocorrelated; /* correlation is statistically significant */
	uint64_t incomplete; /* incomplete records, left out */
	uint64_t other;	     /* records of another machine or method, left out */
	double min_change;   /* smallest change in `changes`, as a share */
	uint64_t without;    /* records without a value of the metric, left out */
} dck_history_trend;

/* Computes the trend of a metric over the records of the filter. All have the same subject and
 * command: by default those of the newest record with the metric. Records of another machine
 * or method than the newest are left out and counted. *ret is owned: dck_history_trend_free().
 * E_ABSENT: no record has the metric (the message names the nearest tag); E_ARG. @since 0.1 */
DCK_API dck_status dck_history_trend_get(dck_history *h, const dck_history_filter *f,
					 const dck_history_trend_config *c, dck_history_trend **ret,
					 dck_err *err) DCK_MUST_USE;
DCK_API void dck_history_trend_free(dck_history_trend *t); /* NULL is allowed. @since 0.1 */

/* --- alarms */

/* A series whose level changed: one metric of one subject, command, machine and method. */
typedef struct dck_history_alarm {
	const char *subject, *command, *engine, *cpu; /* NULL: unknown */
	const char *machine, *method;		      /* as in dck_history_entry */
	dck_metric_def metric;
	size_t points; /* of the series */
	/* The first point after its newest change, or the first of all, if the series drifts. */
	const char *id, *commit; /* commit NULL: unknown */
	int64_t at_unix_ns;
	double before, after; /* as in dck_history_change */
	/* The chance that a series without changes has one as clear at any of some ninety looks,
	 * and the smallest false discovery rate at which it counts (Benjamini and Hochberg 1995).
	 */
	double p, q;
	uint64_t others; /* further metrics of the same records that changed */
} dck_history_alarm;

typedef struct dck_history_alarms {
	const dck_history_alarm *alarms; /* the newest change first */
	size_t n;
	uint64_t series, changed; /* tested; of these changed */
	uint64_t few;		  /* series with too few points for a test */
	double rate;		  /* expected share of false ones among `changed` */
} dck_history_alarms;

/* Finds the series whose level changed, among all metrics that have a better direction, of the
 * records of the filter; incomplete ones are left out. The newest 2,000 records of a series count.
 * c->metric: of this metric alone. The filter's limit is that of alarms. *ret is owned:
 * dck_history_alarms_free(). E_ABSENT: no record has such a metric; E_ARG: c->mixed, or a bad
 * filter. @since 0.1 */
DCK_API dck_status dck_history_alarms_get(dck_history *h, const dck_history_filter *f,
					  const dck_history_trend_config *c,
					  dck_history_alarms **ret, dck_err *err) DCK_MUST_USE;
DCK_API void dck_history_alarms_free(dck_history_alarms *a); /* NULL is allowed. @since 0.1 */

/* --- two commits */

/* One subject, command, machine and method that has records of both commits, or the mean over the
 * machines of a subject, command and engine. */
typedef struct dck_history_pair {
	const char *subject, *command, *engine; /* NULL: unknown */
	const char *cpu, *machine, *method;	/* NULL: unknown, or a mean */
	size_t machines;			/* 1; of a mean: their number */
	size_t records[2];			/* of each commit */
	/* The ratio of geometric means, after over before. Its interval is Welch's, of a mean
	 * Student's t between machines; level 0: none, a commit has one record. */
	double ratio, lo, hi, level;
	double p, q;  /* of no difference, as in dck_history_alarm; NaN: not tested */
	bool changed; /* q is at most the rate */
	bool worse;   /* changed, and not for the better */
} dck_history_pair;

typedef struct dck_history_commits {
	dck_metric_def metric;
	const dck_history_pair *pairs; /* those of a subject are adjacent, its mean the first */
	size_t n;
	uint64_t tested, changed, worse; /* pairs of one machine */
	uint64_t one_only;		 /* series with records of one of the commits alone */
	double rate;			 /* expected share of false ones among `changed` */
} dck_history_commits;

/* Compares the complete records of two commits, each given by its name or a beginning of it that no
 * other commit of the records shares, on all machines that measured both. metric: a tag with a
 * better direction; NULL: latency/median. The filter's limit is that of pairs; values that are not
 * above 0 do not count. *ret is owned: dck_history_commits_free(). E_ABSENT: no record of them has
 * the metric; E_ARG: not two commits, an ambiguous name, or a bad filter. @since 0.1 */
DCK_API dck_status dck_history_commits_get(dck_history *h, const dck_history_filter *f,
					   const char *metric, const char *before,
					   const char *after, dck_history_commits **ret,
					   dck_err *err) DCK_MUST_USE;
DCK_API void dck_history_commits_free(dck_history_commits *c); /* NULL is allowed. @since 0.1 */

/* --- maintenance */

/* Selects records to remove: those that are old enough and that no rule keeps. Zeroed: none.
 * Options: dck_history_prune_options. */
typedef struct dck_history_prune_config {
	uint64_t keep; /* newest records to retain per subject and command; 0: no such rule */
	const char *older_than; /* "90d", or a date; NULL: of any age */
	/* Newest records to retain per subject, command, machine and commit; 0: no such rule. */
	uint64_t keep_per_commit;
	bool dry_run; /* only count */
} dck_history_prune_config;
DCK_API extern const dck_opt dck_history_prune_options[];
typedef struct dck_history_pruned {
	uint64_t removed, removed_bytes, kept; /* bytes: of the records' JSON */
} dck_history_pruned;
/* Removes the records that match the filter and a rule, atomically. E_ARG: no rule is given, or
 * f->limit is, which no rule is. @since 0.1 */
DCK_API dck_status dck_history_prune(dck_history *h, const dck_history_filter *f,
				     const dck_history_prune_config *c, dck_history_pruned *ret,
				     dck_err *err) DCK_MUST_USE;
/* Removes the records with these whole ids (see dck_history_find()), atomically. E_ABSENT: an id
 * does not exist, and nothing is removed. A repeated id counts once. @since 0.1 */
DCK_API dck_status dck_history_remove(dck_history *h, const char *const *ids, size_t n,
				      dck_history_pruned *ret, dck_err *err) DCK_MUST_USE;

typedef struct dck_history_health {
	uint64_t records, bytes; /* bytes: of the file */
} dck_history_health;
/* Verifies the file's structure, every record's text, and that the index agrees with it. E_FORMAT:
 * names the first fault. @since 0.1 */
DCK_API dck_status dck_history_check(dck_history *h, dck_history_health *ret,
				     dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
