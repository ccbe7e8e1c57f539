#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of the documents from runs, and writes the date, commit and machine of each into a table.

  pictures.py [--program build/deepclock] [NAME...]      all of PICTURES, or those

docs/pictures/README.md is the table; it has a row for each picture. A picture that this machine cannot make is left
with its row, and the reason is printed. Run it on an idle machine: each picture shows measurements.
"""

import argparse
import datetime
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "docs", "pictures")
TABLE = os.path.join(FOLDER, "README.md")
HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
# Figures of the documents

`tools/pictures.py` makes each from a run, and writes this table. "before C": the picture is from commit C, without a record of what
made it.

| picture | what was run | date | commit | machine |
|---|---|---|---|---|
"""


class Missing(Exception):
    """The reason why this machine cannot make a picture."""


def ran(*words, cwd=None):
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"{os.path.basename(words[0])} {words[1] if len(words) > 1 else ''}: {done.stderr.strip()[-300:]}")
    return done.stdout


def tool(name, *words):
    ran(sys.executable, os.path.join(ROOT, "tools", name), *words)


def steps_trace(program):
    """The trace of the example in docs/commands/trace.md."""
    with open(os.path.join(ROOT, "docs", "commands", "trace.md"), encoding="utf-8") as f:
        text = re.search(r"```c\n(.*?)```", f.read(), re.DOTALL)[1]
    with open("steps.c", "w", encoding="utf-8") as f:
        f.write(text)
    build = os.path.dirname(program)
    ran("cc", "-O2", "-I", os.path.join(ROOT, "include"), "steps.c", "-L", build, "-ldeepclock", f"-Wl,-rpath,{build}", "-o", "steps")
    # Without the counters of `deepclock trace`, which would fill the UI.
    ran("env", "DEEPCLOCK_TRACE=trace.pftrace", "./steps")


def bench(program, out):
    tool("terminal_svg.py", out, "deepclock bench zoo:resnet18 --threads 1", "--", program, "bench", "zoo:resnet18", "--threads", "1",
         "--no-progress", "--no-history")


def page(program, out):
    ran(program, "profile", "zoo:resnet18", "--quiet", "--no-history", "--html", "page.html")
    ran(sys.executable, os.path.join(ROOT, "tests", "html", "browser.py"), "page.html", out, "--width", "1080", "--height", "700",
        "--at", "roofline")


def trace(program, out):
    steps_trace(program)
    tool("perfetto_picture.py", "trace.pftrace", out, "--size", "1000x760")


def train(program, out):
    example = os.path.join(os.path.dirname(program), "examples", "train")
    if not os.path.exists(example):
        raise Missing("examples/train.c is not built: it needs OpenBLAS and the data")
    ran(program, "trace", "--quiet", "--no-history", "--out", "trace.pftrace", "--", example, "3")
    tool("perfetto_picture.py", "trace.pftrace", out, "--size", "1100x420")


def device(program, out):
    engines = json.loads(ran(program, "engines", "--format", "json"))
    if '"provider/webgpu", "ok' not in json.dumps(engines):
        raise Missing("no GPU with ONNX Runtime's provider webgpu")
    ran(program, "bench", "zoo:resnet18", "--device", "webgpu", "--quiet", "--no-history", "--html", "page.html")
    ran(sys.executable, os.path.join(ROOT, "tests", "html", "browser.py"), "page.html", out, "--width", "1080", "--height", "760",
        "--at", "answer")


def timeline(program, out):
    steps_trace(program)
    ran(program, "report", "trace.pftrace", "--figures", out)


def scale(program, out):
    """The picture and, of the same run, the table of docs/reference/scale.md."""
    page = os.path.join(ROOT, "docs", "reference", "scale.md")
    table = ran(sys.executable, os.path.join(ROOT, "bench", "scale.py"), os.path.dirname(program), "--markdown", "--picture", out)
    with open(page, encoding="utf-8") as f:
        text = re.sub(r"^\| command .*?\n\n", lambda _: table + "\n", f.read(), flags=re.DOTALL | re.MULTILINE)
    with open(page, "w", encoding="utf-8") as f:
        f.write(text)


PICTURES = {
    "bench.svg": (bench, "deepclock bench zoo:resnet18 --threads 1"),
    "device.png": (device, "deepclock bench zoo:resnet18 --device webgpu --html page.html"),
    "page.png": (page, "deepclock profile zoo:resnet18 --html page.html"),
    "scale.svg": (scale, "bench/scale.py build --markdown --picture scale.svg"),
    "timeline.svg": (timeline, "DEEPCLOCK_TRACE=trace.pftrace ./steps"),
    "trace.png": (trace, "DEEPCLOCK_TRACE=trace.pftrace ./steps"),
    "train.png": (train, "deepclock trace -- ./train 3"),
}


def machine(program):
    """Returns the processor and its number of cores, from a record's facts."""
    facts = {(f["section"], f["key"]): f.get("value") for f in json.loads(
        ran(program, "bench", "zoo:simplenet", "--engine", "null", "--runs", "20", "--quiet", "--no-history", "--format", "json"))["facts"]}
    hypervisor = facts.get(("host", "hypervisor"))
    return f"{facts.get(('host', 'cpus_online'))} cores, {facts.get(('host', 'cpu'))}" + (f", {hypervisor}" if hypervisor else "")


def commit():
    short = ran("git", "-C", ROOT, "rev-parse", "--short=8", "HEAD").strip()
    changed = ran("git", "-C", ROOT, "status", "--porcelain", "--", "src", "include").strip()
    return short + (" and changes" if changed else "")


def rows():
    """Returns the rows of the table, by picture."""
    if not os.path.exists(TABLE):
        return {}
    with open(TABLE, encoding="utf-8") as f:
        return {line.split("`")[1]: line for line in f.read().splitlines() if line.startswith("| `")}


def unrecorded(name):
    """Returns the row of a picture older than this script, from the commit that added it."""
    date, short = ran("git", "-C", ROOT, "log", "-1", "--format=%as %h", "--", os.path.join(FOLDER, name)).split() or ("", "")
    return f"| `{name}` | `{PICTURES[name][1]}` | {date} | before {short} | not recorded |"


def write(table):
    kept = {name: table.get(name) or unrecorded(name) for name in PICTURES if os.path.exists(os.path.join(FOLDER, name))}
    with open(TABLE, "w", encoding="utf-8") as f:
        f.write(HEAD + "".join(f"{kept[name]}\n" for name in sorted(kept)))
    others = sorted({os.path.basename(p) for p in glob.glob(f"{FOLDER}/*.*g")} - set(kept))
    return [f"docs/pictures/{name} is not among PICTURES: nothing makes it" for name in others]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "deepclock"))
    parser.add_argument("names", nargs="*", choices=[[], *PICTURES], metavar="NAME")
    args = parser.parse_args()
    program, table, left = os.path.abspath(args.program), rows(), []
    for name in args.names or PICTURES:
        make, command = PICTURES[name]
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            made = os.path.join(folder, name)
            try:
                make(program, made)
                with open(made, "rb") as f:
                    content = f.read()
                with open(os.path.join(FOLDER, name), "wb") as f:
                    f.write(content)
                table[name] = f"| `{name}` | `{command}` | {datetime.date.today()} | {commit()} | {machine(program)} |"
                print(f"{name}: made")
            except Missing as why:
                left.append(f"{name} is as it was: {why}")
            os.chdir(ROOT)
    sys.exit("\n".join(left + write(table)) or 0)


if __name__ == "__main__":
    main()
