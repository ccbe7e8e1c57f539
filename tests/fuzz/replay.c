/* replay.c - runs a fuzz target over the files of its corpus, without libFuzzer: in every test
 * run, with every compiler. Arguments: files and directories.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Allocates exactly the file's size, so that the sanitizers detect a read past the end. */
static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;

	if (!f || fstat(fileno(f), &st) != 0) {
		perror(path);
		if (f)
			fclose(f);
		return 1;
	}
	size_t n = (size_t)st.st_size;
	uint8_t *bytes = malloc(n ? n : 1);
	int failed = !bytes || fread(bytes, 1, n, f) != n;
	fclose(f);
	if (failed)
		fprintf(stderr, "cannot read %s\n", path);
	else
		failed = LLVMFuzzerTestOneInput(bytes, n);
	free(bytes);
	return failed;
}

static int replay(const char *path, unsigned *files)
{
	char name[4096];
	struct dirent *e;
	int failed = 0;
	DIR *d = opendir(path);

	if (!d) {
		++*files;
		return replay_file(path);
	}
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, e->d_name);
		failed |= replay(name, files);
	}
	closedir(d);
	return failed;
}

int main(int argc, char **argv)
{
	unsigned files = 0;
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i], &files);
	printf("%u files\n", files);
	if (!files) {
		fprintf(stderr, "no corpus\n");
		return 1;
	}
	return failed;
}
