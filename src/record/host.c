/* host.c - the machine as facts of a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/host.h"

void record_fact_known(record_builder *b, const char *section, const char *key, const char *text)
{
	record_fact(b, section, key, DCK_UNIT_NONE,
		    text && text[0] ? RECORD_TEXT(text)
				    : RECORD_ABSENT("the system does not report it"));
}

static void fact_known_bytes(record_builder *b, const char *key, uint64_t bytes, const char *why)
{
	if (bytes > 0)
		record_fact_int(b, "host", key, DCK_UNIT_BYTE, (int64_t)bytes);
	else
		record_fact_absent(b, "host", key, why);
}

static void fact_tristate(record_builder *b, const char *key, int state)
{
	if (state < 0)
		record_fact_absent(b, "host", key, "the system does not report it");
	else
		record_fact_bool(b, "host", key, state != 0);
}

void record_host(record_builder *b, const os_host *h)
{
	record_fact_known(b, "host", "cpu", h->cpu);
	record_fact_int(b, "host", "cpus_online", DCK_UNIT_ONE, h->cpus_online);
	record_fact_int(b, "host", "cpus_allowed", DCK_UNIT_ONE, h->cpus_allowed);
	if (h->cgroup_cpus > 0)
		record_fact_real(b, "host", "cpu_limit", DCK_UNIT_ONE, h->cgroup_cpus);
	else
		record_fact_absent(b, "host", "cpu_limit", "none is set");
	fact_known_bytes(b, "memory", h->memory_bytes, "the system does not report it");
	fact_known_bytes(b, "memory_limit", (uint64_t)h->cgroup_memory_bytes, "none is set");
	record_fact_known(b, "host", "governor", h->governor);
	fact_tristate(b, "turbo", h->turbo);
	fact_tristate(b, "smt", h->smt);
	record_fact_known(b, "host", "os", h->os);
	record_fact_known(b, "host", "kernel", h->kernel);
	record_fact_known(b, "host", "hypervisor", h->hypervisor);
}

void record_host_here(record_builder *b)
{
	os_host host;

	os_host_get(&host);
	record_host(b, &host);
}
