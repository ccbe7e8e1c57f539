/* writers.h - the writers, one file each; writers.c lists them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_WRITERS_H
#define REPORT_WRITERS_H

#include "deepclock/report.h"

extern const dck_writer report_text, report_json, report_csv, report_markdown;

#endif
