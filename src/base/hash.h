/* hash.h - non-cryptographic hashes for tables and names: an attacker can make two texts with the
 * same hash.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Continues a 64-bit FNV-1a hash (Fowler, Noll and Vo) with n bytes. The first piece begins with
 * HASH_START, the next with the hash so far. It names saved records and caches: it never changes.
 */
#define HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n);
/* Continues it with a text, without the NUL. */
uint64_t hash_text(uint64_t hash, const char *text);

/* Mixes a number into a hash with one multiplication, for tables in memory, not for files. */
uint64_t hash_number(uint64_t hash, uint64_t number);

#endif
