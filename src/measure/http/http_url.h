/* http_url.h - the address of a server, and the user's headers.
 *
 * Credentials come from a file or from the environment, never in the address, so that no record and
 * no message has them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_URL_H
#define HTTP_URL_H

#include "deepclock/report.h"

typedef enum http_protocol {
	HTTP_COMPLETIONS, /* OpenAI's /v1/completions, as a stream */
	HTTP_CHAT,	  /* /v1/chat/completions, as a stream */
	HTTP_KSERVE	  /* KServe's v2 REST: /v2/models/NAME/infer */
} http_protocol;

typedef struct http_url {
	char host[256], port[8];
	char authority[272]; /* for the header Host */
	char path[512];
	char model[256]; /* of HTTP_KSERVE */
	http_protocol protocol;
	bool tls; /* https */
} http_url;

/* Parses http://HOST[:PORT]/PATH, or https://... E_ARG: it is not one, or it has credentials, which
 * the message does not repeat. */
dck_status http_url_parse(const char *text, http_url *ret, dck_err *err);
/* Appends the lines of a file, "Name: value" each, as header lines; and "Authorization: Bearer"
 * with the value of DEEPCLOCK_API_KEY, if that is set. path NULL: no file. Messages have line
 * numbers and names, no values. */
dck_status http_headers_read(const char *path, dck_buffer *to, dck_err *err);
/* Returns whether header lines have one of that name; lines NULL: they do not. */
bool http_headers_have(const char *lines, const char *name);

#endif
