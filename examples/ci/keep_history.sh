#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Adds one measurement of this commit to a history that the CI system keeps, and compares it with
# the previous one. For the main branch; a pull request is compared by ci/compare_commits.py.
#
#   keep_history.sh SUBJECT [OPTION...]
#
# SUBJECT:      a subject of 'deepclock bench': a model file, zoo:NAME, cmd:'PROGRAM ARG'
# OPTION:       more of bench's options, as --threads 1 or --batch 8
# DEEPCLOCK_DB: the history's file; the CI system must keep it from job to job
# MARGIN:       the difference that matters (default 5%)
#
# Exit status: 0 not worse than the previous record, 3 slower, 4 undecided or no previous record.
set -eu

: "${DEEPCLOCK_DB:?name the history file that is kept from job to job}"
commit=$(git rev-parse HEAD) # fails before anything is measured

deepclock bench "$@" --processes 6 --no-history --save new.json
status=0
deepclock compare --history new.json --margin "${MARGIN:-5%}" || status=$?
deepclock history import --commit "$commit" new.json
deepclock history trend latency/median --by commit
exit "$status"
