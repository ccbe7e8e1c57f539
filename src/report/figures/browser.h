/* browser.h - loads a page in headless Chromium and returns the resulting DOM.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_BROWSER_H
#define REPORT_BROWSER_H

#include "deepclock/report.h"

/* Finds the first of chromium, chromium-browser, google-chrome in PATH; the caller owns *ret:
 * mem_free(). E_ABSENT: none is installed. */
dck_status browser_find(char **ret, dck_err *err);
/* Opens the file "page.html" of that directory, which also holds the browser's profile, and appends
 * the loaded page, as HTML, to *out. E_ENGINE: the browser failed or timed out. */
dck_status browser_dump(const char *program, const char *folder, uint64_t timeout_ns,
			dck_buffer *out, dck_err *err);

#endif
