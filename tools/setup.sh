#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prepares a fresh Debian or Ubuntu machine: installs the packages that are missing and puts ONNX
# Runtime's library into BUILD/ort. When all is there it does nothing, and does it quickly.
#
#   tools/setup.sh BUILD [test] [extras]
#
# test:   what the tests need besides
# extras: what makes no test skip (PyTorch, the onnx package, scikit-learn); large
#
# Without packages it fails with the one line to run. Without ONNX Runtime (no network, another
# processor) it says so and succeeds: everything but models can be measured.
set -eu

build=$1
shift
here=$(dirname "$0")

packages="gcc libc6-dev pkg-config meson ninja-build libjansson-dev libsqlite3-dev zlib1g-dev python3 python3-pip"
for what in "$@"; do
	case $what in
	test) packages="$packages g++ libcmocka-dev" ;;
	extras) packages="$packages clang clang-format cppcheck shellcheck man-db zsh fish python3-numpy
		python3-onnx libonnx-testdata python3-torch python3-torchvision" ;;
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
	# shellcheck disable=SC2086 # words are meant to be split
	{ $as_root apt-get update -q && DEBIAN_FRONTEND=noninteractive $as_root env DEBIAN_FRONTEND=noninteractive $line; } >&2 || {
		echo "setup: that failed; see above, or run it by hand: $line" >&2
		exit 1
	}
	# Meson remembers what was missing when it looked.
	if [ -e "$build/build.ninja" ]; then
		meson configure "$build" --clearcache && meson setup --reconfigure "$build" >/dev/null
	fi
}

# A wheel is a zip; only the library is taken. The same file serves whatever Python is here.
fetch_onnxruntime() {
	for have in "$build"/ort/libonnxruntime.so.*; do
		[ -e "$have" ] && return 0
	done
	# Another build folder of this tree has the same.
	for have in "$here"/../build*/ort/libonnxruntime.so.*; do
		[ -e "$have" ] || continue
		mkdir -p "$build/ort"
		cp -p "${have%/*}"/* "$build/ort/"
		return 0
	done
	machine=$(uname -m)
	python=python3
	"$python" -m pip --version >/dev/null 2>&1 || python=/usr/bin/python3
	wheel=$build/ort.tmp
	rm -rf "$wheel"
	mkdir -p "$wheel" "$build/ort"
	echo "setup: fetching ONNX Runtime ($machine) with pip" >&2
	if "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
		--implementation cp --python-version 3.12 --abi cp312 --platform "manylinux_2_28_$machine" \
		--require-hashes --dest "$wheel" --requirement "$here/onnxruntime.txt" >&2 &&
		"$python" - "$wheel" "$build/ort" <<'PY'
import glob, os, sys, zipfile
wheel, to = sys.argv[1:]
with zipfile.ZipFile(glob.glob(wheel + "/*.whl")[0]) as z:
    for name in z.namelist():
        base = os.path.basename(name)
        if base.startswith("libonnxruntime.so"):
            part = os.path.join(wheel, base)
            with open(part, "wb") as f:
                f.write(z.read(name))
            os.replace(part, os.path.join(to, base))
PY
	then
		rm -rf "$wheel"
		return 0
	fi
	rm -rf "$wheel"
	echo "setup: ONNX Runtime could not be fetched: models cannot be measured until it is there" >&2
	echo "setup: try again, or name a library you have with --engine-lib or DEEPCLOCK_ORT" >&2
}

# The standard's operator tests: Debian's onnx has those of 2022 only.
fetch_onnx_cases() {
	[ ! -e "$build/onnx/onnx/__init__.py" ] || return 0
	# Another build folder of this tree has the same.
	for have in "$here"/../build*/onnx; do
		[ -e "$have/onnx/__init__.py" ] || continue
		mkdir -p "$build"
		ln -sfn "$(cd "$have" && pwd -P)" "$build/onnx"
		return 0
	done
	case " $* " in *" extras "*) ;; *) return 0 ;; esac
	echo "setup: fetching the onnx package with pip" >&2
	rm -rf "$build/onnx.tmp"
	if /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
		--only-binary=:all: --target "$build/onnx.tmp" onnx==1.23.2 >&2; then
		mv "$build/onnx.tmp" "$build/onnx"
		return 0
	fi
	rm -rf "$build/onnx.tmp"
	echo "setup: the onnx package could not be fetched: its operator cases are skipped" >&2
}

# What the reports on classifiers are compared with.
fetch_sklearn() {
	[ ! -e "$build/sklearn/sklearn/__init__.py" ] || return 0
	for have in "$here"/../build*/sklearn; do
		[ -e "$have/sklearn/__init__.py" ] || continue
		mkdir -p "$build"
		ln -sfn "$(cd "$have" && pwd -P)" "$build/sklearn"
		return 0
	done
	case " $* " in *" extras "*) ;; *) return 0 ;; esac
	echo "setup: fetching scikit-learn with pip" >&2
	rm -rf "$build/sklearn.tmp"
	if /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
		--only-binary=:all: --target "$build/sklearn.tmp" scikit-learn==1.9.1 >&2; then
		rm -rf "$build/sklearn" # a link to a folder that is gone
		mv "$build/sklearn.tmp" "$build/sklearn"
		return 0
	fi
	rm -rf "$build/sklearn.tmp"
	echo "setup: scikit-learn could not be fetched: its reports are not compared" >&2
}

install_packages
fetch_onnxruntime
fetch_onnx_cases "$@"
fetch_sklearn "$@"
