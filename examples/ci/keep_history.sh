#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Adds one measurement of this commit to a history that the CI system keeps, and sets it beside the
# one before it. For the main branch: a pull request is better served by compare_with_base.sh.
#
#   keep_history.sh SUBJECT
#
# SUBJECT:      whatever 'deepclock bench "$subject" --processes 5 --no-history --save new.json
status=0
deepclock compare --history new.json --margin "${MARGIN:-5%}" || status=$?
deepclock history import --commit "$(git rev-parse HEAD)" new.json
deepclock history trend latency/median --by commit
exit "$status"
