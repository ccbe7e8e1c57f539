/* SPDX-License-Identifier: Apache-2.0
 * Search paths: GDB manual, "Debugging Information in Separate Files". */
#include "profiler/symbols/debug_file.h"

#include "base/mem.h"
#include "os/os.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { LINK_MAX_BYTES = 4096, PART = 1 << 14 };

/* The checksum of zlib and of Ethernet, of the whole file. false: it cannot be read. */
static bool checksum(const elf_file *f, uint32_t *ret)
{
	uint32_t table[256], crc = UINT32_MAX;
	unsigned char part[PART];
	uint64_t at = 0;
	ptrdiff_t n;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (unsigned bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	while ((n = os_read_at(elf_file_descriptor(f), part, sizeof part, at)) > 0) {
		for (ptrdiff_t i = 0; i < n; i++)
			crc = crc >> 8 ^ table[(crc ^ part[i]) & 255];
		at += (uint64_t)n;
	}
	*ret = ~crc;
	return n == 0;
}

static bool same_id(const elf_file *a, const elf_file *b)
{
	const unsigned char *x, *y;
	size_t n = elf_file_build_id(a, &x);

	return n && elf_file_build_id(b, &y) == n && memcmp(x, y, n) == 0;
}

/* The file of that name when it belongs to f. crc NULL: it must have f's build id. */
static elf_file *open_fitting(const char *path, const elf_file *f, const uint32_t *crc)
{
	const unsigned char *id;
	uint32_t found;
	elf_file *d;

	if (elf_file_open(path, &d, NULL) != DCK_OK)
		return NULL;
	/* If both have a build id, the checksum of the whole file is not computed. */
	if (same_id(f, d) || (crc && (!elf_file_build_id(f, &id) || !elf_file_build_id(d, &id)) &&
			      checksum(d, &found) && found == *crc))
		return d;
	elf_file_close(d);
	return NULL;
}

static elf_file *by_build_id(const elf_file *f, const char *directory)
{
	char path[PATH_MAX], hex[2 * ELF_FILE_ID_MAX + 1];
	const unsigned char *id;
	size_t n = elf_file_build_id(f, &id);

	if (n < 2)
		return NULL;
	for (size_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", directory, hex, hex + 2);
	return open_fitting(path, f, NULL);
}

static elf_file *by_link(const elf_file *f, const char *directory)
{
	const elf_section *s = elf_file_find_section(f, ".gnu_debuglink");
	char *link = s && s->size <= LINK_MAX_BYTES ? elf_file_read(f, s->offset, s->size) : NULL;
	const char *path = elf_file_path(f), *slash = strrchr(path, '/');
	elf_file *found = NULL;
	uint32_t crc;

	if (link && slash && s->size >= 8 && !strchr(link, '/')) {
		memcpy(&crc, link + s->size - 4, sizeof crc);
		/* Next to the file, in .debug there, and at the same path below the directory. */
		for (size_t i = 0; i < 3 && !found; i++) {
			char name[PATH_MAX];
			int n =
			    snprintf(name, sizeof name, i == 1 ? "%s%.*s/.debug/%s" : "%s%.*s/%s",
				     i == 2 ? directory : "", (int)(slash - path), path, link);

			if (n > 0 && (size_t)n < sizeof name && strcmp(name, path) != 0)
				found = open_fitting(name, f, &crc);
		}
	}
	mem_free(link);
	return found;
}

elf_file *debug_file_find(const elf_file *f, const char *directory)
{
	elf_file *found = by_build_id(f, directory);

	return found ? found : by_link(f, directory);
}
