/* profile_notes.h - the facts and notes about a profile, and the row of the time between operators.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_PROFILE_NOTES_H
#define PROFILE_PROFILE_NOTES_H

#include "study/profile/profile_gain.h"
#include "study/profile/profile_rows.h"

/* Whether the times are those of kernels on a device; a run's rest is then without a kernel. */
static inline bool profile_of_device(const profile_input *in)
{
	return (in->profile->flags & DCK_PROFILE_DEVICE_TIME) != 0;
}

/* scale: of the times under the profiler. */
void profile_facts_put(const profile_input *in, double scale, record_builder *b);
/* ns: the time between operators. */
void profile_rest_put(const profile_input *in, double ns, record_builder *b);
/* explained: the part of a run that its operators explain. above: how many operators are faster
 * than their roof, first_above: the name of the first. */
void profile_notes(const profile_input *in, const profile_gains *gains, double explained,
		   size_t above, const char *first_above, record_builder *b);

#endif
