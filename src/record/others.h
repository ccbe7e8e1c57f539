/* others.h - which other programs used the processors during a measurement, and whether that could
 * change its result.
 *
 *	record_others o;
 *
 *	record_others_begin(&o, 0);
 *	... the measurement ...
 *	record_others_end(&o);
 *	record_others_put(&o, b, "samples", true);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_OTHERS_H
#define RECORD_OTHERS_H

#include "os/os.h"
#include "record/build.h"

typedef struct record_others {
	os_cpu_users *before; /* NULL: not begun, or ended */
	long pid;
	uint64_t began_ns;
	double wall_ns;
	bool known;
	os_cpu_split cores;
} record_others;

/* This process, `pid` (0: none) and what these start do not count as others. */
void record_others_begin(record_others *o, long pid);
/* A second call does nothing; {0} is allowed. */
void record_others_end(record_others *o);

/* The others used more than 0.1 cores, and more than a quarter of what the measured program left
 * free: on a machine of 64 cores a program of one thread does not notice two others. */
bool record_others_matter(const record_others *o);

/* Facts `others_cpu`, `others` (names) and `steal` of that section, and the notes busy-neighbours
 * and steal. `threads`: the command has --threads and --cpus for what it measures. */
void record_others_put(const record_others *o, record_builder *b, const char *section,
		       bool threads);
/* The same with other remedies: of programs that were busy, and of a hypervisor. */
void record_others_advise(const record_others *o, record_builder *b, const char *section,
			  const char *busy, const char *stolen);

#endif
