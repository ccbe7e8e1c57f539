/* cmd_zoo.c - deepclock zoo [NAME [-o FILE]]: lists the built-in networks, or writes one as ONNX.
 *
 * Without -o the networks are printed as text, or as the table "zoo" of a listing for the other
 * formats; with text on stdout the listing serves --save and --html alone.
 *
 * With -o network_save() streams the generated model through a custom sink into a temporary file,
 * which is renamed at the end, so that an interruption or a full disk leaves no partial file.
 * chunk_write() checks the signal flag before each write(2), because the largest network takes
 * seconds; it continues after EINTR and after short writes.
 *
 * With "-o -", chunk_write() sets native_code: cli_stdout_failed() then decides whether the reader
 * has only closed the pipe.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct zoo_config {
	dck_zoo_config network;
	struct zoo_output {
		const char *file;
	} output;
} zoo_config;

static const dck_opt zoo_output_options[] = {
    DCK_OPTION(TEXT, struct zoo_output, file, "out", "FILE", NULL,
	       "write the network as an ONNX file; '-': to stdout", .letter = 'o'),
    {0},
};

static const dck_zoo_entry *zoo_find(const char *name)
{
	size_t n;
	const dck_zoo_entry *all = dck_zoo(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

static unsigned widest(unsigned a, const char *text)
{
	unsigned b = cli_columns(text);

	return a > b ? a : b;
}

static void zoo_list_text(const dck_zoo_entry *all, size_t n, const dck_style *style)
{
	unsigned name = cli_columns("name"), params = cli_columns("parameters");
	char count[32];

	for (size_t i = 0; i < n; i++) {
		name = widest(name, all[i].name);
		params = widest(params, dck_text_count(all[i].params, count, sizeof count));
	}
	printf(style->colour ? "\033[1m%-*s  %*s  %s\033[0m\n" : "%-*s  %*s  %s\n", (int)name,
	       "name", (int)params, "parameters", "description and inputs");
	for (size_t i = 0; i < n; i++) {
		const unsigned column = name + params + 4;

		printf("%-*s  %*s  ", (int)name, all[i].name, (int)params,
		       dck_text_count(all[i].params, count, sizeof count));
		cli_wrap(stdout, all[i].help, column, column, style->width);
		cli_pad(stdout, 0, column);
		cli_wrap(stdout, all[i].input, column, column + 2, style->width);
	}
}

/* With text, which is already printed, the listing is for --save and --html. */
static int entries_show(const cli *c, const dck_zoo_entry *all, size_t n)
{
	static const dck_column columns[] = {{"name", "name", DCK_UNIT_NONE},
					     {"parameters", "parameters", DCK_UNIT_ONE},
					     {"input", "input", DCK_UNIT_NONE},
					     {"help", "what it is", DCK_UNIT_NONE},
					     {"source", "source", DCK_UNIT_NONE}};
	cli_listing l = {0};

	CLI_LISTING_TABLE(&l, "zoo", "Built-in networks", columns);
	for (size_t i = 0; i < n; i++) {
		cli_listing_text(&l, all[i].name);
		cli_listing_int(&l, all[i].params);
		cli_listing_text(&l, all[i].input);
		cli_listing_text(&l, all[i].help);
		cli_listing_text(&l, all[i].source);
	}
	return cli_listing_keep(c, &l);
}

static void entry_text(const dck_zoo_entry *e, const dck_style *style)
{
	char count[32];
	const cli_item rows[] = {
	    {"what", e->help},
	    {"parameters", dck_text_count(e->params, count, sizeof count)},
	    {"input", e->input},
	    {"source", e->source ? e->source : "none"},
	};

	puts(e->name);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		printf("  %-10s  ", rows[i].term);
		cli_wrap(stdout, rows[i].text, 14, 14, style->width);
	}
}

/* Writes to a descriptor, and stops at an interruption: the largest network takes seconds. */
static dck_status chunk_write(void *self, const void *bytes, size_t n, dck_err *err)
{
	const cli_file *f = self;
	const char *p = bytes;

	while (n > 0) {
		ssize_t wrote;

		if (cli_signal_seen())
			return cli_err(err, DCK_E_CANCEL, "interrupted; '%s' was not written",
				       f->path);
		wrote = write(f->fd, p, n);
		if (wrote < 0 && errno != EINTR && f->fd == STDOUT_FILENO) {
			const int why = errno;

			cli_err(err, DCK_E_IO, "cannot write to standard output");
			err->native_code = why;
			return err->code;
		}
		if (wrote < 0 && errno != EINTR)
			return cli_err(err, DCK_E_IO, "cannot write the output: %s",
				       strerror(errno));
		if (wrote > 0) {
			p += wrote;
			n -= (size_t)wrote;
		}
	}
	return DCK_OK;
}

static dck_status network_write(const char *name, const zoo_config *cfg, cli_file *f, dck_err *err)
{
	dck_sink sink;
	dck_status status;

	dck_sink_custom(&sink, chunk_write, f);
	status = dck_zoo_write(name, &cfg->network, &sink, err);
	return cli_file_end(f, &sink, status, err);
}

static int network_save(const cli *c, const zoo_config *cfg, const char *name)
{
	const bool standard = strcmp(cfg->output.file, "-") == 0;
	cli_file f;
	dck_err err;

	if (standard && isatty(STDOUT_FILENO))
		return cli_usage(c, "an ONNX file is binary and stdout is a terminal: "
				    "redirect it or give -o FILE");
	cli_signals_install();
	if (cli_file_open(&f, cfg->output.file, &err) != DCK_OK ||
	    network_write(name, cfg, &f, &err) != DCK_OK)
		return standard && err.native_code > 0 ? cli_stdout_failed((int)err.native_code)
						       : cli_failed(&err);
	if (c->common.verbose)
		cli_message("wrote %s", f.path);
	return CLI_OK;
}

static int zoo_unknown(const cli *c, const char *name)
{
	const char *names[64];
	size_t n = 0;

	while (n < 64 && cli_zoo_word(n)) {
		names[n] = cli_zoo_word(n);
		n++;
	}
	return cli_unknown(c, "built-in network", name, names, n, "'deepclock zoo' lists them");
}

/* Refuses options of a network that is not made: they would change nothing. */
static int zoo_sizes_refuse(const cli *c, const char *name)
{
	for (const dck_opt *o = dck_zoo_options; o->name; o++)
		if (cli_given(c, o->name))
			return name ? cli_usage(
					  c,
					  "--%s is of the network that is written: add -o FILE "
					  "('deepclock cost FILE' counts it)",
					  o->name)
				    : cli_usage(c,
						"--%s is of one network: give its NAME and -o FILE",
						o->name);
	return CLI_OK;
}

static int zoo_run(cli *c, void *config)
{
	const zoo_config *cfg = config;
	dck_style style = cli_style(&c->common, STDOUT_FILENO);
	const dck_zoo_entry *entry;
	const char *name;
	size_t n;

	if (c->nargs == 0) {
		const dck_zoo_entry *all = dck_zoo(&n);

		if (cfg->output.file)
			return cli_usage(
			    c, "-o needs the NAME of a network; 'deepclock zoo' lists them");
		if (zoo_sizes_refuse(c, NULL) != CLI_OK)
			return CLI_USAGE;
		if (c->format.format == CLI_TEXT)
			zoo_list_text(all, n, &style);
		return entries_show(c, all, n);
	}
	name = strncmp(c->args[0], "zoo:", 4) == 0 ? c->args[0] + 4 : c->args[0];
	entry = zoo_find(name);
	if (!entry)
		return zoo_unknown(c, name);
	if (cfg->output.file && (c->output.save || c->output.html || c->format.format != CLI_TEXT))
		return cli_usage(c, "-o writes the network alone: leave out --save, --html and "
				    "--format");
	if (cfg->output.file)
		return network_save(c, cfg, name);
	if (zoo_sizes_refuse(c, name) != CLI_OK)
		return CLI_USAGE;
	if (c->format.format == CLI_TEXT)
		entry_text(entry, &style);
	return entries_show(c, entry, 1);
}

/* --out of this command writes the network; that of the shared group would write the result. */
static const char *const zoo_first_only[] = {"out", NULL};

const cli_command cmd_zoo = {
    .name = "zoo",
    .summary = "list the built-in networks, or write one as an ONNX file",
    .usage = {"[OPTION]...", "[OPTION]... NAME [-o FILE.onnx]"},
    .about = "Networks that need no download: their weights are made on the spot from a seed, "
	     "so they compute nothing useful, at the cost of the real ones. "
	     "'zoo:NAME' names one wherever a model is expected.",
    .examples = {{"deepclock zoo", "list the networks"},
		 {"deepclock zoo resnet18 -o resnet18.onnx", "write one as an ONNX file"},
		 {"deepclock zoo bert_mini --symbolic -o bert.onnx", "with open dimensions"}},
    .groups = {{"Output", zoo_output_options, offsetof(zoo_config, output), false},
	       CLI_RESULT,
	       CLI_KEPT,
	       {"Network", dck_zoo_options, offsetof(zoo_config, network), false}},
    .first_only = zoo_first_only,
    .config_size = sizeof(zoo_config),
    .max_args = 1,
    .arg = "NAME",
    .words = &(const cli_words){.prefix = "", .get = cli_zoo_word},
    .run = zoo_run,
};
