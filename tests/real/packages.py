#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks with open dimensions that Python packages contain: the three of PaddleOCR and the six
variants of silero-vad. Tests deepclock's report on each, and the commands that it suggests. Prints TAP.

  packages.py --program build/deepclock
"""

import glob
import json
import os
import shlex
import subprocess

from common import arguments, expect, fact, installed, need_engine, run, skip_all

SHORT = ["--runs", "3", "--warmup", "0", "--quiet"]
STATES = {"state", "h", "c"}  # the state that a network passes to its next run


class Program:
    """Runs deepclock in the models' directory, with names only: line breaks must not depend on the tests' path."""

    def __init__(self, path, folder):
        self.path, self.folder = os.path.abspath(path), folder

    def __call__(self, *words):
        done = subprocess.run([self.path, *words], capture_output=True, encoding="utf-8", timeout=300, cwd=self.folder)
        return done.returncode, done.stdout, done.stderr

    def pasted(self, command, *more):
        """Runs a command that the program printed, parsed as a shell does."""
        words = shlex.split(command)
        expect(words[0] == "deepclock", command)
        return self(*words[1:], *more)

    def record(self, *words):
        code, out, err = self(*words, *SHORT, "--format", "json")
        expect(code == 0, err)
        return json.loads(out)


def open_sizes(program, model):
    """Returns the rows of inspect's table: name, input, axis, option."""
    code, out, err = program("inspect", model, "--format", "json", "--quiet")
    expect(code == 0, err)
    record = json.loads(out)
    rows = [t["rows"] for t in record["tables"] if t["name"] == "inspect/open"]
    return rows[0] if rows else []


def inspected(program, model):
    """The output of inspect is at most 15 lines, one of which is a command that measures."""
    code, out, err = program("inspect", model)
    expect(code == 0, err)
    lines = out.splitlines()
    expect(len(lines) <= 15, out)
    command = [line[len("next: "):] for line in lines if line.startswith("next: ")]
    expect(len(command) == 1, out)
    code, out, err = program.pasted(command[0], *SHORT)
    expect(code == 0 and "median" in out, f"{command[0]}: {err}")


def usual(program, model):
    """Without options bench uses the sizes that inspect proposes, and prints them."""
    code, out, err = program("inspect", model, "--format", "json", "--quiet")
    expect(code == 0, err)
    proposed = fact(json.loads(out), "result", "next").partition(model)[2].strip()
    record = program.record("bench", model)
    expect((fact(record, "subject", "usual_sizes") or "") == proposed, fact(record, "subject", "usual_sizes"))
    notes = [n["text"] for n in record["notes"] if n["code"] == "usual-sizes"]
    expect(len(notes) == (1 if proposed else 0) and all(proposed in n for n in notes), notes)
    expect(not open_sizes(program, model) or proposed, "no proposal")


def counted(program, model):
    """cost reports all known costs, with or without sizes."""
    code, out, err = program("cost", model)
    expect(code == 0 and "MACs" in out, err)
    expect(len(out.splitlines()) <= 15, out)
    code, out, err = program("cost", model, "--details")
    expect(code == 0, err)
    code, out, err = program("inspect", model, "--format", "json", "--quiet")
    command = fact(json.loads(out), "result", "next")
    code, out, err = program.pasted(command.replace("deepclock bench", "deepclock cost"))
    expect(code == 0, f"{command}: {err}")


def items(program, model):
    """The number of items comes from an input that is not a state."""
    code, out, err = program("inspect", model, "--format", "json", "--quiet")
    command = shlex.split(fact(json.loads(out), "result", "next"))
    record = program.record(*command[1:])
    found, how = fact(record, "subject", "items_per_run"), fact(record, "subject", "items_from")
    expect(found == 1, f"{found} items from {how}")
    expect(not any(f"'{state}'" in (how or "") for state in STATES), how)


EACH = [("inspect", inspected), ("usual sizes", usual), ("cost", counted), ("items", items)]


def two_unnamed(program, folder):
    model = os.path.join(folder, "ch_ppocr_mobile_v2.0_cls_infer.onnx")
    record = program.record("bench", model, "--shape", "2x3x48x192")
    expect(fact(record, "subject", "input/x").startswith("2x3x48x192 "), fact(record, "subject", "input/x"))
    expect(fact(record, "subject", "items_per_run") == 2, "items")
    record = program.record("bench", model, "--batch", "2")
    expect(fact(record, "subject", "input/x").startswith("2x3x224x224 "), fact(record, "subject", "input/x"))


def batch_of_states(program, folder):
    """Four audio streams: axis 0 of the state is its two layers."""
    model = os.path.join(folder, "silero_vad.onnx")
    record = program.record("bench", model, "--shape", "input=4x512", "--shape", "state=2x4x128",
                            "--input", "sr=16000")
    expect(fact(record, "subject", "items_per_run") == 4, fact(record, "subject", "items_from"))
    model = os.path.join(folder, "silero_vad_16k_op15.onnx")
    record = program.record("bench", model, "--batch", "2", "--dim", "sequence=512")
    expect(fact(record, "subject", "input/state").startswith("2x2x128 "), "the state's batch")
    expect(fact(record, "subject", "items_per_run") == 2, fact(record, "subject", "items_from"))


def rate_given(program, folder):
    """A random sampling rate selects the wrong branch, which fails; a rate that the graph compares with is used."""
    model = os.path.join(folder, "silero_vad.onnx")
    sizes = ["--shape", "input=1x512", "--shape", "state=2x1x128"]
    for more, wanted in ([], 16000), (["--input", "sr=16000"], 16000):
        record = program.record("bench", model, *sizes, *more)
        expect(str(wanted) in fact(record, "subject", "input/sr"), fact(record, "subject", "input/sr"))
        expect(fact(record, "subject", "usual_sizes") == (None if more else "--input sr=16000"), "usual sizes")
    code, _, err = program("bench", model, *sizes, "--input", "sr=1", *SHORT)
    expect(code not in (0, 2), f"exit {code}: {err}")


def branches(program, folder):
    """The branch of an If that a given input selects is counted: 16 kHz, by hand; 8 kHz has smaller products."""
    model = os.path.join(folder, "silero_vad.onnx")
    for rate, length, macs in (16000, 512, 258 * 3 * 256 + 128 * 3 * 129 * 3 + 64 * 2 * 128 * 3 + 64 * 64 * 3
                               + 128 * 64 * 3 + 4 * 128 * 2 * 128 + 128), (8000, 256, None):
        code, out, err = program("cost", model, "--shape", f"input=1x{length}", "--shape", "state=2x1x128", "--input",
                                 f"sr={rate}", "--format", "json", "--quiet")
        expect(code == 0, err)
        record = json.loads(out)
        metric = {m["tag"]: m for m in record["metrics"]}
        expect("value" in metric["cost/macs"], metric["cost/macs"])
        expect(macs is None or metric["cost/macs"]["value"] == macs, metric["cost/macs"])
        expect(metric["cost/coverage"]["value"] == 1, metric["cost/coverage"])


def inner_times(program, folder):
    """The operators of a branch have separate rows, which add up to the latency; counts are those of the branch."""
    model = os.path.join(folder, "silero_vad.onnx")
    record = program.record("profile", model, "--shape", "input=1x512", "--shape", "state=2x1x128", "--input",
                            "sr=16000", "--profile-runs", "50", "--no-roofs", "--no-memory")
    ops = record["ops"]
    times = {o["name"]: o["time"] for o in ops if isinstance(o.get("time"), (int, float))}
    types = {o["type"] for o in ops if o["name"] in times}
    expect({"If", "LSTM", "Gather", "Squeeze"} <= types and {"Conv", "FusedConv"} & types, sorted(types))
    inner = [o for o in ops if (o.get("scope") or "").startswith("If_0/then_branch")]
    expect(len(inner) > 20 and not any("else_branch" in (o.get("scope") or "").split("/") for o in ops
                                       if o["type"] in ("Conv", "LSTM")), len(inner))
    lstm = [o for o in ops if o["type"] == "LSTM"]
    expect(len(lstm) == 1 and lstm[0]["macs"] == 4 * 128 * 2 * 128, lstm)
    latency = {m["tag"]: m for m in record["metrics"]}["latency/median"]["value"]
    expect(abs(sum(times.values()) - latency) < 1e-6 * latency, f"{sum(times.values())} of {latency}")


TOGETHER = [("operators in a branch have times of their own", inner_times),
            ("the branch that an input selects is counted", branches),
            ("two sizes without a name are two", two_unnamed),
            ("a batch is no layer of a state", batch_of_states),
            ("a rate that the graph knows", rate_given)]


def main():
    args = arguments(__doc__)
    folder = installed("models")
    models = sorted(glob.glob(folder + "/*.onnx"))
    if len(models) < 9:
        skip_all(f"no networks in {folder}", "them")
    program = Program(args.program, folder)
    models, folder = [os.path.basename(m) for m in models], ""
    cases = [(f"{os.path.basename(m)}: {what}", f, m) for m in models for what, f in EACH]
    cases += [(what, f, folder) for what, f in TOGETHER]
    run([(what, lambda f=f, where=where: f(program, where)) for what, f, where in cases], args.prefixes,
        lambda: need_engine(args.program))


if __name__ == "__main__":
    main()
