/* csv.h - what the CSV tables share; base/csv_write.h has the fields.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_CSV_H
#define REPORT_CSV_H

#include "base/csv_write.h"

/* A number, true or false; else nothing, since text has several forms. */
void csv_value(dck_sink *out, const dck_value *v);

/* Three fields, each followed by a comma; empty where there is no interval (level 0). */
void csv_interval(dck_sink *out, double lo, double hi, double level);

/* The cells of the record's tables, one row each, in the columns of the metrics. */
void csv_tables(const dck_record *r, dck_sink *out);

/* For a record that is a listing (format.h): its table, with the same columns. */
void csv_listing(const dck_table *t, dck_sink *out);

/* One row for each run that was timed, warm-up and all. */
void csv_runs(const dck_record *const *records, size_t n, dck_sink *out);

/* The operators of the records: one row each, or one for each type or module (ops.h). */
void csv_ops(const dck_record *const *records, size_t n, const dck_op_view *view, dck_sink *out);

#endif
