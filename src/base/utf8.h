/* utf8.h - UTF-8 characters (RFC 3629). Text from files and engines may be anything: no function
 * here reads past a NUL.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_BYTES_MAX 4

/* Returns the bytes of the character at `text`; 0: the end of the text, or an invalid sequence (an
 * overlong form, a surrogate, above U+10FFFF). */
size_t utf8_length(const char *text);
/* Returns the code point of a character of n bytes (as utf8_length() returns). */
uint32_t utf8_code(const char *text, size_t n);
/* Writes a code point, at most U+10FFFF; returns the number of bytes. */
size_t utf8_put(char to[UTF8_BYTES_MAX], uint32_t code);
/* Returns whether the character of n bytes (as utf8_length() returns) controls the display: a
 * control character, a direction mark, a line separator. The one list for all output. */
bool utf8_is_control(const char *text, size_t n);
/* Returns the columns of a terminal that the character of n bytes (as utf8_length() returns) takes:
 * 2 of CJK and emoji, 0 of a mark that joins the character before, else 1. */
unsigned utf8_columns(const char *text, size_t n);
/* Replaces control characters and invalid bytes, in place, with ' ' (of one byte) or '?'. */
void utf8_sanitize(char *text);
/* Returns whether c is a continuation byte. */
bool utf8_continues(char c);
/* Returns the greatest length up to n that does not cut a character. */
size_t utf8_cut(const char *text, size_t n);
/* Returns how much of a text "%.*s" shows: at most n bytes, and no part of a character. */
int utf8_shown(const char *text, size_t n);
/* The two arguments of "%.*s" for a name, which is cut if it is long. */
#define UTF8_NAME(name) utf8_shown(name, 80), (name)
/* Removes the beginning of a character at the end of a text that a buffer cut. */
void utf8_cut_end(char *text);

#endif
