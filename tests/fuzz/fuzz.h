/* fuzz.h - the interface of a fuzz target: one function, called with any bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* libFuzzer defines this name. Returns 0; must not crash, leak or run long. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static inline void check(int holds)
{
	if (!holds)
		abort();
}

/* Puts the bytes into a memfd, so that no file remains; the caller closes the result. */
static inline int fuzz_file(const uint8_t *bytes, size_t n, char path[64])
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	check(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

#endif
