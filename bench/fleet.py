#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trend over a fleet's history: 100,000 records of 200 machines, ten metrics each, in a PostgreSQL server that this
starts. Prints medians of 5 runs of the program.

  bench/fleet.py build/deepclock [RECORDS] [MACHINES]
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", d) for d in ("real", ".")]
from postgres_server import Server  # noqa: E402

# Rows of the index as adding makes them; the key of a machine is of its kind, four of which have 50 machines each.
FILL = """SET search_path = deepclock;
INSERT INTO records (id, at, added, command, verb, subject, engine, cpu, machine, method, commit_id, incomplete, bytes, host, branch)
SELECT md5(i::text), 1700000000000000000 + i * 60000000000, 0, 'deepclock bench zoo:a', 'bench', 'zoo:' || i % 5, 'ort',
  'processor ' || i % {machines} % 4, 'kind' || i % {machines} % 4, 'method', md5((i / 500)::text), 0, 4000, 'node' || i % {machines}, 'main'
FROM generate_series(1, {records}) i;
INSERT INTO metrics SELECT seq, tag, 100000 + random() * 1000, 'ns', 99000, 101000, 0.95 FROM records,
  unnest(ARRAY['latency/median', 'latency/mean', 'latency/p90', 'latency/p99', 'latency/min', 'latency/max', 'throughput/items',
               'memory/peak', 'cpu/time', 'latency/mad']) tag ON CONFLICT DO NOTHING;
VACUUM ANALYZE metrics;
VACUUM ANALYZE records;
"""


def main():
    program = os.path.abspath(sys.argv[1])
    records, machines = (int(sys.argv[2]) if len(sys.argv) > 2 else 100000), (int(sys.argv[3]) if len(sys.argv) > 3 else 200)
    top = tempfile.mkdtemp(prefix="deepclock-fleet-")
    server = Server(top)
    try:
        address = server.fresh()
        line = os.path.join(os.path.dirname(os.path.dirname(program)), "tests/cli/lib/history-lines")
        one = subprocess.run([line, "1"], check=True, capture_output=True).stdout
        subprocess.run([program, "history", "import", "-", "--db", address], check=True, input=one, stdout=subprocess.DEVNULL)
        server.sql(FILL.format(records=records, machines=machines), "fleet")
        for words in (["trend", "--subject", "zoo:3"], ["trend", "--subject", "zoo:3", "--by", "commit"],
                      ["trend", "--subject", "zoo:3", "--host", "node13"], ["trend", "latency/p99", "--since", "2024-01-01"],
                      ["trend", "--mixed", "--cpu", "*2"], ["list", "--host", "node7"]):
            times = []
            for _ in range(5):
                began = time.monotonic()
                subprocess.run([program, "history", *words, "--db", address], check=True, stdout=subprocess.DEVNULL)
                times.append(time.monotonic() - began)
            print(f"{statistics.median(times) * 1e3:7.0f} ms  [{min(times) * 1e3:.0f}, {max(times) * 1e3:.0f}]  history {' '.join(words)}")
    finally:
        server.close()
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    main()
