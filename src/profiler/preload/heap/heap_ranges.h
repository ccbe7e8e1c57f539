/* heap_ranges.h - anonymous mappings made by the program, as a sorted list of ranges, since a part
 * of a mapping may be unmapped.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_RANGES_H
#define HEAP_HEAP_RANGES_H

#include "profiler/preload/heap/heap_block.h"

struct heap_ranges *heap_ranges_new(heap_state *s); /* NULL: no memory */
/* Records a change of mappings: removes the range `gone`, adds `made`. 0 bytes: nothing. */
void heap_mapping_changed(const void *gone, size_t gone_bytes, const void *made, size_t made_bytes,
			  const heap_caller *from);
bool heap_mapping_known(const void *p); /* is in a recorded mapping */

#endif
