/* csv.h - common functions of the CSV writers; base/csv_write.h writes the fields.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_CSV_H
#define REPORT_CSV_H

#include "base/csv_write.h"

/* Writes a number, true or false; else nothing, because text has several formats. */
void csv_value(dck_sink *out, const dck_value *v);

/* Writes three fields, each followed by a comma; empty without an interval (level 0). */
void csv_interval(dck_sink *out, double lo, double hi, double level);

/* Writes the cells of the record's tables, one row each, in the columns of the metrics. */
void csv_tables(const dck_record *r, dck_sink *out);

/* Writes the table of a record that is a listing (format.h), with its own columns. */
void csv_listing(const dck_table *t, dck_sink *out);

/* Writes one row per timed run, warm-up included. */
void csv_runs(const dck_record *const *records, size_t n, dck_sink *out);

/* Writes the operators of the records: one row each, or one per type or module (ops.h). */
void csv_ops(const dck_record *const *records, size_t n, const dck_op_view *view, dck_sink *out);

#endif
