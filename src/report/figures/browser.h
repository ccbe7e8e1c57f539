/* browser.h - a page as headless Chromium leaves it when it is loaded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_BROWSER_H
#define REPORT_BROWSER_H

#include "deepclock/report.h"

/* The first of chromium, chromium-browser, google-chrome in PATH; *ret is owned: mem_free().
 * E_ABSENT: there is none. */
dck_status browser_find(char **ret, dck_err *err);
/* Opens the file "page.html" of that directory, in which the browser also has its profile, and
 * appends what it is when all is loaded, as HTML, to *out. E_ENGINE: the browser failed, or took
 * longer. */
dck_status browser_dump(const char *program, const char *folder, uint64_t timeout_ns,
			dck_buffer *out, dck_err *err);

#endif
