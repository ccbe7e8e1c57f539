/* scan.c - dck_alternatives_scan(): parameter sweeps (--scan NAME=FROM..TO:STEP or NAME=a,b,c), the
 * Cartesian product of their values substituted for {NAME} in the words of programs.
 *
 * A range is read as scaled decimal integers, so that steps of 0.1 are exact: value i is from plus
 * i times step. A subject takes part in the scans whose {NAME} its words or hooks contain. Its
 * combinations are numbered, and combination i is i in the mixed radix of these scans, the last
 * digit fastest. One set of functions (scan_out) both counts bytes and writes them: the first pass
 * finds the size, the second fills one block with alternatives, word pointers and texts, which the
 * caller frees.
 *
 * Bounds: products saturate at COUNT_MAX and at most DCK_ALTERNATIVES_MAX subjects are made; the
 * words of one have at most WORDS_BYTES_MAX bytes; INTEGERS_MAX and DECIMALS_MAX keep sums within
 * an int64_t. Values are not searched for {NAME} again. Names and hooks are lines quoted for a
 * POSIX shell.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "study/compare/keyed_values.h"
#include "measure/subject/hooks.h"
#include "deepclock/compare.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* 12 digits before the point and 6 after it: scaled by 10^6 no sum overflows an int64_t. */
enum { INTEGERS_MAX = 12, DECIMALS_MAX = 6 };
/* The words of one program; a system takes no more than 2 MiB. */
enum { WORDS_BYTES_MAX = 4 << 20 };
enum { NAME_SHORT = 60 };
#define COUNT_MAX UINT64_C(1000000000000000) /* larger counts make no sense */

static const char plain_characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789_@%+=:,./-";

typedef struct scan {
	keyed_values given; /* its key is the name; more values than alternatives are refused */
	size_t length;	    /* of the name */
	bool is_list;
	int64_t from, step;  /* of a range, scaled by 10^decimals */
	int decimals, width; /* digits after and, at least, before the point */
	uint64_t n;	     /* values */
	bool held;	     /* a word holds {NAME} */
} scan;

typedef struct scans {
	scan of[DCK_LIST_MAX];
	size_t n;
} scans;

/* One value of each scan. */
typedef struct scan_pick {
	uint64_t of[DCK_LIST_MAX];
} scan_pick;

/* --- reading NAME=FROM..TO:STEP and NAME=a,b,c */

typedef struct decimal {
	int64_t digits; /* the number, scaled by 10^decimals */
	int decimals, integers;
	bool padded; /* as 08 is */
} decimal;

/* Reads a number and moves *text after it. false: no number. */
static bool decimal_read(const char **text, decimal *ret)
{
	const char *at = *text;
	const bool negative = *at == '-';
	decimal d = {0};

	at += negative;
	d.padded = at[0] == '0' && at[1] >= '0' && at[1] <= '9';
	for (; *at >= '0' && *at <= '9' && d.integers <= INTEGERS_MAX; at++, d.integers++)
		d.digits = 10 * d.digits + (*at - '0');
	/* "1..4": these points do not belong to the number. */
	if (at[0] == '.' && at[1] >= '0' && at[1] <= '9')
		for (at++; *at >= '0' && *at <= '9' && d.decimals <= DECIMALS_MAX;
		     at++, d.decimals++)
			d.digits = 10 * d.digits + (*at - '0');
	if (d.integers == 0 || d.integers > INTEGERS_MAX || d.decimals > DECIMALS_MAX)
		return false;
	if (negative)
		d.digits = -d.digits;
	*text = at;
	*ret = d;
	return true;
}

static int64_t scan_scaled(const decimal *d, int decimals)
{
	int64_t x = d->digits;

	for (int i = d->decimals; i < decimals; i++)
		x *= 10;
	return x;
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static dck_status range_read(const char *text, const char *range, scan *s, dck_err *err)
{
	const char *at = range;
	decimal from, to, step = {.digits = 1};
	int64_t first, last, by;
	int decimals;
	bool has_step = false;
	bool ok = decimal_read(&at, &from) && strncmp(at, "..", 2) == 0;

	at += ok ? 2 : 0;
	ok = ok && decimal_read(&at, &to);
	if (ok && *at == ':') {
		at++;
		has_step = true;
		ok = decimal_read(&at, &step);
	}
	if (!ok || *at)
		DCK_FAIL(err, E_ARG,
			 "--scan %s: write a range as FROM..TO or FROM..TO:STEP, "
			 "with numbers such as 1, -2 or 0.5 of at most %d digits and %d decimals",
			 text, INTEGERS_MAX, DECIMALS_MAX);
	if (!has_step && from.decimals + to.decimals > 0)
		DCK_FAIL(err, E_ARG, "--scan %s: a range of decimals needs its step: %s:0.1", text,
			 text);
	decimals = larger(larger(from.decimals, to.decimals), step.decimals);
	first = scan_scaled(&from, decimals);
	last = scan_scaled(&to, decimals);
	by = scan_scaled(&step, decimals);
	if (!has_step && last < first)
		by = -by;
	if (by == 0 || (by > 0 && last < first) || (by < 0 && last > first))
		DCK_FAIL(err, E_ARG, "--scan %s: a step of %s never leads from FROM to TO", text,
			 strrchr(text, ':') + 1);
	s->n = (uint64_t)((last - first) / by) + 1;
	/* The values have the decimals of FROM and STEP, not of TO. */
	s->decimals = larger(from.decimals, step.decimals);
	s->from = scan_scaled(&from, s->decimals);
	s->step = (by < 0) == (step.digits < 0) ? scan_scaled(&step, s->decimals)
						: -scan_scaled(&step, s->decimals);
	s->width = from.padded || to.padded ? larger(from.integers, to.integers) : 1;
	return DCK_OK;
}

static dck_status scan_read(const char *text, scan *s, dck_err *err)
{
	static const char form[] = "NAME=FROM..TO, NAME=FROM..TO:STEP or NAME=VALUE,VALUE";
	const char *value;

	DCK_TRY(keyed_values_read("--scan", form, text, &s->given, err));
	if (strpbrk(s->given.key, "{}"))
		DCK_FAIL(err, E_ARG, "--scan is '%s': write it as %s", text, form);
	s->length = strlen(s->given.key);
	value = s->given.value[0];
	/* "../a" is the name of a file. */
	if (s->given.n == 1 && strstr(value, "..") && !strchr(value, ',') &&
	    (!strchr(value, '/') || strchr("-0123456789", value[0])))
		return range_read(text, value, s, err);
	s->is_list = true;
	s->n = s->given.n;
	return DCK_OK;
}

static dck_status scans_read(const dck_list *list, scans *ret, dck_err *err)
{
	ret->n = list->n;
	for (size_t i = 0; i < list->n; i++) {
		scan *s = &ret->of[i];

		DCK_TRY(scan_read(list->item[i], s, err));
		for (size_t k = 0; k < i; k++)
			if (strcmp(ret->of[k].given.key, s->given.key) == 0)
				DCK_FAIL(err, E_ARG, "--scan gives {%s} its values twice",
					 s->given.key);
	}
	return DCK_OK;
}

/* --- writing words */

/* An output that counts all bytes and stores the first ones, up to its capacity. */
typedef struct scan_out {
	char *to; /* NULL: counts alone */
	size_t n, cap;
	bool odd;     /* a character that a shell may interpret */
	bool quoting; /* inside '...' */
} scan_out;

static void out_bytes(scan_out *o, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (o->to && o->n < o->cap)
			o->to[o->n] = text[i];
		o->n++;
	}
}

static void out_add(scan_out *o, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		o->odd |= !text[i] || !strchr(plain_characters, text[i]);
		if (o->quoting && text[i] == '\'')
			out_bytes(o, "'\\''", 4);
		else
			out_bytes(o, text + i, 1);
	}
}

static void out_value(scan_out *o, const scan *s, uint64_t i)
{
	char text[64];
	int64_t x, unit = 1;
	int n;

	if (s->is_list) {
		out_add(o, s->given.value[i], strlen(s->given.value[i]));
		return;
	}
	x = s->from + (int64_t)i * s->step;
	for (int k = 0; k < s->decimals; k++)
		unit *= 10;
	n = snprintf(text, sizeof text, "%s%0*" PRId64, x < 0 ? "-" : "", s->width,
		     (x < 0 ? -x : x) / unit);
	if (s->decimals > 0)
		n += snprintf(text + n, sizeof text - (size_t)n, ".%0*" PRId64, s->decimals,
			      (x < 0 ? -x : x) % unit);
	out_add(o, text, (size_t)n);
}

/* Returns the scan whose {NAME} begins the text; NULL: none does. */
static scan *scan_at(scans *all, const char *text)
{
	for (size_t i = 0; *text == '{' && i < all->n; i++) {
		scan *s = &all->of[i];

		if (strncmp(text + 1, s->given.key, s->length) == 0 && text[1 + s->length] == '}')
			return s;
	}
	return NULL;
}

/* Writes a word with values for its {NAME}s; braces in a value stay as they are. A word that is too
 * long is not counted to its end. */
static void out_word(scan_out *o, scans *all, const scan_pick *pick, const char *word)
{
	while (*word && (o->to || o->n <= WORDS_BYTES_MAX)) {
		const scan *s = scan_at(all, word);

		if (s)
			out_value(o, s, pick->of[s - all->of]);
		else
			out_add(o, word, 1);
		word += s ? s->length + 2 : 1;
	}
}

/* Writes the words as one line, quoted so that it splits into the same words again. */
static void out_line(scan_out *o, scans *all, const scan_pick *pick, char *const *words)
{
	for (char *const *word = words; *word; word++) {
		scan_out probe = {.to = NULL};

		out_word(&probe, all, pick, *word);
		out_bytes(o, " ", word != words);
		o->quoting = probe.odd || probe.n == 0;
		out_bytes(o, "'", o->quoting);
		out_word(o, all, pick, *word);
		out_bytes(o, "'", o->quoting);
		o->quoting = false;
	}
}

static void out_end(scan_out *o)
{
	out_bytes(o, "", 1);
}

/* --- subjects */

#define HOOKS 3
static const struct {
	const char *name;
	size_t at;
} hooks[HOOKS] = {{"setup", offsetof(dck_command_config, setup)},
		  {"prepare", offsetof(dck_command_config, prepare)},
		  {"cleanup", offsetof(dck_command_config, cleanup)}};

/* A given subject: which of the scans it contains, and its hooks as words. */
typedef struct scan_base {
	const dck_subject *subject;
	bool held[DCK_LIST_MAX];
	char **hook[HOOKS]; /* NULL: no hook, or one without a scan */
	size_t nwords;
	uint64_t n; /* subjects that are made of it */
} scan_base;

typedef struct scan_job {
	scans scans;
	scan_base base[DCK_ALTERNATIVES_MAX];
	size_t nbases;
} scan_job;

static const char **hook_line(dck_command_config *c, size_t i)
{
	return (const char **)(void *)((char *)c + hooks[i].at);
}

static bool scan_holds(scans *all, scan_base *b, const char *text)
{
	bool found = false;

	for (; *text; text++) {
		scan *s = scan_at(all, text);

		if (!s)
			continue;
		s->held = b->held[s - all->of] = found = true;
	}
	return found;
}

static dck_status base_read(scan_job *j, const dck_subject *subject, scan_base *b, dck_err *err)
{
	dck_command_config c = subject->command;

	b->subject = subject;
	b->n = 1;
	if (subject->kind != DCK_SUBJECT_COMMAND)
		return DCK_OK;
	for (; subject->argv[b->nwords]; b->nwords++)
		(void)scan_holds(&j->scans, b, subject->argv[b->nwords]);
	for (size_t i = 0; i < HOOKS; i++) {
		const char *line = *hook_line(&c, i);

		if (!line || !scan_holds(&j->scans, b, line))
			continue;
		const dck_status status = subject_words(line, &b->hook[i], err);
		if (status != DCK_OK)
			return err_while(err, status, "reading --%s '%s'", hooks[i].name, line);
	}
	return DCK_OK;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	return a > COUNT_MAX / b ? COUNT_MAX : a * b;
}

/* Counts the subjects that will be made. */
static dck_status job_count(scan_job *j, size_t *ret_n, dck_err *err)
{
	uint64_t all = 0;
	bool commands = false;

	for (size_t i = 0; i < j->nbases; i++)
		commands |= j->base[i].subject->kind == DCK_SUBJECT_COMMAND;
	if (!commands)
		DCK_FAIL(err, E_ARG,
			 "--scan gives words of programs their values; "
			 "settings of a model are compared by 'compare --vary OPTION=V,V'");
	for (size_t k = 0; k < j->scans.n; k++)
		if (!j->scans.of[k].held)
			DCK_FAIL(err, E_ARG,
				 "no word holds {%s}, which --scan gives its values: "
				 "write it in the program's words",
				 j->scans.of[k].given.key);
	for (size_t i = 0; i < j->nbases; i++) {
		for (size_t k = 0; k < j->scans.n; k++)
			if (j->base[i].held[k])
				j->base[i].n = times(j->base[i].n, j->scans.of[k].n);
		all += j->base[i].n;
	}
	if (all > DCK_ALTERNATIVES_MAX)
		DCK_FAIL(err, E_ARG,
			 "--scan makes %s%" PRIu64
			 " subjects, and at most %d are measured together: "
			 "give fewer values, or a larger step",
			 all >= COUNT_MAX ? "more than " : "", all < COUNT_MAX ? all : COUNT_MAX,
			 DCK_ALTERNATIVES_MAX);
	*ret_n = (size_t)all;
	return DCK_OK;
}

/* The last scan changes fastest. */
static scan_pick pick_make(const scan_job *j, const scan_base *b, uint64_t i)
{
	scan_pick pick = {{0}};

	for (size_t k = j->scans.n; k-- > 0;) {
		if (!b->held[k])
			continue;
		pick.of[k] = i % j->scans.of[k].n;
		i /= j->scans.of[k].n;
	}
	return pick;
}

/* All alternatives and their storage: words, followed by the text. */
typedef struct scan_result {
	dck_alternative all[DCK_ALTERNATIVES_MAX];
	dck_subject of[DCK_ALTERNATIVES_MAX];
	char name[DCK_ALTERNATIVES_MAX][160];
	char *words[];
} scan_result;

/* Ends a name of n bytes; one that is too long ends in ".." after a whole character. */
static void name_cut(char *name, size_t size, size_t n)
{
	if (n < size) {
		name[n] = '\0';
		return;
	}
	memcpy(name + utf8_cut(name, size - 3), "..", 3);
}

/* Names a subject: the command line where it is short, else "n=4 m=x", after the beginning of the
 * line where there are several subjects. */
static void scan_name_make(scan_job *j, const scan_base *b, const scan_pick *pick, char *name,
			   size_t size)
{
	scan_out o = {.to = name, .cap = size};
	char begin[NAME_SHORT / 2];

	if (b->subject->kind == DCK_SUBJECT_COMMAND)
		out_line(&o, &j->scans, pick, b->subject->argv);
	else
		out_add(&o, b->subject->text ? b->subject->text : "function",
			b->subject->text ? strlen(b->subject->text) : 8);
	if (o.n > NAME_SHORT && b->n > 1) {
		memcpy(begin, name, sizeof begin);
		name_cut(begin, sizeof begin, o.n);
		o = (scan_out){.to = name, .cap = size};
		if (j->nbases > 1)
			out_bytes(&o, begin, strlen(begin));
		for (size_t k = 0; k < j->scans.n; k++) {
			if (!b->held[k])
				continue;
			out_bytes(&o, " ", o.n > 0);
			out_bytes(&o, j->scans.of[k].given.key, j->scans.of[k].length);
			out_bytes(&o, "=", 1);
			out_value(&o, &j->scans.of[k], pick->of[k]);
		}
	}
	name_cut(name, size, o.n);
}

/* Gives equal names different numbers. A numbered name is checked again, because it may be taken.
 */
static void names_part(scan_result *r, size_t i)
{
	const size_t most = sizeof r->name[i] - sizeof " (16)";
	char first[sizeof r->name[i]];
	size_t same = 0;

	memcpy(first, r->name[i], sizeof first);
	for (size_t k = 0; k < i; k++) {
		if (strcmp(r->name[k], r->name[i]) != 0)
			continue;
		name_cut(strcpy(r->name[i], first), most, strlen(first));
		snprintf(r->name[i] + strlen(r->name[i]), sizeof " (16)", " (%zu)", ++same + 1);
		k = (size_t)-1;
	}
}

/* Writes words and text of one subject; s and words NULL: counts them. */
static void subject_write(scan_job *j, const scan_base *b, const scan_pick *pick, dck_subject *s,
			  char **words, scan_out *o)
{
	if (b->subject->kind != DCK_SUBJECT_COMMAND)
		return;
	for (size_t w = 0; w < b->nwords; w++) {
		if (words)
			words[w] = o->to + o->n;
		out_word(o, &j->scans, pick, b->subject->argv[w]);
		out_end(o);
	}
	for (size_t i = 0; i < HOOKS; i++) {
		if (!b->hook[i])
			continue;
		if (s)
			*hook_line(&s->command, i) = o->to + o->n;
		out_line(o, &j->scans, pick, b->hook[i]);
		out_end(o);
	}
	if (s) {
		s->argv = words;
		s->text = NULL; /* its words are its name */
	}
}

static dck_status job_size(scan_job *j, size_t *ret_words, size_t *ret_bytes, dck_err *err)
{
	*ret_words = *ret_bytes = 0;
	for (size_t i = 0; i < j->nbases; i++)
		for (uint64_t k = 0; k < j->base[i].n; k++) {
			const scan_pick pick = pick_make(j, &j->base[i], k);
			scan_out o = {.to = NULL};

			subject_write(j, &j->base[i], &pick, NULL, NULL, &o);
			if (o.n > WORDS_BYTES_MAX)
				DCK_FAIL(err, E_ARG,
					 "--scan makes a program's words longer than %d MiB",
					 WORDS_BYTES_MAX >> 20);
			*ret_bytes += o.n;
			*ret_words += j->base[i].nwords + 1;
		}
	return DCK_OK;
}

static dck_status job_write(scan_job *j, size_t n, scan_result **ret, dck_err *err)
{
	size_t nwords, nbytes, at = 0;
	scan_result *r;
	char **words;
	scan_out o;

	DCK_TRY(job_size(j, &nwords, &nbytes, err));
	r = mem_zalloc(1, sizeof *r + nwords * sizeof r->words[0] + nbytes);
	DCK_NEED(r, err, "for %zu programs", n);
	words = r->words;
	o = (scan_out){.to = (char *)(r->words + nwords), .cap = nbytes};
	for (size_t i = 0; i < j->nbases; i++)
		for (uint64_t k = 0; k < j->base[i].n; k++, at++) {
			const scan_base *b = &j->base[i];
			const scan_pick pick = pick_make(j, b, k);

			r->of[at] = *b->subject;
			subject_write(j, b, &pick, &r->of[at], words, &o);
			words += b->nwords + 1;
			scan_name_make(j, b, &pick, r->name[at], sizeof r->name[at]);
			names_part(r, at);
			r->all[at] = (dck_alternative){r->name[at], &r->of[at]};
		}
	*ret = r;
	return DCK_OK;
}

dck_status dck_alternatives_scan(const dck_subject *subjects, size_t nsubjects,
				 const dck_list *scan_list, dck_alternative **ret, size_t *ret_n,
				 dck_err *err)
{
	scan_result *r = NULL;
	dck_status status;
	scan_job *j;
	size_t n = 0;

	if (nsubjects == 0 || nsubjects > DCK_ALTERNATIVES_MAX)
		DCK_FAIL(err, E_ARG, "%zu subjects: give 1 to %d", nsubjects, DCK_ALTERNATIVES_MAX);
	j = mem_zalloc(1, sizeof *j);
	DCK_NEED(j, err, "for --scan");
	status = scans_read(scan_list, &j->scans, err);
	for (; status == DCK_OK && j->nbases < nsubjects; j->nbases++)
		status = base_read(j, &subjects[j->nbases], &j->base[j->nbases], err);
	DCK_NEXT(status, job_count(j, &n, err));
	DCK_NEXT(status, job_write(j, n, &r, err));
	for (size_t i = 0; i < j->nbases; i++)
		for (size_t k = 0; k < HOOKS; k++)
			mem_free(j->base[i].hook[k]);
	for (size_t i = 0; i < j->scans.n; i++)
		keyed_values_done(&j->scans.of[i].given);
	mem_free(j);
	DCK_TRY(status);
	*ret = r->all;
	*ret_n = n;
	return DCK_OK;
}
