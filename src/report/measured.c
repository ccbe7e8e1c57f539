/* SPDX-License-Identifier: Apache-2.0 */
#include "report/measured.h"

#include <math.h>
#include <string.h>

static const char *label_fact(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	return f && f->value.kind == DCK_VALUE_TEXT ? f->value.as.text : NULL;
}

measured_series measured_series_of(const dck_record *r)
{
	const measured_label all[MEASURED_LABELS_MAX] = {
	    {"subject", dck_record_name(r)},
	    {"command", r->command},
	    {"engine", label_fact(r, "engine", "name")},
	    {"provider", label_fact(r, "engine", "provider")},
	};
	measured_series s = {.n = 0};

	for (size_t i = 0; i < MEASURED_LABELS_MAX; i++)
		if (all[i].value)
			s.label[s.n++] = all[i];
	return s;
}

bool measured_has(const dck_metric *m)
{
	return isfinite(dck_value_number(&m->value));
}

const dck_metric *measured_find(const dck_record *r, const char *tag)
{
	for (size_t i = 0; i < r->nmetrics; i++)
		if (measured_has(&r->metrics[i]) && strcmp(r->metrics[i].def->tag, tag) == 0)
			return &r->metrics[i];
	return NULL;
}

static bool series_equal(const measured_series *a, const measured_series *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->label[i].key, b->label[i].key) != 0 ||
		    strcmp(a->label[i].value, b->label[i].value) != 0)
			return false;
	return true;
}

static bool measured_any(const dck_record *r)
{
	for (size_t i = 0; i < r->nmetrics; i++)
		if (measured_has(&r->metrics[i]))
			return true;
	return false;
}

/* Returns whether a later record has the labels, and the metric (NULL: any). */
static bool later_has(const dck_record *const *records, size_t n, size_t i, const char *tag)
{
	const measured_series own = measured_series_of(records[i]);

	for (size_t k = i + 1; k < n; k++) {
		const measured_series other = measured_series_of(records[k]);

		if (series_equal(&own, &other) &&
		    (tag ? measured_find(records[k], tag) != NULL : measured_any(records[k])))
			return true;
	}
	return false;
}

bool measured_is_last(const dck_record *const *records, size_t n, size_t i, const dck_metric *m)
{
	return !later_has(records, n, i, m->def->tag);
}

bool measured_is_newest(const dck_record *const *records, size_t n, size_t i)
{
	return measured_any(records[i]) && !later_has(records, n, i, NULL);
}
