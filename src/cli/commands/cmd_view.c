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
#include <unistd.h>

typedef struct view_config {
	struct view_output {
		const char *file;
		bool no_browser, sources;
	} output;
} view_config;

static const dck_opt output_options[] = {
    DCK_OPTION(TEXT, struct view_output, file, "out", "FILE", NULL,
	       "keep the page in FILE; by itself it goes into a new file among the temporary ones",
	       .letter = 'o'),
    DCK_FLAG(struct view_output, no_browser, "no-browser", "only write the page, and say where"),
    CLI_SOURCES(struct view_output),
    {0},
};

/* In a folder that nobody else enters: records tell about machines and programs. */
static dck_status temporary_name(char *path, size_t size, dck_err *err)
{
	static const char name[] = "/report.html";
	const char *folder = secure_getenv("TMPDIR");

	snprintf(path, size - sizeof name, "%s/deepclock-XXXXXX",
		 folder && *folder ? folder : "/tmp");
	if (!mkdtemp(path))
		return cli_err(err, DCK_E_IO, "cannot make a folder '%s': %s", path,
			       strerror(errno));
	strcat(path, name);
	return DCK_OK;
}

static void temporary_remove(char *path)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

/* Hands the page to the desktop's browser; false: there is none. What the browser prints is not
 * shown. */
static bool browser_open(const char *path)
{
	const char *const openers[] = {secure_getenv("BROWSER"), "xdg-open"};

	for (size_t i = 0; i < sizeof openers / sizeof openers[0]; i++) {
		const char *opener = openers[i];
		int status = -1;
		pid_t child;

		if (!opener || !cli_is_program(opener))
			continue;
		/* The browser outlives this program: it is left to a child that ends at once. */
		child = fork();
		if (child == 0) {
			char *const argv[] = {(char *)(uintptr_t)opener, (char *)(uintptr_t)path,
					      NULL};
			if (!freopen("/dev/null", "w", stdout) ||
			    !freopen("/dev/null", "w", stderr))
				_exit(127);
			if (fork() != 0)
				_exit(0);
			setsid();
			execvp(opener, argv);
			_exit(127);
		}
		if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
			return true;
	}
	return false;
}

static int view_run(cli *c, void *config)
{
	const struct view_output *o = &((view_config *)config)->output;
	char path[PATH_MAX], real[PATH_MAX];
	dck_err err;
	int code;

	if (o->file)
		snprintf(path, sizeof path, "%s", o->file);
	else if (temporary_name(path, sizeof path, &err) != DCK_OK)
		return cli_failed(&err);
	c->format.sources = o->sources;
	code = report_page(c, path);
	if (code != CLI_OK) {
		if (!o->file)
			temporary_remove(path);
		return code;
	}
	if (!realpath(path, real))
		snprintf(real, sizeof real, "%s", path);
	if (o->no_browser || !browser_open(real))
		printf("open in a browser: %s\n", real);
	else
		printf("opened: %s\n", real);
	return CLI_OK;
}

static const char *const usage[] = {"[OPTION]... FILE...", NULL};
static const cli_group groups[] = {
    {"Output", output_options, offsetof(view_config, output), false},
    {0},
};
static const cli_item examples[] = {
    {"deepclock view run.json", "a saved record with its pictures, in the browser"},
    {"deepclock view before.json after.json", "several beside each other"},
    {"deepclock view out.pftrace -o out.html", "a trace, in a file to keep or to send"},
    {0},
};

const cli_command cmd_view = {
    .name = "view",
    .summary = "look at saved records and traces in a browser",
    .usage = usage,
    .about = "Writes records that '--save FILE' of another command wrote, and traces, as one page "
	     "with pictures, and opens it in the browser ($BROWSER, else xdg-open). The page holds "
	     "all it needs: it opens without a network, and can be sent to somebody.\n\nIt is what "
	     "'deepclock report FILE --format html' writes.",
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(view_config),
    .min_args = 1,
    .max_args = INT_MAX,
    .arg = "a FILE that '--save FILE' of another command wrote",
    .words = &(const cli_words){.files = true},
    .run = view_run,
};
