/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/raw_stacks.h"

#include "base/err.h"
#include "base/hash.h"

#include <string.h>

dck_status raw_stacks_init(raw_stacks *p, dck_err *err)
{
	*p = (raw_stacks){.frames = {.row_bytes = sizeof(raw_frame)}};
	return string_table_init(&p->texts, err);
}

void raw_stacks_done(raw_stacks *p)
{
	path_trie_done(&p->sums);
	id_table_done(&p->frames);
	hash_map_done(&p->by_frame);
	string_table_done(&p->texts);
}

/* Bound for programs that generate code without limit. */
enum { FRAMES_MAX = 1 << 21 };

const char *raw_text(raw_stacks *p, const char *text)
{
	const uint32_t n = text ? string_table_intern(&p->texts, text, strlen(text)) : 0;

	return n ? string_name_of(&p->texts, n).text : NULL;
}

uint32_t raw_stacks_frame(raw_stacks *p, const raw_frame *f)
{
	for (uint64_t key = hash_bytes(HASH_START, f, sizeof *f);; key++) {
		const uint32_t number = hash_map_find(&p->by_frame, key);

		if (number && memcmp(id_table_find(&p->frames, number), f, sizeof *f) == 0)
			return number;
		if (number) /* a collision: try the next slot */
			continue;
		if (p->nframes == FRAMES_MAX)
			return 0;
		raw_frame *row = id_table_row(&p->frames, p->nframes + 1);
		if (!row || !hash_map_put(&p->by_frame, key, p->nframes + 1)) {
			p->failed = true;
			return 0;
		}
		*row = *f;
		return ++p->nframes;
	}
}

uint32_t raw_stacks_thread(raw_stacks *p, const char *title)
{
	/* Frames without a name are found by the number, so that each is a separate one. */
	const uint32_t frame =
	    raw_stacks_frame(p, &(raw_frame){.kind = RAW_THREAD, .address = p->nframes});

	if (frame)
		raw_stacks_rename(p, frame, title);
	return frame;
}

void raw_stacks_rename(raw_stacks *p, uint32_t frame, const char *title)
{
	((raw_frame *)id_table_find(&p->frames, frame))->name = raw_text(p, title);
}

uint32_t raw_stacks_stack(raw_stacks *p, uint32_t root, const uint32_t *frames, size_t n)
{
	uint32_t path = root;

	while (n > 0) {
		const uint32_t frame = frames[--n];
		const uint32_t child = frame ? path_trie_child(&p->sums, path, frame) : PATH_NONE;

		if (child == PATH_NONE) /* weights stay with the outer path */
			return path;
		path = child;
	}
	return path;
}
