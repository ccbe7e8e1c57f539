# heavy
# The job of docs/ci.md that keeps a history: the first run has no predecessor, the second is
# compared with the first and shown to be slower.
command -v git > /dev/null || { echo "git is not installed"; exit 77; }
job=$TESTS/../../examples/ci/keep_history.sh
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export DEEPCLOCK_DB=$PWD/kept.db MARGIN=100%
# Outside a working tree nothing is measured.
GIT_CEILING_DIRECTORIES=${PWD%/*} "$job" cmd:'touch measured' 2> why || grep -c 'not a git repository' why
[ ! -e measured ] || echo measured
git init -q .
commit() {
	printf '#!/bin/sh\nsleep %s\n' "$1" > app
	chmod +x app
	git add app && git commit -qm "$1"
}
commit 0.002
"$job" cmd:./app --runs 40 --warmup 2 > text 2> why
echo "first: $?"
grep -c 'no history yet' why
commit 0.05
"$job" cmd:./app --runs 40 --warmup 2 > text 2> why
[ $? -ge 3 ] && echo gate # on a busy machine it may be inconclusive
deepclock history list --format csv | grep -c bench
