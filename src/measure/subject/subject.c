/* subject.c - option tables of a subject, and the parser of its text: SCHEME:REST, or a file.
 *
 * The tables are the only definition of the options of models, commands and hooks: parsing, help,
 * completion, the keywords of Python and the facts of a record use them. dck_subject_init() asserts
 * that their defaults can be read.
 *
 * dck_subject_parse(): a scheme is two or more lower-case letters and a colon (zoo, plugin, cmd); a
 * text without one, or with an unknown one that names an existing file, is a model. Nothing is
 * opened, and texts are borrowed.
 *
 * subject_words() splits a command into words by the quoting of the shell (POSIX.1-2017, XCU 2.2):
 * single quotes preserve everything, double quotes all but a backslash before " \ $ `. There are no
 * expansions and no operators, so no shell is needed. The array and its words are one block, which
 * the caller frees with mem_free(); its size follows from the length of the text, since words are
 * separated by a blank.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/bench.h"
#include "deepclock/unstable.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/opt_text.h"
#include "measure/subject/hooks.h"
#include "measure/subject/target.h"
#include "os/os.h"
#include <assert.h>
#include <string.h>

static const char *const transfer_choices[] = {"exclude", "include", NULL};
static const char *const opt_levels[] = {"none", "basic", "extended", "all", NULL};

const dck_opt dck_model_options[] = {
    DCK_OPTION(
	TEXT, dck_model_config, engine, "engine", "NAME", "ort",
	"what runs the model: ort, openvino, litert, null, or plugin:FILE ('deepclock engines' lists "
	"them)"),
    DCK_OPTION(
	LIST, dck_model_config, engine_lib, "engine-lib", "FILE", NULL,
	"the engine's library, or ENGINE:FILE of that one alone; searched when not given; may "
	"be repeated"),
    DCK_OPTION(LIST, dck_model_config, engine_option, "engine-option", "KEY=VALUE", NULL,
	       "an option of the engine, or ENGINE:KEY=VALUE of that one alone; 'deepclock engines "
	       "NAME' lists them; may be repeated"),
    DCK_OPTION(
	TEXT, dck_model_config, device, "device", "DEVICE", "cpu",
	"cpu; gpu: the first there is; or webgpu, cuda, or one of several: webgpu:N, cuda:N; with "
	"openvino also npu, auto, GPU.1, AUTO:GPU,CPU"),
    DCK_OPTION(CHOICE, dck_model_config, transfers, "transfers", "WHICH", "exclude",
	       "include: a run on a device copies its inputs there and its outputs back",
	       .choices = transfer_choices),
    DCK_OPTION(COUNT, dck_model_config, threads, "threads", "N", NULL,
	       "threads inside an operator; 0: as many as cores the process may use", .letter = 'j',
	       .max = 4096),
    DCK_OPTION(COUNT, dck_model_config, interop_threads, "interop-threads", "N", NULL,
	       "operators that run at the same time; 0: one after the other", .max = 4096),
    DCK_OPTION(CHOICE, dck_model_config, opt, "opt", "LEVEL", "all",
	       "how far the engine optimises the graph", .choices = opt_levels),
    DCK_OPTION(TEXT, dck_model_config, cpus, "cpus", "LIST", NULL,
	       "pin the process to these processors, e.g. 0-3,8"),
    DCK_OPTION(COUNT, dck_model_config, batch, "batch", "N", NULL,
	       "items per run: size of the inputs' first axis", .letter = 'b', .min = 1,
	       .max = 1e9),
    DCK_FLAG(dck_model_config, skip_batch_check, "no-batch-check",
	     "do not compare the outputs first when --batch frees a batch that the model fixes"),
    DCK_OPTION(
	COUNT, dck_model_config, items, "items", "N", NULL,
	"items that one run processes, for items/s (FPS), where they are not the batch; 0: the batch",
	.max = 1e12),
    DCK_OPTION(LIST, dck_model_config, shape, "shape", "NAME=1x3x224x224", NULL,
	       "an input's shape; N in it is the batch, ? is left to --dim; "
	       "of one input NAME= may be left out; may be repeated"),
    DCK_OPTION(LIST, dck_model_config, dim, "dim", "SYMBOL=N", NULL,
	       "size of a symbolic dimension; may be repeated"),
    DCK_OPTION(LIST, dck_model_config, input, "input", "NAME=VALUES", NULL,
	       "an input's values, instead of random ones: FILE.npy or .npz, "
	       "a number for all of them, zeros, ones, range(LOW,HIGH); may be repeated; of a "
	       "program: a file as its standard input"),
    DCK_OPTION(COUNT, dck_model_config, input_pool, "input-pool", "N", "1",
	       "number of different random inputs, used in turn", .min = 1, .max = 100000),
    DCK_OPTION(TEXT, dck_model_config, image_size, "image-size", "N|HxW", NULL,
	       "image size of a built-in network"),
    DCK_OPTION(COUNT, dck_model_config, seq, "seq", "N", NULL,
	       "sequence length of a built-in network", .min = 1, .max = 1e6),
    DCK_OPTION(COUNT, dck_model_config, seed, "seed", "N", "1",
	       "of random inputs and built-in weights", .max = 9e15),
    {0},
};

const dck_opt dck_command_options[] = {
    DCK_FLAG(
	dck_command_config, shell, "shell",
	"join the words with blanks and give them to /bin/sh -c (its start is then timed too)"),
    DCK_FLAG(dck_command_config, any_exit, "any-exit",
	     "an exit status other than 0 is not a failure"),
    DCK_OPTION(TEXT, dck_command_config, output, "output", "WHERE", "discard",
	       "where the command's output goes: discard, inherit, or a file to append to"),
    DCK_OPTION(TEXT, dck_command_config, directory, "directory", "DIR", NULL,
	       "directory to run the command in"),
    {0},
};

const dck_opt dck_hook_options[] = {
    DCK_OPTION(TEXT, dck_command_config, setup, "setup", "COMMAND", NULL,
	       "run once before a command's first run; no shell unless it is sh -c '...'"),
    DCK_OPTION(TEXT, dck_command_config, prepare, "prepare", "COMMAND", NULL,
	       "run before each of a command's runs, outside the clock"),
    DCK_OPTION(TEXT, dck_command_config, cleanup, "cleanup", "COMMAND", NULL,
	       "run once after a command's last run, also when measuring failed"),
    {0},
};

void dck_subject_init(dck_subject *s)
{
	dck_status status;

	memset(s, 0, sizeof *s);
	status = dck_opt_defaults(dck_model_options, &s->model, NULL);
	assert(status == DCK_OK);
	status = dck_opt_defaults(dck_command_options, &s->command, NULL);
	assert(status == DCK_OK);
	(void)status;
}

/* --- "cmd:PROG ARG...": words as a shell splits them, with quotes and backslashes only */

/* Copies the next word of *text to *to and advances both. Returns false if none is left. */
static bool word_cut(const char **text, char **to, dck_status *status, dck_err *err)
{
	const char *from = *text + strspn(*text, " \t\n");
	char quote = '\0';

	if (!*from)
		return false;
	for (; *from && (quote || !strchr(" \t\n", *from)); from++) {
		if (quote ? *from == quote : *from == '\'' || *from == '"') {
			quote = quote ? '\0' : *from;
		} else if (*from == '\\' && quote != '\'' && from[1] &&
			   (!quote || strchr("\"\\$`", from[1]))) {
			*(*to)++ = *++from;
		} else {
			*(*to)++ = *from;
		}
	}
	if (quote)
		*status =
		    ERR_SET(err, E_ARG, "a quote (%c) is opened and not closed in the command: %s",
			    quote, *text + strspn(*text, " \t\n"));
	*(*to)++ = '\0';
	*text = from;
	return true;
}

/* One block: the NULL-terminated array of words, then their text. */
dck_status subject_words(const char *text, char ***ret, dck_err *err)
{
	const size_t nmax = strlen(text) / 2 + 2; /* words are separated by at least one blank */
	char **words = mem_zalloc(1, nmax * sizeof *words + strlen(text) + 2);
	const char *rest = text;
	dck_status status = DCK_OK;
	size_t n = 0;
	char *to;

	DCK_NEED(words, err, "for the command");
	to = (char *)(words + nmax);
	for (char *word = to; word_cut(&rest, &to, &status, err); word = to)
		words[n++] = word;
	if (status == DCK_OK && n == 0)
		status = ERR_SET(err, E_ARG, "'cmd:' has no command: write 'cmd:PROG ARG...'");
	if (status != DCK_OK) {
		mem_free(words);
		return status;
	}
	*ret = words;
	return DCK_OK;
}

/* The text as the one word that a shell is given: words that are cut and joined would lose quotes
 * and lines. */
static dck_status subject_shell_line(const char *text, char ***ret, dck_err *err)
{
	if (text[strspn(text, " \t\n")] == '\0')
		DCK_FAIL(err, E_ARG, "'cmd:' has no command: write 'cmd:PROG ARG...'");
	char **words = mem_zalloc(1, 2 * sizeof *words + strlen(text) + 1);
	DCK_NEED(words, err, "for the command");
	words[0] = strcpy((char *)(words + 2), text);
	*ret = words;
	return DCK_OK;
}

/* --- schemes */

static const char *const scheme_names[] = {"cmd", "plugin", "zoo"};

/* Returns the length of "scheme" in "scheme:rest", or 0. A drive letter or a path is not a scheme.
 * */
static size_t scheme_length(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	return n >= 2 && text[n] == ':' ? n : 0;
}

static dck_status scheme_unknown(const char *text, size_t length, dck_err *err)
{
	char name[32];
	const char *nearest;

	if (length >= sizeof name)
		length = sizeof name - 1;
	memcpy(name, text, length);
	name[length] = '\0';
	nearest = dck_nearest(name, scheme_names, sizeof scheme_names / sizeof scheme_names[0]);
	DCK_FAIL(err, E_ARG,
		 "'%s': there is no file of that name, and no subject begins with '%s:'%s%s%s: "
		 "give a file, zoo:NAME, cmd:PROG or plugin:FILE",
		 text, name, nearest ? " (did you mean '" : "", nearest ? nearest : "",
		 nearest ? ":'?)" : "");
}

static bool subject_is(const char *text, size_t length, const char *scheme)
{
	return strlen(scheme) == length && strncmp(text, scheme, length) == 0;
}

dck_status subject_valid(const dck_subject *s, dck_err *err)
{
	dck_model_config model = s->model;

	if (model.input_pool == 0)
		model.input_pool = 1; /* of a zeroed subject */
	if (s->kind == DCK_SUBJECT_COMMAND && !(s->argv && s->argv[0]))
		DCK_FAIL(err, E_ARG, "the command has no words: give its program in argv");
	if ((s->kind == DCK_SUBJECT_MODEL || s->kind == DCK_SUBJECT_PLUGIN) &&
	    !(s->text && s->text[0]))
		DCK_FAIL(err, E_ARG, "the subject has no text: give a file%s",
			 s->kind == DCK_SUBJECT_MODEL ? " or zoo:NAME" : " of a plug-in");
	return opt_fields_check(dck_model_options, &model, err);
}

dck_status dck_subject_parse(const char *text, dck_subject *s, void **ret_owned, dck_err *err)
{
	const size_t length = scheme_length(text);
	const char *rest = text + length + 1;
	char **words = NULL;

	if (!text[0])
		DCK_FAIL(err, E_ARG,
			 "the subject is empty: give a model, zoo:NAME, cmd:PROG or plugin:FILE");
	if (length == 0 || subject_is(text, length, "zoo")) {
		s->kind = DCK_SUBJECT_MODEL;
		s->text = text;
	} else if (subject_is(text, length, "plugin")) {
		if (!rest[0])
			DCK_FAIL(err, E_ARG, "'plugin:' has no file: write plugin:FILE.so");
		s->kind = DCK_SUBJECT_PLUGIN;
		s->text = rest;
	} else if (subject_is(text, length, "cmd")) {
		DCK_TRY(s->command.shell ? subject_shell_line(rest, &words, err)
					 : subject_words(rest, &words, err));
		s->kind = DCK_SUBJECT_COMMAND;
		s->text = rest;
		s->argv = words;
	} else if (os_file_exists(text)) {
		s->kind = DCK_SUBJECT_MODEL;
		s->text = text;
	} else {
		return scheme_unknown(text, length, err);
	}
	*ret_owned = words;
	return DCK_OK;
}
