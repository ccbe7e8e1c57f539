#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Growth of the time and memory of commands with their work: events, tracks, names, call paths, samples, nodes, records.

  scale.py BUILD [--markdown] [--picture FILE.svg] [--rounds 3] [WORK...]

Each command runs with 1, 10, 100 and 1,000 times the work, in rounds. Time is the CPU time of the program and its
children, memory the peak resident size. The exponent is that of the last decade: log10 of the ratio of what 1,000 and
100 times the work take beyond one time the work, so that the start of the program does not count; n log n has at most
1.2 there. --markdown prints the table of docs/reference/scale.md, --picture draws it: both axes are logarithmic.
"""

import argparse
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import rows

TIMES = (1, 10) if rows.QUICK else (1, 10, 100, 1000)
MOST = 1.2
LEAST_BYTES = 4 << 20  # memory that grows by less does not grow


def measured(build, command):
    """Returns CPU seconds and peak resident bytes."""
    done = subprocess.run([os.path.join(build, "bench", "bench_peak"), *command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"scale: {shlex.join(command)}: {done.stderr.strip()[-500:]}")
    seconds, size = done.stdout.split()
    return float(seconds), int(size)


# --- the works: files and commands


def chrome(path, n, event):
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"traceEvents": [\n' + ",\n".join(json.dumps({"ph": "X", "pid": 1, "tid": 1, "ts": i * 10, "dur": 5, **event(i)})
                                                   for i in range(n)) + "\n]}\n")
    return path


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, data):
    """A member of a message of protobuf: bytes or a number."""
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    return varint(number << 3 | 2) + varint(len(data)) + data


def onnx(path, n):
    """A chain of n operators."""
    dims = field(1, field(1, 1)) + field(1, field(1, 64))
    shape = field(1, field(1, 1) + field(2, dims))
    nodes = b"".join(field(1, field(1, f"x{i}".encode()) + (field(1, b"x0") if i % 2 else b"") + field(2, f"x{i + 1}".encode())
                           + field(3, f"/block{i}/node".encode()) + field(4, b"Add" if i % 2 else b"Relu")) for i in range(n))
    graph = nodes + field(2, b"chain") + field(11, field(1, b"x0") + field(2, shape)) + field(12, field(1, f"x{n}".encode()))
    with open(path, "wb") as f:
        f.write(field(1, 8) + field(7, graph) + field(8, field(1, b"") + field(2, 17)))
    return path


def folded(path, n):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(f"main;f{i % 10};g{i % 1000};h{i} 3\n" for i in range(n))
    return path


class Works:
    def __init__(self, build):
        self.build = build
        self.program = os.path.join(build, "deepclock")

    def report(self, path, *words):
        return [self.program, "report", path, *words]

    def record(self, folder):
        """Returns a real record."""
        path = os.path.join(folder, "one.json")
        if not os.path.exists(path):
            subprocess.run([self.program, "bench", "--quiet", "--runs", "50", "--warmup", "1", "--save", path, "--no-history", "--",
                            "true"], check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as f:
            return json.load(f)

    def page(self, folder, n):
        return self.report(chrome(folder + f"/{n}.json", n, lambda i: {"name": f"f{i % 50}"}), "--format", "html")

    def trace(self, folder, n):
        return self.report(chrome(folder + f"/{n}.json", n, lambda i: {"name": f"f{i % 50}"}))

    def perfetto(self, folder, n):
        path = folder + f"/{n}.pftrace"
        subprocess.run([os.path.join(self.build, "bench", "bench_timeline_make"), str(n), path], check=True)
        return self.report(path)

    def tracks(self, folder, n):
        return self.report(chrome(folder + f"/{n}.json", n, lambda i: {"name": "f", "tid": i}))

    def names(self, folder, n):
        return self.report(chrome(folder + f"/{n}.json", n, lambda i: {"name": f"function {i}"}))

    def paths(self, folder, n):
        return self.report(folded(folder + f"/{n}.folded", n))

    def samples(self, folder, n):
        record = self.record(folder)
        for series in record["series"]:
            series.pop("at_ns", None)
            series.update(values=[1e6 + i * 7919 % 1000 for i in range(n)], warmup=1)
        path = folder + f"/{n}.json"
        with open(path, "w", encoding="utf-8") as f:
            json.dump(record, f)
        return self.report(path)

    def runs(self, _, n):
        return [self.program, "bench", "zoo:simplenet", "--engine", "null", "--runs", str(n), "--warmup", "1", "--group", "1",
                "--processes", "1", "--no-history", "--quiet"]

    def cost(self, folder, n):
        return [self.program, "cost", onnx(folder + f"/{n}.onnx", n)]

    def inspect(self, folder, n):
        return [self.program, "inspect", onnx(folder + f"/{n}.onnx", n)]

    def history(self, folder, n):
        record, lines, db = self.record(folder), folder + "/lines", folder + f"/{n}.db"
        with open(lines, "w", encoding="utf-8") as f:
            for i in range(n):
                record["id"] = f"{i:08x}{i:08x}"
                record["began"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1600000000 + 600 * i))
                f.write(json.dumps(record) + "\n")
        subprocess.run([self.program, "history", "import", "--db", db, lines], check=True, stdout=subprocess.DEVNULL)
        return [self.program, "history", "list", "--db", db, "--limit", "0"]

    def trend(self, folder, n):
        return [self.program, "history", "trend", "--db", self.history(folder, n)[4]]

    def memory(self, _, n):
        return [self.program, "memory", "--quiet", "--no-history", "--", os.path.join(self.build, "bench", "bench_heap_work"), str(n)]


# work: (what is counted, the least number, method)
WORKS = {"report": ("events of a Chrome trace", 1000, Works.trace), "report --format html": ("events of a Chrome trace", 1000, Works.page),
         "report, Perfetto": ("events of a Perfetto trace", 1000, Works.perfetto), "report, threads": ("threads of a trace", 100, Works.tracks),
         "report, names": ("names of a trace", 100, Works.names), "report, call paths": ("call paths of a profile", 100, Works.paths),
         "report, samples": ("samples of a record", 1000, Works.samples), "bench": ("runs", 1000, Works.runs),
         "cost": ("nodes of a model", 100, Works.cost), "inspect": ("nodes of a model", 100, Works.inspect),
         "history list": ("records", 10, Works.history), "history trend": ("records", 10, Works.trend),
         "memory": ("allocations", 10000, Works.memory)}


def exponent(values, least):
    """Returns that of the last decade, beyond the first value; 0: it grows by less than `least`."""
    before, last = values[-2] - values[0] if len(values) > 2 else values[0], values[-1] - values[0] if len(values) > 2 else values[-1]
    if last < least or before <= 0:
        return 0.0
    return math.log10(last / before)


# --- the picture: a panel for each work, with the CPU time and memory beyond those of the least work

WIDE, HIGH, ACROSS, GAP = 180, 118, 4, 16
SERIES = (("time", "#1f6feb"), ("memory", "#c2570c"))


def panel(x, y, name, curves, exponents):
    """One panel: each curve relative to the largest, beside a straight line, which is proportional growth."""
    decades = len(TIMES) - 1
    inner = WIDE - 2 * GAP, HIGH - 3 * GAP

    def at(k, share):
        """The point of 10^k times the work with this share of the largest; the axis begins at 1/1000."""
        return (x + GAP + inner[0] * k / decades, y + 2 * GAP + inner[1] * -max(math.log10(max(share, 1e-9)), -decades) / decades)

    out = [f'<text x="{x + GAP}" y="{y + 14}" font-weight="600">{name}</text>',
           f'<rect x="{x + GAP}" y="{y + 2 * GAP}" width="{inner[0]}" height="{inner[1]}" fill="none" stroke="#d0d7de"/>',
           "<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='#8c959f' stroke-dasharray='3 3'/>".format(
               *at(0, 10.0 ** -decades), *at(decades, 1))]
    labels = []
    for (what, colour), values, power in zip(SERIES, curves, exponents):
        more = [v - values[0] for v in values]
        labels.append(f'<tspan fill="{colour}">{what} {power:.2f}</tspan>')
        points = [at(k, v / more[-1]) for k, v in enumerate(more) if v > 0] if power > 0 else []
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.8" points="'
                   + " ".join(f"{a:.1f},{b:.1f}" for a, b in points) + '"/>')
        out.extend(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.4" fill="{colour}"/>' for a, b in points)
    out.append(f'<text x="{x + GAP}" y="{y + 28}">' + '<tspan dx="8"> </tspan>'.join(labels) + "</text>")
    out.append(f'<text x="{x + GAP}" y="{y + HIGH - 4}" fill="#57606a">{TIMES[0]}</text>'
               f'<text x="{x + WIDE - GAP}" y="{y + HIGH - 4}" fill="#57606a" text-anchor="end">{TIMES[-1]:,} times</text>')
    return out


def picture(path, panels):
    high = HIGH * math.ceil(len(panels) / ACROSS)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE * ACROSS} {high}" font-family="sans-serif" font-size="10.5">',
           f'<rect width="{WIDE * ACROSS}" height="{high}" fill="#fff"/>']
    for i, one in enumerate(panels):
        out += panel(i % ACROSS * WIDE, i // ACROSS * HIGH, *one)
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n</svg>\n")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("build")
    p.add_argument("--markdown", action="store_true")
    p.add_argument("--picture")
    p.add_argument("--rounds", type=int, default=rows.rounds(3))
    p.add_argument("work", nargs="*", default=[])
    a = p.parse_intermixed_args()
    works, lines, panels = Works(os.path.abspath(a.build)), [], []
    for work, (what, n, command_of) in WORKS.items():
        if a.work and work not in a.work:
            continue
        with tempfile.TemporaryDirectory(prefix="deepclock-scale-") as folder:
            commands = [command_of(works, folder, n * times) for times in TIMES]
            found = [[measured(works.build, command) for command in commands] for _ in range(a.rounds)]
        time_of, memory_of = ([[one[k] for one in of_round] for of_round in found] for k in (0, 1))
        middle = [[statistics.median(column) for column in zip(*values)] for values in (time_of, memory_of)]
        exponents = exponent(middle[0], 0.01), exponent(middle[1], LEAST_BYTES)
        if not a.markdown:
            for name, values, now, least in (("time", time_of, exponents[0], 0.01), ("memory", memory_of, exponents[1], LEAST_BYTES)):
                rows.put(f"growth of {work} with {what}: {name}", [exponent(v, least) for v in values], "exponent of the last decade",
                         most=MOST, now=now)
        panels.append((work, middle, exponents))
        each = middle[0][-1] / (n * TIMES[-1])
        lines.append([f"`{work}`" if "," not in work else work.replace("report,", "`report`,"), f"{n * TIMES[-1]:,} {what}",
                      f"{middle[0][-1]:.2f} s", f"{each * 1e9:,.0f} ns", f"{middle[1][-1] / 2**20:,.0f} MiB", *(f"{e:.2f}" for e in exponents)])
    if a.picture:
        picture(a.picture, panels)
    if a.markdown:
        print("| command | work | CPU time | for each | peak memory | exponent: time | memory |\n|---|---|--:|--:|--:|--:|--:|")
        for line in lines:
            print("| " + " | ".join(line) + " |")
        return 0
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
