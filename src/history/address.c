/* address.c - addresses of PostgreSQL among the names of histories, and how they are shown.
 *
 * An address is a URI, or the "keyword=value" form of libpq that begins with one of its keywords,
 * so a file of that name is "./host=...". Shown is the address without passwords: of the part
 * before the last '@' of a URI only the user, so that a password with an unencoded character does
 * not appear either; without the parameters named as passwords. libpq itself reads the address.
 * Source: PostgreSQL documentation, "Connection Strings".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/database.h"
#include <ctype.h>
#include <string.h>

static const char *const schemes[] = {"postgresql://", "postgres://"};
static const char *const keywords[] = {"host",	   "hostaddr", "port",	   "dbname",  "user",
				       "password", "service",  "passfile", "sslmode", "options"};
#define HIDDEN_KEYS 2
static const char *const hidden[HIDDEN_KEYS] = {"password", "sslpassword"};

static const char *scheme_of(const char *name)
{
	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
		if (strncmp(name, schemes[i], strlen(schemes[i])) == 0)
			return schemes[i];
	return NULL;
}

/* Returns the length of the keyword that text begins with, before a '='; 0: none. */
static size_t keyword_length(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const size_t k = strlen(words[i]);

		if (strncmp(text, words[i], k) == 0 && text[k + strspn(text + k, " ")] == '=')
			return k;
	}
	return 0;
}

bool history_is_address(const char *name)
{
	return scheme_of(name) ||
	       keyword_length(name, keywords, sizeof keywords / sizeof keywords[0]) > 0;
}

bool history_address_is_doubtful(const char *name)
{
	const char *first = strchr(name, '@'), *slash;

	if (!scheme_of(name) || !first)
		return false;
	slash = strchr(name + strlen(scheme_of(name)), '/');
	return strchr(first + 1, '@') || (slash && slash < first);
}

typedef struct shown {
	char *to;
	size_t size, n;
} shown;

static void shown_put(shown *s, const char *text, size_t n)
{
	if (s->size == 0)
		return;
	if (n > s->size - 1 - s->n)
		n = s->size - 1 - s->n;
	memmove(s->to + s->n, text, n);
	s->n += n;
	s->to[s->n] = '\0';
}

/* Parameters after '?', but for the hidden ones. */
static void uri_parameters_show(shown *s, const char *p)
{
	char before = '?';

	while (*p) {
		const size_t n = strcspn(p, "&");

		if (keyword_length(p, hidden, HIDDEN_KEYS) == 0) {
			shown_put(s, &before, 1);
			shown_put(s, p, n);
			before = '&';
		}
		p += n + (p[n] == '&');
	}
}

static void uri_show(shown *s, const char *name, const char *scheme)
{
	const char *rest = name + strlen(scheme), *at = strrchr(rest, '@'), *query;

	shown_put(s, scheme, strlen(scheme));
	if (at) {
		shown_put(s, rest, strcspn(rest, ":@"));
		shown_put(s, "@", 1);
		rest = at + 1;
	}
	query = strchr(rest, '?');
	shown_put(s, rest, query ? (size_t)(query - rest) : strlen(rest));
	if (query)
		uri_parameters_show(s, query + 1);
}

/* Returns the end of a value: a word, or in single quotes; a backslash escapes. */
static const char *value_end(const char *p)
{
	const bool quoted = *p == '\'';

	for (p += quoted; *p && (quoted ? *p != '\'' : !isspace((unsigned char)*p)); p++)
		if (*p == '\\' && p[1])
			p++;
	return p + (quoted && *p);
}

static void keywords_show(shown *s, const char *p)
{
	const char *between = "";

	while (*(p += strspn(p, " \t\n"))) {
		const char *value = p + strcspn(p, "=");
		const size_t n = keyword_length(p, hidden, HIDDEN_KEYS);

		if (*value)
			value++;
		value += strspn(value, " ");
		const char *end = value_end(value);

		if (n == 0) {
			shown_put(s, between, strlen(between));
			shown_put(s, p, (size_t)(end - p));
			between = " ";
		}
		p = end;
	}
}

void history_address_show(const char *name, char *ret, size_t size)
{
	const char *scheme = scheme_of(name);
	shown s = {ret, size, 0};

	if (size > 0)
		ret[0] = '\0';
	if (scheme)
		uri_show(&s, name, scheme);
	else if (history_is_address(name))
		keywords_show(&s, name);
	else
		shown_put(&s, name, strlen(name));
}
