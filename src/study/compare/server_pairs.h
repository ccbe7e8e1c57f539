/* server_pairs.h - comparison of two servers: the same prompts to both, one request at a time, in
 * random order.
 *
 * A pair is one prompt, sent to each server; the order is random, and every second pair has that of
 * the one before it in reverse. A pair gives one ratio of each quantity (TTFT, TPOT, end to end),
 * and the sequential test of interleaved comparisons judges them: pairs are its rounds, quantities
 * its candidates (interleaved_look.h).
 *
 * Invariants: every pair that counts has all quantities. A request that failed took --timeout;
 * where both failed the pair does not count. Two servers at one address get prompts of their own,
 * since the second of equal ones would find the first one's in the cache.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_SERVER_PAIRS_H
#define COMPARE_SERVER_PAIRS_H

#include "measure/server/server_session.h"
#include "study/compare/interleaved.h"

enum { SERVER_QUANTITIES = 3 };

/* A quantity that is compared. */
typedef struct server_quantity {
	const char *key, *title;
	double (*of)(const http_answer *a);
	bool generates, tokens; /* only of servers that generate; that report tokens */
} server_quantity;

typedef struct server_pairs {
	interleaved v; /* its clock, options, random numbers and time limit */
	dck_load_config request[2];
	server_session server[2];
	bool known[2][SERVER_QUANTITIES]; /* an answer of the server had the quantity */
	const server_quantity *quantity[SERVER_QUANTITIES];
	interleaved_rounds r; /* candidate q + 1 is quantity q; candidate 0 has no ratios */
	interleaved_result result[SERVER_QUANTITIES + 1];
	double *time_ns[2][SERVER_QUANTITIES]; /* [planned], heap: of the pairs that count */
	uint64_t failed[2], early[2], cached[2];
	uint64_t alone[2];    /* pairs in which only this server failed */
	uint64_t pairs, lost; /* made; that do not count */
	size_t first;	      /* the server of the last pair that came first */
	bool own_prompts;     /* of each server, because they have one address */
	char why[200];	      /* of the first request that failed */
} server_pairs;

/* Adds what was measured to the record (server_pairs_record.c). */
void server_pairs_record(record_builder *b, server_pairs *s);

#endif
