/* utf8.h - characters of UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* Bytes of the valid character at text (RFC 3629: no overlong form, no surrogate, nothing past
 * U+10FFFF); 0: there is none, or the end. */
size_t utf8_length(const char *text);

#endif
