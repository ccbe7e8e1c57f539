#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks in real libraries, which have no frame pointers and start threads: our unwinder's stacks equal those of
glibc's backtrace(). Prints TAP.

  unwind_libraries.py --program build/deepclock --library build/tests/libunwind_compare.so
"""

import os
import subprocess

from common import Skipped, arguments, expect, need_engine, run

PYTHON = """
import decimal, json, re, sqlite3, threading

def work():
    base = sqlite3.connect(":memory:")
    base.create_function("twice", 1, lambda x: len(json.dumps({"x": [x] * 20})) + bool(re.compile("a%d+" % x)))
    base.execute("create table t as with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)"
                 " select i, twice(i) d from n").close()
    sorted([str(decimal.Decimal(i).sqrt()) for i in range(300)], key=lambda t: json.loads(t))

threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads: t.start()
for t in threads: t.join()
"""
TORCH = """
import torch
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(2))
for _ in range(5):
    net(torch.randn(4, 3, 16, 16)).sum().backward()
try:
    torch.zeros(2) @ torch.zeros(3)
except RuntimeError: # thrown in C++
    pass
"""


def compare(library, command, least):
    done = subprocess.run(command, env=dict(os.environ, LD_PRELOAD=library, UNWIND_COMPARE="compared"),
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    expect(done.returncode == 0, f"exit {done.returncode}: {done.stderr[-500:]}")
    with open("compared") as f:
        compared, frames, different = (sum(column) for column in zip(*(map(int, line.split()) for line in f)))
    expect(compared >= least, f"only {compared} stacks were compared")
    expect(different == 0, f"{different} of {compared} stacks differ ({frames} frames)")
    print(f"# {compared} stacks, {frames} frames")


def python(library):
    compare(library, ["env", "PYTHONMALLOC=malloc", "/usr/bin/python3", "-c", PYTHON], 1000)


def torch(library):
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode:
        raise Skipped("no PyTorch: install python3-torch")
    compare(library, ["/usr/bin/python3", "-W", "ignore", "-c", TORCH], 1000)


def onnxruntime(library, program):
    need_engine(program)
    compare(library, [program, "bench", "zoo:resnet18", "--runs", "2"], 500)


def main():
    args = arguments(__doc__, ("--library", {"required": True}))
    library = os.path.abspath(args.library)
    run([("unwind/python", lambda: python(library)), ("unwind/torch", lambda: torch(library)),
         ("unwind/onnxruntime", lambda: onnxruntime(library, args.program))], args.prefixes)


if __name__ == "__main__":
    main()
