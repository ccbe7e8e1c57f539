/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/latency_limit.h"
#include "base/decimal.h"
#include "base/err.h"
#include "base/percentile.h"
#include "base/sink.h"
#include "base/units.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static dck_status limit_refuse(const char *text, const char *why, dck_err *err)
{
	DCK_FAIL(err, E_ARG,
		 "--slo is '%.40s': %s; write it as STAT<=TIME, such as p99<=20ms; STAT is mean, "
		 "max, median or a percentile from p50 to p99.99",
		 text, why);
}

/* n bytes without their blanks, or with those `inside`; false: they do not fit. */
static bool blanks_strip(const char *text, size_t n, bool inside, char *to, size_t size)
{
	size_t used = 0;

	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	for (size_t i = 0; i < n; i++) {
		if (isspace((unsigned char)text[i]) && (used == 0 || !inside))
			continue;
		if (used + 1 >= size)
			return false;
		to[used++] = text[i];
	}
	to[used] = '\0';
	return true;
}

/* Reads "ttft-" or "tpot-" and returns the rest. */
static const char *limit_quantity_read(const char *word, latency_limit *l)
{
	static const char *const prefixes[] = {[LIMIT_TTFT] = "ttft-", [LIMIT_TPOT] = "tpot-"};

	for (int i = LIMIT_TTFT; i <= LIMIT_TPOT; i++)
		if (strncmp(word, prefixes[i], strlen(prefixes[i])) == 0) {
			l->quantity = (limit_quantity)i;
			return word + strlen(prefixes[i]);
		}
	return word;
}

/* Different words for one statistic, such as p50 and median, become one. */
static const char *limit_statistic_read(const char *word, latency_limit *l)
{
	if (strcmp(word, "mean") == 0 || strcmp(word, "max") == 0) {
		l->kind = word[1] == 'e' ? LIMIT_MEAN : LIMIT_MAX;
		snprintf(l->statistic, sizeof l->statistic, "%s",
			 l->kind == LIMIT_MEAN ? "mean" : "max");
		return NULL;
	}
	l->kind = LIMIT_PERCENTILE;
	if (!percentile_parse(word, &l->p))
		return "that statistic is not known";
	if (!(l->p >= PERCENTILE_LEAST && l->p <= PERCENTILE_MOST))
		return "that percentile is out of range";
	if (percentile_is(l->p, 0.5))
		snprintf(l->statistic, sizeof l->statistic, "median");
	else
		snprintf(l->statistic, sizeof l->statistic, "p%.30s", DECIMAL_TEXT(9, 100 * l->p));
	return NULL;
}

static const char preset_prefix[] = "mlperf:";
static const char of_servers[] = "only servers by 'load --url' have TTFT and TPOT";

dck_status latency_limit_parse(const char *text, bool generates, latency_limit *ret, dck_err *err)
{
	const char *less = strchr(text, '<'), *limit, *statistic, *why;
	char word[16], time[20];
	latency_limit l = {0};
	uint64_t ns;

	if (!generates && strncmp(text, preset_prefix, strlen(preset_prefix)) == 0)
		return limit_refuse(text, of_servers, err);
	if (!less)
		return limit_refuse(text, "it has no '<='", err);
	limit = less + (less[1] == '=' ? 2 : 1);
	if (!blanks_strip(text, (size_t)(less - text), true, word, sizeof word) ||
	    !blanks_strip(limit, strlen(limit), false, time, sizeof time))
		return limit_refuse(text, "it is too long", err);
	if (units_parse_time(time, &ns, NULL) != DCK_OK || ns == 0)
		return limit_refuse(text, "the limit is not a time above 0, as in 50ms", err);
	statistic = limit_quantity_read(word, &l);
	why = l.quantity != LIMIT_LATENCY && !generates ? of_servers
							: limit_statistic_read(statistic, &l);
	if (why)
		return limit_refuse(text, why, err);
	if (statistic > word) {
		char plain[sizeof l.statistic];

		memcpy(plain, l.statistic, sizeof plain);
		snprintf(l.statistic, sizeof l.statistic, "%.5s%.24s", word, plain);
	}
	l.ns = (double)ns;
	snprintf(l.text, sizeof l.text, "%s<=%s", word, time);
	*ret = l;
	return DCK_OK;
}

/* Limits at the 99th percentile, in ms: mlcommons/inference_policies, inference_rules.adoc, July
 * 2026. */
static const struct limit_preset {
	const char *name;
	unsigned ttft_ms, tpot_ms;
} limit_presets[] = {
    {"llama2-70b", 2000, 200},
    {"llama2-70b-interactive", 450, 40},
    {"llama3.1-8b", 2000, 100},
    {"llama3.1-8b-interactive", 500, 30},
    {"llama3.1-405b", 6000, 175},
    {"llama3.1-405b-interactive", 4500, 80},
    {"mixtral-8x7b", 2000, 200},
    {"deepseek-r1", 2000, 80},
    {"deepseek-r1-interactive", 1500, 15},
    {"gpt-oss-120b", 3000, 80},
    {"gpt-oss-120b-interactive", 2000, 20},
};

dck_status latency_limit_preset(const char *text, latency_limit ret[2], bool *ret_is, dck_err *err)
{
	const char *name = text + strlen(preset_prefix);
	char names[400] = "", limit[40];

	*ret_is = strncmp(text, preset_prefix, strlen(preset_prefix)) == 0;
	if (!*ret_is)
		return DCK_OK;
	for (size_t i = 0; i < sizeof limit_presets / sizeof *limit_presets; i++) {
		const struct limit_preset *p = &limit_presets[i];

		if (strcmp(p->name, name) != 0) {
			text_add(names, sizeof names, "%s%s", *names ? ", " : "", p->name);
			continue;
		}
		snprintf(limit, sizeof limit, "ttft-p99<=%ums", p->ttft_ms);
		DCK_TRY(latency_limit_parse(limit, true, &ret[0], err));
		snprintf(limit, sizeof limit, "tpot-p99<=%ums", p->tpot_ms);
		return latency_limit_parse(limit, true, &ret[1], err);
	}
	DCK_FAIL(err, E_ARG, "--slo mlperf:%.40s is not known; the names are %s", name, names);
}

const char *latency_limit_word(dck_verdict v)
{
	return v == DCK_VERDICT_MET	   ? "met"
	       : v == DCK_VERDICT_VIOLATED ? "violated"
					   : "inconclusive";
}

dck_verdict latency_limit_worse(dck_verdict a, dck_verdict b)
{
	if (a == DCK_VERDICT_VIOLATED || b == DCK_VERDICT_VIOLATED)
		return DCK_VERDICT_VIOLATED;
	return a == DCK_VERDICT_MET ? b : a;
}
