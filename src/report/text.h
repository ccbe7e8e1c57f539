/* text.h - the parts of the text report.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "report/format.h"
#include "report/page.h"

/* The measured samples of r as a histogram; nothing where there are too few. */
void text_histogram(page *p, const dck_record *r, const format_scale *scale);

/* The sections of facts: what was measured, with what, where and how. */
void text_facts(page *p, const dck_record *r);

/* The tables of operators, as p->ops says; nothing where r has none. */
void text_ops(page *p, const dck_record *r);

/* The results that come in rows; nothing where r has none. */
void text_tables(page *p, const dck_record *r);
bool text_is_share(const dck_column *c); /* ratios that are shown in percent */

/* The report on a classifier, and which of the tables are in it. */
void text_accuracy(page *p, const dck_record *r);
bool text_accuracy_has(const dck_table *t);

/* A record of the limits of a machine: its tables, and which metrics are in them. */
bool text_is_machine(const dck_record *r);
void text_machine(page *p, const dck_record *r);
bool text_machine_shows(const dck_metric *m);

/* The known facts "verdict" and "verdict/NAME" of any section: what was asked is answered in the
 * headline, a line each. */
bool text_is_verdict(const dck_fact *f);
void text_verdicts(page *p, const dck_record *r);

/* A fact's value as text, or NULL where r does not have it or it is absent. */
const char *text_fact(const dck_record *r, const char *section, const char *key, char *buf);

/* The latencies have intervals, and with them the legend that says of which kind. */
bool text_has_interval(const dck_record *r);

/* A part's title on a line of its own, after an empty line. */
void text_title(page *p, const char *title);

#endif
