#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The steps of ../Dockerfile, as root in a Debian 12 without anything: docs/container.md. The test runs the second in a root that
# debootstrap makes.
#
#   tools/container.sh build OUT    installs compilers and the engines' libraries, builds the tree, and installs it into OUT
#   tools/container.sh run          installs what the program loads, and makes the user that it runs as
set -eu

# Loaded on demand: records, history, compressed files, source lines, PNG.
run_packages="libjansson4 libsqlite3-0 zlib1g libdw1 librsvg2-2"
export DEBIAN_FRONTEND=noninteractive

case ${1-} in
build)
	apt-get update -q
	apt-get install -y --no-install-recommends make ca-certificates
	cd "$(dirname "$0")/.."
	tools/setup.sh build
	make
	make install PREFIX=/usr/local DESTDIR="$2"
	;;
run)
	apt-get update -q
	# shellcheck disable=SC2086 # words are meant to be split
	apt-get install -y --no-install-recommends $run_packages
	rm -rf /var/lib/apt/lists/*
	useradd --create-home --uid 1000 deepclock
	;;
*)
	echo "usage: tools/container.sh build OUT | run" >&2
	exit 2
	;;
esac
