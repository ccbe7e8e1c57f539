/* hash.h - hashes for tables and names. They protect from nothing: an attacker can make two
 * texts with the same hash.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a, 64 bits (Fowler, Noll and Vo). It begins with HASH_START, and the hash of one piece is
 * where the next continues. Saved records and caches are named by it: it never changes. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n);
/* Without the NUL. */
uint64_t hash_text(uint64_t hash, const char *text);

/* Mixes a number with one multiplication. The result is for tables of this process, not for files.
 */
uint64_t hash_number(uint64_t hash, uint64_t number);

#endif
