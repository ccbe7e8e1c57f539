#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The checklist of a release: checks the tree, runs all tests, builds the artefacts into build/release, with checksums and a list of
# materials. It tags, signs and publishes nothing: the last lines are the commands for those who have the key.
#
#   tools/release.sh [--dry-run] VERSION      --dry-run: checks, and prints the commands instead of running them
#
# Exit status: 0; 1 a check or a command failed; 2 wrong usage.
set -eu
cd "$(dirname "$0")/.."

dry=
[ "${1-}" != --dry-run ] || { dry=1 && shift; }
version=${1-}
echo "$version" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+(-rc[0-9]+)?' && [ $# = 1 ] || {
	echo "usage: tools/release.sh [--dry-run] VERSION, as 1.2.3 or 1.2.3-rc1" >&2
	exit 2
}
numbers=${version%-rc*}
major=${numbers%%.*} rest=${numbers#*.}
minor=${rest%%.*} patch=${rest#*.}
out=build/release
failed=0

# check WHAT COMMAND...: prints whether it holds.
check() {
	what=$1
	shift
	if "$@" >/dev/null 2>&1; then echo "holds: $what"; else echo "FAILS: $what" && failed=1; fi
}

run() {
	echo "$*"
	[ -n "$dry" ] || sh -c "$*" || { echo "release: failed: $*" >&2 && exit 1; }
}

header=include/deepclock/base.h
check "meson.build has version $version" grep -qF "  version: '$version'," meson.build
check "$header has version $version" grep -qE "DCK_VERSION[[:space:]]+\"$version\"" $header
check "$header has the numbers $major, $minor, $patch" sh -c "grep -q 'DCK_VERSION_MAJOR $major\$' $header &&
	grep -q 'DCK_VERSION_MINOR $minor\$' $header && grep -q 'DCK_VERSION_PATCH $patch\$' $header"
check "debian/control has the soname $major" sh -c "[ \$(grep -cE '^Package: libdeepclock(-zones)?$major\$' debian/control) = 2 ]"
check "debian/changelog begins with $version" sh -c "head -1 debian/changelog | grep -qF '($(echo "$version" | tr - '~'))'"
check "CHANGELOG.md has $version with its date" grep -qE "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)" CHANGELOG.md
check "tests/fixtures has files of $major.$minor" test -d "tests/fixtures/$major.$minor"
check "nothing is uncommitted" sh -c '[ -z "$(git status --porcelain)" ]'
check "there is no tag v$version" sh -c "! git rev-parse --verify --quiet refs/tags/v$version"
[ "$failed" = 0 ] || { echo "release: $version is not ready, see above" >&2 && exit 1; }

run ".ci/run"
run "rm -rf $out && mkdir -p $out"
run "git archive --prefix=deepclock-$version/ -o $out/deepclock-$version.tar.gz HEAD"
run "make wheel && cp build/wheel/deepclock-*.whl $out/"
run "make wheel WHEEL_ARCH=aarch64 && cp build/wheel-aarch64/deepclock-*.whl $out/"
run "make deb && cp build/deb/*.deb build/deb/*.dsc build/deb/*.tar.xz build/deb/*.changes build/deb/*.buildinfo $out/"
run "python3 tools/sbom.py build $version $out/* >$out/deepclock-$version.cdx.json"
run "cd $out && sha256sum ./* >SHA256SUMS"
echo "release: $version is ready in $out; for those who have the key:"
echo "  git tag -s v$version -m 'deepclock $version' && gpg --armor --detach-sign $out/SHA256SUMS"
