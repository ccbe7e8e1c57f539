# An engine without a profiler is refused before anything is measured.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
cat > engine.c <<'END'
#include "deepclock/plugin.h"

static dck_status open_it(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	(void)p, (void)err;
	*ret = (dck_engine_model *)1;
	return DCK_OK;
}
static void close_it(dck_engine_model *m) { (void)m; }
static dck_status context(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	(void)m, (void)err;
	*ret = (dck_engine_context *)1;
	return DCK_OK;
}
static void context_free(dck_engine_context *c) { (void)c; }
static dck_status run(dck_engine_context *c, dck_err *err) { (void)c, (void)err; return DCK_OK; }
static const dck_engine engine = {
	.struct_size = sizeof(dck_engine), .abi_major = DCK_ABI_MAJOR, .abi_minor = DCK_ABI_MINOR,
	.caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS, .name = "blind", .version = "1", .help = "tells nothing",
	.open = open_it, .close = close_it, .context_new = context, .context_free = context_free, .run = run,
};
const dck_engine *dck_engine_get(uint32_t host);
const dck_engine *dck_engine_get(uint32_t host) { return host == DCK_ABI_MAJOR ? &engine : 0; }
END
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o engine.so engine.c || exit 1
deepclock bench --quiet --runs 3 --warmup 0 --engine plugin:./engine.so zoo:simplenet > text
echo $?
deepclock profile --quiet --engine plugin:./engine.so --save run.json zoo:simplenet
echo $?
ls
