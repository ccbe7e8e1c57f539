/* eh_frame_index.h - the table that a linker puts into .eh_frame_hdr, made where it did not.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UNWIND_EH_FRAME_INDEX_H
#define UNWIND_EH_FRAME_INDEX_H

#include "profiler/unwind/unwind.h"

/* Its bytes, which *ret describes: mem_free(). NULL: no memory, or no entries; *ret is not touched.
 */
void *eh_frame_index_new(const unwind_module *m, unwind_section *ret);

#endif
