/* server_session.h - a server under measurement: its address and headers, the prompts, the client
 * that measures it, and what that client itself costs.
 *
 *	DCK_TRY(server_session_open(&s, &config, NULL, clock, watch, err));
 *	DCK_TRY(server_session_calibrate(&s, err));
 *	DCK_TRY(http_client_run(&s.client, &plan, err));
 *	... server_answer_ttft(&s.client.answers[0]) ...
 *	server_session_close(&s);
 *
 * An open session has answered a request. Its prompts are functions of the nonce and of the number
 * of a request: two sessions of one nonce send the same ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_SERVER_SESSION_H
#define SERVER_SERVER_SESSION_H

#include "deepclock/load.h"
#include "measure/http/completion.h"
#include "measure/http/http_client.h"
#include "measure/http/http_url.h"
#include "measure/http/tls_link.h"
#include "measure/prompts/prompt_texts.h"

typedef struct server_session {
	const dck_load_config *config; /* borrowed: url, served_model, prompts, headers, timeout */
	http_url address;
	dck_buffer headers;   /* owned; may have credentials */
	prompt_texts prompts; /* owned; of --prompt-file */
	completion_ask ask;
	dck_buffer tensors; /* owned: the body of every request to an ordinary model */
	bool generates;
	http_client client;
	char nonce[20]; /* of the prompts of this run */
	/* The client alone, of its null server; 0: not known. */
	double floor_ns, highest_rate;
	uint64_t probes;	/* requests before the measurement */
	uint64_t warmup_failed; /* of those */
	double probe_ns;	/* of the last that was answered: end - begin */
	http_answer probe;	/* that one */
} server_session;

/* Reads the address of a server, and refuses options of prompts for one that takes none. */
dck_status server_config_check(const dck_load_config *c, http_url *ret_address, dck_err *err);
/* Opens a server: reads headers, finds the address, and sends the first requests, and
 * config->warmup more. nonce: of the prompts; NULL: a new one. The session must stay in its place.
 * The caller calls server_session_close(), also on failure. */
dck_status server_session_open(server_session *s, const dck_load_config *c, const char *nonce,
			       const dck_clock *clock, const dck_observer *watch, dck_err *err);
void server_session_close(server_session *s); /* {0} is allowed */
/* Measures what the client itself costs, by a null server in this process. With TLS that is not
 * known. */
dck_status server_session_calibrate(server_session *s, dck_err *err);
/* Sends one request; its failure is the result. E_CANCEL: interrupted. */
dck_status server_send_one(server_session *s, dck_err *err);
/* The same with GET of another path of the server; the answer is in s->client.text. It has
 * `timeout_ns`, or --timeout if that is less. */
dck_status server_get(server_session *s, const char *path, size_t body_max, uint64_t timeout_ns,
		      dck_err *err);
/* Makes the body of request i: http_client.body. */
dck_status server_body_make(void *self, uint64_t i, dck_buffer *to, dck_err *err);
/* Returns what happens to the end of a sequence; `early`: answers ended before the requested
 * length. Static. */
const char *server_end_text(const server_session *s, bool early);

/* The quantities of an answer that is good (docs/reference/generation.md), in ns. */
bool server_answer_has_tpot(const http_answer *a);
double server_answer_ttft(const http_answer *a);
double server_answer_tpot(const http_answer *a);
double server_answer_latency(const http_answer *a);

#endif
