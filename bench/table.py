#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks of bench/meson.build, and prints one table: work, now, limit, peers, verdict, processor.

  table.py BUILD [--quick] [--json FILE] [--save FILE] [--html FILE] [--markdown FILE] [NAME...]

Each benchmark compares in interleaved rounds within one run (rows.py, rows.h). Now: the median of the rounds, or what
the benchmark says, and the range of the rounds without the outer 5 % on each side. --save: the table as a record of
deepclock, --html: as its page. --quick: a few short rounds, side by side, and no limit counts: a check that every
benchmark still runs. Exits with 3 if a limit was missed, with 1 if a benchmark could not run.
"""

import argparse
import concurrent.futures
import datetime
import json
import math
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile

import rows

SKIPPED = 77  # as in Meson


def processor():
    """Returns the processor's name, without marks and clock rate; of a virtual machine that hides it also family and model."""
    name, known = platform.machine(), {}
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
        for line in f:
            key, _, value = line.partition(":")
            known.setdefault(key.strip(), value.strip())
    name = known.get("model name", known.get("CPU part", name))
    name = re.sub(r"\((R|TM)\)|\bCPU\b| @.*|\b\d+-Core Processor", "", name).strip().replace("  ", " ")
    if not re.search(r"\d", name) and "cpu family" in known:
        name += f" (family {known['cpu family']}, model {known['model']})"
    return name


def run(benchmark, build, folder, quick):
    """Returns (name, its rows, why it could not run or None, its output)."""
    name, path = benchmark["name"], os.path.join(folder, benchmark["name"] + ".rows")
    env = {**os.environ, **benchmark["env"], "DEEPCLOCK_BENCH_ROWS": path}
    if quick:
        env["DEEPCLOCK_BENCH_QUICK"] = "1"
    process = subprocess.Popen(benchmark["cmd"], cwd=benchmark["workdir"] or build, env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    why = None
    try:
        output, _ = process.communicate(timeout=benchmark["timeout"])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        why = f"it took more than {benchmark['timeout']} s"
    found = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            found = [{"benchmark": name, **json.loads(line)} for line in f]
    if why is None and process.returncode not in (0, rows.MISSED, SKIPPED):
        last = output.strip().splitlines()[-1:] or [""]
        why = f"it ended with {process.returncode}: {last[0]}"
    elif why is None and not found and process.returncode != SKIPPED:
        why = "it has no rows"
    return name, found, why, output


def judged(row, quick):
    """Adds to a row its value, range, interval of the median and verdict; of a quick run there is none."""
    values = sorted(row["values"])
    n = len(values)
    if n:
        outer, k = n // 20, math.floor(n / 2 - 0.98 * math.sqrt(n))
        row.update(now=rows.value_of(row), low=values[outer], high=values[n - 1 - outer])
        if k >= 0 and values[k] <= row["now"] <= values[n - 1 - k]:
            row.update(lo=values[k], hi=values[n - 1 - k])
    held = None if quick else rows.held(row)
    row["verdict"] = "absent" if "absent" in row else "" if held is None else "held" if held else "MISSED"
    return row


def limit_text(row):
    return " and ".join(f"{words} {row[key]:g}" for key, words in (("least", "at least"), ("most", "at most")) if key in row)


def cells(row, where):
    """Returns a line of the table."""
    if "absent" in row:
        return [f"  {row['peer']}" if "peer" in row else row["work"], "-", "", "", f"absent: {row['absent']}", ""]
    value = f"{row['now']:.4g} ({row['low']:.4g} to {row['high']:.4g})"
    if "peer" in row:
        return ["  " + row["peer"], value, row["unit"], "", "", ""]
    return [row["work"], value, row["unit"], limit_text(row), row["verdict"], where]


def lines_of(all_rows, where):
    """Returns the lines of the table, the head first: each work, and below it its peers."""
    lines = [["work, and peers in the same run", "now (5 to 95 % of rounds)", "unit", "limit", "verdict", "processor"]]
    for work in dict.fromkeys(r["work"] for r in all_rows):
        of_work = [r for r in all_rows if r["work"] == work]
        if all("peer" in r for r in of_work):
            lines.append([work, "", "", "", "", ""])
        lines += [cells(r, where) for r in sorted(of_work, key=lambda r: "peer" in r)]
    return lines


def printed(lines):
    widths = [max(len(line[i]) for line in lines if i != 4 or not line[i].startswith("absent")) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def markdown(result):
    """Returns the same table without the processor, which the line below it names, and without peers that are absent."""
    head, *lines = [line[:5] for line in lines_of(result["rows"], "")]
    rows_of = [head, ["---", "--:", "---", "---", "---"], *(line for line in lines if not line[4].startswith("absent"))]
    text = ["| " + " | ".join(cell.replace("  ", "&emsp;") if cell.startswith("  ") else cell for cell in line) + " |" for line in rows_of]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False,
                            cwd=os.path.dirname(os.path.abspath(__file__))).stdout.strip()
    return "\n".join([*text, "", f"{result['began'][:10]}, commit {commit}, {result['cpus']} cores of {result['processor']}, "
                      f"load average before: {result['load_before']:.1f}. {result['answer']}."]) + "\n"


def record_of(result):
    """Returns the table as a record of deepclock (docs/reference/record.md)."""
    def number(row):
        interval = {"lo": float(row["lo"]), "hi": float(row["hi"]), "level": 0.95} if "lo" in row else {}
        return {"value": float(row["now"]), **interval}

    columns = [("work", "work", None), ("by", "by", None), ("now", "now", "1"), ("of", "of", None), ("low", "5 %", "1"),
               ("high", "95 %", "1"), ("rounds", "rounds", "1"), ("limit", "limit", None), ("verdict", "verdict", None)]
    table = []
    for row in result["rows"]:
        who = row.get("peer", "deepclock")
        missing = {"absent": f"not installed: {row.get('absent')}"}
        three = [missing] * 3 if "absent" in row else [number(row), float(row["low"]), float(row["high"])]
        table.append([row["work"], who, three[0], row["unit"], *three[1:], len(row["values"]), limit_text(row),
                      row["verdict"]])
    facts = [{"section": "host", "key": "cpu", "value": result["processor"]},
             {"section": "host", "key": "cpus_allowed", "value": result["cpus"], "unit": "1"},
             {"section": "result", "key": "answer", "value": result["answer"]}]
    notes = [{"severity": "error", "code": "benchmark-failed", "text": f"{f['benchmark']}: {f['why']}"} for f in result["failed"]]
    return {"schema": 1, "deepclock": result["deepclock"], "id": "", "began": result["began"], "command": "make bench",
            "incomplete": bool(result["failed"]), "facts": facts, "series": [], "metrics": [], "ops": [],
            "tables": [{"name": "bench", "title": "deepclock beside its limits and peers", "summary_columns": [1, 2, 3, 7, 8],
                        "columns": [{"key": k, "title": t, **({"unit": u} if u else {})} for k, t, u in columns],
                        "rows": table}], "notes": notes}


def collected(benchmarks, build, quick):
    """Runs them: one after the other, or side by side if no limit counts. Returns (rows, failures)."""
    found, failed = [], []
    with tempfile.TemporaryDirectory(prefix="deepclock-bench-") as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count() if quick else 1) as pool:
        for name, some, why, output in pool.map(lambda b: run(b, build, folder, quick), benchmarks):
            if why or not quick:
                print(f"{name}:\n{output.rstrip()}\n", flush=True)
            found += [judged(row, quick) for row in some]
            if why:
                failed.append({"benchmark": name, "why": why})
    return found, failed


def answer_of(found, failed, quick):
    verdicts = [row["verdict"] for row in found]
    counts = f"{verdicts.count('held')} limits held, {verdicts.count('MISSED')} missed"
    return (("a quick run, in which no limit counts" if quick else counts) + f"; {verdicts.count('absent')} peers absent; "
            + (f"{len(failed)} benchmarks could not run: {', '.join(f['benchmark'] for f in failed)}" if failed
               else "every benchmark ran"))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("build")
    p.add_argument("--quick", action="store_true", help="few rounds, in which no limit counts")
    p.add_argument("--json", help="the table with the values of all rounds")
    p.add_argument("--save", help="the table as a record of deepclock")
    p.add_argument("--html", help="the same as a page")
    p.add_argument("--markdown", help="the table for docs/reference/limits.md")
    p.add_argument("names", nargs="*", metavar="NAME", help="only these benchmarks")
    a = p.parse_intermixed_args()
    with open(os.path.join(a.build, "meson-info", "intro-benchmarks.json"), encoding="utf-8") as f:
        known = json.load(f)
    unknown = set(a.names) - {b["name"] for b in known}
    if unknown:
        p.error(f"no benchmark '{unknown.pop()}'; there are {', '.join(b['name'] for b in known)}")
    began = datetime.datetime.now(datetime.timezone.utc)
    load = os.getloadavg()[0]
    found, failed = collected([b for b in known if not a.names or b["name"] in a.names], a.build, a.quick)
    program = os.path.join(a.build, "deepclock")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    cpus = len(os.sched_getaffinity(0))
    result = {"deepclock": version, "began": began.strftime("%Y-%m-%dT%H:%M:%SZ"), "processor": processor(), "cpus": cpus,
              "load_before": load, "quick": a.quick, "answer": answer_of(found, failed, a.quick), "rows": found, "failed": failed}
    if not a.quick:
        printed(lines_of(found, result["processor"]))
        print(f"\n{result['processor']}, {cpus} processors; load average before: {load:.1f}"
              + (" (busy: other programs disturbed the rounds)" if load > 0.5 else ""))
    for failure in failed:
        print(f"{failure['benchmark']} could not run: {failure['why']}")
    print(result["answer"])
    if a.json:
        with open(a.json, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
    if a.markdown:
        with open(a.markdown, "w", encoding="utf-8") as f:
            f.write(markdown(result))
    if a.save or a.html:
        with tempfile.TemporaryDirectory() as folder:
            path = a.save or os.path.join(folder, "record.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(record_of(result), f)
            if a.html:
                subprocess.run([program, "report", path, "--format", "html", "--out", a.html], check=True)
    return 1 if failed else rows.MISSED if any(r["verdict"] == "MISSED" for r in found) else 0


if __name__ == "__main__":
    sys.exit(main())
