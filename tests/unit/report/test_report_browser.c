/* Tests of report/figures/browser.c, with programs in a browser's place.
 * tests/html/cases_figures.py has the real one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/browser.h"
#include "deepclock/unstable.h"
#include "base/mem.h"
#include "os/os.h"
#include "record/build.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const uint64_t second = 1000000000;

/* A program of that name in the directory "bin", which alone is in PATH. */
static void put_program(const char *name, const char *text)
{
	char path[64];

	assert_true(mkdir("bin", 0777) == 0 || access("bin", W_OK) == 0);
	snprintf(path, sizeof path, "bin/%s", name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", text);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0755), 0);
	setenv("PATH", "bin", 1);
}

static void finds_the_first_there_is(void **state)
{
	char *found = NULL;
	dck_err err = {0};

	(void)state;
	put_program("other", "");
	assert_int_equal(browser_find(&found, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "Debian: chromium"));
	put_program("google-chrome", "");
	assert_int_equal(browser_find(&found, NULL), DCK_OK);
	assert_string_equal(found, "bin/google-chrome");
	mem_free(found);
	put_program("chromium", "");
	assert_int_equal(browser_find(&found, NULL), DCK_OK);
	assert_string_equal(found, "bin/chromium");
	mem_free(found);
}

static void gives_what_it_wrote(void **state)
{
	dck_buffer out = {0};
	char expected[2 * PATH_MAX + 8];

	(void)state;
	/* It is in the directory, where its profile and passing files are to be. */
	put_program("b", "printf '%s %s %s' \"$PWD\" \"$TMPDIR\" \"$#\"; echo noise >&2");
	snprintf(expected, sizeof expected, "%s %s ", scratch_path, scratch_path);
	char program[PATH_MAX + 8];
	snprintf(program, sizeof program, "%s/bin/b", scratch_path);
	assert_int_equal(browser_dump(program, scratch_path, 20 * second, &out, NULL), DCK_OK);
	assert_memory_equal(out.data, expected, strlen(expected));
	dck_buffer_done(&out);
}

static void fails_with_it(void **state)
{
	dck_buffer out = {0};
	dck_err err = {0};
	char program[PATH_MAX + 8];

	(void)state;
	snprintf(program, sizeof program, "%s/bin/b", scratch_path);
	put_program("b", "exit 3");
	assert_int_equal(browser_dump(program, scratch_path, 20 * second, &out, &err),
			 DCK_E_ENGINE);
	assert_non_null(strstr(err.msg, "ended with exit status 3"));
	put_program("b", "kill -9 $$");
	assert_int_equal(browser_dump(program, scratch_path, 20 * second, &out, &err),
			 DCK_E_ENGINE);
	assert_non_null(strstr(err.msg, "killed by signal 9"));
	put_program("b", "while :; do :; done");
	assert_int_equal(browser_dump(program, scratch_path, second / 10, &out, &err),
			 DCK_E_ENGINE);
	assert_non_null(strstr(err.msg, "did not draw the charts within 100 ms"));
	dck_buffer_done(&out);
}

/* What the browser says is not trusted. */
typedef struct seen {
	char text[400];
} seen;

static dck_status see(void *self, const dck_chart *c, dck_err *err)
{
	seen *s = self;
	const size_t had = strlen(s->text);

	(void)err;
	snprintf(s->text + had, sizeof s->text - had, "%s %d %.*s %.*s;", c->name,
		 c->record == DCK_CHART_OF_ALL ? -1 : (int)c->record, (int)c->svg.n, c->svg.data,
		 (int)c->png.n, c->png.data);
	return DCK_OK;
}

static dck_status browse(const char *html, seen *s, dck_err *err)
{
	record_builder *b = record_new();
	dck_record *record;

	record_set_id(b, "0a");
	record_set_began(b, INT64_C(1760000000000000000));
	record_set_command(b, "deepclock bench something");
	assert_int_equal(record_finish(b, &record, NULL), DCK_OK);
	const dck_record *const records[] = {record, record};
	char text[600];

	*s = (seen){0};
	snprintf(text, sizeof text, "cat <<'END'\n%s\nEND", html);
	put_program("chromium", text);
	setenv("PATH", "bin:/usr/bin:/bin", 1);
	const dck_status status = dck_figures_browse(records, 2, NULL, see, s, err);
	dck_record_free(record);
	return status;
}

static bool has_page(void)
{
	size_t n;
	const dck_writer *const *all = dck_writers(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i]->name, "html") == 0)
			return !all[i]->missing || !all[i]->missing();
	return false;
}

static void reads_lines(void **state)
{
	static const char *const refused[] = {
	    "<p>nothing</p>",
	    "<pre id=\"figures\">0 ecdf QUI= QUJD\n",	       /* it was cut */
	    "<pre id=\"figures\">0 ../ecdf QUI= QUJD\n</pre>", /* a path */
	    "<pre id=\"figures\">2 ecdf QUI= QUJD\n</pre>",    /* of no record */
	    "<pre id=\"figures\">0 ecdf QUI=\n</pre>",	       /* a word is missing */
	    "<pre id=\"figures\">0 ecdf QU!= QUJD\n</pre>",
	    "<pre id=\"figures\">0 ecdf  QUJD\n</pre>",
	};
	dck_err err = {0};
	seen s;

	(void)state;
	if (!has_page())
		skip();
	assert_int_equal(browse("<!DOCTYPE html>\n<pre id=\"figures\">0 ecdf QUI= QUJD\n"
				"1 a-2 QQ== QUJDRA==\n- medians QUI= QUJD\n</pre></html>",
				&s, NULL),
			 DCK_OK);
	assert_string_equal(s.text, "ecdf 0 AB ABC;a-2 1 A ABCD;medians -1 AB ABC;");
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		assert_int_equal(browse(refused[i], &s, &err), DCK_E_ENGINE);
		assert_string_equal(s.text, "");
	}
}

/* A profile has directories in directories. */
static void leaves_nothing(void **state)
{
	char directory[OS_TEMP_SIZE], command[2 * OS_TEMP_SIZE];

	(void)state;
	assert_int_equal(os_temp_dir(directory, NULL), DCK_OK);
	snprintf(
	    command, sizeof command,
	    "PATH=/usr/bin:/bin; cd '%s' && mkdir -p a/b/c && echo x > a/b/c/x && ln -s / a/root",
	    directory);
	assert_int_equal(system(command), 0);
	os_temp_dir_remove(directory);
	assert_int_not_equal(access(directory, F_OK), 0);
	assert_int_equal(access("/usr", F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(finds_the_first_there_is),
	    SCRATCH_TEST(gives_what_it_wrote),
	    SCRATCH_TEST(fails_with_it),
	    SCRATCH_TEST(reads_lines),
	    SCRATCH_TEST(leaves_nothing),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
