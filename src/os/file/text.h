/* text.h - small files of /proc and /sys, read into the caller's buffer. They have no size and
 * any of them may be missing; nothing here is an error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_TEXT_H
#define OS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads at most size - 1 bytes, NUL-terminated, without the last newline. false: no such file. */
bool text_read(const char *path, char *buf, size_t size);
/* Reads the integer at the start of a file. false: no file, or no number ("max"). */
bool text_read_uint(const char *path, uint64_t *ret);
/* Finds the number after `key` and white space at the start of a line: "nr_throttled 12". */
bool text_find_uint(const char *text, const char *key, uint64_t *ret);
/* Returns the line at *at, NUL-terminated, and moves *at to the next one. NULL: no more lines. */
char *text_line(char **at);
/* Copies `from`, cut to size without a compiler warning. */
void text_copy(char *to, size_t size, const char *from);

#endif
