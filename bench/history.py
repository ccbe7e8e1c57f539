#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time of history commands: adding a record, and listing and trend analysis of many.

  history.py --program build/deepclock [--records 10000] [--adds 50] [--folder DIR]

Records are copies of one real record of 'deepclock bench' with other ids and times. Times are of
the whole program, so 'version' is measured too, as the cost of any command. Minimum of five.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


def timed(command, env, times=5):
    best = None
    for _ in range(times):
        begin = time.perf_counter()
        subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        took = time.perf_counter() - begin
        best = took if best is None else min(best, took)
    return best * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--records", type=int, default=10000)
    parser.add_argument("--adds", type=int, default=50)
    parser.add_argument("--folder", help="on the file system to be measured")
    args = parser.parse_args()
    program = os.path.abspath(args.program)

    with tempfile.TemporaryDirectory(prefix="deepclock-history-", dir=args.folder) as folder:
        db = os.path.join(folder, "history.db")
        env = dict(os.environ, DEEPCLOCK_DB=db)
        one = os.path.join(folder, "one.json")
        subprocess.run([program, "bench", "--quiet", "--runs", "200", "--warmup", "5", "--save", one,
                        "--no-history", "--", "true"], env=env, check=True, stdout=subprocess.DEVNULL)
        with open(one, encoding="utf-8") as f:
            record = json.load(f)
        size = os.path.getsize(one)

        print(f"a record of {size:,} bytes, {len(record['metrics'])} metrics")
        print(f"{'version (start of the program)':40} {timed([program, 'version'], env):8.1f} ms")
        took = []
        for i in range(args.adds):
            record["id"] = f"add{i:08d}"
            with open(one, "w", encoding="utf-8") as f:
                json.dump(record, f, indent=2)
            took.append(timed([program, "history", "import", one], env, 1))
        print(f"{'add one record (import, median)':40} {statistics.median(took):8.1f} ms")

        lines = os.path.join(folder, "lines")
        median = next(m for m in record["metrics"] if m["tag"] == "latency/median")
        with open(lines, "w", encoding="utf-8") as f:
            for i in range(args.records):
                record["id"] = f"{i:08x}{i:08x}"
                record["began"] = time.strftime("%Y-%m-%dT%H:%M:%SZ",
                                                time.gmtime(1600000000 + 600 * i))
                record["facts"] = [x if (x["section"], x["key"]) != ("subject", "name") else
                                   dict(x, value=f"subject {i % 20}") for x in record["facts"]]
                median["value"] = 1e6 + (i * 7919 % 1000) * 10.0
                f.write(json.dumps(record) + "\n")
        begin = time.perf_counter()
        subprocess.run([program, "history", "import", lines], env=env, check=True,
                       stdout=subprocess.DEVNULL)
        each = (time.perf_counter() - begin) * 1e3 / args.records
        print(f"{'import, each of ' + format(args.records, ','):40} {each:8.2f} ms")
        print(f"the file then has {os.path.getsize(db):,} bytes")
        for what in (["list"], ["list", "--limit", "0"], ["list", "--subject", "subject 7"],
                     ["list", "--limit", "0", "--format", "json"],
                     ["show", "last", "--format", "json"],
                     ["trend", "--subject", "subject 7"],
                     ["trend", "--subject", "subject 7", "--by", "day"]):
            name = "history " + " ".join(what)
            print(f"{name:40} {timed([program, 'history', *what], env):8.1f} ms")
        begin = time.perf_counter()
        subprocess.run([program, "history", "check"], env=env, check=True, stdout=subprocess.DEVNULL)
        print(f"{'history check':40} {(time.perf_counter() - begin) * 1e3:8.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
