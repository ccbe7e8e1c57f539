/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/raw_paths.h"

#include "base/err.h"
#include "base/hash.h"

#include <string.h>

dck_status raw_paths_init(raw_paths *p, dck_err *err)
{
	*p = (raw_paths){.frames = {.row_bytes = sizeof(raw_frame)}};
	return kept_names_init(&p->texts, err);
}

void raw_paths_done(raw_paths *p)
{
	path_sums_done(&p->sums);
	kept_table_done(&p->frames);
	kept_map_done(&p->by_frame);
	kept_names_done(&p->texts);
}

/* Of programs that make code without an end. */
enum { FRAMES_MAX = 1 << 21 };

const char *raw_text(raw_paths *p, const char *text)
{
	const uint32_t n = text ? kept_name_numbered(&p->texts, text, strlen(text)) : 0;

	return n ? kept_name_of(&p->texts, n).text : NULL;
}

uint32_t raw_paths_frame(raw_paths *p, const raw_frame *f)
{
	for (uint64_t key = hash_bytes(HASH_START, f, sizeof *f);; key++) {
		const uint32_t number = kept_map_find(&p->by_frame, key);

		if (number && memcmp(kept_find(&p->frames, number), f, sizeof *f) == 0)
			return number;
		if (number) /* another frame of this hash: the next place */
			continue;
		if (p->nframes == FRAMES_MAX)
			return 0;
		raw_frame *row = kept_row(&p->frames, p->nframes + 1);
		if (!row || !kept_map_put(&p->by_frame, key, p->nframes + 1)) {
			p->failed = true;
			return 0;
		}
		*row = *f;
		return ++p->nframes;
	}
}

uint32_t raw_paths_stack(raw_paths *p, uint32_t root, const uint32_t *frames, size_t n)
{
	uint32_t path = root;

	while (n > 0) {
		const uint32_t frame = frames[--n];
		const uint32_t child =
		    frame ? path_sums_child(&p->sums, path, frame) : PATH_SUM_NONE;

		if (child == PATH_SUM_NONE) /* what is on it stays with the path around it */
			return path;
		path = child;
	}
	return path;
}
