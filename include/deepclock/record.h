/* record.h - the data model. A measurement makes one immutable record; every report, the history
 * and every comparison read only the record.
 *
 * A record is seven plain lists (facts, series, metrics, ops, tables, trees, notes). Everything a
 * record points to is borrowed from it and valid until dck_record_free(). docs/reference/record.md
 * describes the JSON format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_RECORD_H
#define DCK_RECORD_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DCK_RECORD_SCHEMA 1u

/* The enum and the unit's name in JSON are generated from this list. A new unit raises
 * DCK_RECORD_SCHEMA: older readers refuse units that they do not know. */
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
	X(RUN_PER_S, "runs/s")   \
	X(TOKEN_PER_S, "tokens/s")

typedef enum dck_unit {
#define X(name, text) DCK_UNIT_##name,
	DCK_UNIT_MAP(X)
#undef X
	    DCK_UNIT_COUNT
} dck_unit;

typedef enum dck_better { DCK_BETTER_NEITHER, DCK_BETTER_LOWER, DCK_BETTER_HIGHER } dck_better;

typedef enum dck_value_kind {
	DCK_VALUE_ABSENT, /* as.text is the reason */
	DCK_VALUE_BOOL,
	DCK_VALUE_INT,
	DCK_VALUE_REAL,
	DCK_VALUE_TEXT
} dck_value_kind;

/* The kind of a reason, for programs; the reason itself is for people. */
typedef enum dck_absence {
	DCK_ABSENCE_OTHER,
	DCK_ABSENCE_OPEN_SIZE /* the value is a formula of sizes that the model leaves open */
} dck_absence;

/* A value, or the reason for its absence. An unknown value is never 0. */
typedef struct dck_value {
	dck_value_kind kind;
	dck_absence absence; /* of an absent value */
	union {
		bool b;
		int64_t i;
		double r;
		const char *text;
	} as;
} dck_value;

/* A fact of the configuration or the environment: host, engine, model, plan, method. */
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
	const uint64_t *at_ns; /* start of each, from the record's start; NULL: not stored */
	const double *values;  /* NaN: the run's value was not finite */
} dck_series;

/* Definition of a metric: one row of metrics.def, shared by every writer. A row whose tag ends in a
 * slash and a star represents a family, such as "precision/cat"; each metric of the family has a
 * separate definition, with its whole tag and name. */
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
	/* Why the interval covers less than its level; NULL: no known undercoverage, or no
	 * interval. */
	const char *narrow;
	/* Of an absent value that depends on open sizes: "4.09 G * N"; NULL: not a formula. */
	const char *formula;
} dck_metric;

/* A tensor of an operator; a dimension below 0 is symbolic and named in symbols. */
typedef struct dck_op_output {
	const char *name, *dtype;
	size_t rank;
	const int64_t *dims;
	const char *const *symbols;
	const char *absent; /* why the shape is unknown; NULL: known */
} dck_op_output;

/* An operator of the model. */
typedef struct dck_op {
	const char *name, *type, *scope; /* scope: its module, "layer1.0/conv1"; NULL: none */
	/* The exported source, if the exporter recorded it, else NULL: the class of the module,
	 * "torch.nn.modules.conv.Conv2d"; the calling line of the model's code,
	 * "/models/net.py:17"; and its text. */
	const char *class_name, *line, *code;
	const dck_op_output *outputs;
	size_t noutputs;
	dck_value macs, flops, params, weight_bytes, read_bytes, write_bytes;
	dck_value peer; /* count of another tool (named by fact cost/as) */
	/* Measured, per run of the whole model; absent in a record of `cost`. */
	dck_value time_ns;
	double time_lo_ns, time_hi_ns, time_level; /* interval of time_ns; level 0: none */
	dck_value rate;		/* achieved FLOP/s; absent if it would exceed the roof */
	dck_value roof;		/* attainable FLOP/s on this machine at the operator's intensity */
	dck_value memory_bytes; /* held by the engine when it ended, with weights in its arena */
	const char *bound;	/* "compute", "memory"; NULL: unknown */
	/* Nodes of the model that the engine fused into this operator; none: it is a node of the
	 * model, or an addition of the engine. */
	const char *const *origins;
	size_t norigins;
} dck_op;

/* A column of a table. */
typedef struct dck_column {
	const char *key, *title; /* "latency", "latency"; key: lower case, for scripts */
	dck_unit unit;		 /* unit of its numbers; NONE: texts */
} dck_column;

typedef struct dck_cell {
	dck_value value;
	double lo, hi, level; /* interval; level 0: none */
} dck_cell;

/* A table of results with one row per batch size, rate, subject or mistake. The first column names
 * the row. */
typedef struct dck_table {
	const char *name, *title; /* "throughput/points" (stable), "Throughput by batch" */
	const dck_column *columns;
	const dck_cell *cells; /* [nrows][ncolumns] */
	size_t ncolumns, nrows;
	/* The columns and rows of a summary: indices of columns besides the first, in their order
	 * of display, and of rows. None: the first that fit. */
	const uint32_t *summary_columns, *summary_rows;
	size_t nsummary_columns, nsummary_rows;
} dck_table;

/* A frame of a call path: a function, a range, a module. Unknown members are NULL or 0. */
typedef struct dck_frame {
	const char *name;
	const char *file;   /* source file */
	const char *module; /* program or library, "libopenblas.so.0" */
	uint32_t line;	    /* the executed line of the file */
	/* First line of the function. Frames with equal name, file, module and start_line are one
	 * function, whatever their lines. */
	uint32_t start_line;
} dck_frame;

/* Call paths with weights: counts, times, bytes. A node is a frame that was reached through its
 * parent's path; its weight excludes its children. */
typedef struct dck_tree_node {
	uint32_t parent; /* index of an earlier node; DCK_TREE_ROOT: outermost */
	uint32_t frame;	 /* index into the frames */
} dck_tree_node;
#define DCK_TREE_ROOT UINT32_MAX

typedef struct dck_tree {
	const char *name, *title;  /* "zones" (stable), "Zones by their call paths" */
	const dck_column *columns; /* columns of the weights */
	const dck_frame *frames;   /* frames of the nodes */
	const dck_tree_node *nodes;
	const double *weights; /* [nnodes][ncolumns] */
	size_t ncolumns, nframes, nnodes;
} dck_tree;

typedef enum dck_severity { DCK_INFO, DCK_WARN, DCK_ERROR } dck_severity;

/* A warning about the numbers, or information on them: the cause and what to do. */
typedef struct dck_note {
	dck_severity severity;
	const char *code; /* stable: "not-steady"; 'deepclock help notes' lists all */
	const char *text;
	const char *remedy; /* what to do: the end of `text`; "": nothing is known */
	/* Code of the note that caused this note, which text reports then hide; NULL: none. */
	const char *cause;
} dck_note;

typedef struct dck_record {
	uint32_t schema;
	const char *version;   /* version of deepclock that made the record */
	const char *id;	       /* 128 random bits in hex */
	int64_t began_unix_ns; /* 0: unknown */
	const char *command;   /* the command line or the caller's title; NULL: none */
	bool incomplete;       /* interrupted, or the subject failed; a note gives the reason */
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

/* Return the metric / series / fact / note / table / tree of that name, or NULL. Borrowed from the
 * record. @since 0.1 */
DCK_API const dck_metric *dck_record_metric(const dck_record *r, const char *tag);
DCK_API const dck_series *dck_record_series(const dck_record *r, const char *tag);
DCK_API const dck_fact *dck_record_fact(const dck_record *r, const char *section, const char *key);
DCK_API const dck_note *dck_record_note(const dck_record *r, const char *code);
DCK_API const dck_table *dck_record_table(const dck_record *r, const char *name);
DCK_API const dck_tree *dck_record_tree(const dck_record *r, const char *name);
/* Returns a record's name: its title (fact subject/title), else its subjects (fact
 * compare/subjects), else its subject (fact subject/name), else its command; NULL: none. Borrowed
 * from the record.
 * @since 0.1 */
DCK_API const char *dck_record_name(const dck_record *r);
/* Returns the cell of a row in the column of that key; NULL: no such column or row. @since 0.1 */
DCK_API const dck_cell *dck_table_cell(const dck_table *t, size_t row, const char *key);

/* Returns a value as a double; NaN if it is absent or not a number. @since 0.1 */
DCK_API double dck_value_number(const dck_value *v);

/* Returns a metric's value as a double; NaN if it is absent, is not a number, or r has no such
 * metric. @since 0.1 */
DCK_API double dck_record_value(const dck_record *r, const char *tag);

/* Returns the worst verdict of the record's limits or comparison (fact result/gate), which is the
 * exit status of the command that made it; MET without any. Of a comparison: MET nothing is slower
 * (an interval that ends below 1 + margin is not slower, whatever the verdict), VIOLATED something
 * is, INCONCLUSIVE undecided. @since 0.1 */
DCK_API dck_verdict dck_record_gate(const dck_record *r);

/* Returns "info", "warning", "error"; static. @since 0.1 */
DCK_API const char *dck_severity_text(dck_severity s);

/* Returns "ns", "items/s", ...; static. @since 0.1 */
DCK_API const char *dck_unit_text(dck_unit u);

/* Returns the definitions of all metrics of this version, in their order of display; static.
 * @since 0.1 */
DCK_API const dck_metric_def *dck_metric_defs(size_t *ret_n);

/* The definition of a note. */
typedef struct dck_note_def {
	const char *code;
	dck_severity severity; /* the usual severity */
	const char *when;      /* condition of the note */
	const char *remedy;    /* "": none */
	bool remedy_in_text;   /* its text in a record includes the remedy */
} dck_note_def;

/* Returns the definitions of all notes of this version; static. @since 0.1 */
DCK_API const dck_note_def *dck_note_defs(size_t *ret_n);

/* Reads a record from a file ("-": standard input). *ret is owned: dck_record_free(). E_ABSENT,
 * E_IO, E_FORMAT (not a record; the message names the position), E_VERSION (a newer schema),
 * E_LIMIT (more than 256 MiB). @since 0.1 */
DCK_API dck_status dck_record_load(const char *path, dck_record **ret, dck_err *err) DCK_MUST_USE;

/* Reads a record from n bytes of JSON in memory, like dck_record_load(). @since 0.1 */
DCK_API dck_status dck_record_parse(const char *json, size_t n, dck_record **ret,
				    dck_err *err) DCK_MUST_USE;

/* Writes the record as JSON, atomically: to a temporary file in the directory of `path`, which is
 * synced and renamed. E_IO with the system's reason; the temporary file is removed. A path that is
 * not a regular file (a pipe, /dev/stdout) is written directly. @since 0.1 */
DCK_API dck_status dck_record_save(const dck_record *r, const char *path,
				   dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
