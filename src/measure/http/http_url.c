/* http_url.c - parses the address of a server, and a file of headers.
 *
 * Neither is quoted in a message where it may have credentials. A header is checked by the grammar
 * of RFC 9110, section 5, so that a file cannot end the head of a request; the headers that frame a
 * request are this program's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/http/http_url.h"
#include "base/err.h"
#include "base/sink.h"
#include "measure/http/http_reader.h"
#include "os/os.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX  65536
#define KEY_VARIABLE "DEEPCLOCK_API_KEY"
#define URL_EXAMPLE  "http://127.0.0.1:8000/v1/completions"

/* Where the path ends decides which protocol is spoken. */
static const struct {
	const char *end;
	http_protocol protocol;
} protocols[] = {
    {"/chat/completions", HTTP_CHAT},
    {"/completions", HTTP_COMPLETIONS},
    {"/infer", HTTP_KSERVE},
};

static dck_status protocol_find(http_url *u, dck_err *err)
{
	static const char before[] = "/v2/models/";
	const size_t n = strlen(u->path);
	const char *model = strstr(u->path, before);
	size_t len;

	for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
		const size_t end = strlen(protocols[i].end);

		if (n < end || strcmp(u->path + n - end, protocols[i].end) != 0)
			continue;
		u->protocol = protocols[i].protocol;
		if (u->protocol != HTTP_KSERVE)
			return DCK_OK;
		model = model ? model + strlen(before) : NULL;
		len = model ? strcspn(model, "/") : 0;
		if (len == 0 || len >= sizeof u->model)
			break;
		memcpy(u->model, model, len);
		return DCK_OK;
	}
	DCK_FAIL(err, E_ARG,
		 "the path '%s' is not one that is known: give /v1/completions, "
		 "/v1/chat/completions or /v2/models/NAME/infer",
		 u->path);
}

/* HOST, HOST:PORT, [ADDRESS]:PORT. false: invalid. */
static bool authority_split(http_url *u)
{
	const bool literal = u->authority[0] == '[';
	const char *host = u->authority + literal;
	const char *end = literal ? strchr(host, ']') : host + strcspn(host, ":");
	const char *port = end ? end + literal : NULL;

	if (!end || end == host || (size_t)(end - host) >= sizeof u->host)
		return false;
	memcpy(u->host, host, (size_t)(end - host));
	if (*port == '\0') {
		snprintf(u->port, sizeof u->port, "%s", u->tls ? "443" : "80");
		return true;
	}
	if (*port != ':' || strlen(port + 1) > 5 || port[1] == '\0' ||
	    strspn(port + 1, "0123456789") != strlen(port + 1))
		return false;
	snprintf(u->port, sizeof u->port, "%.5s", port + 1);
	return atoi(u->port) > 0 && atoi(u->port) < 65536;
}

static bool url_is_plain(const char *text)
{
	for (; *text; text++)
		if (!isgraph((unsigned char)*text))
			return false;
	return true;
}

dck_status http_url_parse(const char *text, http_url *ret, dck_err *err)
{
	static const char scheme[] = "http://", secure[] = "https://";
	http_url u = {.tls = http_word_is(text, secure, strlen(secure))};
	const char *at = text + strlen(u.tls ? secure : scheme), *path;

	if ((!u.tls && !http_word_is(text, scheme, strlen(scheme))) || !url_is_plain(text))
		DCK_FAIL(err, E_ARG, "--url is not an address such as " URL_EXAMPLE);
	if (strchr(at, '@') || strchr(at, '?') || strchr(at, '#'))
		DCK_FAIL(err, E_ARG,
			 "--url has a user, a query or a fragment, which may be secret and would "
			 "be in the record: give credentials by --header-file");
	path = at + strcspn(at, "/");
	if ((size_t)(path - at) >= sizeof u.authority || strlen(path) >= sizeof u.path)
		DCK_FAIL(err, E_ARG, "--url is too long");
	memcpy(u.authority, at, (size_t)(path - at));
	memcpy(u.path, path, strlen(path));
	if (!authority_split(&u))
		DCK_FAIL(err, E_ARG,
			 "--url has no valid host and port: give one such as " URL_EXAMPLE);
	DCK_TRY(protocol_find(&u, err));
	*ret = u;
	return DCK_OK;
}

/* --- headers */

/* Headers that this program sets. */
static bool header_is_ours(const char *name, size_t n)
{
	static const char *const ours[] = {"Host",	     "Content-Length", "Transfer-Encoding",
					   "Connection",     "Content-Type",   "Accept",
					   "Accept-Encoding"};

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (strlen(ours[i]) == n && http_word_is(name, ours[i], n))
			return true;
	return false;
}

static dck_status header_check(const char *line, size_t n, const char *path, unsigned number,
			       dck_err *err)
{
	const char *colon = memchr(line, ':', n);
	const size_t name = colon ? (size_t)(colon - line) : 0;
	bool valid = name > 0;

	for (size_t i = 0; i < name; i++)
		valid &= isalnum((unsigned char)line[i]) || strchr("-_.!#$%&'*+^`|~", line[i]);
	for (size_t i = 0; i < n; i++)
		valid &= (unsigned char)line[i] >= ' ' || line[i] == '\t';
	if (!valid)
		DCK_FAIL(err, E_FORMAT, "'%s', line %u is not a header: write it as Name: value",
			 path, number);
	if (header_is_ours(line, name))
		DCK_FAIL(err, E_ARG, "'%s', line %u: '%.*s' is set by this program: remove it",
			 path, number, (int)name, line);
	return DCK_OK;
}

bool http_headers_have(const char *lines, const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = lines; at && *at; at = strchr(at, '\n'), at += at != NULL)
		if (http_word_is(at, name, n) && at[n] == ':')
			return true;
	return false;
}

static dck_status headers_copy(const dck_buffer *text, const char *path, dck_sink *to, dck_err *err)
{
	const char *at = text->data;
	size_t left = text->n;

	for (unsigned number = 1; left > 0; number++) {
		const char *end = memchr(at, '\n', left);
		const size_t line = end ? (size_t)(end - at) : left;
		const size_t n = line > 0 && at[line - 1] == '\r' ? line - 1 : line;

		if (n > 0) {
			DCK_TRY(header_check(at, n, path, number, err));
			sink_put(to, at, n);
			sink_text(to, "\r\n");
		}
		at += line + (end != NULL);
		left -= line + (end != NULL);
	}
	return DCK_OK;
}

dck_status http_headers_read(const char *path, dck_buffer *to, dck_err *err)
{
	const char *key = secure_getenv(KEY_VARIABLE);
	dck_buffer text = {0};
	dck_status status = DCK_OK;
	dck_sink sink;

	dck_sink_buffer(&sink, to);
	if (path) {
		DCK_TRY(os_read_text(path, HEADERS_MAX, &text, err));
		status = headers_copy(&text, path, &sink, err);
		if (status == DCK_OK && key && *key &&
		    http_headers_have(text.data, "Authorization"))
			status = ERR_SET(err, E_ARG,
					 "'%s' has Authorization, and " KEY_VARIABLE
					 " is set, which would be a second one: remove one of them",
					 path);
		dck_buffer_done(&text);
		DCK_TRY(status);
	}
	if (key && *key) {
		if (!url_is_plain(key))
			DCK_FAIL(err, E_ARG, KEY_VARIABLE " has a blank or a control character");
		sink_fmt(&sink, "Authorization: Bearer %s\r\n", key);
	}
	return dck_sink_finish(&sink, err);
}
