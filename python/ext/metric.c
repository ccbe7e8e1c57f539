/* metric.c - deepclock.Metric and deepclock.Series, views into a record (record.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ext.h"
#include <stddef.h>
#include <string.h>

/* --- metrics */

static const dck_metric *metric_of(PyObject *self)
{
	return ((ext_view *)self)->at;
}

static PyObject *metric_definition(PyObject *self, void *offset)
{
	const char *text =
	    *(const char *const *)((const char *)metric_of(self)->def + (size_t)offset);

	return ext_text(text ? text : "");
}

static PyObject *metric_unit(PyObject *self, void *none)
{
	(void)none;
	return PyUnicode_FromString(dck_unit_text(metric_of(self)->def->unit));
}

static PyObject *metric_better(PyObject *self, void *none)
{
	static const char *const words[] = {NULL, "lower", "higher"};
	const char *word = words[metric_of(self)->def->better];

	(void)none;
	if (word)
		return PyUnicode_FromString(word);
	Py_RETURN_NONE;
}

/* Returns a bound of the interval; None without an interval. */
static PyObject *metric_bound(PyObject *self, void *offset)
{
	double bound;

	if (!(metric_of(self)->level > 0))
		Py_RETURN_NONE;
	memcpy(&bound, (const char *)metric_of(self) + (size_t)offset, sizeof bound);
	return PyFloat_FromDouble(bound);
}

static PyObject *metric_float(PyObject *self)
{
	const dck_metric *m = metric_of(self);
	const double d = dck_value_number(&m->value);

	if (m->value.kind == DCK_VALUE_ABSENT || m->value.kind == DCK_VALUE_TEXT)
		return PyErr_Format(PyExc_ValueError, "%s has no number: %s", m->def->tag,
				    m->value.as.text ? m->value.as.text : "");
	return PyFloat_FromDouble(d);
}

/* Formats the value as text reports do. */
static void number_text(const dck_metric *m, double v, char *buf, size_t size)
{
	dck_text_value(&(dck_value){.kind = DCK_VALUE_REAL, .as.r = v}, m->def->unit, buf, size);
}

static PyObject *metric_seconds(PyObject *self, void *none)
{
	const dck_metric *m = metric_of(self);

	(void)none;
	if (m->def->unit != DCK_UNIT_NS || m->value.kind == DCK_VALUE_ABSENT ||
	    m->value.kind == DCK_VALUE_TEXT)
		Py_RETURN_NONE;
	return PyFloat_FromDouble(dck_value_number(&m->value) / 1e9);
}

static PyObject *metric_text(PyObject *self, void *none)
{
	const dck_metric *m = metric_of(self);
	char value[512];

	(void)none;
	return ext_text(dck_text_value(&m->value, m->def->unit, value, sizeof value));
}

static PyObject *metric_interval(PyObject *self, void *none)
{
	const dck_metric *m = metric_of(self);
	char lo[64], hi[64];

	(void)none;
	if (!(m->level > 0))
		Py_RETURN_NONE;
	number_text(m, m->lo, lo, sizeof lo);
	number_text(m, m->hi, hi, sizeof hi);
	return PyUnicode_FromFormat("%s to %s", lo, hi);
}

static PyObject *metric_repr(PyObject *self)
{
	const dck_metric *m = metric_of(self);
	PyObject *text = metric_text(self, NULL), *interval = metric_interval(self, NULL),
		 *ret = NULL;

	if (text && m->value.kind == DCK_VALUE_ABSENT)
		ret = PyUnicode_FromFormat("<%s absent: %U>", m->def->tag, text);
	else if (text && interval == Py_None)
		ret = PyUnicode_FromFormat("<%s %U>", m->def->tag, text);
	else if (text && interval)
		ret = PyUnicode_FromFormat("<%s %U, %U%s at %d %%>", m->def->tag, text, interval,
					   m->narrow ? "*" : "", (int)(m->level * 100 + 0.5));
	Py_XDECREF(text);
	Py_XDECREF(interval);
	return ret;
}

static const struct {
	const char *text;
	double ns;
} time_units[] = {{"ns", 1}, {"us", 1e3}, {"\u00b5s", 1e3}, {"ms", 1e6}, {"s", 1e9}};

/* Returns the index of the unit that a specification ends with, or -1. */
static int time_unit_of(const char *spec, size_t n)
{
	for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++) {
		const size_t length = strlen(time_units[i].text);

		if (n >= length && memcmp(spec + n - length, time_units[i].text, length) == 0)
			return (int)i;
	}
	return -1;
}

/* "ms", ".3f s": the time in that unit; any other specification is a float's. */
static PyObject *metric_format(PyObject *self, PyObject *of)
{
	const dck_metric *m = metric_of(self);
	Py_ssize_t n;
	const char *spec = PyUnicode_AsUTF8AndSize(of, &n);
	char digits[64];

	if (!spec)
		return NULL;
	if (n == 0 || m->value.kind == DCK_VALUE_ABSENT || m->value.kind == DCK_VALUE_TEXT)
		return metric_text(self, NULL);
	const int unit = m->def->unit == DCK_UNIT_NS ? time_unit_of(spec, (size_t)n) : -1;
	size_t used = unit < 0 ? (size_t)n : (size_t)n - strlen(time_units[unit].text);
	while (unit >= 0 && used > 0 && spec[used - 1] == ' ')
		used--;
	if (used >= sizeof digits)
		return PyErr_Format(PyExc_ValueError, "the format '%.40s...' is too long", spec);
	memcpy(digits, spec, used);
	digits[used] = '\0';
	PyObject *value =
	    PyFloat_FromDouble(dck_value_number(&m->value) / (unit < 0 ? 1 : time_units[unit].ns));
	PyObject *how = PyUnicode_FromString(used > 0 ? digits : ".4g");
	PyObject *text = value && how ? PyObject_Format(value, how) : NULL;
	Py_XDECREF(value);
	Py_XDECREF(how);
	if (!text || unit < 0)
		return text;
	PyObject *ret = PyUnicode_FromFormat("%U %s", text, time_units[unit].text);
	Py_DECREF(text);
	return ret;
}

PyDoc_STRVAR(metric_doc,
	     "One value of a record, with its interval and how it was computed.\n\n"
	     "float(metric) is its value, ValueError where it is absent. f\"{metric}\" is "
	     "metric.text,\nf\"{metric:ms}\" and f\"{metric:.3f s}\" a time in that unit, any "
	     "other format\nthat of a float.");

#define OF_DEF(field)	 ((void *)offsetof(dck_metric_def, field))
#define OF_METRIC(field) ((void *)offsetof(dck_metric, field))
static PyGetSetDef metric_getset[] = {
    {"tag", metric_definition, NULL, "name for scripts: \"latency/median\"", OF_DEF(tag)},
    {"name", metric_definition, NULL, "name for people", OF_DEF(name)},
    {"help", metric_definition, NULL, "the definition, a sentence", OF_DEF(help)},
    {"unit", metric_unit, NULL, "\"ns\", \"B\", \"1\", ...", NULL},
    {"better", metric_better, NULL, "\"lower\", \"higher\"; None: neither", NULL},
    {"value", ext_view_value, NULL, "int, float, bool or str; None: absent", OF_METRIC(value)},
    {"absent", ext_view_why, NULL, "why the value is absent; None: it is not", OF_METRIC(value)},
    {"seconds", metric_seconds, NULL,
     "the value of a time in seconds, float; None: absent, or not a time", NULL},
    {"text", metric_text, NULL,
     "the value with its unit, as reports for people write it: \"17.8 ms\"", NULL},
    {"_interval", metric_interval, NULL, "both ends of the interval as text; None: no interval",
     NULL},
    {"lo", metric_bound, NULL, "lower end of the interval; None: no interval", OF_METRIC(lo)},
    {"hi", metric_bound, NULL, "upper end of the interval; None: no interval", OF_METRIC(hi)},
    {"level", metric_bound, NULL, "its confidence; None: no interval", OF_METRIC(level)},
    {"narrow", ext_view_text, NULL, "why it is too narrow, or None", OF_METRIC(narrow)},
    {"how", ext_view_text, NULL, "estimator and interval", OF_METRIC(how)},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef metric_methods[] = {
    {"__format__", metric_format, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot metric_slots[] = {
    {Py_tp_doc, (void *)metric_doc},   {Py_tp_new, ext_type_not_made},
    {Py_tp_dealloc, ext_view_dealloc}, {Py_tp_repr, metric_repr},
    {Py_tp_getset, metric_getset},     {Py_tp_methods, metric_methods},
    {Py_nb_float, metric_float},       {0, NULL},
};

/* --- series */

static const dck_series *series_of(PyObject *self)
{
	return ((ext_view *)self)->at;
}

static PyObject *series_values(PyObject *self, void *none)
{
	const dck_series *s = series_of(self);

	(void)none;
	return ext_array_new(ext_state_by(self), ((ext_view *)self)->owner, s->values, 'd', s->n,
			     0);
}

static PyObject *series_measured(PyObject *self, void *none)
{
	const dck_series *s = series_of(self);
	const size_t warmup = s->warmup < s->n ? s->warmup : s->n;

	(void)none;
	return ext_array_new(ext_state_by(self), ((ext_view *)self)->owner, s->values + warmup, 'd',
			     s->n - warmup, 0);
}

static PyObject *series_seconds(PyObject *self, void *none)
{
	const dck_series *s = series_of(self);
	const size_t warmup = s->warmup < s->n ? s->warmup : s->n, n = s->n - warmup;
	PyObject *bytes, *ret;
	double *to;

	(void)none;
	if (s->unit != DCK_UNIT_NS)
		Py_RETURN_NONE;
	bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof *to));
	if (!bytes)
		return NULL;
	to = (double *)(void *)PyBytes_AS_STRING(bytes);
	for (size_t i = 0; i < n; i++)
		to[i] = s->values[warmup + i] / 1e9;
	ret = ext_array_new(ext_state_by(self), bytes, to, 'd', n, 0);
	Py_DECREF(bytes);
	return ret;
}

static PyObject *series_times(PyObject *self, void *none)
{
	const dck_series *s = series_of(self);

	(void)none;
	if (s->at_ns)
		return ext_array_new(ext_state_by(self), ((ext_view *)self)->owner, s->at_ns, 'Q',
				     s->n, 0);
	Py_RETURN_NONE;
}

static Py_ssize_t series_length(PyObject *self)
{
	return (Py_ssize_t)series_of(self)->n;
}

static PyObject *series_repr(PyObject *self)
{
	const dck_series *s = series_of(self);

	return PyUnicode_FromFormat("<%s: %zu values in %s, the first %zu are warm-up>", s->tag,
				    s->n, dck_unit_text(s->unit), s->warmup);
}

PyDoc_STRVAR(series_doc,
	     "Raw measurements in order; the first `warmup` of the n values are warm-up.\n\n"
	     "values: Array of n float64 in `unit`, NaN for a run without a number;\n"
	     "measured: those without the warm-up; seconds: these in seconds, None: no times;\n"
	     "at_ns: Array of n uint64, when each began since the record's beginning, or None.");

#define OF_SERIES(field) ((void *)offsetof(dck_series, field))
static PyGetSetDef series_getset[] = {
    {"tag", ext_view_text, NULL, "name for scripts: \"latency\"", OF_SERIES(tag)},
    {"unit", ext_view_unit, NULL, "unit of the values", OF_SERIES(unit)},
    {"warmup", ext_view_size, NULL, "number of values that are warm-up", OF_SERIES(warmup)},
    {"values", series_values, NULL, "Array (n), float64", NULL},
    {"measured", series_measured, NULL, "values without the warm-up", NULL},
    {"seconds", series_seconds, NULL, "measured, of a series of times, in seconds; None: of others",
     NULL},
    {"at_ns", series_times, NULL, "Array (n), uint64; None: not stored", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot series_slots[] = {
    {Py_tp_doc, (void *)series_doc},
    {Py_tp_new, ext_type_not_made},
    {Py_tp_dealloc, ext_view_dealloc},
    {Py_tp_repr, series_repr},
    {Py_tp_getset, series_getset},
    {Py_sq_length, series_length},
    {0, NULL},
};

static int metrics_add(PyObject *m, ext_state *s)
{
	s->metric = ext_type_add(m, "deepclock.Metric", sizeof(ext_view), metric_slots);
	s->series = ext_type_add(m, "deepclock.Series", sizeof(ext_view), series_slots);
	return s->metric && s->series ? 0 : -1;
}

const ext_part ext_metric = {.add = metrics_add};
