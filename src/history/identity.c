/* identity.c - the key by which the index finds comparable records: subject, command, machine and
 * method. record/comparable.c defines the facts of the last two.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/hash.h"
#include "record/comparable.h"
#include "record/record_internal.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The second word of "deepclock bench zoo:resnet18". */
static void verb_find(const char *command, char *verb, size_t size)
{
	static const char program[] = "deepclock ";
	size_t n = 0;

	verb[0] = '\0';
	if (!command || strncmp(command, program, sizeof program - 1) != 0)
		return;
	command += sizeof program - 1;
	while (islower((unsigned char)command[n]))
		n++;
	if (n == 0 || n >= size || (command[n] && command[n] != ' '))
		return;
	memcpy(verb, command, n);
	verb[n] = '\0';
}

/* The record of a program that was watched has the program's command line, and a section of the
 * command's name: "trace --sample" has those of both. */
static const char *watching_verb_find(const dck_record *r)
{
	static const char *const verbs[] = {"overhead", "trace", "memory", "sample", "count"};

	for (size_t v = 0; v < sizeof verbs / sizeof verbs[0]; v++)
		for (size_t i = 0; i < r->nfacts; i++)
			if (strcmp(r->facts[i].section, verbs[v]) == 0)
				return verbs[v];
	return NULL;
}

void history_identify(const dck_record *r, history_identity *ret)
{
	*ret = (history_identity){
	    .subject = record_get_text(r, "subject", "name"),
	    .engine = record_get_text(r, "engine", "name"),
	    .cpu = record_get_text(r, "host", "cpu"),
	};
	verb_find(r->command, ret->verb, sizeof ret->verb);
	if (!ret->verb[0] && !ret->subject) {
		const char *verb = watching_verb_find(r);

		if (verb) {
			snprintf(ret->verb, sizeof ret->verb, "%s", verb);
			ret->subject = r->command;
		}
	}
	snprintf(ret->machine, sizeof ret->machine, "%016" PRIx64,
		 comparable_key(r, TREND_MACHINE, HASH_START));
	snprintf(ret->method, sizeof ret->method, "%016" PRIx64,
		 comparable_key(r, TREND_METHOD,
				hash_bytes(HASH_START, ret->verb, strlen(ret->verb) + 1)));
}
