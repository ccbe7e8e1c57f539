#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do undisturbed runs of a subject with two threads take what they take on a quiet machine? shared_work.c takes twice as
long while its worker waits for a processor. Rounds: once alone, then beside 1 and 2 busy loops.

  undisturbed_threads.py PROGRAM PLUGIN [ROUNDS]     5

Prints for each the ratio to the quiet median of the round: of the median of all runs, and of the undisturbed ones.
"""
import json
import os
import subprocess
import sys
import tempfile

import rows

LOADS = 0, 1, 2


def measured(program, plugin, load, path):
    """Returns the median of all runs and that of the undisturbed ones; None: absent."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
    try:
        subprocess.run([program, "bench", f"plugin:{plugin}", "--processes", "1", "--max-time", "2s", "--save", path, "--quiet",
                        "--no-history"], check=True, stdout=subprocess.DEVNULL)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    with open(path, encoding="utf-8") as f:
        metrics = {m["tag"]: m.get("value") for m in json.load(f)["metrics"]}
    return metrics["latency/median"], metrics.get("latency/undisturbed")


def main():
    program, plugin = sys.argv[1:3]
    found = {load: ([], []) for load in LOADS}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rows.rounds(int(sys.argv[3]) if len(sys.argv) > 3 else 5)):
            quiet = None
            for load in LOADS:
                values = measured(program, plugin, load, os.path.join(folder, "record.json"))
                quiet = quiet or values[0]
                for ratios, value in zip(found[load], values):
                    if value is not None:
                        ratios.append(value / quiet)
    for load in LOADS[1:]:
        work = f"undisturbed median on two threads beside {load} busy loop{'s' if load > 1 else ''}"
        everything, undisturbed = found[load]
        rows.put(work, everything, "times the quiet one", peer="all runs")
        if undisturbed:
            rows.put(work, undisturbed, "times the quiet one", most=1.01)
        else:
            print(f"  {work}: absent")
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
