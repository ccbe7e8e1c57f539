/* rank_part.h - the part of one rank in the job's record: what it recorded, and its clock, as bytes
 * that it sends to rank 0.
 *
 *	rank_ranges_read("run.pftrace", &(rank_names){.step = "step"}, &part, err);
 *	rank_part_write(&part, &bytes);
 *	... at rank 0, from a file with these bytes ...
 *	rank_part_read("rank-1.part", &part, err);
 *	rank_part_ranges(&part, &buffer, &ranges, err);
 *	rank_part_done(&part);
 *
 * The bytes are a message of protocol buffers (base/wire.h); times are int64, little-endian, as on
 * every processor that deepclock runs on. The ranges of a part that was read stay in its file, so
 * that rank 0 needs memory for one rank's ranges at a time, not for those of all ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_PART_H
#define RANKS_RANK_PART_H

#include "base/mem.h"
#include "base/wire.h"
#include "deepclock/opt.h"
#include "profiler/ranks/rank_clock.h"
#include "profiler/ranks/rank_usage.h"

/* Ranges whose names begin so are collectives: "collective:all_reduce", or NVTX's domain. */
#define RANK_COLLECTIVE_PREFIX "collective:"
enum { RANK_RANGES_MAX = 4000000 };

typedef enum rank_kind { RANK_STEP, RANK_PART, RANK_COLLECTIVE, RANK_KINDS } rank_kind;

typedef struct rank_range {
	int64_t begin_ns, end_ns; /* the rank's CLOCK_BOOTTIME */
	uint32_t name, kind;
} rank_range;

typedef struct rank_part {
	mem_arena *arena; /* @owned; NULL: the rank's part did not arrive */
	const char *host, *boot;
	const char *why;    /* why it has no ranges, or the job no part; NULL: it has them */
	const char *remedy; /* static; of a part that did not arrive */
	const char *lost;   /* why its ranges are not all of the program's; NULL: they are */
	int64_t exit_code, signal;
	double within_ns; /* of its ranges' times against its CLOCK_BOOTTIME */
	const char **names;
	size_t nnames;
	rank_range *ranges; /* NULL: at ranges_at in the file */
	size_t nranges;
	const char *file;
	uint64_t ranges_at;
	rank_exchange *exchanges; /* of the rank that sends the part */
	size_t nexchanges;
	rank_clock clock; /* fitted to them when the part is read */
	rank_usage usage;
	uint64_t left_out; /* ranges beyond RANK_RANGES_MAX */
} rank_part;

/* The names of ranges. */
typedef struct rank_names {
	const char *step;
	const dck_list *collectives; /* besides the prefix; may be NULL */
} rank_names;

/* Reads the steps of a trace, their parts (the outermost other ranges of that thread, in steps or
 * between two) and its collectives (of any thread of that process) into p->names, p->ranges and
 * p->within_ns, in p->arena, in the order of time. A trace without steps or collectives leaves them
 * out. E_IO, E_FORMAT, E_NOMEM. */
dck_status rank_ranges_read(const char *path, const rank_names *names, rank_part *p, dck_err *err);

void rank_part_write(const rank_part *p, wire_out *to); /* check to->failed */
/* Reads a part. Its ranges stay in the file, which must exist as long as the part. E_FORMAT:
 * invalid bytes; E_NOMEM, E_IO. */
dck_status rank_part_read(const char *path, rank_part *ret, dck_err *err);
/* Ranges of one part at a time. */
typedef struct rank_buffer {
	rank_range *data; /* @owned, rank_buffer_done() */
	size_t cap;
} rank_buffer;
/* Returns p->nranges ranges in the order of time, borrowed until the next call with the buffer ({0}
 * at first), or from the part. E_NOMEM, E_IO. */
dck_status rank_part_ranges(const rank_part *p, rank_buffer *b, const rank_range **ret,
			    dck_err *err);
void rank_buffer_done(rank_buffer *b);
/* Returns whether a rank shares the clock of `first`, rank 0, because they run in one boot of one
 * machine, which the exchanges do not contradict. */
bool rank_part_same_clock(const rank_part *p, const rank_part *first);
void rank_part_done(rank_part *p); /* {0} is allowed */

#endif
