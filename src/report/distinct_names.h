/* distinct_names.h - names of records for formats in which a name occurs once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_DISTINCT_NAMES_H
#define REPORT_DISTINCT_NAMES_H

#include "base/mem.h"
#include "deepclock/record.h"

/* Returns the names of n records, in the arena or borrowed from the records: their subjects, those
 * of one subject with the settings that differ ("zoo:resnet18 threads=2"), else with a number
 * ("zoo:resnet18 (2)"). NULL: no memory. */
const char *const *distinct_names(const dck_record *const *records, size_t n, mem_arena *a);

#endif
