/* rank_clock.h - the clock of a rank against rank 0's, from exchanges of four time stamps: when the
 * rank sent (1), rank 0 received (2) and answered (3), the rank received (4). Offset
 * ((t2 - t1) + (t3 - t4)) / 2, round trip (t4 - t1) - (t3 - t2); the error of the offset is at most
 * half of the round trip, because how it divides into the two ways is not observable. Sources: RFC
 * 5905 (NTP), section 8; Cristian, Distributed Computing 3, 1989.
 *
 *	rank_clock c;
 *
 *	rank_clock_fit(exchanges, n, &c);
 *	at_rank_0 = rank_clock_map(&c, ns); // within c.within_ns
 *
 * Exchanges are made in rounds: at the beginning, each second, and at the end. Of each round the
 * one with the least round trip counts; a line through these offsets has offset and drift.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_CLOCK_H
#define RANKS_RANK_CLOCK_H

#include <stddef.h>
#include <stdint.h>

typedef struct rank_exchange {
	int64_t sent_ns, received_ns, answered_ns, returned_ns; /* 1 and 4: the rank's clock */
	uint64_t round;
} rank_exchange;

typedef struct rank_clock {
	size_t
	    rounds; /* that the line goes through; 0: nothing is known, and within_ns is infinite */
	int64_t base_ns;	 /* where the line has offset_ns, on the rank's clock */
	double offset_ns, drift; /* rank 0's time less the rank's; its growth per ns */
	double round_trip_ns;	 /* the least */
	double residual_ns;	 /* greatest distance of an offset from the line */
	double within_ns; /* uncertainty of a mapped time: residual and half of the round trip */
} rank_clock;

/* Fits the line to n exchanges, in the order in which they were made. */
void rank_clock_fit(const rank_exchange *e, size_t n, rank_clock *ret);
/* Returns the time of rank 0's clock. */
int64_t rank_clock_map(const rank_clock *c, int64_t ns);

#endif
