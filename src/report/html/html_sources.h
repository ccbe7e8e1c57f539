/* html_sources.h - embeds the source lines that call paths refer to in a page, if requested:
 * {"file": {"line": "text"}}.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_HTML_SOURCES_H
#define REPORT_HTML_SOURCES_H

#include "base/json/json_write.h"
#include "deepclock/record.h"

/* Writes these lines of regular, readable files. Limits, because records may come from another
 * machine: FILES_MAX files of FILE_MAX bytes are read, and BYTES_MAX of text written. */
void html_sources_put(json_writer *w, const dck_record *const *records, size_t n,
		      const dck_style *style);

#endif
