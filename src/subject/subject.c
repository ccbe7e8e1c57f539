/* SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/bench.h"
#include "base/err.h"
#include "base/mem.h"
#include "subject/hooks.h"
#include "os/os.h"
#include <assert.h>
#include <string.h>

static const char *const opt_levels[] = {"none", "basic", "extended", "all", NULL};

#define AT(field) offsetof(dck_model_config, field)
const dck_opt dck_model_options[] = {
    {.name = "engine",
     .kind = DCK_OPT_TEXT,
     .at = AT(engine),
     .arg = "NAME",
     .def = "ort",
     .help = "what runs the model: ort, null, or plugin:FILE ('deepclock engines' lists them)"},
    {.name = "engine-lib",
     .kind = DCK_OPT_TEXT,
     .at = AT(engine_lib),
     .arg = "FILE",
     .help = "the engine's library; searched when not given"},
    {.name = "engine-option",
     .kind = DCK_OPT_LIST,
     .at = AT(engine_option),
     .arg = "KEY=VALUE",
     .help = "an option of the engine; 'deepclock engines NAME' lists them; may be repeated"},
    {.name = "device",
     .kind = DCK_OPT_TEXT,
     .at = AT(device),
     .arg = "DEVICE",
     .def = "cpu",
     .help = "cpu, cuda or cuda:N"},
    {.name = "threads",
     .kind = DCK_OPT_COUNT,
     .at = AT(threads),
     .arg = "N",
     .min = 0,
     .max = 4096,
     .help = "threads inside an operator; 0: as many as cores the process may use"},
    {.name = "interop-threads",
     .kind = DCK_OPT_COUNT,
     .at = AT(interop_threads),
     .arg = "N",
     .min = 0,
     .max = 4096,
     .help = "operators that run at the same time; 0: one after the other"},
    {.name = "opt",
     .kind = DCK_OPT_CHOICE,
     .at = AT(opt),
     .arg = "LEVEL",
     .def = "all",
     .choices = opt_levels,
     .help = "how far the engine optimises the graph"},
    {.name = "cpus",
     .kind = DCK_OPT_TEXT,
     .at = AT(cpus),
     .arg = "LIST",
     .help = "pin the process to these processors, e.g. 0-3,8"},
    {.name = "batch",
     .kind = DCK_OPT_COUNT,
     .at = AT(batch),
     .arg = "N",
     .min = 1,
     .max = 1e9,
     .help = "items per run: size of the inputs' first axis"},
    {.name = "trust-batch",
     .kind = DCK_OPT_FLAG,
     .at = AT(trust_batch),
     .help = "do not compare the outputs first when --batch frees a batch that the model fixes"},
    {.name = "items",
     .kind = DCK_OPT_COUNT,
     .at = AT(items),
     .arg = "N",
     .min = 0,
     .max = 1e12,
     .help = "items that one run processes, for items/s, where they are not the batch; 0: the "
	     "batch"},
    {.name = "shape",
     .kind = DCK_OPT_LIST,
     .at = AT(shape),
     .arg = "NAME=1x3x224x224",
     .help =
	 "an input's shape; N in it is the batch, ? is left to --dim; of one input NAME= may be "
	 "left out; may be repeated"},
    {.name = "dim",
     .kind = DCK_OPT_LIST,
     .at = AT(dim),
     .arg = "SYMBOL=N",
     .help = "size of a symbolic dimension; may be repeated"},
    {.name = "input",
     .kind = DCK_OPT_LIST,
     .at = AT(input),
     .arg = "NAME=VALUES",
     .help = "an input's values, instead of random ones: FILE.npy or .npz, a number for all of "
	     "them, zeros, "
	     "ones, range(LOW,HIGH); may be repeated"},
    {.name = "input-pool",
     .kind = DCK_OPT_COUNT,
     .at = AT(input_pool),
     .arg = "N",
     .def = "1",
     .min = 1,
     .max = 100000,
     .help = "so many different random inputs, taken in turn"},
    {.name = "image-size",
     .kind = DCK_OPT_TEXT,
     .at = AT(image_size),
     .arg = "N|HxW",
     .help = "image size of a built-in network"},
    {.name = "seq",
     .kind = DCK_OPT_COUNT,
     .at = AT(seq),
     .arg = "N",
     .min = 1,
     .max = 1e6,
     .help = "sequence length of a built-in network"},
    {.name = "seed",
     .kind = DCK_OPT_COUNT,
     .at = AT(seed),
     .arg = "N",
     .def = "1",
     .min = 0,
     .max = 9e15,
     .help = "of random inputs and built-in weights"},
    {0},
};
#undef AT

#define AT(field) offsetof(dck_command_config, field)
const dck_opt dck_command_options[] = {
    {.name = "shell",
     .kind = DCK_OPT_FLAG,
     .at = AT(shell),
     .help =
	 "join the words with blanks and give them to /bin/sh -c (its start is then timed too)"},
    {.name = "any-exit",
     .kind = DCK_OPT_FLAG,
     .at = AT(any_exit),
     .help = "an exit status other than 0 is no failure"},
    {.name = "output",
     .kind = DCK_OPT_TEXT,
     .at = AT(output),
     .arg = "WHERE",
     .def = "discard",
     .help = "where the command's output goes: discard, inherit, or a file to append to"},
    {.name = "directory",
     .kind = DCK_OPT_TEXT,
     .at = AT(directory),
     .arg = "DIR",
     .help = "folder to run the command in"},
    {0},
};

const dck_opt dck_hook_options[] = {
    {.name = "setup",
     .kind = DCK_OPT_TEXT,
     .at = AT(setup),
     .arg = "COMMAND",
     .help = "run once before a command's first run; no shell unless it is sh -c '...'"},
    {.name = "prepare",
     .kind = DCK_OPT_TEXT,
     .at = AT(prepare),
     .arg = "COMMAND",
     .help = "run before each of a command's runs, outside the clock"},
    {.name = "cleanup",
     .kind = DCK_OPT_TEXT,
     .at = AT(cleanup),
     .arg = "COMMAND",
     .help = "run once after a command's last run, also when measuring failed"},
    {0},
};
#undef AT

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

/* --- "cmd:PROG ARG...": words as a shell cuts them, quotes and backslashes included, nothing else
 */

/* Cuts one word off *text into `to`; both move on. false: no word is left. */
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
		*status = err_set(err, DCK_E_ARG, __FILE__, __LINE__,
				  "a quote (%c) is opened and not closed in the command: %s", quote,
				  *text + strspn(*text, " \t\n"));
	*(*to)++ = '\0';
	*text = from;
	return true;
}

/* One block: the NULL-ended array of words, and behind it their text. */
dck_status subject_words(const char *text, char ***ret, dck_err *err)
{
	const size_t nmax = strlen(text) / 2 + 2; /* words are parted by at least one blank */
	char **words = mem_zalloc(1, nmax * sizeof *words + strlen(text) + 2);
	const char *rest = text;
	dck_status status = DCK_OK;
	size_t n = 0;
	char *to;

	if (!words)
		DCK_FAIL(err, E_NOMEM, "no memory for the command");
	to = (char *)(words + nmax);
	for (char *word = to; word_cut(&rest, &to, &status, err); word = to)
		words[n++] = word;
	if (status == DCK_OK && n == 0)
		status = err_set(err, DCK_E_ARG, __FILE__, __LINE__,
				 "'cmd:' has no command: write 'cmd:PROG ARG...'");
	if (status != DCK_OK) {
		mem_free(words);
		return status;
	}
	*ret = words;
	return DCK_OK;
}

/* --- schemes */

static const char *const scheme_names[] = {"cmd", "plugin", "zoo"};

/* Length of "scheme" in "scheme:rest"; 0: it has none. A drive letter or a path is none. */
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
	DCK_FAIL(
	    err, E_ARG,
	    "'%s': there is no file of that name, and no subject begins with '%s:'%s%s%s: give "
	    "a file, zoo:NAME, cmd:PROG or plugin:FILE",
	    text, name, nearest ? " (did you mean '" : "", nearest ? nearest : "",
	    nearest ? ":'?)" : "");
}

static bool is(const char *text, size_t length, const char *scheme)
{
	return strlen(scheme) == length && strncmp(text, scheme, length) == 0;
}

dck_status dck_subject_parse(const char *text, dck_subject *s, void **ret_owned, dck_err *err)
{
	const size_t length = scheme_length(text);
	const char *rest = text + length + 1;
	char **words = NULL;

	if (!text[0])
		DCK_FAIL(err, E_ARG,
			 "the subject is empty: give a model, zoo:NAME, cmd:PROG or plugin:FILE");
	if (length == 0 || is(text, length, "zoo")) {
		s->kind = DCK_SUBJECT_MODEL;
		s->text = text;
	} else if (is(text, length, "plugin")) {
		if (!rest[0])
			DCK_FAIL(err, E_ARG, "'plugin:' has no file: write plugin:FILE.so");
		s->kind = DCK_SUBJECT_PLUGIN;
		s->text = rest;
	} else if (is(text, length, "cmd")) {
		DCK_TRY(subject_words(rest, &words, err));
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
