/* SPDX-License-Identifier: Apache-2.0 */
#include "record/program_file.h"

#include "base/units.h"
#include "os/os.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define EMPTY_BELOW 65536

static const char space[] = "set TMPDIR to a directory with more space",
		  as_ends[] = "observe it without chroot(), as the user that it becomes",
		  descriptors[] = "raise its limit of descriptors (ulimit -n)",
		  address_space[] = "raise its limit of address space (ulimit -v)";

static const struct {
	int error;
	const char *reason, *remedy;
} file_reasons[] = {
    {ENOSPC, "the directory for temporary files is full", space},
    {EDQUOT, "the quota of the directory for temporary files is used up", space},
    {EFBIG, "a file may not be as large (ulimit -f)", "raise the limit"},
    {EACCES, "the program may not open it (EACCES), as after setuid()", as_ends},
    {EPERM, "the program may not open it (EPERM), as in a sandbox", as_ends},
    {ENOENT, "its directory is not there for the program (ENOENT), as after chroot()", as_ends},
    {EROFS, "its directory is read-only for the program (EROFS)", as_ends},
    {EMFILE, "the program had no descriptor left (EMFILE)", descriptors},
    {ENFILE, "the system had no descriptor left (ENFILE)", descriptors},
    {ENOMEM, "the program may map no more memory (ENOMEM)", address_space},
    {EUSERS, "4,096 threads of a process are counted at one time",
     "count a part with fewer threads"},
};

/* An empty file has no errno: the program, which has our limit, could not write one. */
static size_t file_reason_of(int error)
{
	if (!error && os_file_size_limit() < EMPTY_BELOW)
		error = EFBIG;
	for (size_t i = 0; i < sizeof file_reasons / sizeof file_reasons[0]; i++)
		if (file_reasons[i].error == error)
			return i;
	return 0;
}

const char *program_file_reason(int error)
{
	const size_t i = file_reason_of(error);

	return error && file_reasons[i].error != error ? strerror(error) : file_reasons[i].reason;
}

const char *program_file_remedy(int error)
{
	return file_reasons[file_reason_of(error)].remedy;
}

void program_address_space_put(record_builder *b, uint64_t held, uint64_t limit)
{
	if (limit)
		record_note(b, "address-space-limit",
			    "the program's limit of address space (RLIMIT_AS, ulimit -v) is %s, of "
			    "which its observation took %s: its allocations can fail earlier",
			    UNITS_BYTES((double)limit), UNITS_BYTES((double)held));
}
