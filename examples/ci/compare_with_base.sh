#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures this commit and BASE in turns, on one machine, in one job, and fails only if this commit is
# significantly slower. BASE is checked out in a separate directory, so the working tree is not changed.
#
#   compare_with_base.sh BASE SUBJECT [BUILD COMMAND...]
#
# SUBJECT:  a model file or a program of the repository, as a path from its root
# BUILD:    run in both trees first; without it nothing is built
# MARGIN:   the difference that matters (environment, default 3%)
# MAX_TIME: of the whole comparison (default 2m)
#
# Exit status: 0 not worse, 3 slower, 4 undecided, 1 and 2 errors.
# compare.json is the record; compare.md is the summary for a pull request.
set -eu

base=$1
subject=$2
shift 2
git rev-parse --verify --quiet "$base^{commit}" >/dev/null || {
	echo "compare_with_base: there is no commit '$base' here; fetch the whole history (depth 0)" >&2
	exit 2
}
here=$(git rev-parse --show-toplevel)
there=$(mktemp -d)/base
trap 'git -C "$here" worktree remove --force "$there"; rmdir "${there%/base}"' EXIT
git -C "$here" worktree add --quiet --detach "$there" "$base"

if [ $# -gt 0 ]; then
	(cd "$there" && "$@" >&2)
	(cd "$here" && "$@" >&2)
fi
case $subject in
*.onnx) old=$there/$subject new=$here/$subject ;;
*) old="cmd:'$there/$subject'" new="cmd:'$here/$subject'" ;;
esac

status=0
deepclock compare "$old" "$new" --margin "${MARGIN:-3%}" --max-time "${MAX_TIME:-2m}" \
	--no-history --save compare.json || status=$?
[ ! -f compare.json ] || deepclock report compare.json --format markdown >compare.md
exit "$status"
