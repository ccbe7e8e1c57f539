/* keep.c - cache files of results, by machine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include "base/err.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>

/* The XDG Base Directory Specification: a path that is not absolute counts as not set. */
dck_status machine_keep_path(const char *key_text, char *ret, size_t size, dck_err *err)
{
	const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	const bool own = cache && cache[0] == '/';

	if (!own && !(home && home[0] == '/'))
		DCK_FAIL(err, E_ABSENT,
			 "no directory to cache the result in: neither XDG_CACHE_HOME nor HOME is "
			 "set");
	int n = snprintf(ret, size, "%s%s/deepclock/machine-%016llx.json", own ? cache : home,
			 own ? "" : "/.cache", (unsigned long long)hash_text(HASH_START, key_text));
	if (n < 0 || (size_t)n >= size)
		DCK_FAIL(err, E_LIMIT, "the cache directory's name is too long: %.200s",
			 own ? cache : home);
	return DCK_OK;
}
