/* operator_roofs.c - roofs of operators without their times: the roofline model of a device over
 * the counts of a model (Williams, Waterman and Patterson, Communications of the ACM 52, 2009).
 *
 * An operator takes at least as long as its FLOPs at the peak of its type, and as its bytes at the
 * bandwidth of the device's memory; the longer one is its bound. The balance point of a type, peak
 * over bandwidth, is the intensity at which both are equal. A model takes at least the sum over its
 * operators, since they run one after the other; operators without a roof are counted, and never
 * added as 0: the sum is then absent, and the answer states a lower limit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/cost_report/operator_roofs.h"
#include "base/dtype.h"
#include "base/err.h"
#include "base/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const roof_types[DCK_ROOF_TYPES] = {"fp64", "fp32", "fp16", "bf16", "int8"};
static const char *const roof_levels[DCK_ROOF_LEVELS] = {"l1", "l2", "l3", "dram"};

static void roof_put(record_builder *b, const char *kind, const char *of, dck_unit unit, double v)
{
	char key[32];

	snprintf(key, sizeof key, "%s_%s", kind, of);
	if (isnan(v))
		record_fact_absent(b, "roofs", key, "it was not measured on this machine");
	else
		record_fact_real(b, "roofs", key, unit, v);
}

void operator_roofs_facts(record_builder *b, const dck_roofline *l)
{
	for (size_t i = 0; i < DCK_ROOF_TYPES; i++)
		roof_put(b, "peak", roof_types[i], DCK_UNIT_FLOP_PER_S, l->peak[i]);
	for (size_t i = 0; i < DCK_ROOF_LEVELS; i++) {
		roof_put(b, "bandwidth", roof_levels[i], DCK_UNIT_BYTE_PER_S, l->bandwidth[i]);
		if (i + 1 < DCK_ROOF_LEVELS)
			roof_put(b, "capacity", roof_levels[i], DCK_UNIT_BYTE, l->capacity[i]);
	}
}

void operator_roofs_doubt(record_builder *b, const dck_record *machine)
{
	static const char *const codes[] = {"few-passes", "busy-neighbours", "peak-doubtful",
					    "peak-below-blas"};

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		const dck_note *n = dck_record_note(machine, codes[i]);
		if (!n)
			continue;
		record_note(b, "roofs-doubtful", "of the machine's limits: %s", n->text);
		return;
	}
}

const char *operator_roofs_dtype(const cost_op *c)
{
	const val *v = c && c->nin && c->in[0] ? c->in[0] : c && c->nout ? c->out[0] : NULL;

	return v ? dtype_onnx_text(v->dtype) : NULL;
}

const char *operator_roofs_why(const dck_roofline *l, const char *dtype, double flops, double bytes,
			       mem_arena *a)
{
	dck_roof roof;

	if (isnan(flops) || isnan(bytes))
		return "its FLOPs or bytes are not known";
	dck_roof_get(l, dtype, flops, bytes, &roof);
	if (flops == 0 && !isnan(roof.least_ns))
		return "it computes nothing";
	if (isnan(roof.peak) && flops > 0 && dtype)
		return mem_arena_fmt(a, "the peak of its type, %s, is not known %s", dtype,
				     l->device ? "of this device" : "on this machine");
	return isnan(roof.peak) && flops > 0
		   ? "its type is not known"
		   : "a bandwidth that it needs was not measured on this machine";
}

dck_status device_roofs_measure(device_roofs *r, const char *device, const dck_observer *watch,
				dck_err *err)
{
	dck_machine_config c;

	*r = (device_roofs){.asked = device};
	dck_machine_init(&c);
	c.device = device;
	c.quick = true;
	const dck_status status = dck_machine(&c, watch, &r->machine, &r->why);
	if (status == DCK_E_CANCEL || status == DCK_E_NOMEM)
		return err_pass(status, &r->why, err);
	if (status == DCK_OK)
		dck_roofline_read(r->machine, false, &r->limits);
	return DCK_OK;
}

static double count_number(sym_int n)
{
	return sym_known(n) ? (double)n.v : (double)NAN;
}

void device_roofs_op(device_roofs *r, model_cost *c, const cost_op *from, dck_op *row)
{
	const double flops = count_number(from->flops),
		     bytes = count_number(from->read_bytes) + count_number(from->write_bytes);
	const char *dtype = operator_roofs_dtype(from), *why;
	dck_roof roof;
	int bound = ROOFS_UNKNOWN;

	if (!r->machine)
		return;
	dck_roof_get(&r->limits, dtype, flops, bytes, &roof);
	row->bound = roof.bound;
	why = isnan(roof.attainable) ? operator_roofs_why(&r->limits, dtype, flops, bytes, c->arena)
				     : NULL;
	row->roof = isnan(roof.attainable) ? RECORD_ABSENT(why ? why : "not known")
					   : RECORD_REAL(roof.attainable);
	if (from->folded || (flops == 0 && bytes == 0)) /* computed once, or a view */
		return;
	if (roof.bound)
		bound = strcmp(roof.bound, "compute") == 0 ? ROOFS_COMPUTE : ROOFS_MEMORY;
	r->of[bound].n++;
	r->of[bound].flops += isnan(flops) ? 0 : flops;
	r->of[bound].least_ns += roof.bound ? roof.least_ns : 0;
	if (bound == ROOFS_UNKNOWN && !r->first_why) {
		r->first_unknown = model_cost_name(c, from->node);
		r->first_why = why;
	}
}

static double least_sum(const device_roofs *r)
{
	return r->of[ROOFS_COMPUTE].least_ns + r->of[ROOFS_MEMORY].least_ns;
}

static void bound_share_put(record_builder *b, double part, double whole)
{
	record_cell(b, whole > 0 ? RECORD_REAL(part / whole) : RECORD_ABSENT("the whole is 0"));
}

static void bounds_put(const device_roofs *r, record_builder *b)
{
	static const dck_column columns[] = {{"bound", "bound by", DCK_UNIT_NONE},
					     {"operators", "operators", DCK_UNIT_ONE},
					     {"least", "at its roof", DCK_UNIT_NS},
					     {"share", "share", DCK_UNIT_ONE},
					     {"flops", "share of FLOPs", DCK_UNIT_ONE}};
	static const char *const names[ROOFS_BOUNDS] = {"compute", "memory", "not known"};
	double flops = 0;

	for (size_t i = 0; i < ROOFS_BOUNDS; i++)
		flops += r->of[i].flops;
	RECORD_TABLE(b, "cost/bounds", "What binds the operators", columns);
	for (size_t i = 0; i < ROOFS_BOUNDS; i++) {
		if (r->of[i].n == 0)
			continue;
		record_cell_text(b, names[i]);
		record_cell_int(b, (int64_t)r->of[i].n);
		if (i == ROOFS_UNKNOWN) {
			record_cell_absent(b, r->first_why ? r->first_why : "not known");
			record_cell_absent(b, r->first_why ? r->first_why : "not known");
		} else {
			record_cell_real(b, r->of[i].least_ns);
			bound_share_put(b, r->of[i].least_ns, least_sum(r));
		}
		bound_share_put(b, r->of[i].flops, flops);
	}
}

static void balance_put(const device_roofs *r, record_builder *b)
{
	for (size_t i = 0; i < DCK_ROOF_TYPES; i++) {
		char key[32];
		snprintf(key, sizeof key, "balance_%s", roof_types[i]);
		const double at = r->limits.peak[i] / r->limits.bandwidth[DCK_ROOF_LEVELS - 1];
		if (isnan(at))
			record_fact_absent(b, "roofs", key,
					   "its peak or the bandwidth was not measured");
		else
			record_fact_real(b, "roofs", key, DCK_UNIT_ONE, at);
	}
}

static void attainable_put(const device_roofs *r, record_builder *b, model_cost *c)
{
	const char *why;

	if (r->of[ROOFS_UNKNOWN].n == 0) {
		record_metric_real(
		    b, "cost/attainable", least_sum(r),
		    "sum over the operators of max(FLOPs / peak, bytes / bandwidth)");
		return;
	}
	why = mem_arena_fmt(c->arena, "the roof of %zu operator%s is not known, '%s' first: %s",
			    r->of[ROOFS_UNKNOWN].n, r->of[ROOFS_UNKNOWN].n == 1 ? "" : "s",
			    r->first_unknown, r->first_why ? r->first_why : "");
	record_metric_absent(b, "cost/attainable", why ? why : "not known");
}

const char *device_roofs_put(const device_roofs *r, record_builder *b, model_cost *c)
{
	if (!r->asked)
		return "";
	if (!r->machine) {
		record_note(b, "no-roofs", "the limits of %s could not be measured: %s", r->asked,
			    r->why.msg);
		record_metric_absent(b, "cost/attainable", r->why.msg);
		return "";
	}
	const char *name = record_get_text(r->machine, "device", "name");
	record_fact_text(b, "roofs", "of", r->asked);
	if (name)
		record_fact_text(b, "roofs", "name", name);
	operator_roofs_facts(b, &r->limits);
	balance_put(r, b);
	operator_roofs_doubt(b, r->machine);
	bounds_put(r, b);
	attainable_put(r, b, c);
	const size_t known = r->of[ROOFS_COMPUTE].n + r->of[ROOFS_MEMORY].n;
	if (known == 0)
		return "";
	return mem_arena_fmt(c->arena,
			     "; on %s a run takes at least %s, %.0f %% of it in %zu of %zu "
			     "operators bound by compute",
			     r->asked, UNITS_TIME(least_sum(r)),
			     100 * r->of[ROOFS_COMPUTE].least_ns / least_sum(r),
			     r->of[ROOFS_COMPUTE].n, known + r->of[ROOFS_UNKNOWN].n);
}

void device_roofs_done(device_roofs *r)
{
	dck_record_free(r->machine);
	r->machine = NULL;
}
