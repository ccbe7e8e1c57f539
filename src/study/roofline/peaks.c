/* peaks.c - dck_machine(): the limits of this machine (peak FLOP/s, bandwidths, overheads) as a
 * record, measured once and then cached in a file.
 *
 * The key of the cache is everything that decides the limits: version, loops and build, processor,
 * allowed processors, threads, caches, instruction sets. The file is named by a hash of the key, so
 * the key inside is compared before it is used. Only a complete measurement on a quiet machine is
 * cached (busy_why()); --keep caches a busy one too, and --quick never.
 *
 * A rate is that of the fastest round, since disturbances only slow a round down; its interval ends
 * at a bound on the end point of the distribution (Robson and Whitlock, Biometrika 51, 1964). A
 * peak is that of the fastest instruction set, and two checks may add a note to it: its share of
 * what the instructions can do at the clock rate measured after the loop, and a BLAS library that
 * is faster. Measuring is machine_measure()'s; here one struct on the heap (survey) holds
 * everything until the record is made.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/machine.h"

#include "base/err.h"
#include "base/opt_text.h"
#include "base/mem.h"
#include "base/sink.h"
#include "base/units.h"
#include "record/record_begin.h"
#include "record/host.h"
#include "machine/loops.h"
#include "study/roofline/device_record.h"
#include "study/roofline/limit_metrics.h"
#include "record/record_internal.h"
#include "record/others.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES  1024
#define PATH_BYTES 4096

/* Everything that the record is made of. */
typedef struct survey {
	const dck_machine_config *asked;
	os_host host;
	machine_topology topology;
	uint32_t isa;
	unsigned threads;
	char key[KEY_BYTES], path[PATH_BYTES]; /* path "": nowhere to keep it */
	dck_err no_path;
	char id[RECORD_ID_SIZE];
	int64_t began_unix_ns;
	double *scratch;
	machine_result result;
	record_others others; /* that used the machine during the measurement */
} survey;

/* --- which machine this is */

static dck_status limits_take(survey *s, dck_err *err)
{
	const uint64_t asked = s->asked->threads;
	unsigned n = s->topology.cores;

	if (asked > s->topology.ncpus)
		DCK_FAIL(err, E_ARG, "--threads is %llu: this process may use %u processors",
			 (unsigned long long)asked, s->topology.ncpus);
	/* More threads than the quota has cores would be stopped again and again. */
	if (s->host.cgroup_cpus > 0 && s->host.cgroup_cpus < n)
		n = s->host.cgroup_cpus >= 1 ? (unsigned)s->host.cgroup_cpus : 1;
	s->threads = asked > 0 ? (unsigned)asked : n;
	/* The memory of other processes in the group is unknown: half of its limit is assumed. */
	const uint64_t group = (uint64_t)s->host.cgroup_memory_bytes / 2;
	if (group > 0 && (s->topology.available_bytes == 0 || group < s->topology.available_bytes))
		s->topology.available_bytes = group;
	machine_topology_use("", &s->topology, s->threads);
	return DCK_OK;
}

static void isa_text(uint32_t set, char *buf, size_t size)
{
	buf[0] = '\0';
	for (int i = 0; i < MACHINE_ISAS; i++)
		if (machine_isa_has(set, (machine_isa)i))
			text_add(buf, size, "%s%s", *buf ? " " : "", machine_isa_names[i]);
}

/* Makes the key: what must be the same for a cached result to be this machine's. */
static void peaks_key_make(survey *s)
{
	const machine_topology *t = &s->topology;
	const char *sanitizer = os_sanitizer_name();
	char isa[256];
#ifdef __OPTIMIZE__
	const char *build = "";
#else
	const char *build = ", not optimised";
#endif

	isa_text(s->isa, isa, sizeof isa);
	snprintf(
	    s->key, sizeof s->key,
	    "deepclock %s, loops %d%s%s%s; %s; processors %s, %u cores, %u threads; caches %llu x %u, "
	    "%llu x %u, %llu x %u; %s",
	    dck_version(), MACHINE_LOOPS_REVISION, build, sanitizer ? ", " : "",
	    sanitizer ? sanitizer : "", s->host.cpu, t->allowed_list, t->cores, s->threads,
	    (unsigned long long)t->cache[0].bytes, t->cache[0].count,
	    (unsigned long long)t->cache[1].bytes, t->cache[1].count,
	    (unsigned long long)t->cache[2].bytes, t->cache[2].count, isa);
}

/* --- facts */

static void facts_caches(record_builder *b, const machine_topology *t)
{
	static const char *const names[MACHINE_CACHES] = {"cache_l1d", "cache_l2", "cache_l3"};
	char key[64];

	for (int i = 0; i < MACHINE_CACHES; i++) {
		const machine_cache *c = &t->cache[i];
		if (c->bytes == 0) {
			record_fact_absent(b, "machine", names[i], "the system does not report it");
			continue;
		}
		record_fact_int(b, "machine", names[i], DCK_UNIT_BYTE, (int64_t)c->bytes);
		snprintf(key, sizeof key, "%s_shared_by", names[i]);
		record_fact_int(b, "machine", key, DCK_UNIT_ONE, c->shared);
		snprintf(key, sizeof key, "%s_count", names[i]);
		record_fact_int(b, "machine", key, DCK_UNIT_ONE, c->count);
	}
	if (t->cache[0].line_bytes > 0)
		record_fact_int(b, "machine", "cache_line", DCK_UNIT_BYTE, t->cache[0].line_bytes);
}

static void fact_khz(record_builder *b, const char *key, uint64_t khz)
{
	static const char *const why = "the system does not report it (no cpufreq, "
				       "as in most virtual machines); frequency/core is measured";

	record_fact(b, "machine", key, DCK_UNIT_HERTZ,
		    khz > 0 ? RECORD_REAL((double)khz * 1e3) : RECORD_ABSENT(why));
}

static void facts_machine(record_builder *b, const survey *s, bool kept)
{
	const machine_topology *t = &s->topology;
	const machine_result *r = &s->result;
	char text[256];

	record_fact_text(b, "machine", "source",
			 kept ? "cached by an earlier run (--refresh measures again)"
			      : "measured now");
	record_fact_bool(b, "machine", "kept", kept);
	record_time_text(s->began_unix_ns, text);
	record_fact_text(b, "machine", "measured", text);
	record_fact(b, "machine", "kept_in", DCK_UNIT_NONE,
		    s->path[0] ? RECORD_TEXT(s->path) : RECORD_ABSENT(s->no_path.msg));
	record_fact_text(b, "machine", "key", s->key);
	isa_text(s->isa, text, sizeof text);
	record_fact_text(b, "machine", "instruction_sets",
			 text[0] ? text : "none that deepclock has loops for");
	record_fact_int(b, "machine", "threads", DCK_UNIT_ONE, s->threads);
	record_fact_text(b, "machine", "processors", t->allowed_list);
	record_fact_int(b, "machine", "cores", DCK_UNIT_ONE, t->cores);
	record_fact(b, "machine", "numa_nodes", DCK_UNIT_ONE,
		    t->nodes > 0 ? RECORD_INT(t->nodes)
				 : RECORD_ABSENT("the system does not report it"));
	facts_caches(b, t);
	fact_khz(b, "frequency_min", t->min_khz);
	fact_khz(b, "frequency_max", t->max_khz);
	if (r->dram_bytes > 0)
		record_fact_int(b, "machine", "dram_working_set", DCK_UNIT_BYTE,
				(int64_t)r->dram_bytes);
	record_fact(b, "machine", "blas", DCK_UNIT_NONE,
		    r->blas[0] ? RECORD_TEXT(r->blas) : RECORD_ABSENT(r->blas_why));
	record_fact_real(b, "machine", "elapsed", DCK_UNIT_NS, r->took_ns);
}

static void facts_devices(record_builder *b)
{
	machine_device found[MACHINE_DEVICES_MAX];
	const char *why;
	const unsigned n = machine_devices_find("", found, &why);
	char key[48];

	for (unsigned i = 0; i < n; i++) {
		snprintf(key, sizeof key, "accelerator/%.31s", found[i].at);
		record_fact_text(b, "device", key, found[i].text);
	}
	if (n > 0)
		record_fact_absent(
		    b, "device", "limits",
		    "these are the processor's; --device measures a device that has a driver");
	else
		record_fact_absent(b, "device", "accelerator", why);
}

static void facts_method(record_builder *b, const survey *s)
{
	record_fact_text(b, "method", "clock", "CLOCK_MONOTONIC");
	record_fact_text(b, "method", "threads",
			 !s->result.pinned ? "not pinned: the system did not allow it"
			 : s->topology.uneven
			     ? "each pinned to a separate processor; slower cores get less work"
			     : "each pinned to a separate processor");
	record_fact_text(b, "method", "rate",
			 "the fastest round: nothing but luck makes a round faster "
			 "than the machine is, and much can make it slower");
	record_fact_text(b, "method", "interval",
			 "of rates from the fastest round to a bound on the end point "
			 "that the rounds come near to (Robson and Whitlock 1964); "
			 "of overheads the median's, by exact order statistics");
	record_fact_int(b, "method", "passes", DCK_UNIT_ONE, s->result.passes);
}

/* --- metrics */

static void how_text(const machine_item *i, const char *before, char *buf, size_t size)
{
	if (i->stream)
		snprintf(buf, size, "fastest of %u rounds, %s%s over %s", i->n, i->stream->isa,
			 i->stream->ahead ? " with prefetches" : "",
			 UNITS_BYTES((double)i->set_bytes));
	else
		snprintf(buf, size, "fastest of %u rounds%s%s", i->n, before[0] ? ", " : "",
			 before);
}

static const char *absent_why(const survey *s, const machine_item *i)
{
	return i->absent	       ? i->absent
	       : s->result.interrupted ? "the measurement was interrupted before it"
				       : "the machine was so busy that the time was up before it";
}

static void metric_rate(record_builder *b, const survey *s, const char *tag, const machine_item *i,
			const char *before)
{
	char how[160];

	if (i->n == 0) {
		record_metric_absent(b, tag, absent_why(s, i));
		return;
	}
	how_text(i, before, how, sizeof how);
	limit_rate_write(b, tag, i->value, i->n, how);
}

static void metric_time(record_builder *b, const survey *s, const machine_item *i)
{
	if (i->n == 0)
		record_metric_absent(b, i->tag, absent_why(s, i));
	else
		limit_time_write(b, i->tag, i->value, i->n, s->scratch);
}

/* Returns the number of cores over which machine_item.clock_hz is a sum. */
static unsigned cores_used(const survey *s, const machine_item *i)
{
	return i->threads < s->topology.cores ? i->threads : s->topology.cores;
}

/* Returns the loop of the fastest instruction set; NULL: none was measured. *ret_any: one that was
 * tried. */
static const machine_item *fastest(const survey *s, machine_type type, const char *suffix,
				   const machine_item **ret_any)
{
	const machine_item *best = NULL;

	for (size_t i = 0; i < s->result.n; i++) {
		const machine_item *item = &s->result.item[i];
		if (!item->peak || item->peak->type != type ||
		    strcmp(strrchr(item->tag, '/') + 1, suffix) != 0)
			continue;
		*ret_any = item;
		if (item->n > 0 && (!best || machine_best(item) > machine_best(best)))
			best = item;
	}
	return best;
}

static void metric_peak(record_builder *b, const survey *s, machine_type type, const char *suffix)
{
	const machine_item *any = NULL, *best = fastest(s, type, suffix, &any);
	char tag[48], why[96];

	snprintf(tag, sizeof tag, "peak/%s/%s", machine_type_names[type], suffix);
	if (best) {
		metric_rate(b, s, tag, best, best->peak->isa);
	} else if (any) {
		record_metric_absent(b, tag, absent_why(s, any));
	} else {
		snprintf(why, sizeof why,
			 s->result.interrupted
			     ? "the measurement was interrupted before it"
			     : "this processor has no instructions known here that compute in %s",
			 machine_type_names[type]);
		record_metric_absent(b, tag, why);
	}
}

/* Returns what share of the possible rate the best loop reached; NaN: not known, as of cores of
 * several kinds together. *ret_best: that loop; NULL: none was measured. */
static double peaks_share_of(const survey *s, machine_type type, const char *suffix,
			     const machine_item **ret_best)
{
	const machine_item *any;

	*ret_best = fastest(s, type, suffix, &any);
	if (!*ret_best || (s->topology.uneven && (*ret_best)->threads > 1))
		return (double)NAN;
	return machine_share(&s->result, *ret_best);
}

static void metric_share(record_builder *b, const survey *s, machine_type type, const char *suffix)
{
	const machine_item *best;
	const double share = peaks_share_of(s, type, suffix, &best);
	char tag[48], how[128];

	snprintf(tag, sizeof tag, "peak_share/%s/%s", machine_type_names[type], suffix);
	if (isnan(share)) {
		record_metric_absent(b, tag,
				     best ? "how much such a processor could do is not known here"
					  : "the peak was not measured");
		return;
	}
	mem_print(how, sizeof how, "%s over its limit at %.2f GHz, measured right after the loop",
		  best->peak->isa, best->clock_hz / cores_used(s, best) / 1e9);
	record_metric_real(b, tag, share, how);
}

static void metrics_blas(record_builder *b, const survey *s)
{
	static const char *const tags[] = {"blas/sgemm/1", "blas/sgemm/all", "blas/dgemm/1",
					   "blas/dgemm/all"};

	for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
		if (!machine_find(&s->result, tags[i]))
			record_metric_absent(b, tags[i],
					     s->result.blas[0]
						 ? "the number of threads of this library cannot "
						   "be set"
						 : s->result.blas_why);
}

static void peaks_metrics(record_builder *b, const survey *s)
{
	for (int type = 0; type < MACHINE_TYPES; type++) {
		metric_peak(b, s, (machine_type)type, "1");
		metric_peak(b, s, (machine_type)type, "all");
		metric_share(b, s, (machine_type)type, "1");
		metric_share(b, s, (machine_type)type, "all");
	}
	metrics_blas(b, s);
	for (size_t i = 0; i < s->result.n; i++) {
		const machine_item *item = &s->result.item[i];
		if (item->is_time)
			metric_time(b, s, item);
		else
			metric_rate(b, s, item->tag, item, "");
		if (item->n > 0)
			record_series(b, item->tag,
				      item->is_time  ? DCK_UNIT_NS
				      : item->stream ? DCK_UNIT_BYTE_PER_S
				      : item->chain  ? DCK_UNIT_HERTZ
						     : DCK_UNIT_FLOP_PER_S,
				      NULL, item->value, item->n, 0);
	}
}

/* The two numbers by which a machine is known. */
static void peaks_answer_put(record_builder *b, const survey *s)
{
	const machine_item *any, *peak = fastest(s, MACHINE_FP32, "all", &any);
	/* The row that the first screen and the page show too. */
	const machine_item *memory = machine_find(&s->result, "bandwidth/dram_read/all");
	char bytes[80] = "";

	if (memory && memory->n > 0)
		snprintf(bytes, sizeof bytes, ", memory read at %s",
			 UNITS_SI(machine_best(memory), "B/s"));
	if (peak)
		record_answer(b, "%s FP32 on %u thread%s%s", UNITS_SI(machine_best(peak), "FLOP/s"),
			      s->threads, s->threads == 1 ? "" : "s", bytes);
}

/* --- notes */

static void note_blas(record_builder *b, const survey *s, const char *gemm, machine_type type,
		      const char *suffix)
{
	char tag[48];

	snprintf(tag, sizeof tag, "blas/%s/%s", gemm, suffix);
	const double blas = machine_best(machine_find(&s->result, tag));
	const machine_item *any, *fast = fastest(s, type, suffix, &any);
	const double peak = machine_best(fast);
	if (blas > peak)
		record_note(b, "peak-below-blas",
			    "peak/%s/%s is %.4g GFLOP/s, but %s of %s reached %.4g GFLOP/s: "
			    "the peak was measured too low",
			    machine_type_names[type], suffix, peak / 1e9, gemm, s->result.blas,
			    blas / 1e9);
}

static void notes_build(record_builder *b)
{
	const char *sanitizer = os_sanitizer_name();

	if (sanitizer) {
		record_note(
		    b, "sanitizer",
		    "%s is in this process and slows it: these are not the machine's limits",
		    sanitizer);
		record_remedy(b, "build without it to measure");
	}
#ifndef __OPTIMIZE__
	record_note(
	    b, "debug-build",
	    "deepclock was built without optimisation: its loops do not reach the machine's "
	    "limits");
	record_remedy(b, "build it with -O2");
#endif
}

/* Bounds of a plausible peak as a share of the possible one, and the share of cores that others may
 * use. */
#define SHARE_LEAST  0.8
#define SHARE_MOST   1.02
#define OTHERS_SHARE 0.1

static void note_share(record_builder *b, const survey *s, machine_type type, const char *suffix)
{
	const machine_item *best;
	const double share = peaks_share_of(s, type, suffix, &best);

	if (share < SHARE_LEAST || share > SHARE_MOST)
		record_note(
		    b, "peak-doubtful",
		    "peak/%s/%s is %.2f of what %s could do at the %.2f GHz that it had: %s",
		    machine_type_names[type], suffix, share, best->peak->isa,
		    best->clock_hz / cores_used(s, best) / 1e9,
		    share < 1 ? "something else ran on the core, and the limit is higher"
			      : "the clock rate changed, or the processor can do more than "
				"is known here");
}

/* Returns why the result should not be cached; NULL: it should. */
static const char *busy_why(const survey *s)
{
	const machine_result *r = &s->result;

	if (2 * r->passes < r->passes_asked)
		return "the time was up before half of the passes were made";
	if (s->others.known &&
	    s->others.cores.others + s->others.cores.steal > OTHERS_SHARE * s->threads)
		return "others had a good part of its cores";
	for (int type = 0; type < MACHINE_TYPES; type++) {
		const machine_item *best;
		if (peaks_share_of(s, (machine_type)type, "1", &best) < SHARE_LEAST ||
		    peaks_share_of(s, (machine_type)type, "all", &best) < SHARE_LEAST)
			return "a peak is far below what its instructions could do";
	}
	return NULL;
}

static void notes_disturbed(record_builder *b, const survey *s)
{
	const machine_result *r = &s->result;

	record_others_advise(&s->others, b, "machine",
			     "the limits may be higher; measure again (--refresh) without them",
			     "so that the limits may be higher; measure again (--refresh)");
	if (r->throttled > 0.01)
		record_note(b, "cpu-throttled",
			    "the container's CPU limit stopped threads for %.3g %% of the "
			    "measurement, summed over the processors: the limits may be higher",
			    100 * r->throttled);
}

static void peaks_notes(record_builder *b, const survey *s)
{
	const machine_result *r = &s->result;

	if (r->interrupted)
		record_note(b, "interrupted",
			    "interrupted in pass %u: this is what was measured until then",
			    r->passes + 1);
	else if (2 * r->passes < r->passes_asked) {
		record_note(
		    b, "few-passes",
		    "the machine was so busy that the time was up in pass %u of %u: the limits "
		    "may be higher",
		    r->passes + 1, r->passes_asked);
		record_remedy(b, "measure again (--refresh) when it is quiet");
	}
	for (int type = 0; type < MACHINE_TYPES; type++) {
		note_share(b, s, (machine_type)type, "1");
		note_share(b, s, (machine_type)type, "all");
	}
	note_blas(b, s, "sgemm", MACHINE_FP32, "1");
	note_blas(b, s, "sgemm", MACHINE_FP32, "all");
	note_blas(b, s, "dgemm", MACHINE_FP64, "1");
	note_blas(b, s, "dgemm", MACHINE_FP64, "all");
	char untried[300] = "";
	for (size_t i = 0; i < r->n; i++)
		if (r->item[i].peak && r->item[i].peak->untried && r->item[i].threads == 1 &&
		    strstr(r->item[i].tag, "/1"))
			text_add(untried, sizeof untried, "%s%s", *untried ? ", " : "",
				 r->item[i].tag);
	if (*untried)
		record_note(b, "untried-loop",
			    "no test has confirmed these peaks on a processor with their "
			    "instructions: %s",
			    untried);
	if (r->dram_bytes > 0 &&
	    (double)r->dram_bytes < MACHINE_DRAM_RATIO_MIN * (double)machine_l3_total(&s->topology))
		record_note(b, "memory-in-cache",
			    "memory was walked over in %.3g MiB, "
			    "less than twice the last-level caches, since no more is free: "
			    "the DRAM rates may be those of caches",
			    (double)r->dram_bytes / 1048576);
	if (!r->pinned)
		record_note(b, "not-pinned",
			    "the system did not let threads be pinned to processors: "
			    "two may have shared one, "
			    "and the values for all threads may be too low");
	notes_disturbed(b, s);
	notes_build(b);
}

/* --- the record */

static dck_status peaks_record_make(const survey *s, bool kept, const dck_err *not_kept,
				    dck_record **ret, dck_err *err)
{
	record_builder *b = record_begin(s->asked->title);
	char subject[160];

	DCK_NEED(b, err, "for a record");
	if (s->id[0])
		record_set_id(b, s->id);
	record_set_began(b, s->began_unix_ns);
	record_set_incomplete(b, s->result.interrupted);
	record_fact_text(b, "subject", "kind", "machine");
	snprintf(subject, sizeof subject, "%s", s->host.cpu[0] ? s->host.cpu : "this machine");
	record_fact_text(b, "subject", "name", subject);
	facts_machine(b, s, kept);
	facts_devices(b);
	record_host(b, &s->host);
	record_fact_options(b, "plan", dck_machine_options, s->asked);
	peaks_metrics(b, s);
	peaks_answer_put(b, s);
	facts_method(b, s);
	peaks_notes(b, s);
	if (not_kept && not_kept->code != DCK_OK)
		record_note(b, "not-cached",
			    "the result was not cached, so it is measured again each time: %s",
			    not_kept->msg);
	return record_finish(b, ret, err);
}

/* --- keeping it */

static bool kept_load(const survey *s, dck_record **ret)
{
	dck_record *r;

	if (!s->path[0] || dck_record_load(s->path, &r, NULL) != DCK_OK)
		return false;
	/* The name of the file is a hash, and a file may contain anything. */
	const char *key = record_get_text(r, "machine", "key");
	if (key && strcmp(key, s->key) == 0 && !r->incomplete) {
		*ret = r;
		return true;
	}
	dck_record_free(r);
	return false;
}

static dck_status kept_save(const survey *s, dck_err *err)
{
	dck_record *r;

	if (!s->path[0]) {
		*err = s->no_path;
		return err->code;
	}
	DCK_TRY(os_mkdir_parents(s->path, "the result to keep", err));
	DCK_TRY(peaks_record_make(s, true, NULL, &r, err));
	const dck_status status = dck_record_save(r, s->path, err);
	dck_record_free(r);
	return status;
}

/* --- all of it */

static dck_status survey_measure(survey *s, const dck_observer *watch, dck_record **ret,
				 dck_err *err)
{
	const machine_run_config ask = {.topology = &s->topology,
					.isa = s->isa,
					.threads = s->threads,
					.quick = s->asked->quick,
					.watch = watch};
	dck_err not_kept = {.code = DCK_OK};

	s->scratch = mem_zalloc(stat_scratch(MACHINE_ROUNDS_MAX), sizeof *s->scratch);
	DCK_NEED(s->scratch, err, "for the measurement");
	record_id_make(s->id);
	s->began_unix_ns = os_unix_ns();
	record_others_begin(&s->others, 0);
	const dck_status measured = machine_measure(&ask, &s->result, err);
	record_others_end(&s->others);
	DCK_TRY(measured);
	const char *busy = s->asked->keep && s->result.passes > 0 ? NULL : busy_why(s);
	if (!s->asked->quick && !s->result.interrupted && !busy)
		(void)kept_save(s, &not_kept);
	else if (!s->asked->quick && busy)
		ERR_SET(&not_kept, E_ABSENT, "the machine was busy: %s%s", busy,
			s->asked->keep ? "" : "; --keep stores it anyway");
	return peaks_record_make(s, false, &not_kept, ret, err);
}

dck_status dck_machine(const dck_machine_config *c, const dck_observer *watch, dck_record **ret,
		       dck_err *err)
{
	dck_machine_config own;
	survey *s;

	DCK_TRY(OPT_CONFIG_GET(c, &own, dck_machine_init, err, dck_machine_options));
	if (own.refresh && own.cached_only)
		DCK_FAIL(err, E_ARG, "--refresh measures and --cached-only does not: give one");
	if (own.quick && own.cached_only)
		DCK_FAIL(err, E_ARG, "--quick measures and --cached-only does not: give one");
	if (own.device)
		return device_record_make(&own, watch, ret, err);
	s = mem_zalloc(1, sizeof *s);
	DCK_NEED(s, err, "for the measurement");
	s->asked = &own;
	os_host_get(&s->host);
	machine_topology_find(&s->topology);
	s->isa = machine_isa_find();
	dck_status status = limits_take(s, err);
	if (status != DCK_OK)
		goto done;
	peaks_key_make(s);
	if (machine_keep_path(s->key, s->path, sizeof s->path, &s->no_path) != DCK_OK)
		s->path[0] = '\0';
	if (!s->asked->refresh && kept_load(s, ret))
		goto done;
	if (s->asked->cached_only)
		status = ERR_SET(err, E_ABSENT,
				 "the limits of this machine have not been measured: "
				 "run 'deepclock machine' once");
	else
		status = survey_measure(s, watch, ret, err);
done:
	mem_free(s->scratch);
	mem_free(s);
	return status;
}
