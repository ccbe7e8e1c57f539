/* function_name.h - names of functions of C++ and Rust, shortened for people.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FUNCTION_NAME_H
#define BASE_FUNCTION_NAME_H

#include <stddef.h>

/* Returns where the name begins after the type that it returns, which demangled C++ has of function
 * templates: "f<int>(int)" of "void f<int>(int)". */
const char *function_name_begin(const char *demangled);
/* Shortens the first `bytes` of a name to `most` bytes, if it can, by writing its parameters and
 * then its template arguments, the inner ones first, as "..": "std::sort<..>(..)". Returns the
 * bytes in buf[0..bytes), which is not terminated. */
size_t function_name_fold(const char *name, size_t bytes, size_t most, char *buf);
/* Returns the name, or in buf a shorter one that fits: folded, then with ".." in its middle. */
const char *function_name_short(const char *name, char *buf, size_t size);
/* The same for a sentence. */
#define FUNCTION_NAME_SHORT(name) function_name_short(name, (char[64]){0}, 64)

#endif
