/* profile_read.h - whether a file is a profile of another program: dck_profile_read() reads it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef READ_PROFILE_READ_H
#define READ_PROFILE_READ_H

#include "deepclock/calls.h"

/* Returns whether dck_profile_read() accepts a file. Returns false for an unreadable file. */
bool profile_is(const char *path);

#endif
