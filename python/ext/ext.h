/* ext.h - what the files of the Python extension deepclock._deepclock share.
 *
 * Each file is one part: a row of `parts` in module.c names its methods and the function that adds
 * its types. All of them see include/deepclock alone. State belongs to the module object, nothing
 * is global.
 *
 * Functions that return PyObject * or int follow Python: NULL or -1 with an exception set.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_EXT_H
#define DCK_PYTHON_EXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <deepclock/deepclock.h>
#include <deepclock/unstable.h>

/* Statuses are 0 and below, without a gap. */
enum { EXT_STATUSES = 12 };

typedef struct ext_state {
	PyObject *errors[EXT_STATUSES]; /* by the status with its sign turned; [0]: Error itself */
	PyTypeObject *record, *metric, *series, *array, *table, *tree, *history;
	PyTypeObject *zone, *zone_range;
	PyObject *zone_names, *zone_mirror;
	/* Named tuples. */
	PyTypeObject *estimate, *roof, *fact, *note, *column, *cell, *frame, *progress, *entry,
	    *network, *engine;
} ext_state;

/* A part of the module. */
typedef struct ext_part {
	PyMethodDef *methods;			    /* NULL: none */
	int (*add)(PyObject *module, ext_state *s); /* types and constants; NULL: none */
} ext_part;
extern const ext_part ext_errors, ext_array, ext_record, ext_metric, ext_table, ext_observer,
    ext_commands, ext_zone, ext_trace, ext_lap, ext_estimate, ext_operator_cost, ext_history,
    ext_lists, ext_heap, ext_lines, ext_option_rows, ext_roof, ext_text_part, ext_count;

static inline ext_state *ext_state_of(PyObject *module)
{
	return PyModule_GetState(module);
}

/* The state of the module that the object's type belongs to. */
static inline ext_state *ext_state_by(PyObject *self)
{
	return PyType_GetModuleState(Py_TYPE(self));
}

/* Makes the type and adds it to the module by its name. */
PyTypeObject *ext_type_add(PyObject *module, PyType_Spec *spec);
/* The same of a named tuple. */
PyTypeObject *ext_tuple_add(PyObject *module, PyStructSequence_Desc *desc);

/* One of it, from n items whose references it takes; NULL among them: an exception is set. */
PyObject *ext_tuple_fill(PyTypeObject *type, PyObject *const *items, size_t n);
/* For tp_new of what only this module makes: TypeError. */
PyObject *ext_type_not_made(PyTypeObject *type, PyObject *args, PyObject *kwargs);

/* errors.c: raises the exception of err->code with its sentence. Returns NULL. */
PyObject *ext_raise(ext_state *s, const dck_err *err);
/* Converter of PyArg_ParseTuple()'s "O&": a double of any number; ValueError where that is beyond
 * the range of a double. Returns 1, or 0 with an exception. */
int ext_double(PyObject *o, void *ret);
/* ArgumentError with a sentence. */
PyObject *ext_raise_argument(ext_state *s, const char *fmt, ...) DCK_PRINTF(2, 3);

/* --- an object that shows a part of a record, which it keeps alive */
typedef struct ext_view {
	PyObject_HEAD PyObject *owner; /* the record */
	const void *at;
} ext_view;
PyObject *ext_view_new(PyTypeObject *type, PyObject *owner, const void *at);
void ext_view_dealloc(PyObject *self);
/* Getters whose closure is an offset in *at. */
PyObject *ext_view_text(PyObject *self, void *offset);	/* const char *; NULL: None */
PyObject *ext_view_unit(PyObject *self, void *offset);	/* dck_unit */
PyObject *ext_view_value(PyObject *self, void *offset); /* dck_value; absent: None */
PyObject *ext_view_why(PyObject *self, void *offset);	/* the reason of an absent one, or None */
PyObject *ext_view_size(PyObject *self, void *offset);	/* size_t */

/* --- values */
PyObject *ext_text(const char *text); /* str; bytes that are no UTF-8 are kept as os.fsdecode() does
				       */
PyObject *ext_value(const dck_value *v);  /* absent: None */
PyObject *ext_reason(const dck_value *v); /* absent: why; else None */

/* array.c: numbers in memory that belongs to `owner`. kind: 'd' (double) or 'Q' (uint64_t).
 * columns 0: one dimension of `rows`. */
PyObject *ext_array_new(ext_state *s, PyObject *owner, const void *data, char kind, size_t rows,
			size_t columns);

/* table.c */
PyObject *ext_columns(ext_state *s, const dck_column *columns, size_t n);
PyObject *ext_table_new(ext_state *s, PyObject *record, const dck_table *t);
PyObject *ext_tree_new(ext_state *s, PyObject *record, const dck_tree *t);

/* record.c: takes over r. */
PyObject *ext_record_new(ext_state *s, dck_record *r);
/* The record of a Record; NULL with TypeError where it is none. Borrowed. */
const dck_record *ext_record_get(ext_state *s, PyObject *o);
/* self: a Record. Returns the timeline of a trace that was loaded; NULL: it has none. */
const dck_timeline *ext_record_timeline(PyObject *self);
PyObject *ext_record_metrics(PyObject *self, void *none);
PyObject *ext_record_to_json(PyObject *self, PyObject *none);

/* reports.c: the bytes of that writer as str; Record.report(). */
PyObject *ext_record_written(ext_state *s, const char *writer, const dck_record *r,
			     const dck_style *style);
PyObject *ext_record_report(PyObject *self, PyObject *args, PyObject *kwargs);

/* --- record_mapping.c: slots and methods of Record */
PyObject *ext_record_subscript(PyObject *self, PyObject *key);
int ext_record_contains(PyObject *self, PyObject *key);
PyObject *ext_record_find(PyObject *self, PyObject *args);
PyObject *ext_record_iter(PyObject *self);
PyObject *ext_record_keys(PyObject *self, PyObject *none);
PyObject *ext_record_values(PyObject *self, PyObject *none);
PyObject *ext_record_items(PyObject *self, PyObject *none);
PyObject *ext_record_compare(PyObject *self, PyObject *other, int how);
Py_hash_t ext_record_hash(PyObject *self);
PyObject *ext_record_reduce(PyObject *self, PyObject *none);

/* --- options.c */
/* A table, and the config that its rows are read into. */
typedef struct ext_group {
	const dck_opt *table;
	void *config;
} ext_group;

/* Texts that options point to, until the call is over. */
typedef struct ext_texts {
	PyObject *list;
} ext_texts;
/* The text of a str, bytes or os.PathLike, kept alive by `texts`; NULL: an exception is set. */
const char *ext_texts_add(ext_texts *texts, PyObject *o);
/* Takes over the reference of `bytes`; returns its text. */
const char *ext_texts_keep(ext_texts *texts, PyObject *bytes);
void ext_texts_done(ext_texts *texts);

/* --- given_arrays.c: arrays given as the values of options, held until the call is over */
enum { EXT_ARRAYS_MAX = 64 };
typedef struct ext_array_given {
	PyObject *owner;
	bool has_view;
	Py_buffer view;
	struct dl_managed *dl; /* NULL: none */
	void *copy;	       /* of one that is not row-major, or pointers to texts; NULL: none */
} ext_array_given;
typedef struct ext_arrays {
	size_t n;
	dck_array item[EXT_ARRAYS_MAX];
	ext_array_given given[EXT_ARRAYS_MAX];
} ext_arrays;
/* Whether it is an array, and no number, text or list. */
bool ext_arrays_is(PyObject *o);
/* The name under which options find it; NULL: an exception is set. A tensor of PyTorch is detached,
 * and comes to the CPU by itself. */
const char *ext_arrays_add(ext_state *s, ext_arrays *all, ext_texts *texts, PyObject *o);
/* Whether labels and predictions may be this, which is no array: a list, a column of a table. */
bool ext_arrays_is_column(PyObject *o);
/* The same of such a value: of numbers, of rows of scores, or of texts. */
const char *ext_arrays_column(ext_state *s, ext_arrays *all, ext_texts *texts, PyObject *o);
void ext_arrays_done(ext_arrays *all);

/* What was given, in order: each item of a list by itself. */
enum { EXT_SAID_MAX = 256 };
typedef struct ext_said {
	dck_opt_given all[EXT_SAID_MAX];
	size_t n;
	ext_texts texts;
	ext_arrays *arrays; /* NULL: none are taken */
} ext_said;

/* Reads keyword arguments (NULL: none) into the groups, and checks what goes together. first_only:
 * names that reach the first table only (NULL-ended, NULL: none). `who` is the function, for
 * messages. *said is zeroed at first; its texts live until ext_texts_done(). */
int ext_options_read(ext_state *s, const char *who, PyObject *kwargs, const ext_group *groups,
		     size_t ngroups, const char *const *first_only, ext_said *said);
/* "max_time" of "max-time", "as_" of "as": the row's name as Python takes it. Returns buf. */
char *ext_option_name(const char *name, char *buf, size_t size);
/* The row of that name was given. */
bool ext_said_has(const ext_said *said, const char *name);

/* --- observer.c */
/* Watches one measurement. */
typedef struct ext_watch {
	dck_observer observer;
	ext_state *state;
	PyObject *progress;		/* called with a Progress; NULL: none */
	PyObject *type, *value, *trace; /* what a function or a signal's handler raised */
	uint64_t asked_ns, shown_ns;
	const char *phase;
	bool held; /* the measurement runs with the GIL */
	bool stop;
} ext_watch;
void ext_watch_init(ext_watch *w, ext_state *s, PyObject *progress);
/* Keeps the exception that is set, and ends the measurement. */
void ext_watch_raised(ext_watch *w);
/* What the measurement raised, or its status, as an exception; or the record, which it takes over.
 */
PyObject *ext_watch_result(ext_watch *w, dck_status status, dck_record *r, const dck_err *err);

/* --- functions.c: Python callables as subjects */
typedef struct ext_function {
	PyObject *callable;
	PyObject *const *args; /* args[-1] may be written to */
	size_t nargs;
	ext_watch *watch;
	bool raised; /* it raised what the watch keeps */
} ext_function;
/* For dck_subject.function, where the caller holds the GIL, and where any thread calls. */
int ext_function_call(void *function);
int ext_function_call_anywhere(void *function);
/* -1 with TypeError for one whose call does not run its body: coroutines, generators. */
int ext_function_check(PyObject *callable);
/* Its qualified name, "module.f": bytes, a new reference. */
PyObject *ext_function_name(PyObject *callable);

/* --- measure.c: one call of a function that makes a record */

/* What every such function takes beside the library's options. */
typedef struct ext_common {
	const char *save, *html, *figures, *db, *commit, *title, *source_root;
	bool no_history, quiet, no_progress, sources;
} ext_common;
extern const dck_opt ext_common_options[];

/* Several subjects out of one, as the commands compare, accuracy and bench have it. */
typedef struct ext_which {
	dck_list vary, scan;
	bool modes, history;
} ext_which;
extern const dck_opt ext_which_options[]; /* vary, modes, history */
extern const dck_opt ext_vary_options[];  /* vary alone */
extern const dck_opt ext_scan_options[];

typedef struct ext_subject {
	dck_subject of;
	ext_function function;
	PyObject *args[2]; /* of a function without arguments */
	char **argv;
	void *owned;
} ext_subject;

typedef struct ext_command ext_command;

typedef struct ext_call {
	ext_state *state;
	const ext_command *command;
	PyObject *kwargs; /* without `progress`; NULL: none */
	ext_said said;
	ext_arrays arrays;
	ext_watch watch;
	ext_common common;
	ext_which which;
	dck_subject subject; /* what all subjects have in common: options */
	ext_subject subjects[DCK_ALTERNATIVES_MAX];
	dck_alternative own[DCK_ALTERNATIVES_MAX];
	const dck_alternative *all; /* own, or what was made of them */
	dck_alternative *made[2];
	PyObject *records[DCK_ALTERNATIVES_MAX]; /* borrowed; Records instead of subjects */
	size_t n, nrecords;
	bool functions; /* one of the subjects is a Python function */
	const char *title, *program;
	dck_plan plan;
	dck_compare_config compare;
	dck_throughput_config throughput;
	dck_load_config load;
	dck_accuracy_config accuracy;
	dck_profile_config profile;
	dck_machine_config machine;
	dck_pitfalls_config pitfalls;
	dck_cost_config cost;
	PyObject *over_next; /* called at each value of `over`; NULL: none */
	dck_batches batches;
	PyObject *batched;  /* borrowed; the object of `batches` */
	PyObject *prepared; /* its callable with arguments, while a trial lasts */
	PyObject *failure;  /* what ended the last trial, or None or NULL */
} ext_call;

/* What a function of the module is. */
enum { EXT_GROUPS_MAX = 10 };
enum {
	EXT_THREADS = 1, /* it calls functions from threads of its own */
	EXT_SIZES = 2,	 /* open sizes of models are refused before anything is opened */
	EXT_QUICK = 4	 /* nothing runs, so there is no progress */
};
struct ext_command {
	const char *name; /* of the function */
	const char *verb; /* of the program's command */
	const char *signature, *doc;
	/* Option tables, and where in ext_call they are read into. */
	struct {
		const dck_opt *table;
		size_t at;
	} groups[EXT_GROUPS_MAX];
	const char *const *first_only;
	/* Reads the arguments into subjects. 0, or -1 with an exception. */
	int (*subjects)(ext_call *c, PyObject *args);
	dck_status (*run)(ext_call *c, dck_record **ret, dck_err *err);
	int flags; /* EXT_... */
};

/* The function `command` of the module `self`, called so. */
PyObject *ext_measure(const ext_command *command, PyObject *self, PyObject *args, PyObject *kwargs);
/* _keep(record, **options): keeps a Record as those of ext_common_options say. */
PyObject *ext_figures(PyObject *self, PyObject *args);
PyObject *ext_file_target(PyObject *self, PyObject *path);
PyObject *ext_keep(PyObject *self, PyObject *args, PyObject *kwargs);

/* For .subjects: each takes positional arguments. */
int ext_takes_function(ext_call *c, PyObject *args); /* a callable and its arguments */
int ext_takes_model(ext_call *c, PyObject *args);    /* one model */
int ext_takes_command(ext_call *c, PyObject *args);  /* one program */
int ext_takes_any(ext_call *c, PyObject *args);	     /* one of these */
int ext_takes_several(ext_call *c, PyObject *args);  /* a dict of any, by name */
int ext_takes_models(ext_call *c, PyObject *args);   /* none, one, or a dict of them */
int ext_takes_nothing(ext_call *c, PyObject *args);
int ext_takes_batches(ext_call *c, PyObject *args); /* batches.c */

/* Engines are to find ONNX Runtime where this interpreter has it. */
int ext_onnxruntime_offer(void);

#endif
