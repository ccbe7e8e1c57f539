#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks packages of Debian's architecture arm64 below DIR, if they are not there; the system's architectures do not change.
#
#   tools/arm64_root.sh DIR PACKAGE...
#
# DIR/var/lib/dpkg/status lists them, for dpkg-query --admindir=DIR/var/lib/dpkg.
set -eu
root=$1
shift
have=$root/var/lib/dpkg/status
missing=
for package in "$@"; do
	grep -qx "Package: $package" "$have" 2>/dev/null || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

rm -rf "$root" "$root.tmp"
state=$root.tmp/apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$root.tmp/root/var/lib/dpkg"
state=$(cd "$state" && pwd -P)
: >"$state/status"
cat >"$state/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State::Lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
END
(
	cd "$state"
	export APT_CONFIG="$state/apt.conf"
	apt-get update -q && apt-get download -q "$@"
) >"$state/log" 2>&1 || { tail -5 "$state/log" >&2 && echo "arm64_root: the packages of arm64 could not be fetched" >&2 && exit 1; }
for package in "$state"/*.deb; do
	dpkg-deb -x "$package" "$root.tmp/root"
	{ echo "Status: install ok installed" && dpkg-deb -f "$package" && echo; } >>"$root.tmp/root/var/lib/dpkg/status"
done
mv "$root.tmp/root" "$root"
rm -rf "$root.tmp"
