/* demangle.h - names of C++ and Rust as their sources have them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SYMBOLS_DEMANGLE_H
#define STACK_SYMBOLS_DEMANGLE_H

#include <stdbool.h>

/* @owned, mem_free(). NULL: it is not mangled, or cannot be demangled here, or no memory. */
char *demangle(const char *name);
char *demangle_rust_v0(const char *name); /* likewise, of Rust's v0 mangling alone */

#endif
