/* options.c - parses keyword arguments by option tables, as the command line does: with the same
 * names (`-` as `_`), bounds and messages.
 *
 * A str is read as on the command line ("5s", "1%", "2GiB"). Each kind also takes Python
 * values:
 *
 *	FLAG	bool
 *	COUNT, BYTES, REAL, SHARE	a number (a share of 1 % is 0.01)
 *	TIME	a number of seconds, datetime.timedelta, or numpy.timedelta64
 *	TEXT	str, os.PathLike or a number; a list: its items with commas between; of a file or
 *		directory only the first two
 *	CHOICE	str
 *	LIST	one item, or a list of them; a tuple of texts too, of numbers it is "1x3x224x224";
 *		a dict: "KEY=VALUE" each; in it, for vary or scan, a list or tuple as "1,2"
 * An option with the placeholder FILE.npy also takes an array (given_arrays.c).
 *
 * None selects the default.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <math.h>
#include <string.h>

/* --- texts */

const char *ext_texts_keep(ext_texts *texts, PyObject *bytes)
{
	if (!bytes)
		return NULL;
	if (!texts->list)
		texts->list = PyList_New(0);
	if (!texts->list || PyList_Append(texts->list, bytes) < 0) {
		Py_DECREF(bytes);
		return NULL;
	}
	Py_DECREF(bytes); /* owned by the list */
	if (strlen(PyBytes_AS_STRING(bytes)) != (size_t)PyBytes_GET_SIZE(bytes)) {
		PyErr_SetString(PyExc_ValueError, "a text has a zero byte in it");
		return NULL;
	}
	return PyBytes_AS_STRING(bytes);
}

/* Converts a path or text to bytes; NULL: an exception is set. */
static PyObject *bytes_of(PyObject *o)
{
	PyObject *path, *bytes;

	if (PyUnicode_Check(o))
		return PyUnicode_AsEncodedString(o, "utf-8", "surrogateescape");
	path = PyOS_FSPath(o);
	if (!path)
		return NULL;
	if (PyBytes_Check(path))
		return path;
	bytes = PyUnicode_AsEncodedString(path, "utf-8", "surrogateescape");
	Py_DECREF(path);
	return bytes;
}

const char *ext_texts_add(ext_texts *texts, PyObject *o)
{
	return ext_texts_keep(texts, bytes_of(o));
}

void ext_texts_done(ext_texts *texts)
{
	Py_CLEAR(texts->list);
}

/* Destination of the values, and the list of given options. */
typedef struct reader {
	ext_state *state;
	ext_said *said;
	const dck_opt *row;
	void *config;
	bool again; /* in another table too, which has reported it */
} reader;

/* --- values as the command line writes them: a new str or bytes, NULL with an exception */

/* Raises TypeError for a type that does not match the kind. */
static PyObject *refuse(const dck_opt *row, const char *wanted, PyObject *o)
{
	return PyErr_Format(PyExc_TypeError, "%s takes %s, not %s", row->name, wanted,
			    Py_TYPE(o)->tp_name);
}

bool ext_is_text(PyObject *o)
{
	return PyUnicode_Check(o) || PyBytes_Check(o) || PyObject_HasAttrString(o, "__fspath__");
}

/* Formats int, objects with __index__ (NumPy's integers), float, and objects with __float__. Arrays
 * and tensors of one number have both, and __index__ refuses a float. */
static PyObject *number_text(PyObject *o)
{
	PyObject *number = PyIndex_Check(o) ? PyNumber_Index(o) : NULL;
	PyObject *text;

	if (!number && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))) {
		PyErr_Clear();
		number = PyNumber_Float(o);
	}
	text = number ? PyObject_Repr(number) : NULL;

	Py_XDECREF(number);
	return text;
}

static bool is_number(PyObject *o)
{
	return PyIndex_Check(o) || PyFloat_Check(o) ||
	       (!ext_is_text(o) && Py_TYPE(o)->tp_as_number && Py_TYPE(o)->tp_as_number->nb_float);
}

/* Returns the seconds of a timedelta or numpy.timedelta64, which as a number has no unit. A new
 * reference; NULL: another object, or an exception is set. */
static PyObject *seconds_of(PyObject *o)
{
	PyObject *second, *ret;

	if (PyObject_HasAttrString(o, "total_seconds"))
		return PyObject_CallMethod(o, "total_seconds", NULL);
	if (strcmp(Py_TYPE(o)->tp_name, "numpy.timedelta64") != 0)
		return NULL;
	second = PyObject_CallFunction((PyObject *)Py_TYPE(o), "is", 1, "s");
	ret = second ? PyNumber_TrueDivide(o, second) : NULL;
	Py_XDECREF(second);
	return ret;
}

/* Formats seconds as "1500000000ns". */
static PyObject *time_text(const reader *r, PyObject *o)
{
	PyObject *total = seconds_of(o);
	double s;
	char buf[64];
	int read;

	if (PyErr_Occurred())
		return NULL;
	if (!total && !is_number(o))
		return refuse(r->row, "a number of seconds, a timedelta or a str as \"250ms\"", o);
	read = ext_double(total ? total : o, &s);
	Py_XDECREF(total);
	if (!read)
		return NULL;
	if (!isfinite(s))
		return ext_raise_argument(r->state, "%s=%s: a finite number of seconds is needed",
					  ext_option_name(r->row->name, buf, sizeof buf),
					  isnan(s) ? "nan"
					  : s > 0  ? "inf"
						   : "-inf");
	if (s >= 0)
		PyOS_snprintf(buf, sizeof buf, "%.0fns", s * 1e9);
	else /* refused as given */
		PyOS_snprintf(buf, sizeof buf, "%gs", s);
	return PyUnicode_FromString(buf);
}

static bool is_sequence(PyObject *o)
{
	return PyList_Check(o) || PyTuple_Check(o);
}

static PyObject *joined(PyObject *items, const char *between);

/* Formats an item of a sequence; one that is a sequence is a shape. */
static PyObject *item_text(PyObject *item)
{
	PyObject *text;

	if (!is_sequence(item))
		return PyObject_Str(item);
	if (Py_EnterRecursiveCall(" in a list that contains itself"))
		return NULL;
	text = joined(item, "x");
	Py_LeaveRecursiveCall();
	return text;
}

/* Joins the items with the separator `between`. */
static PyObject *joined(PyObject *items, const char *between)
{
	PyObject *all = PySequence_Tuple(items); /* which __str__ of an item cannot change */
	PyObject *texts = all ? PyList_New(0) : NULL;
	PyObject *sign, *text = NULL;

	for (Py_ssize_t i = 0; texts && i < PyTuple_GET_SIZE(all); i++)
		ext_list_add(&texts, item_text(PyTuple_GET_ITEM(all, i)));
	sign = texts ? PyUnicode_FromString(between) : NULL;
	if (sign)
		text = PyUnicode_Join(sign, texts);
	Py_XDECREF(sign);
	Py_XDECREF(texts);
	Py_XDECREF(all);
	return text;
}

/* Returns whether the option takes an array. */
static bool takes_array(const dck_opt *row)
{
	static const char *const names[] = {"input", "inputs", "labels", "predictions"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(row->name, names[i]) == 0)
			return true;
	return false;
}

/* Returns whether a sequence is the alternatives of a setting. */
static bool takes_alternatives(const dck_opt *row)
{
	return strcmp(row->name, "vary") == 0 || strcmp(row->name, "scan") == 0;
}

/* Returns whether a list is one value, the column of all items, rather than several values. */
static bool takes_column(const dck_opt *row)
{
	return strcmp(row->name, "labels") == 0 || strcmp(row->name, "predictions") == 0;
}

/* Returns whether the option takes the name of a file or directory alone. */
static bool takes_path(const dck_opt *row)
{
	return row->kind == DCK_OPT_TEXT && row->arg && !takes_column(row) &&
	       (strcmp(row->arg, "FILE") == 0 || strcmp(row->arg, "DIR") == 0);
}

static PyObject *value_text(const reader *r, PyObject *o)
{
	const dck_opt *row = r->row;
	const bool truth = PyBool_Check(o);

	if (r->said->arrays && takes_column(row) && ext_arrays_is_column(o)) {
		const char *name = ext_arrays_column(r->state, r->said->arrays, &r->said->texts, o);

		return name ? ext_text(name) : NULL;
	}
	if (r->said->arrays && takes_array(row) && ext_arrays_is(o)) {
		const char *name = ext_arrays_add(r->state, r->said->arrays, &r->said->texts, o);

		return name ? ext_text(name) : NULL;
	}
	if (ext_is_text(o)) {
		Py_INCREF(o);
		return o;
	}
	if (takes_path(row))
		return refuse(row, "a str or os.PathLike", o);
	switch (row->kind) {
	case DCK_OPT_FLAG:
		return refuse(row, "True or False", o);
	case DCK_OPT_COUNT:
	case DCK_OPT_BYTES:
	case DCK_OPT_REAL:
	case DCK_OPT_SHARE:
		return is_number(o) && !truth ? number_text(o)
					      : refuse(row, "a number or a str", o);
	case DCK_OPT_TIME:
		return truth ? refuse(row, "a number of seconds", o) : time_text(r, o);
	case DCK_OPT_TEXT:
		if (is_sequence(o))
			return joined(o, ",");
		return is_number(o) && !truth ? number_text(o) : refuse(row, "a str", o);
	case DCK_OPT_CHOICE:
		return refuse(row, "a str", o);
	case DCK_OPT_LIST:
		break;
	}
	if (is_sequence(o) && r->said->arrays && takes_array(row))
		return ext_raise_argument(
		    r->state,
		    "%s takes an array or a str, not a %s: give numpy.array(..., dtype=\"float32\")",
		    row->name, Py_TYPE(o)->tp_name);
	if (is_sequence(o)) /* alternatives, or a shape */
		return joined(o, takes_alternatives(row) ? "," : "x");
	return is_number(o) && !truth ? number_text(o) : refuse(row, "str, list or dict", o);
}

/* --- into the row */

static int say(const reader *r, const char *text)
{
	if (r->again)
		return 0;
	if (r->said->n == EXT_SAID_MAX)
		return ext_failed(
		    ext_raise_argument(r->state, "more than %d options are given", EXT_SAID_MAX));
	r->said->all[r->said->n++] = (dck_opt_given){r->row, text};
	return 0;
}

static int text_read(const reader *r, PyObject *text)
{
	const char *bytes = text ? ext_texts_add(&r->said->texts, text) : NULL;
	dck_err err;

	if (!bytes)
		return -1;
	/* An unset shell variable causes such an empty value. */
	if (!*bytes && (r->row->kind == DCK_OPT_TEXT || r->row->kind == DCK_OPT_LIST))
		return ext_failed(
		    ext_raise_argument(r->state, "the value of --%s is empty: give %s",
				       r->row->name, r->row->arg ? r->row->arg : "one"));
	if (dck_opt_read(r->row, r->config, bytes, &err) == DCK_OK)
		return say(r, bytes);
	return ext_failed(ext_raise(r->state, &err));
}

static int value_read(const reader *r, PyObject *value)
{
	PyObject *text = value_text(r, value);
	const int status = text ? text_read(r, text) : -1;

	Py_XDECREF(text);
	return status;
}

static int flag_read(const reader *r, PyObject *value)
{
	if (!PyBool_Check(value)) {
		refuse(r->row, "True or False", value);
		return -1;
	}
	*(bool *)((char *)r->config + r->row->at) = value == Py_True;
	return value == Py_True ? say(r, NULL) : 0;
}

/* Reads {"input": (1, 3, 224, 224)} as "input=1x3x224x224". */
static int dict_read(const reader *r, PyObject *dict)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;

	while (PyDict_Next(dict, &at, &key, &value)) {
		PyObject *text = value_text(r, value);
		const char *bytes = text ? ext_texts_add(&r->said->texts, text) : NULL;
		PyObject *words = bytes ? ext_text(bytes) : NULL;
		PyObject *item = words ? PyUnicode_FromFormat("%S=%U", key, words) : NULL;
		const int status = item ? text_read(r, item) : -1;

		Py_XDECREF(item);
		Py_XDECREF(words);
		Py_XDECREF(text);
		if (status < 0)
			return -1;
	}
	return 0;
}

static int list_read(const reader *r, PyObject *items)
{
	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++)
		if (value_read(r, PyTuple_GET_ITEM(items, i)) < 0)
			return -1;
	return 0;
}

/* Returns whether it is a tuple of texts, rather than a shape. */
static bool is_texts(const dck_opt *row, PyObject *o)
{
	if (!PyTuple_Check(o) || strcmp(row->name, "shape") == 0)
		return false;
	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++)
		if (!ext_is_text(PyTuple_GET_ITEM(o, i)))
			return false;
	return PyTuple_GET_SIZE(o) > 0;
}

static int option_read(const reader *r, PyObject *value)
{
	const bool is_list = r->row->kind == DCK_OPT_LIST;
	const bool has_items = PyList_Check(value) || is_texts(r->row, value);

	if (r->row->kind == DCK_OPT_FLAG)
		return flag_read(r, value);
	if (!is_list || (!PyDict_Check(value) && (!has_items || takes_column(r->row))))
		return value_read(r, value);
	/* A method called while reading, such as __dlpack__(), may change it. */
	PyObject *own = PyDict_Check(value) ? PyDict_Copy(value) : PySequence_Tuple(value);
	const int status = !own ? -1 : PyDict_Check(value) ? dict_read(r, own) : list_read(r, own);

	Py_XDECREF(own);
	return status;
}

/* --- by name */

enum { NAME_SIZE = 64, NAMES_MAX = 256 };

char *ext_option_name(const char *name, char *buf, size_t size)
{
	static const char *const keywords[] = {"and", "as", "for", "from", "if",
					       "in",  "is", "not", "or",   "with"};
	size_t n = 0;

	for (; name[n] && n + 2 < size; n++)
		buf[n] = name[n] == '-' ? '_' : name[n];
	buf[n] = '\0';
	for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
		if (strcmp(keywords[i], buf) == 0)
			strcpy(buf + n, "_");
	return buf;
}

/* Converts "max_time" to "max-time", "as_" to "as". false: longer than any option name. */
static bool name_of(PyObject *key, char *name)
{
	const char *text = PyUnicode_AsUTF8(key);
	size_t i;

	if (!text || strlen(text) >= NAME_SIZE)
		return false;
	for (i = 0; text[i]; i++)
		name[i] = text[i] == '_' ? '-' : text[i];
	name[i] = '\0';
	if (i > 1 && name[i - 1] == '-')
		name[i - 1] = '\0';
	return true;
}

static void unknown(const char *who, PyObject *key, const ext_group *groups, size_t ngroups)
{
	const char *names[NAMES_MAX], *nearest;
	char name[NAME_SIZE], word[NAME_SIZE];
	size_t n = 0;

	who += *who == '_'; /* the function that a user called has the name without it */
	for (size_t g = 0; g < ngroups; g++)
		for (const dck_opt *row = groups[g].table; row->name && n < NAMES_MAX; row++)
			names[n++] = row->name;
	nearest = name_of(key, name) ? dck_nearest(name, names, n) : NULL;
	if (PyErr_Occurred())
		return;
	if (!nearest) {
		PyErr_Format(PyExc_TypeError, "%s() has no option '%U'", who, key);
		return;
	}
	PyErr_Format(PyExc_TypeError, "%s() has no option '%U'; did you mean '%s'?", who, key,
		     ext_option_name(nearest, word, sizeof word));
}

static bool listed(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static int rules_check(ext_state *s, const ext_group *groups, size_t ngroups, const ext_said *said)
{
	const dck_opt *tables[32] = {0};
	dck_err err;

	for (size_t i = 0; i < ngroups && i + 1 < sizeof tables / sizeof tables[0]; i++)
		tables[i] = groups[i].table;
	if (dck_opt_check(tables, said->all, said->n, &err) == DCK_OK)
		return 0;
	return ext_failed(ext_raise(s, &err));
}

int ext_options_read(ext_state *s, const char *who, PyObject *kwargs, const ext_group *groups,
		     size_t ngroups, const char *const *first_only, ext_said *said)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;

	while (kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
		char name[NAME_SIZE];
		bool found = false;

		for (size_t g = 0; name_of(key, name) && g < ngroups; g++) {
			const dck_opt *row = dck_opt_find(groups[g].table, name);
			const reader r = {s, said, row, groups[g].config, found};

			if (!row || (found && listed(first_only, name)))
				continue;
			found = true;
			if (value != Py_None && option_read(&r, value) < 0)
				return -1;
		}
		if (!found) {
			unknown(who, key, groups, ngroups);
			return -1;
		}
	}
	return rules_check(s, groups, ngroups, said);
}
