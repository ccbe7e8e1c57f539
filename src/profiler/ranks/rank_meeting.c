/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_meeting.h"

#include "base/err.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char meeting_head[] = "deepclock ranks 1";

/* Ports that no system uses for outgoing connections. */
enum { PORT_FIRST = 16384, PORT_COUNT = 16384 };

static uint64_t job_hash(const os_job *job, const char *more)
{
	uint64_t h = hash_text(HASH_START, job->launcher ? job->launcher : "");

	h = hash_text(h, job->address);
	h = hash_text(h, "\n");
	h = hash_text(h, job->id);
	return hash_text(hash_text(h, "\n"), more ? more : "");
}

/* The job's id is all that its processes have in common, unless the user gives a secret. */
static void token_derive(const os_job *job, rank_meeting *m)
{
	const char *secret = getenv("DEEPCLOCK_RANKS_TOKEN");
	const uint64_t h = job_hash(job, secret);

	snprintf(m->token, sizeof m->token, "%016llx%016llx", (unsigned long long)h,
		 (unsigned long long)hash_text(h, secret ? secret : ""));
}

/* HOST:PORT; [::1]:PORT. false: it is not one. */
static bool host_port_read(const char *text, rank_meeting *m)
{
	const char *colon = strrchr(text, ':');
	char *end;
	size_t n = colon ? (size_t)(colon - text) : 0;

	if (n == 0 || strchr(text, '/'))
		return false;
	const unsigned long port = strtoul(colon + 1, &end, 10);
	if (*end || colon[1] < '0' || colon[1] > '9' || port == 0 || port > 65535)
		return false;
	if (text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	}
	if (n >= sizeof m->host)
		return false;
	memcpy(m->host, text, n);
	m->host[n] = '\0';
	m->port = (uint16_t)port;
	return true;
}

/* The file of a job on one node. A launcher without an id for its job is named by its process. */
static void meeting_file_name(const os_job *job, rank_meeting *m)
{
	char name[64], parent[32] = "";

	if (strspn(job->id, "/") == strlen(job->id))
		snprintf(parent, sizeof parent, "%lu", os_parent_id());
	snprintf(name, sizeof name, "deepclock-ranks-%016llx",
		 (unsigned long long)job_hash(job, parent));
	os_private_path(name, m->file, sizeof m->file);
}

dck_status rank_meeting_choose(const os_job *job, const char *given, rank_meeting *ret,
			       dck_err *err)
{
	rank_meeting m = {.host = "127.0.0.1"};
	const bool one_node = job->local_size == job->size || job->size == 1;

	if (given && host_port_read(given, &m)) {
		token_derive(job, &m);
	} else if (given) {
		if (!*given || strlen(given) >= sizeof m.file - 16)
			DCK_FAIL(err, E_ARG, "'%.60s' is neither a file nor HOST:PORT", given);
		snprintf(m.file, sizeof m.file, "%s", given);
		if (!one_node && job->address[0])
			snprintf(m.host, sizeof m.host, "%s", job->address);
		else if (!one_node)
			os_machine_name(m.host, sizeof m.host);
	} else if (one_node || strcmp(job->address, "localhost") == 0 ||
		   strncmp(job->address, "127.", 4) == 0) {
		meeting_file_name(job, &m);
	} else if (job->address[0]) {
		snprintf(m.host, sizeof m.host, "%s", job->address);
		m.port = (uint16_t)(PORT_FIRST + job_hash(job, NULL) % PORT_COUNT);
		token_derive(job, &m);
	} else {
		DCK_FAIL(err, E_UNSUP,
			 "%s does not report where rank 0 is: give --rendezvous FILE, in a "
			 "directory that all nodes share, or --rendezvous HOST:PORT of rank 0",
			 job->launcher);
	}
	*ret = m;
	return DCK_OK;
}

dck_status rank_meeting_publish(rank_meeting *m, dck_err *err)
{
	unsigned char random[(RANK_TOKEN_SIZE - 1) / 2];
	char text[512];

	if (!m->file[0])
		return DCK_OK;
	os_random_bytes(random, sizeof random);
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(m->token + 2 * i, 3, "%02x", random[i]);
	snprintf(text, sizeof text, "%s\n%s\n%u\n%s\n", meeting_head, m->host, m->port, m->token);
	return os_private_write(m->file, text, err);
}

bool rank_meeting_read(rank_meeting *m)
{
	char text[512], *line[5];
	size_t n = 0;

	if (!m->file[0])
		return true;
	if (!os_private_read(m->file, text, sizeof text))
		return false;
	for (char *at = text; n < 5; n++) {
		line[n] = at;
		at = strchr(at, '\n');
		if (!at)
			break;
		*at++ = '\0';
	}
	if (n < 4 || strcmp(line[0], meeting_head) != 0 || strlen(line[1]) >= sizeof m->host ||
	    strlen(line[3]) != RANK_TOKEN_SIZE - 1)
		return false;
	const unsigned long port = strtoul(line[2], NULL, 10);
	if (port == 0 || port > 65535)
		return false;
	snprintf(m->host, sizeof m->host, "%s", line[1]);
	snprintf(m->token, sizeof m->token, "%s", line[3]);
	m->port = (uint16_t)port;
	return true;
}

void rank_meeting_end(const rank_meeting *m)
{
	if (m->file[0])
		os_file_remove(m->file);
}
