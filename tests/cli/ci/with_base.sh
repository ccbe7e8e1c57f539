# heavy
# The job of docs/ci.md that measures a change together with its base, on a repository made here: a program
# that became slower, an unchanged program, a build step, and a base that does not exist.
command -v git > /dev/null || { echo "git is not installed"; exit 77; }
job=$TESTS/../../examples/ci/compare_with_base.sh
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
mkdir 'a repository' && cd 'a repository' && git init -q .
commit() {
	printf '#!/bin/sh\nsleep %s\n' "$1" > app.in
	git add app.in && git commit -q --allow-empty -m "$1"
}
build='sed p app.in > app && chmod +x app' # twice the work
commit 0.01
commit 0.08
MARGIN=50% MAX_TIME=20s "$job" HEAD~1 app sh -c "$build" > text
echo "slower: $?"
record compare.json 'f("compare", "verdict")'
grep -c '^|' compare.md | awk '{ print ($1 > 2 ? "a table" : "no table") }'
commit 0.08
MARGIN=300% MAX_TIME=20s "$job" HEAD~1 app sh -c "$build" > text
echo "same: $?"
git worktree list | wc -l # the worktree of the base was removed
"$job" no-such-branch app > text
echo "no base: $?"
