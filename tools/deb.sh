#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages of the commit HEAD, from a clean copy of it, in DIR, and runs lintian on them.
#
#   tools/deb.sh DIR                 make deb: build/deb
#
# Prints the packages. Exits with 1 if they could not be built, or if lintian prints an error or a warning.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd -P)
to=$1
for program in dpkg-buildpackage dh dh_python3 lintian; do
	command -v $program >/dev/null || {
		echo "deb: $program is missing: apt-get install dpkg-dev debhelper dh-python lintian" >&2
		exit 1
	}
done
rm -rf "$to"
mkdir -p "$to/deepclock"
to=$(cd "$to" && pwd -P)
git -C "$here" archive HEAD | tar -x -C "$to/deepclock"

# The system's own interpreter and compiler, whatever else is in PATH.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
[ ! -d /usr/lib/ccache ] || PATH=/usr/lib/ccache:$PATH
unset CC CFLAGS LDFLAGS DESTDIR PREFIX MAKEFLAGS MAKELEVEL MFLAGS
# How fast they are does not matter to a test.
(cd "$to/deepclock" && DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)${CI:+ noopt}" \
	dpkg-buildpackage --unsigned-source --unsigned-changes) >"$to/log" 2>&1 ||
	{ tail -20 "$to/log" >&2; echo "deb: the packages could not be built: $to/log" >&2; exit 1; }
rm -rf "$to/deepclock"
ls "$to"/*.deb
verdict=$(lintian --allow-root --fail-on error,warning --display-level '>=warning' "$to"/*.changes 2>&1) || {
	echo "$verdict" >&2
	echo "deb: lintian found that" >&2
	exit 1
}
echo "lintian: no error, no warning"
