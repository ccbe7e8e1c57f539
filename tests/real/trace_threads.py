#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resource use of the threads of a program that does not use deepclock: counters of its threads in Perfetto's own
engine equal the totals of the record. Prints TAP.

  trace_threads.py --program build/deepclock
"""

import json
import subprocess
import sys

import trace_formats
from common import arguments, expect, run

PYTHON = """
import hashlib, threading, time

def work(seconds):
    block, end = bytes(1 << 22), time.thread_time() + seconds
    while time.thread_time() < end:
        hashlib.sha256(block).digest() # other threads go on meanwhile

threads = [threading.Thread(target=work, args=(n / 10,)) for n in (1, 2, 3)]
for t in threads:
    t.start()
time.sleep(0.02)
for t in threads:
    t.join()
"""
COLUMNS = {"CPU time": "cpu", "run queue wait": "run_queue", "minor page faults": "minor_faults",
           "major page faults": "major_faults", "voluntary switches": "voluntary",
           "involuntary switches": "involuntary"}
OF_THREADS = ("select t.tid, k.name, max(c.value), min(c.value), t.name from counter c join thread_counter_track k"
              " on c.track_id = k.id join thread t using (utid) group by 1, 2")
OF_PROCESSES = "select distinct name from counter c join process_counter_track k on c.track_id = k.id"
ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
SLICES = "select count(*) from slice"


def table(path):
    with open(path, encoding="utf-8") as f:
        record = json.load(f)
    found = next(t for t in record["tables"] if t["name"] == "threads")
    keys = [c["key"] for c in found["columns"]]
    return {row[keys.index("tid")]: dict(zip(keys, row)) for row in found["rows"] if isinstance(row[keys.index("tid")], int)}


def same(rows, told):
    """Each number of the table is the last value of its counter; without a counter it is absent or 0."""
    for tid, row in rows.items():
        for counter, key in COLUMNS.items():
            want = told.get((tid, counter))
            if want is None:
                expect(row[key] == 0 or isinstance(row[key], dict), (tid, key, row[key]))
            else:
                expect(row[key] == want, (tid, key, row[key], want))


def traced(program):
    with open("program.py", "w", encoding="utf-8") as f:
        f.write(PYTHON)
    done = subprocess.run([program, "trace", "--save", "run.json", "--", sys.executable, "program.py"], capture_output=True,
                          text=True, timeout=300)
    expect(done.returncode == 0, done.stderr)
    return table("run.json")


def perfetto(program):
    rows = traced(program)
    counters, processes, errors, slices = trace_formats.ask_perfetto("trace.pftrace", OF_THREADS, OF_PROCESSES, ERRORS, SLICES)
    expect(not errors, errors)
    same(rows, {(tid, name): most for tid, name, most, *_ in counters})
    shares = [(most, least) for _, name, most, least, _ in counters if name == "CPU share"]
    expect(len(shares) >= 4 and all(0 <= least <= most <= 1 for most, least in shares), shares)
    expect({name for name, in processes} >= {"CPU share", "CPU time", "minor page faults", "resident memory"}, processes)
    # The hashing threads have no zones, and are listed with their CPU time.
    expect(sorted(row["cpu"] // 10**8 for row in rows.values() if row["cpu"] >= 10**8)[:3] >= [1, 1, 2], rows)
    expect(slices[0][0] > 0, slices)
    done = subprocess.run([program, "report", "trace.pftrace", "--format", "json"], capture_output=True, text=True, timeout=60)
    with open("read.json", "w", encoding="utf-8") as f:
        f.write(done.stdout)
    same(table("read.json"), {(tid, name): most for tid, name, most, *_ in counters})


def chrome(program):
    rows = traced(program)
    subprocess.run([program, "report", "trace.pftrace", "--format", "chrome", "-o", "trace.json"], check=True, timeout=60)
    counters, errors = trace_formats.ask_perfetto(
        "trace.json", "select k.name, max(c.value) from counter c join process_counter_track k on c.track_id = k.id"
        " group by 1", ERRORS)
    expect(not errors, errors)
    told = dict(counters)
    for tid, row in rows.items():
        # Perfetto adds the id and the key of the value to a counter's name.
        found = [most for name, most in told.items() if "CPU time" in name and str(tid) in name]
        expect(found == [row["cpu"]], (tid, row["cpu"], told))


def main():
    args = arguments(__doc__)
    run([("trace_threads/perfetto", lambda: perfetto(args.program)),
         ("trace_threads/chrome", lambda: chrome(args.program))], args.prefixes)


if __name__ == "__main__":
    main()
