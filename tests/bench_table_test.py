#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/table.py: benchmarks that hold, miss, fail, hang and have no rows, and their table. Prints TAP.

  bench_table_test.py DEEPCLOCK
"""

import json
import os
import subprocess
import sys
import tempfile

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench")
HELD = """
import rows, sys
rows.put("work A", [1.0, 1.1, 1.2] * 7, "times B", most=1.15)
rows.put("work A", [3.0] * 21, "times B", peer="a peer")
rows.absent("work A", "another peer", "apt-get install another")
sys.exit(rows.status())
"""
MISSED = """
import rows, sys
rows.put("work \\\\ \\"C\\"", [0.5] * rows.rounds(21), "of D", least=0.9)
sys.exit(rows.status())
"""
PARTS = {"held": HELD, "missed": MISSED, "fails": "raise AttributeError('no rounds')", "empty": "",
         "hangs": "import time; time.sleep(600)", "skipped": "import sys; sys.exit(77)"}


def table(folder, *words):
    """Returns the exit status, the output and the rows of BUILD."""
    out = os.path.join(folder, "out.json")
    env = {k: v for k, v in os.environ.items() if not k.startswith("DEEPCLOCK_BENCH")}
    done = subprocess.run([sys.executable, os.path.join(BENCH, "table.py"), folder, "--json", out, *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, check=False)
    with open(out, encoding="utf-8") as f:
        return done.returncode, done.stdout, json.load(f)


def cases(folder):
    code, text, result = table(folder, "held")
    now = {r.get("peer"): r for r in result["rows"]}
    yield "held", code == 0 and now[None]["verdict"] == "held" and now[None]["now"] == 1.1, text
    yield "range of the rounds", (now[None]["low"], now[None]["high"]) == (1.0, 1.2), str(now[None])
    yield "peers below their work", (text.index("work A  ") < text.index("  a peer") < text.index("  another peer")
                                     and "absent: apt-get install another" in text), text
    code, text, result = table(folder, "missed", "held")
    yield "missed", code == 3 and "1 limits held, 1 missed; 1 peers absent; every benchmark ran" in text, text
    yield "names with quotes", any(r["work"] == 'work \\ "C"' for r in result["rows"]), text
    code, text, result = table(folder, "--quick", "missed")
    yield "a quick run judges nothing", code == 0 and result["rows"][0]["verdict"] == "" and len(result["rows"][0]["values"]) == 2, text
    code, text, result = table(folder, "--quick", *PARTS)
    why = {f["benchmark"]: f["why"] for f in result["failed"]}
    yield "failures", code == 1 and sorted(why) == ["empty", "fails", "hangs"], text
    yield "reasons", ("AttributeError: no rounds" in why.get("fails", "") and "no rows" in why.get("empty", "")
                      and "more than" in why.get("hangs", "")), str(why)
    page, saved = os.path.join(folder, "page.html"), os.path.join(folder, "record.json")
    code, text, _ = table(folder, "held", "--html", page, "--save", saved)
    told = subprocess.run([os.path.join(folder, "deepclock"), "report", saved], capture_output=True, text=True, check=False)
    yield "record", code == 0 and told.returncode == 0 and "1 limits held, 0 missed" in told.stdout, told.stdout + told.stderr
    yield "page", os.path.getsize(page) > 10000, text


def main():
    failed = n = 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(sys.argv[1]), os.path.join(folder, "deepclock"))
        os.mkdir(os.path.join(folder, "meson-info"))
        with open(os.path.join(folder, "meson-info", "intro-benchmarks.json"), "w", encoding="utf-8") as f:
            json.dump([{"name": name, "cmd": [sys.executable, "-c", code], "workdir": None, "timeout": 2 if name == "hangs" else 60,
                        "env": {"PYTHONPATH": BENCH, "PYTHONDONTWRITEBYTECODE": "1"}} for name, code in PARTS.items()], f)
        for name, good, shown in cases(folder):
            n += 1
            failed += not good
            print(f"{'ok' if good else 'not ok'} {n} - {name}")
            if not good:
                print("# " + shown.replace("\n", "\n# "))
    print(f"1..{n}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
