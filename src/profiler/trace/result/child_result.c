/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/result/child_result.h"

#include "base/err.h"
#include "base/sink.h"
#include "os/os.h"
#include "profiler/trace/trace_file.h"
#include "profiler/write/formats.h"

#include <string.h>

dck_status trace_child_names(mem_arena *a, const char *result, const char *path,
			     const char **ret_result, const char **ret_path, dck_err *err)
{
	const size_t n = strlen(path), k = trace_suffix_of(path).n;

	DCK_TRY(trace_file_of_child(a, path, os_process_id(), ret_path, err));
	const char *mark = *ret_path + n - k; /* the part that the parent's name does not have */
	*ret_result =
	    mem_arena_fmt(a, "%.*s%.*s%s", (int)(strlen(result) - (sizeof TRACE_RESULT_ENDING - 1)),
			  result, (int)(strlen(*ret_path) - n), mark, TRACE_RESULT_ENDING);
	DCK_NEED(*ret_result, err, "for the name of a child's result");
	return DCK_OK;
}

void trace_child_became(const char *result)
{
	dck_sink s;
	int fd;

	/* After a failure the process counts as killed. */
	if (os_open_append(result, &fd, NULL) != DCK_OK)
		return;
	dck_sink_fd(&s, fd);
	sink_text(&s, TRACE_RESULT_BECAME);
	dck_status st = dck_sink_finish(&s, NULL);
	(void)st;
	os_close(fd);
}
