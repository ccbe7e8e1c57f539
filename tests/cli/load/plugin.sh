# Plug-ins with a custom workload: one whose runs must not overlap, one that supports a single context.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
cat > engine.c <<'END'
#define _GNU_SOURCE
#include "deepclock/plugin.h"
#include <stdio.h>
#include <time.h>

static int contexts, inside;

static dck_status open_it(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	(void)p, (void)err;
	*ret = (dck_engine_model *)1;
	return DCK_OK;
}
static void close_it(dck_engine_model *m) { (void)m; }
static dck_status fail(dck_err *err, const char *why)
{
	*err = (dck_err){.code = DCK_E_ENGINE};
	snprintf(err->msg, sizeof err->msg, "%s", why);
	return DCK_E_ENGINE;
}
static dck_status context(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	(void)m;
	if (++contexts > CONTEXTS)
		return fail(err, "there is no room for another");
	*ret = (dck_engine_context *)1;
	return DCK_OK;
}
static void context_free(dck_engine_context *c) { (void)c; }
static dck_status run(dck_engine_context *c, dck_err *err)
{
	struct timespec t = {.tv_nsec = 2000000};
	int others = __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);

	(void)c;
	nanosleep(&t, 0);
	__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
	return others ? fail(err, "two runs at once") : DCK_OK;
}
static const dck_engine engine = {
	.struct_size = sizeof(dck_engine), .abi_major = DCK_ABI_MAJOR, .abi_minor = DCK_ABI_MINOR,
	.caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS, .name = "shy", .version = "1", .help = "one at a time",
	.open = open_it, .close = close_it, .context_new = context, .context_free = context_free, .run = run,
};
const dck_engine *dck_engine_get(uint32_t host);
const dck_engine *dck_engine_get(uint32_t host) { return host == DCK_ABI_MAJOR ? &engine : 0; }
END
"${CC:-cc}" -DCONTEXTS=9 -shared -fPIC -I "$TESTS/../../include" -o shy.so engine.c || exit 1
"${CC:-cc}" -DCONTEXTS=1 -shared -fPIC -I "$TESTS/../../include" -o one.so engine.c || exit 1
deepclock load --details --quiet --warmup 1 --streams 3 --requests 60 plugin:./shy.so > text 2> err
echo $?
grep -o 'two runs at once' err
deepclock load --details --quiet --warmup 1 --streams 3 --serial --requests 60 --save run.json plugin:./shy.so > text
echo $?
record run.json 'm("runs/count")["value"]' 'f("subject", "kind")'
deepclock load --details --quiet --warmup 1 --streams 3 --rate 200 --serial --requests 60 --save run.json plugin:./shy.so > text
echo $?
record run.json 'm("runs/count")["value"]'
deepclock load --details --quiet --warmup 1 --streams 2 plugin:./one.so
echo $?
deepclock load --details --quiet --warmup 1 --requests 5 plugin:./one.so > text
echo $?
