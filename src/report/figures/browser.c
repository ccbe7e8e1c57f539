/* browser.c - charts that only the page can draw: headless Chromium opens a page that renders them
 * into its own text as files, and its final DOM is read. Its content is not trusted: only names are
 * read, and invalid base64 is rejected.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/browser.h"
#include "deepclock/unstable.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"
#include "os/os.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_NS UINT64_C(120000000000)
#define PAGE	   "page.html"
#define BEGIN	   "<pre id=\"figures\">"
#define END	   "</pre>"
/* All charts of a record of 10 million events are less than 2 MiB. */
#define DUMP_MAX ((size_t)512 << 20)

/* --- the browser */

dck_status browser_find(char **ret, dck_err *err)
{
	static const char *const names[] = {"chromium", "chromium-browser", "google-chrome"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (os_find_program(names[i], ret, NULL) == DCK_OK)
			return DCK_OK;
	DCK_FAIL(
	    err, E_ABSENT,
	    "no chromium, chromium-browser or google-chrome is in PATH, which draws the others "
	    "(Debian: chromium)");
}

static bool browser_late(void *self)
{
	return os_now_ns() > *(const uint64_t *)self;
}

static dck_status chromium_run(const char *program, const char *folder, uint64_t timeout_ns, int fd,
			       mem_arena *a, dck_err *err)
{
	uint64_t until = os_now_ns() + timeout_ns;
	const char *const words[] = {
	    program, "--headless=new", "--dump-dom",
	    /* The rendering is the same on every machine, without network access. */
	    "--disable-gpu", "--force-device-scale-factor=2", "--force-color-profile=srgb",
	    "--window-size=1000,900", "--hide-scrollbars", "--disable-dev-shm-usage",
	    "--no-first-run", "--disable-extensions", "--disable-sync", "--disable-breakpad",
	    "--disable-component-update", "--disable-background-networking",
	    "--host-resolver-rules=MAP * ~NOTFOUND",
	    mem_arena_fmt(a, "--user-data-dir=%s/profile", folder), PAGE,
	    /* Root has no sandbox in Chromium. */
	    os_is_root() ? "--no-sandbox" : NULL, NULL};
	/* Its other temporary files are removed with the directory too. */
	const char *const set[] = {mem_arena_fmt(a, "TMPDIR=%s", folder),
				   mem_arena_fmt(a, "HOME=%s", folder),
				   mem_arena_fmt(a, "XDG_CONFIG_HOME=%s", folder),
				   mem_arena_fmt(a, "XDG_CACHE_HOME=%s", folder),
				   mem_arena_fmt(a, "XDG_DATA_HOME=%s", folder),
				   NULL};
	const os_spawn_config spawn = {.argv = (char *const *)(uintptr_t)words,
				       .in_fd = -1,
				       .out_fd = fd,
				       .err_fd = -1,
				       .keep_fd = -1,
				       .directory = folder,
				       .set = set,
				       .group = true};
	os_child_usage usage;
	char text[32];
	pid_t pid;

	if (mem_arena_failed(a))
		return ERR_NO_MEMORY(err, "for the browser");
	DCK_TRY(os_spawn(&spawn, &pid, err));
	const dck_status status = os_wait(pid, 0, browser_late, &until, &usage, err);
	if (status == DCK_E_CANCEL)
		DCK_FAIL(err, E_ENGINE, "'%.200s' did not draw the charts within %s", program,
			 dck_text_time((double)timeout_ns, text, sizeof text));
	DCK_TRY(status);
	if (usage.signal)
		DCK_FAIL(err, E_ENGINE, "'%.200s', which draws the charts, was killed by signal %d",
			 program, usage.signal);
	if (usage.exit_code)
		DCK_FAIL(err, E_ENGINE,
			 "'%.200s', which draws the charts, ended with exit status %d", program,
			 usage.exit_code);
	return DCK_OK;
}

dck_status browser_dump(const char *program, const char *folder, uint64_t timeout_ns,
			dck_buffer *out, dck_err *err)
{
	mem_arena *a = mem_arena_new(0);
	int fd = -1;

	DCK_NEED(a, err, "for the browser");
	dck_status status = os_memfd(&fd, err);
	if (status == DCK_OK)
		status = chromium_run(program, folder, timeout_ns, fd, a, err);
	if (status == DCK_OK)
		status = os_file_read_all(fd, DUMP_MAX, out, err);
	if (fd >= 0)
		os_close(fd);
	mem_arena_free(a);
	return status;
}

/* --- the page */

static dck_status page_write(const dck_record *const *records, size_t n,
			     const dck_timeline *timeline, const char *folder, dck_err *err)
{
	const dck_style style = {.figures = true, .timeline = timeline};
	char path[OS_TEMP_SIZE + sizeof PAGE];
	dck_sink out;
	int fd;

	snprintf(path, sizeof path, "%s/" PAGE, folder);
	DCK_TRY(os_open_append(path, &fd, err));
	dck_sink_fd(&out, fd);
	dck_status status = dck_report("html", records, n, &style, &out, err);
	if (dck_sink_finish(&out, status == DCK_OK ? err : NULL) != DCK_OK && status == DCK_OK)
		status = DCK_E_IO;
	os_close(fd);
	return status;
}

/* --- its output: a line of four words for each chart */

/* RFC 4648, section 4; -1: no digit of it. */
static int digit_of(char c)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool browser_unpack(const char *text, size_t n, dck_buffer *ret)
{
	unsigned held = 0, bits = 0;
	dck_sink out;

	dck_sink_buffer(&out, ret);
	while (n > 0 && text[n - 1] == '=')
		n--;
	for (size_t i = 0; i < n; i++) {
		const int digit = digit_of(text[i]);

		if (digit < 0)
			return false;
		held = (held << 6 | (unsigned)digit) & 0xfffff;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			sink_put(&out, &(char){(char)(held >> bits & 0xff)}, 1);
		}
	}
	return dck_sink_finish(&out, NULL) == DCK_OK && ret->n > 0;
}

/* Names become those of files. */
static bool browser_name_read(const char *text, size_t n, char *ret, size_t size)
{
	if (n == 0 || n >= size || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") < n)
		return false;
	memcpy(ret, text, n);
	ret[n] = '\0';
	return true;
}

static bool drawn_here(const dck_record *r, const char *name)
{
	size_t n;
	const dck_figure *const *all = dck_figures(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i]->name, name) == 0)
			return all[i]->has(r);
	return false;
}

typedef struct browsed {
	const dck_record *const *records;
	size_t n;
	dck_status (*each)(void *self, const dck_chart *c, dck_err *err);
	void *self;
} browsed;

/* "0 ecdf PHN2Zy... iVBOR..." */
static dck_status browser_line_read(const browsed *b, const char *line, size_t n, dck_err *err)
{
	const char *word[4], *const end = line + n;
	size_t length[4];
	char name[64];
	dck_chart chart = {.name = name, .record = DCK_CHART_OF_ALL};
	bool fine = true;

	for (size_t i = 0; i < 4; i++) {
		const char *space = memchr(line, ' ', (size_t)(end - line));

		word[i] = line;
		length[i] = (size_t)((space ? space : end) - line);
		fine = fine && (space != NULL) == (i < 3);
		line = space ? space + 1 : end;
	}
	if (fine && word[0][0] != '-') {
		chart.record = (size_t)strtoul(word[0], NULL, 10);
		fine = chart.record < b->n;
	}
	fine = fine && browser_name_read(word[1], length[1], name, sizeof name);
	if (fine && chart.record < b->n && drawn_here(b->records[chart.record], name))
		return DCK_OK;
	fine = fine && browser_unpack(word[2], length[2], &chart.svg) &&
	       browser_unpack(word[3], length[3], &chart.png);
	dck_status status = DCK_OK;
	if (fine)
		status = b->each(b->self, &chart, err);
	else
		status = err_set(err, DCK_E_ENGINE, __FILE__, __LINE__,
				 "the browser's output cannot be read");
	dck_buffer_done(&chart.svg);
	dck_buffer_done(&chart.png);
	return status;
}

static dck_status dump_read(const browsed *b, const dck_buffer *dump, dck_err *err)
{
	const char *at = dump->data ? strstr(dump->data, BEGIN) : NULL;
	const char *end = at ? strstr(at, END) : NULL;

	if (!end)
		DCK_FAIL(err, E_ENGINE,
			 "the browser opened the page and did not draw its charts: it may be older "
			 "than 2023");
	for (at += strlen(BEGIN); at < end;) {
		const size_t n = strcspn(at, "\n<");

		DCK_TRY(browser_line_read(b, at, n, err));
		at += n + (at[n] == '\n');
	}
	return DCK_OK;
}

dck_status dck_figures_browse(const dck_record *const *records, size_t n,
			      const dck_timeline *timeline,
			      dck_status (*each)(void *self, const dck_chart *c, dck_err *err),
			      void *self, dck_err *err)
{
	const browsed b = {records, n, each, self};
	char folder[OS_TEMP_SIZE], *program;
	dck_buffer dump = {0};

	DCK_TRY(browser_find(&program, err));
	dck_status status = os_temp_dir(folder, err);
	if (status == DCK_OK) {
		status = page_write(records, n, timeline, folder, err);
		if (status == DCK_OK)
			status = browser_dump(program, folder, TIMEOUT_NS, &dump, err);
		if (status == DCK_OK)
			status = dump_read(&b, &dump, err);
		os_temp_dir_remove(folder);
	}
	dck_buffer_done(&dump);
	mem_free(program);
	return status;
}
