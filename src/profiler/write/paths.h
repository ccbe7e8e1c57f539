/* paths.h - the call paths of a timeline and the time spent on each: shared by all formats that
 * aggregate instead of writing each event. Such a format is the functions here with its
 * tree_format (formats.c).
 *
 * The first level of the tree has the threads, and PATHS_ASYNC with the ranges that any thread may
 * end. Ranges of equal names are one, whatever their numbers. Memory and output are bounded: beyond
 * PATH_TRIE_MAX paths, and beyond the limits of tree_format.h, a range's time is added to the
 * enclosing range, so that sums are right. Counters and instants are omitted. Samples are a second
 * tree, in formats that have several.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PATHS_H
#define EXPORT_PATHS_H

#include "profiler/timeline/timeline.h"
#include "record/tree/cct.h"
#include "profiler/write/tree_format.h"

#define PATHS_ASYNC "ranges of no thread"

dck_status paths_open(trace_out **ret, dck_sink *sink, const trace_header *about, dck_err *err);
void paths_track(trace_out *o, const trace_track *about);
void paths_intern(trace_out *o, uint32_t id, const trace_name *name);
void paths_events(trace_out *o, uint32_t id, const trace_event *e, size_t n);
void paths_samples(trace_out *o, const cct *paths, const trace_sample *s, size_t n);
/* Ends open ranges, writes the trees, and frees *o, also on failure. */
dck_status paths_close(trace_out *o, const tree_format *to, dck_err *err);

#endif
