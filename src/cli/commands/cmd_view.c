/* cmd_view.c - deepclock view FILE...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "cli/report_records.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPENER_LOOKS 50 /* of 20 ms: an opener that fails does so at once */

typedef struct view_config {
	struct view_output {
		const char *file;
		bool no_browser, sources;
		const char *source_root;
	} output;
} view_config;

static const dck_opt view_output_options[] = {
    DCK_OPTION(TEXT, struct view_output, file, "out", "FILE", NULL,
	       "write the page to FILE (default: ~/.cache/deepclock/view/report.html, which the "
	       "next view replaces)",
	       .letter = 'o'),
    DCK_OPTION(TEXT, struct view_output, file, "html", "FILE", NULL, "the same as --out",
	       .excludes = "out"),
    DCK_FLAG(struct view_output, no_browser, "no-browser",
	     "only write the page, and print its "
	     "path"),
    CLI_SOURCES(struct view_output),
    {0},
};

/* The default page: one path, which the next view replaces, in a private directory, since records
 * describe machines and programs. */
static dck_status page_name(char *path, size_t size, dck_err *err)
{
	const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	static const char name[] = "/report.html";
	const bool own = cache && cache[0] == '/';
	dck_err why;

	if (!own && !(home && home[0] == '/'))
		return cli_err(err, DCK_E_ARG,
			       "no directory for the page, since neither XDG_CACHE_HOME nor HOME "
			       "is an absolute path: give -o FILE.html");
	if ((size_t)snprintf(path, size, "%s%s/deepclock/view", own ? cache : home,
			     own ? "" : "/.cache") >= size - sizeof name)
		return cli_err(err, DCK_E_ARG, "the name of the page is too long: give -o FILE");
	if (cli_directory_make(path, 0700, &why) != DCK_OK)
		return cli_err(err, why.code, "%.400s: give -o FILE.html for another place",
			       why.msg);
	if (access(path, W_OK | X_OK) != 0)
		return cli_err(err, DCK_E_IO,
			       "cannot write in the directory '%s': %s: give -o FILE.html for "
			       "another place",
			       path, strerror(errno));
	strcat(path, name);
	return DCK_OK;
}

static bool is_set(const char *variable)
{
	const char *text = secure_getenv(variable);

	return text && *text;
}

/* Whether the opener, which may be the browser itself, runs or ended well. It outlives this
 * program. */
static bool opener_run(const char *opener, const char *path)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	int status = 0;
	const pid_t child = fork();

	if (child == 0) {
		char *const argv[] = {(char *)(uintptr_t)opener, (char *)(uintptr_t)path, NULL};

		setsid();
		if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
			execvp(opener, argv);
		_exit(127);
	}
	for (int i = 0; child > 0 && i < OPENER_LOOKS; i++) {
		if (waitpid(child, &status, WNOHANG) != 0)
			return status == 0;
		nanosleep(&pause, NULL);
	}
	return child > 0;
}

/* Passes the page to the browser; false: no browser, or no display. */
static bool browser_open(const char *path)
{
	const bool display = is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
	const char *const openers[] = {secure_getenv("BROWSER"), display ? "xdg-open" : NULL};

	for (size_t i = 0; i < sizeof openers / sizeof openers[0]; i++)
		if (openers[i] && cli_is_program(openers[i]) && opener_run(openers[i], path))
			return true;
	return false;
}

/* Prints the path of the page, and how to open it in a browser. */
static void page_report(const char *path, bool wanted)
{
	char host[256] = "";

	printf("open in a browser: %s\n", path);
	if (!wanted || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
		return;
	if (gethostname(host, sizeof host - 1) != 0 || !is_set("SSH_CONNECTION"))
		snprintf(host, sizeof host, "HOST");
	printf("there is no display here; on a machine that has one:  scp '%s:%s' .\n", host, path);
}

static int view_run(cli *c, void *config)
{
	const struct view_output *o = &((view_config *)config)->output;
	char path[PATH_MAX], real[PATH_MAX];
	dck_err err;
	int code;

	if (o->file)
		snprintf(path, sizeof path, "%s", o->file);
	else if (page_name(path, sizeof path, &err) != DCK_OK)
		return cli_failed(&err);
	c->format.sources = o->sources;
	c->format.source_root = o->source_root;
	code = report_page(c, path);
	if (code != CLI_OK || strcmp(path, "-") == 0)
		return code;
	if (!realpath(path, real))
		snprintf(real, sizeof real, "%s", path);
	if (!o->no_browser && browser_open(real))
		printf("opened: %s\n", real);
	else
		page_report(real, !o->no_browser);
	return CLI_OK;
}

const cli_command cmd_view = {
    .name = "view",
    .summary = "show saved records and traces in a browser",
    .usage = {"[OPTION]... FILE..."},
    .about =
	"Writes records that '--save FILE' of another command wrote, and traces, as one page with "
	"charts, and opens it in the browser ($BROWSER, else xdg-open where there is a display); "
	"without one it prints the page's path. The page is self-contained: it opens without a "
	"network, and can be sent to other people.\n\n'deepclock report FILE --format html' "
	"writes the same page.",
    .examples = {{"deepclock view run.json", "a saved record with its charts, in the browser"},
		 {"deepclock view before.json after.json", "several side by side"},
		 {"deepclock view out.pftrace -o out.html",
		  "a trace, in a file to keep or to send"}},
    .groups = {{"Output", view_output_options, offsetof(view_config, output), false}},
    .config_size = sizeof(view_config),
    .min_args = 1,
    .max_args = INT_MAX,
    .arg = "a FILE that '--save FILE' of another command wrote",
    .words = &(const cli_words){.files = true},
    .no_result = "it writes a page for a browser; 'deepclock report FILE' writes every other "
		 "format",
    .run = view_run,
};
