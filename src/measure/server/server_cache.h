/* server_cache.h - evidence of a cache of prefixes in a server, which shortens times to the first
 * token: the server's own counters before and after the requests (Prometheus text at /metrics), or,
 * where neither they nor the answers' usage have it, prompts that are sent twice.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_SERVER_CACHE_H
#define SERVER_SERVER_CACHE_H

#include "measure/server/server_session.h"
#include "stat/stat.h"

/* Sums over all series of a server's counters of prompts' tokens. */
typedef struct cache_counters {
	const char *server; /* whose names they are; static; NULL: there are none */
	double hits, tokens;
} cache_counters;

/* Finds the counters in Prometheus' text format; any bytes are allowed. */
void cache_counters_read(const char *text, size_t n, cache_counters *ret);

typedef struct server_cache {
	cache_counters before, after;
	/* The time to the first token of prompts that were sent again, over that of the first time;
	 * absent with a reason. Only where nothing else is known. */
	stat_estimate again;
	size_t pairs;
	bool repeated; /* prompts were sent twice; else again.why, or it was interrupted */
} server_cache;

/* Reads the counters before the requests that are measured. A server may have none. */
void server_cache_begin(server_cache *c, server_session *s);
/* Reads them again; where there are none, and `usage` (the answers had them) is false, sends some
 * prompts twice. The results of the session's client are lost. */
void server_cache_end(server_cache *c, server_session *s, bool usage, double level);
/* Returns the share of all prompts' tokens that the counters call cached; NaN: not known. */
double server_cache_share(const server_cache *c);

#endif
