/* ext.h - shared header of the files of the Python extension deepclock._deepclock.
 *
 * Each file is one part: a row of `parts` in module.c lists its methods and the function that adds
 * its types. The files include public headers (include/deepclock) only. State belongs to the module
 * object, not to globals.
 *
 * Functions that return PyObject * or int follow Python's convention: NULL or -1 with an exception
 * set.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PYTHON_EXT_H
#define DCK_PYTHON_EXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <deepclock/deepclock.h>
#include <deepclock/unstable.h>
#include <time.h>

/* Statuses are 0 and below, without a gap. */
enum { EXT_STATUSES = 12 };

typedef struct ext_state {
	PyObject *errors[EXT_STATUSES]; /* indexed by -status; [0]: Error */
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
    ext_lists, ext_heap, ext_lines, ext_option_rows, ext_ranks, ext_roof, ext_text_part, ext_count;

static inline ext_state *ext_state_of(PyObject *module)
{
	return PyModule_GetState(module);
}

/* Returns the state of the module of the object's type. */
static inline ext_state *ext_state_by(PyObject *self)
{
	return PyType_GetModuleState(Py_TYPE(self));
}

/* Makes a type whose objects have `size` bytes, and adds it to the module by its name. It takes
 * part in garbage collection if it has a slot Py_tp_traverse. */
PyTypeObject *ext_type_add(PyObject *module, const char *name, size_t size, PyType_Slot *slots);
/* Makes a named tuple type, whose first n fields are its items, and adds it to the module. */
PyTypeObject *ext_tuple_add(PyObject *module, const char *name, const char *doc,
			    PyStructSequence_Field *fields, int n);

/* Makes a named tuple of n items, whose references it takes; an item NULL: an exception is set. */
PyObject *ext_tuple_fill(PyTypeObject *type, PyObject *const *items, size_t n);
#define EXT_TUPLE(type, ...)                                   \
	ext_tuple_fill(type, (PyObject *const[]){__VA_ARGS__}, \
		       sizeof((PyObject *[]){__VA_ARGS__}) / sizeof(PyObject *))
/* Append to a list and set a key of a dict, and take the references of item, key and value. One of
 * them NULL: an exception is set; on failure the list or dict is freed and NULL. */
void ext_list_add(PyObject **list, PyObject *item);
void ext_dict_add(PyObject **dict, PyObject *key, PyObject *value);
/* Return a list of n items, and a dict of n values by name; each is an expression of the index i.
 */
#define EXT_RETURN_LIST(n, i, item)              \
	PyObject *list = PyList_New(0);          \
	for (size_t i = 0; list && i < (n); i++) \
		ext_list_add(&list, item);       \
	return list
#define EXT_RETURN_DICT(n, i, name, value)        \
	PyObject *dict = PyDict_New();            \
	for (size_t i = 0; dict && i < (n); i++)  \
		ext_dict_add(&dict, name, value); \
	return dict
/* tp_new of types that only this module instantiates: raises TypeError. */
PyObject *ext_type_not_made(PyTypeObject *type, PyObject *args, PyObject *kwargs);

/* errors.c: raises the exception of err->code with its message. Returns NULL. */
PyObject *ext_raise(ext_state *s, const dck_err *err);
/* The same, of a file: attribute filename. */
PyObject *ext_raise_of(ext_state *s, const dck_err *err, const char *path);
/* Returns whether the message has the path in quotes. */
bool ext_names(const dck_err *err, const char *path);
/* ext_raise_of() if the message names the path, else ext_raise(). path NULL: none. */
PyObject *ext_raise_named(ext_state *s, const dck_err *err, const char *path);
/* Gives the exception that is set the attribute `record`, so that a file that cannot be written
 * does not lose a measurement. Takes over the record. Returns NULL. */
PyObject *ext_raised_with(PyObject *record);
/* "O&" converter of PyArg_ParseTuple(): converts any number to double; ValueError if it is out of
 * range. Returns 1, or 0 with an exception. */
int ext_double(PyObject *o, void *ret);
/* Raises ArgumentError with a message. */
PyObject *ext_raise_argument(ext_state *s, const char *fmt, ...) DCK_PRINTF(2, 3);
/* Returns -1, the failure of a function that returns an int, after a call that raises. */
static inline int ext_failed(PyObject *raised)
{
	(void)raised;
	return -1;
}

/* Calls a function of a module, with the tuple that `fmt` of Py_BuildValue() gives. */
PyObject *ext_module_call(const char *module, const char *function, const char *fmt, ...);
/* Runs a statement without the GIL. */
#define EXT_WITHOUT_GIL(statement)     \
	do {                           \
		Py_BEGIN_ALLOW_THREADS \
		statement;             \
		Py_END_ALLOW_THREADS   \
	} while (0)

/* Returns the time of the monotonic clock. */
static inline uint64_t ext_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- view of a part of a record, with a reference to it */
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
PyObject *ext_view_why(PyObject *self, void *offset);	/* the reason of absence, or None */
PyObject *ext_view_size(PyObject *self, void *offset);	/* size_t */

/* --- values */
PyObject *ext_text(
    const char *text); /* str; invalid UTF-8 is escaped as by os.fsdecode(); NULL: None */
PyObject *ext_value(const dck_value *v);  /* absent: None */
PyObject *ext_reason(const dck_value *v); /* absent: why; else None */

/* array.c: array of numbers in memory of `owner`. kind: 'd' (double) or 'Q' (uint64_t). columns 0:
 * one dimension of `rows`. */
PyObject *ext_array_new(ext_state *s, PyObject *owner, const void *data, char kind, size_t rows,
			size_t columns);

/* table.c */
PyObject *ext_columns(ext_state *s, const dck_column *columns, size_t n);
PyObject *ext_table_new(ext_state *s, PyObject *record, const dck_table *t);
PyObject *ext_tree_new(ext_state *s, PyObject *record, const dck_tree *t);

/* record.c: takes over r. */
PyObject *ext_record_new(ext_state *s, dck_record *r);
/* Raises the error of a failed status, else returns the record, which it takes over. r NULL:
 * None. */
PyObject *ext_result(ext_state *s, dck_status status, dck_record *r, const dck_err *err);
/* Returns the record of a Record, borrowed; NULL with TypeError if `o` is not a Record. */
const dck_record *ext_record_get(ext_state *s, PyObject *o);
/* self: a Record. Returns the timeline of a loaded trace, or NULL. */
const dck_timeline *ext_record_timeline(PyObject *self);
PyObject *ext_record_metrics(PyObject *self, void *none);
PyObject *ext_record_to_json(PyObject *self, PyObject *none);

/* reports.c: the output of `writer` as str; Record.report(). */
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
/* An option table, and the config that its rows are read into. */
typedef struct ext_group {
	const dck_opt *table;
	void *config;
} ext_group;

/* Owns the texts that options point to, until the call returns. */
typedef struct ext_texts {
	PyObject *list;
} ext_texts;
/* Returns the text of a str, bytes or os.PathLike, owned by `texts`; NULL: an exception is set. */
bool ext_is_text(PyObject *o); /* str, bytes or os.PathLike */
const char *ext_texts_add(ext_texts *texts, PyObject *o);
/* Takes over the reference of `bytes`; returns its text. */
const char *ext_texts_keep(ext_texts *texts, PyObject *bytes);
void ext_texts_done(ext_texts *texts);

/* --- given_arrays.c: arrays passed as option values, held until the call returns */
enum { EXT_ARRAYS_MAX = 64 };
typedef struct ext_array_given {
	PyObject *owner;
	bool has_view;
	Py_buffer view;
	struct dl_managed *dl; /* NULL: none */
	void *copy;	       /* row-major copy, or pointers to texts; NULL: none */
} ext_array_given;
typedef struct ext_arrays {
	size_t n;
	dck_array item[EXT_ARRAYS_MAX];
	ext_array_given given[EXT_ARRAYS_MAX];
} ext_arrays;
/* Returns whether it is an array: not a number, text or list. */
bool ext_arrays_is(PyObject *o);
/* Registers an array and returns the name by which options refer to it; NULL: an exception is set.
 * A PyTorch tensor is detached and copied to the CPU automatically. */
const char *ext_arrays_add(ext_state *s, ext_arrays *all, ext_texts *texts, PyObject *o);
/* Returns whether o is valid as labels or predictions without being an array: a list or a table
 * column. */
bool ext_arrays_is_column(PyObject *o);
/* As ext_arrays_add() for such a value: numbers, rows of scores, or texts. */
const char *ext_arrays_column(ext_state *s, ext_arrays *all, ext_texts *texts, PyObject *o);
void ext_arrays_done(ext_arrays *all);

/* Given options, in order: each item of a list is separate. */
enum { EXT_SAID_MAX = 256 };
typedef struct ext_said {
	dck_opt_given all[EXT_SAID_MAX];
	size_t n;
	ext_texts texts;
	ext_arrays *arrays; /* NULL: arrays are refused */
} ext_said;

/* Reads keyword arguments (NULL: none) into the groups, and checks which options exclude or need
 * each other. first_only: names that are read into the first table only (NULL-terminated, NULL:
 * none). `who`: the function, for messages. *said is zeroed by the caller; its texts live until
 * ext_texts_done(). */
int ext_options_read(ext_state *s, const char *who, PyObject *kwargs, const ext_group *groups,
		     size_t ngroups, const char *const *first_only, ext_said *said);
/* Writes the Python name of a row: "max_time" of "max-time", "as_" of "as". Returns buf. */
char *ext_option_name(const char *name, char *buf, size_t size);

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
/* Stores the current exception, and ends the measurement. */
void ext_watch_raised(ext_watch *w);
/* Raises the measurement's exception or the exception of its status, else returns the record. Takes
 * over the record. */
PyObject *ext_watch_result(ext_watch *w, dck_status status, dck_record *r, const dck_err *err);

/* --- functions.c: Python callables as subjects */
typedef struct ext_function {
	PyObject *callable;
	PyObject *const *args; /* args[-1] may be written to */
	size_t nargs;
	ext_watch *watch;
	bool raised; /* the watch stores its exception */
	/* On a device (device.c); `device` NULL: a call ends with its work. */
	PyObject *device, *synchronize;
	PyObject *result;		      /* of the last run that was enqueued */
	const char *waits, *waits_and_copies; /* names of barriers */
	unsigned barrier;		      /* by which a run waits */
	bool copies;			      /* a result was on the device */
} ext_function;
/* dck_subject.function for callers that hold the GIL, and for any thread. */
int ext_function_call(void *function);
int ext_function_call_anywhere(void *function);
/* Stores the current exception, as a failure of the function; returns its status. */
int ext_function_raised(ext_function *f);
/* Returns -1 with TypeError for coroutines and generators, whose call does not run the body. */
int ext_function_check(PyObject *callable);
/* Returns the qualified name, "module.f": bytes, a new reference. */
PyObject *ext_function_name(PyObject *callable);

/* --- measure.c: one call of a function that makes a record */

/* Options that every such function takes besides the library's. */
typedef struct ext_common {
	const char *save, *html, *figures, *db, *commit, *title, *source_root;
	bool no_history, quiet, no_progress, sources;
} ext_common;
extern const dck_opt ext_common_options[];

/* Options that derive several subjects from one, as in the commands compare, accuracy and bench. */
typedef struct ext_which {
	dck_list vary, scan;
	bool modes, history;
	dck_list url, served_model; /* two servers, in place of subjects */
} ext_which;
extern const dck_opt ext_which_options[]; /* vary, modes, history */
extern const dck_opt ext_vary_options[];  /* vary alone */
extern const dck_opt ext_scan_options[];
extern const dck_opt ext_url_options[]; /* url, model */

enum { EXT_DEVICE_FACTS = 4 };
typedef struct ext_subject {
	dck_subject of;
	ext_function function;
	dck_function_device device; /* if function.device is not NULL */
	dck_kv facts[EXT_DEVICE_FACTS];
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
	dck_subject subject; /* options common to all subjects */
	ext_subject subjects[DCK_ALTERNATIVES_MAX];
	dck_alternative own[DCK_ALTERNATIVES_MAX];
	const dck_alternative *all; /* own, or alternatives derived from them */
	dck_alternative *made[2];
	PyObject *records[DCK_ALTERNATIVES_MAX]; /* borrowed; Records instead of subjects */
	size_t n, nrecords;
	bool functions; /* one of the subjects is a Python function */
	const char *title, *program;
	dck_plan plan;
	dck_compare_config compare;
	dck_throughput_config throughput;
	dck_tune_config tune;
	dck_load_config load;
	dck_accuracy_config accuracy;
	dck_profile_config profile;
	dck_machine_config machine;
	dck_pitfalls_config pitfalls;
	dck_generate_config generate;
	dck_cost_config cost;
	PyObject *over_next; /* called at each value of `over`; NULL: none */
	PyObject *start;     /* measures in a fresh process of the script; NULL: none */
	dck_batches batches;
	PyObject *batched;  /* borrowed; the object of `batches` */
	PyObject *prepared; /* its callable with arguments, during a trial */
	PyObject *failure;  /* exception that ended the last trial; None or NULL: none */
} ext_call;

/* Describes a function of the module that measures. */
enum { EXT_GROUPS_MAX = 10 };
enum {
	EXT_THREADS = 1, /* it calls functions from its own threads */
	EXT_SIZES = 2,	 /* symbolic model sizes are refused before any file is opened */
	EXT_QUICK = 4	 /* nothing runs: no progress */
};
struct ext_command {
	const char *name; /* Python function */
	const char *verb; /* CLI command */
	const char *signature, *doc;
	/* Option tables, and the offsets of their configs in ext_call. */
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

/* --- device.c: Python callables whose work continues on a device */
/* dck_subject.function for any thread: a call, and waiting by the chosen barrier. */
int ext_device_run(void *function);
/* Has the subject's function wait for the device of that name; "cpu": changes nothing. 0, or -1
 * with an exception. */
int ext_device_open(ext_call *c, ext_subject *s, const char *name);
void ext_device_close(ext_function *f); /* {0} is allowed */

/* Runs the module function `command` with these arguments. */
PyObject *ext_measure(const ext_command *command, PyObject *self, PyObject *args, PyObject *kwargs);
/* _keep(record, **options): saves a Record by ext_common_options. */
PyObject *ext_figures(PyObject *self, PyObject *args);
PyObject *ext_file_replace(PyObject *self, PyObject *args);
PyObject *ext_keep(PyObject *self, PyObject *args, PyObject *kwargs);

/* For .subjects: each takes positional arguments. */
int ext_takes_function(ext_call *c, PyObject *args); /* a callable and its arguments */
int ext_takes_model(ext_call *c, PyObject *args);    /* one model */
int ext_takes_command(ext_call *c, PyObject *args);  /* one program */
int ext_takes_any(ext_call *c, PyObject *args);	     /* one of these */
int ext_takes_served(ext_call *c, PyObject *args);   /* one of these, or none with a url */
int ext_takes_several(ext_call *c, PyObject *args);  /* a dict of any, by name */
int ext_takes_compared(ext_call *c, PyObject *args); /* such a dict, or none with two urls */
int ext_takes_models(ext_call *c, PyObject *args);   /* none, one, or a dict of them */
int ext_takes_nothing(ext_call *c, PyObject *args);
int ext_takes_batches(ext_call *c, PyObject *args); /* batches.c */

/* Sets the paths of the libraries in the interpreter's packages for the engines. */
int ext_libraries_offer(void);

#endif
