# SPDX-License-Identifier: Apache-2.0
"""Shared by the comparisons of this directory: a driver of cases that prints TAP, checks for requirements of a case,
and access to a record."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import limit  # noqa: E402


# Control characters, bidirectional marks, and characters that some programs treat as line ends.
STEERS = [(0, 0x1F), (0x7F, 0x9F), (0x61C, 0x61C), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069),
          (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB)]
NAME_BYTES = 4000


class Skipped(Exception):
    pass


def written(name, no=""):
    """Returns a name as deepclock writes it into files of other programs: sanitised for terminals, and truncated; in a
    format where the character `no` separates names, a blank replaces it."""
    shown = "".join(c if not any(a <= ord(c) <= b for a, b in STEERS) else " " if c < "\x80" else "?" for c in name)
    shown = shown.encode()[:NAME_BYTES].decode(errors="ignore")
    return shown.replace(no, " ") if no else shown


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def fact(record, section, key):
    return next((f.get("value") for f in record["facts"]
                 if (f["section"], f["key"]) == (section, key)), None)


def arguments(doc, *more, cases=True):
    """Parses --program, made absolute, and CASE...; `more` are further options as (name, keywords)."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--program", required=True)
    for name, keywords in more:
        parser.add_argument(name, **keywords)
    if cases:
        parser.add_argument("prefixes", nargs="*", metavar="CASE", help="cases whose name begins so")
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    return args


def installed(what):
    """Returns the directory that tools/setup.sh fills."""
    return os.path.join(os.path.abspath(os.environ.get("BUILD_DIR", "build")), what)


def need_torch():
    try:
        import torch
        import torchvision
    except ImportError as e:
        raise Skipped(f"{e}: install python3-torch, python3-torchvision and python3-onnx") from e
    torch.manual_seed(1)
    return torch, torchvision


def need_engine(program, name="ort"):
    done = subprocess.run([program, "engines", "--format", "json"], capture_output=True, text=True)
    if [name, "usable", "true"] not in json.loads(done.stdout)["tables"][0]["rows"]:
        raise Skipped("no ONNX Runtime" if name == "ort" else f"no {name}")


def skip_all(why, package):
    print("1..0 # SKIP", str(why).split("\n", 1)[0] + f": 'make test-all' fetches {package}")
    sys.exit(0)


def run(cases, prefixes=(), need=lambda: None, seconds=limit.HEAVY_SECONDS):
    """Runs cases: (name, function without arguments), each in an empty directory. A function fails by raising or
    after `seconds`, and is skipped by raising Skipped; all cases are skipped if `need` raises it."""
    limit.ordinary_signals()
    if prefixes:
        cases = [c for c in cases if c[0].startswith(tuple(prefixes))]
    failed = False
    print(f"1..{len(cases)}")
    for number, (name, case) in enumerate(cases, 1):
        line, began = "ok", time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            os.chdir(scratch)
            try:
                need()
                with limit.Limit(name, seconds):
                    case()
            except Skipped as e:
                name += f" # SKIP {e}"
            except Exception as e:  # a failing case must not hide the next
                print("# " + f"{type(e).__name__}: {e}".replace("\n", "\n# "))
                line, failed = "not ok", True
            os.chdir("/")
        print(f"{line} {number} - {name}\n# {time.monotonic() - began:.1f} s", flush=True)
    sys.exit(failed)
