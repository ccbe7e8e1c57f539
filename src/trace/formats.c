/* formats.c - the table of all formats that a timeline can be written in.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/formats.h"

#include <string.h>

static const trace_format *const formats[] = {
    &trace_perfetto, &trace_chrome,    &trace_speedscope, &trace_folded,
    &trace_pprof,    &trace_callgrind, &trace_pstats,	  &trace_rows,
};
enum { NFORMATS = sizeof formats / sizeof *formats };

const trace_format *const *trace_formats(size_t *ret_n)
{
	*ret_n = NFORMATS;
	return formats;
}

const trace_format *trace_format_find(const char *name)
{
	for (size_t i = 0; i < NFORMATS; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}
