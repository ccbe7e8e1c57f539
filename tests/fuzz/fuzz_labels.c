/* fuzz_labels.c - any bytes as files of labels, of predictions with scores, and of names: refused
 * with a message, or classes that include every item.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "study/accuracy/accuracy_labels.h"

#define BYTES_MAX ((size_t)1 << 20)

static void look(mem_arena *a, const labels *l, const label_names *names)
{
	classes c;

	if (classes_make(a, l, l, 1, NULL, names, &c, NULL) != DCK_OK)
		return;
	for (size_t i = 0; i < l->n; i++)
		check(c.truth[i] <= c.n && c.predicted[0][i] <= c.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	mem_arena *a = mem_arena_new(0);
	char path[64], at_path[65];
	int fd = fuzz_file(bytes, n, path);
	label_names names;
	labels l;

	check(a != NULL);
	snprintf(at_path, sizeof at_path, "@%s", path);
	bool named = label_names_read(a, "names", at_path, &names, NULL) == DCK_OK;
	for (int scores = 0; scores < 2; scores++) {
		dck_err err = {0};
		dck_status code =
		    labels_read(a, path, &(dck_arrays){0}, BYTES_MAX, scores, NULL, &l, &err);

		if (code == DCK_OK)
			look(a, &l, named ? &names : NULL);
		else
			check(err.code == code && err.msg[0]);
	}
	close(fd);
	mem_arena_free(a);
	return 0;
}
