/* resident.c - memory of processes that is resident, by its parts, and which processes there are.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "os/file/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TEXT_MAX = 8192, CHILDREN_TEXT_MAX = 65536 };

/* "RssAnon:	    1234 kB" */
static uint64_t kib_of(const char *text, const char *key)
{
	uint64_t kib;

	return text_find_uint(text, key, &kib) ? kib * 1024 : 0;
}

bool os_resident_get(long pid, os_resident *ret)
{
	char path[64], text[TEXT_MAX];

	snprintf(path, sizeof path, "/proc/%ld/status", pid);
	if (!text_read(path, text, sizeof text))
		return false;
	*ret = (os_resident){.all = kib_of(text, "VmRSS:"),
			     .anonymous = kib_of(text, "RssAnon:"),
			     .file = kib_of(text, "RssFile:"),
			     .shared = kib_of(text, "RssShmem:")};
	return ret->all > 0; /* a zombie (ended, not waited for yet) has no memory */
}

uint64_t os_resident_share(long pid)
{
	char path[64], text[TEXT_MAX];

	snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", pid);
	return text_read(path, text, sizeof text) ? kib_of(text, "Pss:") : 0;
}

int os_same_memory(long a, long b)
{
#ifdef SYS_kcmp
	enum { VM = 1 }; /* KCMP_VM of linux/kcmp.h */
	const long order = syscall(SYS_kcmp, a, b, VM, 0L, 0L);

	return order < 0 ? -1 : order == 0;
#else
	(void)a;
	(void)b;
	return -1;
#endif
}

size_t os_process_children(long pid, long *ret, size_t max)
{
	char path[320], text[CHILDREN_TEXT_MAX];
	struct dirent *thread;
	size_t n = 0;

	snprintf(path, sizeof path, "/proc/%ld/task", pid);
	DIR *threads = opendir(path);
	while (threads && (thread = readdir(threads))) {
		char *at = text;

		if (thread->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/proc/%ld/task/%s/children", pid, thread->d_name);
		if (!text_read(path, text, sizeof text))
			continue;
		for (long child; n < max && (child = strtol(at, &at, 10)) > 0;)
			ret[n++] = child;
	}
	if (threads)
		closedir(threads);
	return n;
}
