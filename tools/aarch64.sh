#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cross-compiles for AArch64 and runs, in QEMU, the unit tests of architecture-specific code: assembly, registers,
# instruction sets, frames; and of arithmetic that may differ with another compiler and C library. Tests that QEMU's
# user mode does not support (perf events, other processes' memory, thread counters), or runs for minutes, are left out.
#
#   tools/aarch64.sh [BUILD]        build-aarch64
#
# The libraries of Debian's architecture arm64 are unpacked below BUILD/root; the system's architectures do not change.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd -P)
build=${1:-$here/build-aarch64}
tests="machine unwind_self space perf_ring slots_drain python_merge python_walk heap_stack zone_histogram zone_sums
	stat_binomial stat_blocks stat_changepoint stat_dist stat_diagnostics stat_estimate stat_sequential stat_stop classify
	cost_math cost_num cost_nn cost_quant cost_tensor cost_control cost_microsoft batch
	err json_write mem model_wire opt opt_text percentile rng sink units utf8 inputs input_arrays npy random agree
	bench_clock record record_copy record_file call_paths drain trace_record itt nvtx lap model_onnx comparable accuracy"

die() {
	echo "aarch64: $*" >&2
	exit 1
}
for program in aarch64-linux-gnu-gcc qemu-aarch64 dpkg-deb; do
	command -v $program >/dev/null || die "$program is missing: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
done
mkdir -p "$build"
build=$(cd "$build" && pwd -P)

"$here/tools/arm64_root.sh" "$build/root" libcmocka0 libcmocka-dev libjansson-dev libjansson4 libsqlite3-dev libsqlite3-0 \
	zlib1g-dev zlib1g || exit 1

if [ ! -f "$build/build.ninja" ]; then
	cat >"$build/cross.ini" <<END2
[constants]
root = '$build/root'
[binaries]
c = 'aarch64-linux-gnu-gcc'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu', '-E', 'LD_LIBRARY_PATH=' + root + '/usr/lib/aarch64-linux-gnu']
[properties]
sys_root = root
pkg_config_libdir = root / 'usr/lib/aarch64-linux-gnu/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END2
	meson setup "$build" "$here" --cross-file "$build/cross.ini" -Dwerror=true -Doptimization=1 -Ddebug=false >"$build/setup.log" ||
		{ tail -5 "$build/setup.log" >&2; die "meson setup failed"; }
fi
ninja -C "$build" --quiet libdeepclock.a deepclock
# shellcheck disable=SC2086 # words are meant to be split
exec python3 "$here/tools/run_tests.py" "$build" $tests
