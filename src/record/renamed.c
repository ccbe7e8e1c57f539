/* SPDX-License-Identifier: Apache-2.0 */
#include "record/renamed.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct renamed {
	const char *in; /* section of a fact; NULL: a code of a note or a tag of a metric */
	const char *before, *now;
} renamed;

static const renamed notes[] = {
    {NULL, "batch-freed", "rebatched"},
    {NULL, "memory-not-told", "engine-memory-unknown"},
    {NULL, "memory-unseen", "allocations-not-traced"},
    {NULL, "not-kept", "not-cached"},
    {NULL, "sample-ended-early", "program-killed"},
    {NULL, "slo-broken", "slo-violated"},
    {NULL, "slo-held", "slo-met"},
    {NULL, "slo-not-held", "slo-not-met"},
    {NULL, "slo-not-shown", "slo-inconclusive"},
    {NULL, "taken-together", "pooled-baseline"},
    {NULL, "trace-apart", "trace-separate"},
    {NULL, "trace-undated", "trace-no-timestamps"},
    {NULL, "tree-folded", "tree-pruned"},
    {NULL, "unlike-together", "pooled-unlike"},
    {0},
};

static const renamed facts[] = {
    {"cost", "looks", "polls"},
    {"count", "took", "elapsed"},
    {"machine", "took", "elapsed"},
    {"memory", "broken_stacks", "stacks_failed"},
    {"memory", "cut_stacks", "stacks_truncated"},
    {"memory", "looks", "polls"},
    {"memory", "took", "elapsed"},
    {"method", "thread_looks", "thread_polls"},
    {"method", "thread_looks_cpu", "thread_polls_cpu"},
    {"sample", "stacks_broken", "stacks_failed"},
    {"sample", "stacks_cut", "stacks_truncated"},
    {"sample", "took", "elapsed"},
    {"subject", "batch_freed", "rebatched"},
    {"trace", "program_took", "program_elapsed"},
    {"trace", "took", "elapsed"},
    {"trace", "waited_for_room", "buffer_full_time"},
    {"trace", "waits_for_room", "buffer_full_waits"},
    {"trend", "leaning", "autocorrelated"},
    {0},
};

static const renamed metrics[] = {
    {NULL, "load/unserved", "load/abandoned"},
    {NULL, "memory/heap_kept", "memory/heap_runtime"},
    {0},
};

static const renamed verdicts[] = {
    {NULL, "broken", "violated"},
    {NULL, "holds", "met"},
    {NULL, "not shown", "inconclusive"},
    {0},
};

static const char *renamed_find(const renamed *rows, const char *in, const char *name)
{
	for (; rows->before; rows++)
		if (strcmp(rows->before, name) == 0 && (!rows->in || strcmp(rows->in, in) == 0))
			return rows->now;
	return name;
}

const char *record_renamed_note(const char *code)
{
	return renamed_find(notes, NULL, code);
}

const char *record_renamed_fact(const char *section, const char *key)
{
	return renamed_find(facts, section, key);
}

const char *record_renamed_metric(const char *tag)
{
	return renamed_find(metrics, NULL, tag);
}

/* "a size is N*3, which --dim ..." is the reason of a number without a formula. */
dck_absence record_renamed_absence(const char *why)
{
	static const char formula[] = ", which --dim makes a number", size[] = "a size is ";
	const size_t n = why ? strlen(why) : 0, k = sizeof formula - 1;

	return n > k && strcmp(why + n - k, formula) == 0 &&
		       strncmp(why, size, sizeof size - 1) != 0
		   ? DCK_ABSENCE_OPEN_SIZE
		   : DCK_ABSENCE_OTHER;
}

const char *record_renamed_text(const char *section, const char *key, const char *text)
{
	const bool limits = strcmp(section, "load") == 0 || strcmp(section, "throughput") == 0;

	if (limits && strncmp(key, "verdict", 7) == 0)
		return renamed_find(verdicts, NULL, text);
	if (limits && strcmp(key, "limited_by") == 0 && strcmp(text, "roof") == 0)
		return "saturation";
	return text;
}
