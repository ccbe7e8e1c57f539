/* completion.h - OpenAI's completions as streams: the body of a request, and what one event has.
 * Pure functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_COMPLETION_H
#define HTTP_COMPLETION_H

#include "deepclock/report.h"

typedef struct completion_ask {
	bool chat;
	const char *model;
	uint64_t prompt_length; /* words, each about one token */
	uint64_t new_tokens;
	const char *const *quoted; /* prompts instead of words, JSON values, in turn */
	size_t nquoted;		   /* 0: words */
	double shared_prefix;	   /* part of the prompt that all requests share */
	uint64_t key;		   /* of the prompts: another run has another one */
	/* Fields that not every server accepts. */
	bool ignore_eos; /* generate all tokens, whatever they are */
	bool usage;	 /* the numbers of tokens, in the last event */
} completion_ask;

/* Appends the body of request i, whose prompt no other request has, unless prompts are given. */
dck_status completion_body(const completion_ask *ask, uint64_t i, dck_buffer *to, dck_err *err);

typedef struct completion_event {
	bool done;     /* the text [DONE] */
	bool text;     /* of an answer, or of its reasoning; it may be empty */
	bool content;  /* such a text that is not empty */
	bool finished; /* a choice has a finish_reason */
	bool stopped;  /* it ended before the requested length: another reason than "length" */
	bool has_usage, has_cached;
	uint64_t prompt_tokens, completion_tokens, cached_tokens;
	bool failed;	   /* an error instead of content */
	char message[200]; /* of the error */
} completion_event;

/* Parses the data of an event, or the body of an error. E_FORMAT: it is not JSON. */
dck_status completion_event_read(const char *data, size_t n, completion_event *ret, dck_err *err);

#endif
