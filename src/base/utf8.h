/* utf8.h - characters in UTF-8 (RFC 3629). Text from files and engines may be anything: no function
 * here reads past a NUL.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_BYTES_MAX 4

/* The bytes of the character at `text`, or 0: the end, or no character (an overlong form, a
 * surrogate, something past U+10FFFF). */
size_t utf8_length(const char *text);
/* The code point of a character of n bytes, of utf8_length(). */
uint32_t utf8_code(const char *text, size_t n);
/* Writes a code point, which must be at most U+10FFFF; returns its bytes. */
size_t utf8_put(char to[UTF8_BYTES_MAX], uint32_t code);
/* Whether the character of n bytes (of utf8_length()) is not shown but steers what shows it: a
 * control character, a mark of direction, a line's end. The one list for all that leaves. */
bool utf8_is_control(const char *text, size_t n);
/* In place: what steers, or is no character, becomes ' ' (of one byte) or '?'. */
void utf8_sanitize(char *text);
/* A byte that continues a character. */
bool utf8_continues(char c);
/* The greatest length up to n at which the text may be cut without cutting a character. */
size_t utf8_cut(const char *text, size_t n);

#endif
