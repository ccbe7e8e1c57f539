#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report on a classifier against scikit-learn itself: for random labels and predictions the
lines of `deepclock accuracy` equal those of classification_report, byte for byte, and the numbers of
the record equal its dictionary's to the last bit. Prints TAP.

  sklearn_report.py --program build/deepclock [--cases N] [--seed N]
"""

import functools
import json
import os
import random
import subprocess
import sys
import warnings

from common import Skipped, arguments, expect, installed, run, skip_all

WORDS = ["cat", "dog", "cow", "Ant", "zebra", "blue whale", "größe", "日本", "naïve", "x" * 30, "a,b",
         'say "hi"', "Ωmega", "0x", "-", "é", "ß", "z" * 11, "weighted", "accuracy"]
KINDS = ["numbers", "numbers", "texts", "texts", "scores", "one class", "many classes", "listed",
         "superset", "named", "rounding"]


def make(kind, rng, np):
    """Returns true labels, predictions, scores or None, and classification_report's arguments."""
    n = rng.choice([1, 2, 5, 20, 100, 1000])
    k = rng.randint(2, 12)
    args = {"digits": rng.randint(0, 5)}
    if kind == "one class":
        return np.full(n, 7), np.full(n, 7), None, args
    if kind == "many classes":
        k, n = rng.choice([130, 257, 600]), 3000
    if kind == "rounding":  # shares whose digit after the last printed one is 5
        n, k = rng.choice([8, 16, 40, 80, 200, 400, 800, 1000]), 2
    right = rng.random()
    labels = list(range(k)) if kind in ("scores", "named") else rng.sample(range(-5, 5000), k)
    if kind == "texts":
        labels = rng.sample(WORDS, k)
    true = [rng.choice(labels) for _ in range(n)]
    # Some classes are never predicted, some have no items.
    guesses = rng.sample(labels, rng.randint(1, k))
    pred = [t if rng.random() < right else rng.choice(guesses) for t in true]
    true, pred = np.array(true), np.array(pred)
    if kind == "listed":
        args["labels"] = rng.sample(labels, rng.randint(1, k))
    if kind == "superset":
        args["labels"] = labels + [6000, 7000]
    if kind == "named":
        args["labels"] = labels
        args["target_names"] = rng.sample(WORDS, k)
    scores = None
    if kind == "scores":  # few distinct values, so that there are ties
        scores = np.array([[rng.randint(0, 3) for _ in range(k)] for _ in range(n)], dtype="float32")
        pred = scores.argmax(axis=1)
    return true, pred, scores, args


def quoted(label):
    label = str(label)
    return '"' + label.replace('"', '""') + '"' if set(label) & set('",') else label


def save(path, values, csv, rng, np):
    if not csv:
        np.save(path + ".npy", values)
        return path + ".npy"
    with open(path + ".csv", "w", encoding="utf-8") as f:
        if rng.random() < 0.5:
            f.write("label\n")
        f.writelines(quoted(v) + "\n" for v in values)
    return path + ".csv"


def command(program, folder, case, rng, np):
    true, pred, scores, args = case
    words = [program, "accuracy", "--details", "--digits", str(args["digits"])]
    words += ["--labels", save(folder + "/y", true, rng.random() < 0.5, rng, np)]
    if scores is not None:
        words += ["--predictions", save(folder + "/p", scores, False, rng, np)]
    else:
        words += ["--predictions", save(folder + "/p", pred, rng.random() < 0.5, rng, np)]
    for option, key in (("--label-list", "labels"), ("--target-names", "target_names")):
        if key in args:
            with open(folder + "/" + key, "w", encoding="utf-8") as f:
                f.writelines(quoted(v) + "\n" for v in args[key])
            words += [option, "@" + folder + "/" + key]
    return words


def report_of(text):
    lines = text.split("\n")
    begin = lines.index("Classification report" if "Classification report" in lines else lines[0]) + 1
    end = next(i for i in range(begin + 3, len(lines)) if lines[i].lstrip().startswith("weighted avg"))
    return "\n".join(lines[begin:end + 1]) + "\n"


def numbers_of(text):
    """Returns the numbers in the structure of classification_report's dictionary."""
    tables = {t["name"]: t for t in json.loads(text)["tables"]}
    found = {}
    for name in ("accuracy/classes", "accuracy/averages"):
        keys = [c["key"] for c in tables[name]["columns"]]
        for row in tables[name]["rows"]:
            cells = dict(zip(keys, row))
            label = cells["label"]
            found[label] = {"precision": cells["precision"], "recall": cells["recall"],
                            "f1-score": cells["f1"], "support": cells["support"]}
    return found


def plain(cell):
    if isinstance(cell, dict):
        return cell.get("value")
    return cell


def differences(program, case, folder, rng, np, classification_report):
    true, pred, _, args = case
    words = command(program, folder, case, rng, np)
    want = classification_report(true, pred, **args)
    env = dict(os.environ, LC_ALL="C.UTF-8")
    done = subprocess.run(words, capture_output=True, encoding="utf-8", env=env, timeout=60)
    if done.returncode != 0:
        return [" ".join(words), done.stderr]
    got = report_of(done.stdout)
    if got != want:
        return [" ".join(words)] + want.split("\n") + got.split("\n")
    done = subprocess.run(words + ["--format", "json"], capture_output=True, encoding="utf-8",
                          env=env, timeout=60)
    numbers = numbers_of(done.stdout)
    want = classification_report(true, pred, output_dict=True, **args)
    wrong = []
    for label, row in want.items():
        if label == "accuracy" and not isinstance(row, dict):
            row = {"f1-score": row}
        for key, v in row.items():
            if plain(numbers[label][key]) != v:
                wrong.append(f"{label} {key}: {numbers[label][key]} is not {v!r}")
    return wrong


def main():
    options = arguments(__doc__, ("--cases", {"type": int, "default": 20, "help": "of each kind"}),
                        ("--seed", {"type": int, "default": 1}), cases=False)
    sys.path.insert(0, installed("sklearn"))
    sys.modules["pandas"] = None  # the system's pandas may need another NumPy than this directory's, and would fail
    try:
        import numpy as np
        import sklearn
        from sklearn.metrics import classification_report
    except ImportError as e:
        skip_all(e, "scikit-learn")
    del sys.modules["pandas"]
    warnings.simplefilter("ignore")
    rng = random.Random(options.seed)

    def need_exact_f1():
        # Before 1.3 the f1-score was computed from the rounded precision and recall, and a list of more
        # labels than occur had a micro average instead of the accuracy.
        if tuple(int(v) for v in sklearn.__version__.split(".")[:2]) < (1, 3):
            raise Skipped(f"scikit-learn {sklearn.__version__} is older than 1.3")

    def reports_are_alike(kind):
        wrong = []
        for _ in range(options.cases):
            case = make(kind, rng, np)
            wrong += differences(options.program, case, os.getcwd(), rng, np, classification_report)
        expect(not wrong, "\n".join(wrong[:60]))

    run([(f"{kind}: {options.cases} reports as scikit-learn {sklearn.__version__}'s",
          functools.partial(reports_are_alike, kind)) for kind in KINDS], need=need_exact_f1)


if __name__ == "__main__":
    main()
