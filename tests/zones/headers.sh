#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh SOURCE BUILD: zones in C99 and C++11, on, off, and with invalid arguments.
source=$1 build=$2
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
warn="-Wall -Wextra -Wpedantic -Werror -I$source/include"
failed=0

# check NAME COMMAND...: the command must succeed.
check() {
	name=$1
	shift
	"$@" >"$tmp/said" 2>&1 && return
	echo "$name failed:"
	cat "$tmp/said"
	failed=1
}

refused() {
	printf '#include "deepclock/zone.h"\nvoid f(const char *p, void *q);\nvoid f(const char *p, void *q)\n{\n(void)p; (void)q;\n%s\n}\n' \
		"$2" >"$tmp/wrong.c"
	# shellcheck disable=SC2086
	if cc $3 $warn -std=c99 -c "$tmp/wrong.c" -o "$tmp/wrong.o" 2>/dev/null; then
		echo "$1 is not refused $3"
		failed=1
	fi
}

# shellcheck disable=SC2086
{
	check "off in C99" cc $warn -O0 -std=c99 "$source/tests/zones/off.c" -o "$tmp/off"
	check "off, run" "$tmp/off"
	check "on in C99" cc $warn -std=c99 -fPIC -shared "$source/tests/zones/sites.c" -o "$tmp/sites.so"
	if command -v c++ >/dev/null; then
		check "off in C++11" c++ $warn -O0 -std=c++11 -x c++ "$source/tests/zones/off.c" -o "$tmp/off"
		check "off, run" "$tmp/off"
		check "on in C++11" c++ $warn -O1 -pthread -std=c++11 "$source/tests/zones/in_cpp.cpp" -o "$tmp/in_cpp" \
			-L"$build" -Wl,-rpath,"$build" -ldeepclock
		check "in C++, run" "$tmp/in_cpp"
	else
		echo "skipped: C++: there is no c++"
	fi
}
for off in "" -DDCK_ZONES_OFF; do
	refused "a name that is no literal" 'DCK_PUSH(p);' "$off"
	refused "a number that is a pointer" 'DCK_NUMBER("n", q);' "$off"
	refused "an end without a range" 'DCK_END(3);' "$off"
done
exit $failed
