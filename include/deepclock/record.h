/* record.h - the one data model. A run is measured once into one immutable record;
 * every report, the history and every comparison read only that.
 *
 * A record is seven plain lists (facts, series, metrics, ops, tables, trees, notes).
 * Everything a record points to is borrowed from it and valid until dck_record_free(). The JSON
 * form is described in docs/reference/record.md.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_RECORD_H
#define DCK_RECORD_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DCK_RECORD_SCHEMA 1u

/* One list: enum, the unit's name in JSON, and nothing else. */
#define DCK_UNIT_MAP(X)          \
	X(NONE, "")              \
	X(NS, "ns")              \
	X(BYTE, "B")             \
	X(FLOP, "FLOP")          \
	X(ONE, "1")              \
	X(HERTZ, "Hz")           \
	X(WATT, "W")             \
	X(JOULE, "J")            \
	X(CELSIUS, "degC")       \
	X(BYTE_PER_S, "B/s")     \
	X(FLOP_PER_S, "FLOP/s")  \
	X(ITEM_PER_S, "items/s") \
	X(RUN_PER_S, "runs/s")

typedef enum dck_unit {
#define X(name, text) DCK_UNIT_##name,
	DCK_UNIT_MAP(X)
#undef X
	    DCK_UNIT_COUNT
} dck_unit;

typedef enum dck_better { DCK_BETTER_NEITHER, DCK_BETTER_LOWER, DCK_BETTER_HIGHER } dck_better;

typedef enum dck_value_kind {
	DCK_VALUE_ABSENT, /* as.text says why */
	DCK_VALUE_BOOL,
	DCK_VALUE_INT,
	DCK_VALUE_REAL,
	DCK_VALUE_TEXT
} dck_value_kind;

/* A value, or the reason why there is none. Never 0 for "unknown". */
typedef struct dck_value {
	dck_value_kind kind;
	union {
		bool b;
		int64_t i;
		double r;
		const char *text;
	} as;
} dck_value;

/* What was asked, found or built: host, engine, model, plan, method. */
typedef struct dck_fact {
	const char *section, *key; /* "host", "cpu" */
	dck_unit unit;
	dck_value value;
} dck_fact;

/* Raw measurements in order; the first `warmup` of them are warm-up. */
typedef struct dck_series {
	const char *tag; /* "latency" */
	dck_unit unit;
	size_t n, warmup;
	const uint64_t *at_ns; /* begin of each, since the record's beginning; NULL: not kept */
	const double *values;  /* NaN: a run whose value was no finite number */
} dck_series;

/* What a metric means: one row of metrics.def, shared by every writer. A row whose tag ends in a
 * slash and a star stands for a family, such as "precision/cat"; each metric of the family has a
 * definition of its own, with its whole tag and name. */
typedef struct dck_metric_def {
	const char *tag, *name, *help; /* "latency/p99", "p99", "99 % of the runs took ..." */
	dck_unit unit;
	dck_better better;
} dck_metric_def;

typedef struct dck_metric {
	const dck_metric_def *def;
	const char *how; /* estimator and interval: "exact order statistics, n_eff 212" */
	dck_value value;
	double lo, hi, level; /* interval; level 0: none */
	/* Why the interval is narrower than its level says; NULL: it is not known to be, or there
	 * is none. */
	const char *narrow;
} dck_metric;

/* A tensor of an operator; a dimension below 0 is symbolic and named in symbols. */
typedef struct dck_op_output {
	const char *name, *dtype;
	size_t rank;
	const int64_t *dims;
	const char *const *symbols;
	const char *absent; /* why the shape is not known; NULL: it is */
} dck_op_output;

/* One operator of the model. */
typedef struct dck_op {
	const char *name, *type, *scope; /* scope: its module, "layer1.0/conv1"; NULL: none */
	/* Of the code it was exported from, where the exporter recorded it; NULL: it did not. The
	 * class of the module, "torch.nn.modules.conv.Conv2d"; where in the model's own code it is
	 * called,
	 * "/models/net.py:17", and what stands there. */
	const char *class_name, *line, *code;
	const dck_op_output *outputs;
	size_t noutputs;
	dck_value macs, flops, params, weight_bytes, read_bytes, write_bytes;
	dck_value peer; /* what another counter says of it (fact cost/as names which) */
	/* Measured; absent in a record of `cost`. Of one run of the whole model. */
	dck_value time_ns;
	double time_lo_ns, time_hi_ns, time_level; /* interval of time_ns; level 0: none */
	dck_value rate;		/* FLOP/s achieved; absent where it would exceed the roof */
	dck_value roof;		/* FLOP/s attainable on this machine at the operator's intensity */
	dck_value memory_bytes; /* that the engine held when it ended, weights in its arena too */
	const char *bound;	/* "compute", "memory"; NULL: not known */
	/* Nodes of the model that an operator made by the engine stands for; none: it is a node
	 * of the model itself, or of the engine's own making. */
	const char *const *origins;
	size_t norigins;
} dck_op;

/* A column of a table. */
typedef struct dck_column {
	const char *key, *title; /* "latency", "latency"; key: lower case, for scripts */
	dck_unit unit;		 /* of its numbers; NONE: texts */
} dck_column;

typedef struct dck_cell {
	dck_value value;
	double lo, hi, level; /* interval; level 0: none */
} dck_cell;

/* Results that come in rows: one for each batch size, rate, subject or mistake. The first column
 * names the row. */
typedef struct dck_table {
	const char *name, *title; /* "throughput/points" (stable), "Throughput by batch" */
	const dck_column *columns;
	const dck_cell *cells; /* [nrows][ncolumns] */
	size_t ncolumns, nrows;
	/* What a summary shows of it: indices of columns beside the first, in the order in which
	 * they are shown, and of rows. None: the first that find room. */
	const uint32_t *summary_columns, *summary_rows;
	size_t nsummary_columns, nsummary_rows;
} dck_table;

/* What stands on a call path: a function, a range, a module. What is not known is NULL or 0. */
typedef struct dck_frame {
	const char *name;
	const char *file;   /* of its source */
	const char *module; /* the program or library that holds it, "libopenblas.so.0" */
	uint32_t line;	    /* in the file: where it was when it was seen */
	/* Where it begins. Functions of equal names, files, modules and beginnings are one, at
	 * whatever lines they were seen. */
	uint32_t start_line;
} dck_frame;

/* Call paths, each with weights: how often, how long, how many bytes. A node is a frame that was
 * reached through its parent's path; a weight is of that path alone, without what lies below it. */
typedef struct dck_tree_node {
	uint32_t parent; /* index of a node before it; DCK_TREE_ROOT: outermost */
	uint32_t frame;	 /* index into the frames */
} dck_tree_node;
#define DCK_TREE_ROOT UINT32_MAX

typedef struct dck_tree {
	const char *name, *title;  /* "zones" (stable), "Zones by their call paths" */
	const dck_column *columns; /* of the weights */
	const dck_frame *frames;   /* what nodes stand for */
	const dck_tree_node *nodes;
	const double *weights; /* [nnodes][ncolumns] */
	size_t ncolumns, nframes, nnodes;
} dck_tree;

typedef enum dck_severity { DCK_INFO, DCK_WARN, DCK_ERROR } dck_severity;

/* What the reader must know to trust the numbers: cause and remedy. */
typedef struct dck_note {
	dck_severity severity;
	const char *code; /* stable: "not-steady"; 'deepclock help notes' lists all */
	const char *text;
	/* Code of the note that is the cause of this one, which text reports then hide; NULL:
	 * none. */
	const char *cause;
} dck_note;

typedef struct dck_record {
	uint32_t schema;
	const char *version;   /* of the deepclock that made it */
	const char *id;	       /* 128 random bits in hex */
	int64_t began_unix_ns; /* 0: not known */
	const char *command;   /* the command line or the caller's title; NULL: none */
	bool incomplete; /* interrupted, or the subject failed in the middle; a note says why */
	const dck_fact *facts;
	size_t nfacts;
	const dck_series *series;
	size_t nseries;
	const dck_metric *metrics;
	size_t nmetrics;
	const dck_op *ops;
	size_t nops;
	const dck_table *tables;
	size_t ntables;
	const dck_tree *trees;
	size_t ntrees;
	const dck_note *notes;
	size_t nnotes;
} dck_record;

/* Frees the record and all it points to. NULL is allowed. @since 0.1 */
DCK_API void dck_record_free(dck_record *r);

/* The metric / series / fact / note / table / tree of that name, or NULL. Borrowed from the record.
 * @since 0.1 */
DCK_API const dck_metric *dck_record_metric(const dck_record *r, const char *tag);
DCK_API const dck_series *dck_record_series(const dck_record *r, const char *tag);
DCK_API const dck_fact *dck_record_fact(const dck_record *r, const char *section, const char *key);
DCK_API const dck_note *dck_record_note(const dck_record *r, const char *code);
DCK_API const dck_table *dck_record_table(const dck_record *r, const char *name);
DCK_API const dck_tree *dck_record_tree(const dck_record *r, const char *name);
/* The name of a record among others: its title (fact subject/title), else its subject (fact
 * subject/name), else its command. NULL: it has none of them. Borrowed from the record. @since 0.1
 */
DCK_API const char *dck_record_name(const dck_record *r);
/* The cell of a row in the column of that key; NULL: no such column or row. @since 0.1 */
DCK_API const dck_cell *dck_table_cell(const dck_table *t, size_t row, const char *key);

/* A value as a double; NaN where it is absent or no number. @since 0.1 */
DCK_API double dck_value_number(const dck_value *v);

/* A metric's value as a double; NaN where it is absent, is no number, or r has no such metric.
 * @since 0.1 */
DCK_API double dck_record_value(const dck_record *r, const char *tag);

/* The worst verdict on the limits or the comparison that the record is about (fact result/gate);
 * HOLDS where it is about none. @since 0.1 */
DCK_API dck_verdict dck_record_gate(const dck_record *r);

/* "info", "warning", "error"; static. @since 0.1 */
DCK_API const char *dck_severity_text(dck_severity s);

/* "ns", "items/s", ...; static. @since 0.1 */
DCK_API const char *dck_unit_text(dck_unit u);

/* Definitions of all metrics that this version knows, in the order they are shown; static.
 * @since 0.1 */
DCK_API const dck_metric_def *dck_metric_defs(size_t *ret_n);

/* A reason to doubt a number. */
typedef struct dck_note_def {
	const char *code;
	dck_severity severity; /* that it has nearly always */
	const char *when;      /* it is written */
	const char *remedy;    /* "": there is none */
	bool said;	       /* its sentence in a record names the remedy by itself */
} dck_note_def;

/* All notes that this version writes; static. @since 0.1 */
DCK_API const dck_note_def *dck_note_defs(size_t *ret_n);

/* Reads a record from a file ("-": standard input). *ret is owned: dck_record_free().
 * E_ABSENT, E_IO, E_FORMAT (not a record; the sentence says where), E_VERSION (a newer schema),
 * E_LIMIT (more than 256 MiB). @since 0.1 */
DCK_API dck_status dck_record_load(const char *path, dck_record **ret, dck_err *err) DCK_MUST_USE;

/* The same from n bytes of JSON in memory. @since 0.1 */
DCK_API dck_status dck_record_parse(const char *json, size_t n, dck_record **ret,
				    dck_err *err) DCK_MUST_USE;

/* Writes the JSON form: to a temporary name beside `path`, synced and renamed, so that the
 * old file or the whole new one is there, never a part. E_IO with the system's reason; the
 * temporary file is removed. A path that is no regular file (a pipe, /dev/stdout) is written
 * directly. @since 0.1 */
DCK_API dck_status dck_record_save(const dck_record *r, const char *path,
				   dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
