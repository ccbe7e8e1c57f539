/* xml_text.h - text in XML and HTML.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_XML_TEXT_H
#define REPORT_XML_TEXT_H

#include "base/sink.h"

/* Writes any bytes as the content of an element or of an attribute in double quotes: markup is
 * escaped, and a blank replaces what XML 1.0 does not allow (invalid UTF-8, control characters). */
void xml_text_put(dck_sink *out, const char *text);

#endif
