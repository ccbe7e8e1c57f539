/* count_file.h - files of a counted program in the directory of its run, and its environment: the
 * interface of the preloaded library (instrument.c) and the reader (count_read.c).
 *
 * A process that called instrumented functions has PID.N.process there, a count_process, one
 * PID.N.K.lane for each of its threads (thread_cct.h; an ended thread passes its file on), and
 * PID.N.modules: lines "GENERATION BEGIN END OFFSET PATH", numbers in hex, of the code that is
 * mapped from that generation on, until another line has its addresses. N is 0, or higher if that
 * process id was used before, e.g. after exec().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COUNT_COUNT_FILE_H
#define COUNT_COUNT_FILE_H

#include <stdint.h>

#define COUNT_DIRECTORY "DEEPCLOCK_COUNT_DIRECTORY" /* environment variable: absolute path */
#define COUNT_TICKS	"DEEPCLOCK_COUNT_TICKS"	    /* "tsc": by the time stamp counter; else ns */
/* "sampled": the hooks read no clock, and the observer estimates times (count_sampler.h). */
#define COUNT_TIMES "DEEPCLOCK_COUNT_TIMES"

#define COUNT_PROCESS_MAGIC UINT64_C(0x31504e5443434b44) /* "DKCCTNP1" */

/* A function's id in a lane: its address, and above these bits the generation: the number of
 * unloads of code in the file of modules before, because another function may have the address
 * afterwards; the last generation stays. */
#define COUNT_ADDRESS_BITS 48
#define COUNT_ADDRESS	   ((UINT64_C(1) << COUNT_ADDRESS_BITS) - 1)

typedef struct count_process {
	uint64_t magic;
	uint32_t pid, parent;
	uint32_t ticks; /* 1: of the time stamp counter; 0: nanoseconds */
	uint32_t lanes, lanes_failed;
	uint32_t children_failed; /* processes of fork() that could make no file */
	int32_t error;		  /* errno of the last failure; 0: none */
	uint32_t threads;	  /* that were counted; ended ones leave their lanes to others */
	uint64_t begin, end;	  /* end: at exit or exec(); 0: no observed end */
	/* Overhead of an empty call, measured in this process: the part in the function's time and
	 * the part in its caller's; in 1/256 ticks. */
	uint64_t cost_inside, cost_outside;
	uint64_t held, limit; /* address space of the lanes; RLIMIT_AS, 0: none */
	char name[64];	      /* of the executable */
} count_process;

#endif
