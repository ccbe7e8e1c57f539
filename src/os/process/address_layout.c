/* SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include "base/err.h"

#include <errno.h>
#include <sys/personality.h>

#define QUERY 0xffffffffu

/* To the kernel a personality is of a thread; a program that it starts inherits it. */
bool os_address_layout_is_fixed(void)
{
	const int now = personality(QUERY);

	return now != -1 && (now & ADDR_NO_RANDOMIZE);
}

dck_status os_address_layout_fix(unsigned long *ret_before, dck_err *err)
{
	const int before = personality(QUERY);

	if (before == -1 || personality((unsigned long)before | ADDR_NO_RANDOMIZE) == -1)
		DCK_FAIL_ERRNO(err, E_UNSUP, errno,
			       "this system does not let programs start without address "
			       "randomisation (personality)");
	*ret_before = (unsigned long)before;
	return DCK_OK;
}

void os_address_layout_restore(unsigned long before)
{
	(void)personality(before);
}
