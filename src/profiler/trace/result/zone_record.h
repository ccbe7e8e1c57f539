/* zone_record.h - makes the record of a recording's result.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RESULT_ZONE_RECORD_H
#define RESULT_ZONE_RECORD_H

#include "deepclock/record.h"

typedef struct zone_result zone_result;

/* Sorts r->table. */
dck_status zone_record(const zone_result *r, dck_record **ret, dck_err *err);
/* The record of a message of zone_result_write(). E_FORMAT: invalid bytes. */
dck_status zone_record_read(const void *bytes, size_t n, dck_record **ret, dck_err *err);
/* The same of a file. E_ABSENT, E_IO: no such file. */
dck_status zone_record_load(const char *path, dck_record **ret, dck_err *err);

#endif
