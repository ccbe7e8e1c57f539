/* lost_children.h - recordings of a run that left no file: a child that may not write into its
 * directories, as after setuid() or chroot(), can only count itself, in a file that its parents
 * mapped before: DIR/lost, beside DIR/run.result. deepclock makes that file before it starts the
 * program, and makes a note of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RESULT_LOST_CHILDREN_H
#define RESULT_LOST_CHILDREN_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LOST_CHILDREN_NAME "lost"
enum { LOST_CHILDREN_PARTS = 1000 }; /* recordings of a process with files of their own */
typedef struct lost_children {
	_Atomic uint32_t unwritten; /* their files could not be made */
	_Atomic int32_t error;	    /* errno of the last one */
	_Atomic uint32_t replaced;  /* a later one of the same process took their file */
} lost_children;

/* Returns whether a file that cannot be made for this reason cannot be made at all. */
static inline bool lost_children_errno(int error)
{
	return error == EACCES || error == EPERM || error == ENOENT || error == EROFS;
}

/* Counts a file that cannot be made for such a reason. Returns whether it is one. */
static inline bool lost_children_add(lost_children *lost, int error)
{
	if (!lost_children_errno(error))
		return false;
	atomic_fetch_add(&lost->unwritten, 1);
	atomic_store(&lost->error, error);
	return true;
}

/* Maps the file beside that result, once; if there is none, nothing is counted. */
void lost_children_map(const char *result);
/* Count one. errno stays. */
void lost_children_unwritten(int error);
void lost_children_replaced(void);

#endif
