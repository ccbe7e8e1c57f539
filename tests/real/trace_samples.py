#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trace --sample, opened by the engine of Perfetto's own UI: samples of a thread are inside the zone in which they were
taken, with their stacks. Prints TAP.

  trace_samples.py --program build/deepclock
"""

import os
import subprocess

import trace_formats
from common import Skipped, arguments, expect, run

ZONES = ("select t.tid, s.ts, s.ts + s.dur from slice s join thread_track k on s.track_id = k.id join thread t using (utid)"
         " where s.name = 'work'")
SAMPLES = ("select t.tid, p.ts, f.name, m.name, b.name from perf_sample p join thread t using (utid)"
           " join stack_profile_callsite c on p.callsite_id = c.id join stack_profile_frame f on c.frame_id = f.id"
           " join stack_profile_mapping m on f.mapping = m.id left join stack_profile_callsite o on c.parent_id = o.id"
           " left join stack_profile_frame b on o.frame_id = b.id")
ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"


def samples(program, file):
    spins = os.path.join(os.path.dirname(os.path.abspath(program)), "tests", "zones", "spins_program")
    if not os.path.exists(spins):
        raise Skipped("spins_program was not built")
    done = subprocess.run([program, "trace", "--sample", "-o", file, "--", spins], capture_output=True, text=True, timeout=300)
    expect(done.returncode == 0, done.stderr)
    zones, found, errors = trace_formats.ask_perfetto(file, ZONES, SAMPLES, ERRORS)
    expect(not errors, errors)
    expect(len(zones) == 1, zones)
    tid, begin, end = zones[0]
    for function, inside in (("heavy", True), ("light", False)):
        mine = [(t, ts) for t, ts, name, module, caller in found
                if name == function and module.strip("/") == "spins_program" and caller == "work"]
        expect(len(mine) > 20, (function, len(mine), found[:5]))
        astray = [(t, ts) for t, ts in mine if t != tid or (begin <= ts < end) != inside]
        expect(len(astray) <= 1, (function, zones, astray))


def main():
    args = arguments(__doc__)
    run([("trace_samples/perfetto", lambda: samples(args.program, "t.pftrace")),
         ("trace_samples/gzip", lambda: samples(args.program, "t.pftrace.gz"))], args.prefixes)


if __name__ == "__main__":
    main()
