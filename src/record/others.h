/* others.h - interference by other programs: which used the processors during a measurement, and
 * whether that could change its result.
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
	os_cpu_users *before; /* NULL: not started, or ended */
	long pid;
	uint64_t began_ns;
	double wall_ns;
	bool known;
	os_cpu_split cores;
} record_others;

/* Starts. This process, `pid` (0: none) and their descendants do not count as others. */
void record_others_begin(record_others *o, long pid);
/* Ends. A second call does nothing; {0} is allowed. */
void record_others_end(record_others *o);
/* The watched program is known to have used this much. A process whose parent had ended counts for
 * init, which waits for it. */
void record_others_own_least(record_others *o, double cpu_ns);

/* Returns whether the others used more than 0.1 cores, and more than a quarter of the cores that
 * the measured program left free: on 64 cores, two others do not affect a program of one thread. */
bool record_others_matter(const record_others *o);

/* Adds facts `others_cpu`, `others` (names) and `steal` to that section, and the notes
 * busy-neighbours and steal. `threads`: the command has --threads and --cpus for its subject. */
void record_others_put(const record_others *o, record_builder *b, const char *section,
		       bool threads);
/* Adds the same with other fixes: for busy programs, and for a hypervisor. */
void record_others_advise(const record_others *o, record_builder *b, const char *section,
			  const char *busy, const char *stolen);

/* Adds note program-outlived where the measured runs left processes running. */
void record_others_left_put(const record_others *o, record_builder *b);

/* Other programs cannot have moved the median of runs of which this share is undisturbed. */
#define RECORD_UNDISTURBED 0.9
/* Returns whether other programs may have moved the median in a record: note busy-neighbours, and
 * less than 90 % of the runs are undisturbed; note preempted where their number is not known. */
bool record_beside_others(const dck_record *r);

#endif
