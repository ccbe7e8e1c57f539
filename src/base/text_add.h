/* text_add.h - appends formatted text to a string in a buffer of fixed size.
 *
 *	char text[100] = "";
 *
 *	text_add(text, sizeof text, "%s%s", *text ? ", " : "", name);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_ADD_H
#define BASE_TEXT_ADD_H

#include "deepclock/base.h"

/* Appends to the string in buf, which has `size` bytes. Text that does not fit is cut, and false is
 * returned. */
bool text_add(char *buf, size_t size, const char *fmt, ...) DCK_PRINTF(3, 4);

#endif
