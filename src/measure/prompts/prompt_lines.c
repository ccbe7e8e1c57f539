/* prompt_lines.c - reads a file of prompts line by line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/prompts/prompt_lines.h"
#include "base/err.h"
#include "os/os.h"
#include <string.h>

#define FILE_MOST    (64u << 20) /* bytes */
#define PROMPTS_MOST 1000000

/* Cuts the text into lines, in place. */
static dck_status lines_each(const char *path, dck_buffer *text,
			     dck_status (*each)(void *self, const prompt_line *l, dck_err *err),
			     void *self, dck_err *err)
{
	char *at = text->data, *last = text->data + text->n;
	size_t n = 0;

	for (unsigned long number = 1; at < last; number++) {
		char *end = memchr(at, '\n', (size_t)(last - at));
		char *next = end ? end + 1 : last;

		end = end ? end : last;
		while (end > at && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
			end--;
		*end = '\0';
		if (end > at) {
			const prompt_line l = {number, at, (size_t)(end - at)};

			if (n++ == PROMPTS_MOST)
				DCK_FAIL(err, E_LIMIT, "'%s' has more than %d prompts", path,
					 PROMPTS_MOST);
			const dck_status status = each(self, &l, err);

			if (status != DCK_OK)
				return err_while(err, status, "reading '%s', line %lu", path,
						 number);
		}
		at = next;
	}
	if (n == 0)
		DCK_FAIL(err, E_FORMAT, "'%s' has no prompts: write one a line", path);
	return DCK_OK;
}

dck_status prompt_lines_read(const char *path,
			     dck_status (*each)(void *self, const prompt_line *l, dck_err *err),
			     void *self, dck_err *err)
{
	dck_buffer text = {0};
	dck_status status;

	DCK_TRY(os_read_text(path, FILE_MOST, &text, err));
	status = lines_each(path, &text, each, self, err);
	dck_buffer_done(&text);
	return status;
}
