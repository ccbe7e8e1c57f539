/* html_sources.h - the source lines that call paths name, for a page that was asked to have them:
 * {"file": {"line": "text"}}.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_HTML_SOURCES_H
#define REPORT_HTML_SOURCES_H

#include "base/json/json_write.h"
#include "deepclock/record.h"

/* Of regular files that are there and can be read, and of them only those lines. Records may come
 * from elsewhere: FILES_MAX files of FILE_MAX bytes are looked into, and BYTES_MAX of text written.
 */
void html_sources_put(json_writer *w, const dck_record *const *records, size_t n,
		      const dck_style *style);

#endif
