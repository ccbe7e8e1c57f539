#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Adds one measurement of this commit to a history that the CI system keeps, and sets it beside the
# one before it. For the main branch: a pull request is better served by compare_with_base.sh.
#
#   keep_history.sh SUBJECT [OPTION...]
#
# SUBJECT:      whatever 'deepclock bench' takes: a model file, zoo:NAME, cmd:'PROGRAM ARG'
# OPTION:       more of bench's options, as --threads 1 or --batch 8
# DEEPCLOCK_DB: the history's file; the CI system must keep it from job to job
# MARGIN:       the difference that matters (5% by itself)
#
# Exit status: 0 not worse than the record before, 3 slower, 4 not decided, or none is before it.
set -eu

: "${DEEPCLOCK_DB:?name the history file that is kept from job to job}"

deepclock bench "$@" --processes 5 --no-history --save new.json
status=0
deepclock compare --history new.json --margin "${MARGIN:-5%}" || status=$?
deepclock history import --commit "$(git rev-parse HEAD)" new.json
deepclock history trend latency/median --by commit
exit "$status"
