/* subject_file.c - classifies a subject before it is opened, and rejects files that are not models.
 *
 * cli_subject_parse() decides in this order: a text with a scheme (zoo:, cmd:, plugin:) goes to the
 * library unread; an existing directory is refused with the file to give instead; an executable
 * file, by its magic number (\177ELF, #!), with the command line that runs it; a missing path that
 * names a program likewise, else with the nearest name. Anything else goes to dck_subject_parse()
 * and the engine.
 *
 * The nearest name (dck_nearest(), edit distance) is searched among the .onnx files of the
 * directory, then among the built-in networks. The scan is bounded: 65536 directory entries,
 * DIR_NAMES_MAX names, no subdirectories. O_NONBLOCK keeps open(2) from waiting where a FIFO has
 * replaced the file. The checks are advisory, since a file may change afterwards: they improve
 * messages and grant nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_NAMES_MAX 512 /* files of a directory that are searched for the nearest name */

/* --- programs */

static bool is_executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool is_in_path(const char *name, size_t n)
{
	const char *at = secure_getenv("PATH");
	char path[PATH_MAX];

	while (at && n > 0) {
		const size_t directory = strcspn(at, ":");

		if ((size_t)snprintf(path, sizeof path, "%.*s/%.*s", (int)directory, at, (int)n,
				     name) < sizeof path &&
		    is_executable(path))
			return true;
		at = at[directory] ? at + directory + 1 : NULL;
	}
	return false;
}

/* The first bytes decide, since on some disks every file is marked executable. */
static bool begins_as_program(const char *path)
{
	char head[4] = {0};
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof head);

	if (fd >= 0)
		close(fd);
	return n == sizeof head && (memcmp(head, "\177ELF", 4) == 0 || memcmp(head, "#!", 2) == 0);
}

bool cli_is_program(const char *text)
{
	char word[PATH_MAX];
	size_t n;

	text += strspn(text, " \t\n");
	n = strcspn(text, " \t\n");
	if (n == 0 || n >= sizeof word)
		return false;
	snprintf(word, sizeof word, "%.*s", (int)n, text);
	if (!strchr(word, '/') && !is_in_path(word, n))
		return false;
	return !strchr(word, '/') || (is_executable(word) && begins_as_program(word));
}

/* before: "./" where a shell would not find the program without it. */
static int program_refuse(const cli *c, const char *before, const char *text)
{
	if (c->command->takes_command)
		return cli_usage(c, "'%s' is not a model; a program? write: deepclock %s -- %s%s",
				 text, c->command->name, before, text);
	if (c->command->takes_programs)
		return cli_usage(c, "'%s' is not a model; a program? write: 'cmd:%s%s'", text,
				 before, text);
	return cli_usage(c, "'%s' is a program, and %s takes a model: give a file.onnx or zoo:NAME",
			 text, c->command->name);
}

/* --- files */

static bool subject_is_known(const char *name)
{
	for (size_t i = 0; cli_zoo_word(i); i++)
		if (strcmp(cli_zoo_word(i), name) == 0)
			return true;
	return false;
}

typedef struct directory_names {
	char *name[DIR_NAMES_MAX];
	size_t n;
} directory_names;

/* Reads the names of files that may be models. directory_free() frees them in any case. */
static void directory_read(const char *path, directory_names *ret)
{
	DIR *dir = opendir(path);
	size_t looked_at = 0;

	ret->n = 0;
	for (struct dirent *e;
	     dir && ret->n < DIR_NAMES_MAX && looked_at++ < 65536 && (e = readdir(dir));)
		if (cli_ends_in(e->d_name, ".onnx") && (ret->name[ret->n] = strdup(e->d_name)))
			ret->n++;
	if (dir)
		closedir(dir);
}

static void directory_free(directory_names *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->name[i]);
}

static int missing_refuse(const char *text, size_t directory, const char *nearest)
{
	const char *built_in[64];
	size_t n = 0;

	if (nearest) {
		cli_message("there is no file '%s'; did you mean '%.*s%s'?", text, (int)directory,
			    text, nearest);
		return CLI_FAILED;
	}
	for (; n < 64 && cli_zoo_word(n); n++)
		built_in[n] = cli_zoo_word(n);
	nearest = directory == 0 ? dck_nearest(text, built_in, n) : NULL;
	if (nearest)
		cli_message("there is no file '%s'; did you mean 'zoo:%s'?", text, nearest);
	else
		cli_message("there is no file '%s': give a model's file, "
			    "or zoo:NAME ('deepclock zoo' lists them)",
			    text);
	return CLI_FAILED;
}

static int file_missing(const char *text)
{
	const char *slash = strrchr(text, '/');
	const size_t directory = slash ? (size_t)(slash - text) + 1 : 0;
	char path[PATH_MAX];
	directory_names names = {.n = 0};
	int code;

	if (subject_is_known(text))
		return missing_refuse(text, 0, NULL);
	snprintf(path, sizeof path, "%.*s", (int)directory, text);
	directory_read(directory > 0 ? path : ".", &names);
	code =
	    missing_refuse(text, directory,
			   dck_nearest(text + directory, (const char *const *)names.name, names.n));
	directory_free(&names);
	return code;
}

static bool subject_has(const char *directory, const char *name)
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof path, "%s/%s", directory, name) < sizeof path &&
	       access(path, F_OK) == 0;
}

static int directory_refuse(const char *text)
{
	directory_names names = {.n = 0};

	directory_read(text, &names);
	if (subject_has(text, "genai_config.json"))
		cli_message(
		    "'%s' is a directory of ONNX Runtime GenAI: give '%s%sgenai_config.json' "
		    "with --engine genai, or the ONNX file in it",
		    text, text, cli_ends_in(text, "/") ? "" : "/");
	else if (names.n == 1)
		cli_message("'%s' is a directory: give the file in it, '%s%s%s'", text, text,
			    cli_ends_in(text, "/") ? "" : "/", names.name[0]);
	else if (names.n > 1)
		cli_message("'%s' is a directory with %zu models: give one of them, as '%s%s%s'",
			    text, names.n, text, cli_ends_in(text, "/") ? "" : "/", names.name[0]);
	else if (subject_has(text, "saved_model.pb"))
		cli_message("'%s' is a SavedModel of TensorFlow: "
			    "python -m tf2onnx.convert --saved-model %s --output model.onnx makes "
			    "an ONNX file of it",
			    text, text);
	else if (subject_has(text, "config.json"))
		cli_message("'%s' is a directory as of Hugging Face: "
			    "optimum-cli export onnx --model %s OUT makes ONNX files of it",
			    text, text);
	else
		cli_message("'%s' is a directory without an ONNX file: give a model's file", text);
	directory_free(&names);
	return CLI_FAILED;
}

/* --- subjects */

/* A text with a scheme, such as zoo:NAME, is not a path; the library reads it. */
bool cli_has_scheme(const char *text)
{
	const size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	return n >= 2 && text[n] == ':';
}

static int file_check(const cli *c, const char *text)
{
	struct stat st;

	if (stat(text, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return directory_refuse(text);
		if (S_ISREG(st.st_mode) && begins_as_program(text))
			return cli_ends_in(text, ".so")
				   ? cli_usage(c,
					       "'%s' is a library: "
					       "an engine plug-in is written plugin:%s",
					       text, text)
				   : program_refuse(c, strchr(text, '/') ? "" : "./", text);
		return CLI_OK;
	}
	if (errno != ENOENT)
		return CLI_OK;
	if (!subject_is_known(text) && cli_is_program(text))
		return program_refuse(c, "", text);
	return file_missing(text);
}

int cli_subject_parse(const cli *c, const char *text, dck_subject *s, void **ret_owned)
{
	dck_err err;
	int code = !text[0] || cli_has_scheme(text) ? CLI_OK : file_check(c, text);

	if (code == CLI_OK && dck_subject_parse(text, s, ret_owned, &err) != DCK_OK)
		code = cli_failed(&err);
	return code;
}
