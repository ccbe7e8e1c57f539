#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that no test makes: all warnings of two compilers as errors, the formatting, three analysers.
# A tool that is not installed is skipped with a message; with CI=true that is a failure. The last line
# is 'lint: ok' or 'lint: failed'.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0

fail() {
	echo "lint: $1"
	failed=1
}
skip() { # TOOL [WHY]
	echo "lint: skipped: $1 ${2-is not installed}"
	case ${CI-} in '' | 0 | false) ;; *) fail "CI is set, and nothing may be skipped" ;; esac
}

# The root meson.build sets -Wall -Wextra -Wpedantic -Wconversion -Wshadow and more. Some warnings of gcc come from
# its optimizer, so gcc compiles; all of clang's come from its front end.
build=build
compile() {
	local log
	command -v gcc >/dev/null || { skip gcc; return; }
	# 'make WERROR=1' has compiled with the same options.
	grep -qE '"command": "(ccache )?gcc .* -Werror .* -O2 ' build/compile_commands.json 2>/dev/null || build="build-lint-gcc"
	log=$(mktemp)
	[ -f "$build/build.ninja" ] ||
		CC=gcc meson setup "$build" -Dwerror=true -Ddebug=false -Doptimization=2 >"$log" 2>&1 ||
		{ cat "$log"; rm -rf "$build"; fail "gcc: meson setup failed"; rm -f "$log"; return; }
	ninja -C "$build" >"$log" 2>&1 || {
		grep -E 'error|warning|FAILED' "$log" | head -60
		fail "gcc: warnings"
	}
	rm -f "$log"
}

# Checks each file once, with gcc's options.
syntax() {
	command -v clang >/dev/null || { skip clang; return; }
	[ -f "$build/compile_commands.json" ] || return
	python3 - "$build" <<'END' | xargs -0 -P "$(nproc)" -I{} sh -c '{}' || fail "clang: warnings"
import json, re, sys
seen = set()
for entry in json.load(open(sys.argv[1] + "/compile_commands.json", encoding="utf-8")):
    words = re.sub(r"^(\S*ccache )?\S+", "", entry["command"])
    words = re.sub(r" -M[DQF]( \S+\.(o|d))?| -o \S+| -c(?= \S+$)", "", words)
    if words not in seen:
        seen.add(words)
        print(f"cd '{entry['directory']}' && clang -fsyntax-only -Werror -Wno-unknown-warning-option {words}", end="\0")
END
}

sources() { # of the tree, tracked by git or not
	find src include plugins python examples bench tests -name '*.[ch]' | sort
}

format() {
	local tool
	tool=$(command -v clang-format-14 || command -v clang-format) || { skip clang-format; return; }
	# Other versions break lines differently.
	"$tool" --version | grep -q 'version 14\.' ||
		{ skip clang-format "is not version 14, which alone breaks lines as they are"; return; }
	sources | xargs "$tool" --dry-run -Werror ||
		fail "formatting: run clang-format -i on the files above"
}

analyse() {
	command -v cppcheck >/dev/null || { skip cppcheck; return; }
	mkdir -p "$build/cppcheck"
	# The two suppressed checks concern style, and are wrong for a table with an empty last row.
	cppcheck --cppcheck-build-dir="$build/cppcheck" --enable=warning,portability --std=c11 --quiet -j "$(nproc)" -D_GNU_SOURCE \
		-Iinclude -Isrc --inline-suppr --error-exitcode=1 \
		--suppress=arrayIndexThenCheck --suppress=duplicateAssignExpression \
		--template='{file}:{line}: {severity}: {message} [{id}]' \
		"$@" || fail "cppcheck"
}

# Undefined names and unused imports; '# noqa' after a line suppresses it, and the imports of a package's
# __init__ are its interface.
python() {
	local tool told
	tool=$(command -v pyflakes3 || command -v pyflakes) || { skip pyflakes; return; }
	told=$(find python tools tests bench examples -name '*.py' -print0 | sort -z | xargs -0 "$tool" 2>&1 |
		grep -vE '/__init__\.py:.*(imported but unused|unable to detect undefined names)' |
		while IFS=: read -r file line rest; do
			sed -n "${line}p" "$file" 2>/dev/null | grep -q '# noqa' || echo "$file:$line:$rest"
		done)
	[ -z "$told" ] || { echo "$told"; fail "pyflakes"; }
}

scripts() {
	command -v shellcheck >/dev/null || { skip shellcheck; return; }
	# tools/style.py checks the cases of tests/cli for errors.
	{
		find tools tests .ci examples -name '*.sh' -not -path 'tests/cli/*'
		ls .ci/run 2>/dev/null
	} | sort -u | xargs -r shellcheck --severity=warning || fail "shellcheck"
}

# The report page. NODE_PATH: the directory of Debian's packages, for a node from another source.
page() {
	command -v eslint >/dev/null || { skip eslint; return; }
	NODE_PATH=/usr/share/nodejs:/usr/share/javascript eslint --format unix src/report/html/page ||
		fail "eslint"
}

compile
syntax
format
analyse src plugins examples
page
analyse --library=python python/ext bench
scripts
python
[ "$failed" = 0 ] && echo "lint: ok" && exit 0
echo "lint: failed"
exit 1
