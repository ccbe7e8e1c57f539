#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A number that several files state is the same in all of them.

FIGURES lists the numbers: what each is, and the files with the words around it. Each file must still
state it. To change a number, change it in all files; to remove it from a file, remove its line here.
"""

import re

import check

METHODS, RECORD = "docs/reference/methods.md", "docs/reference/record.md"
VALIDATION = "docs/reference/validation.md"
FIGURES = (
    ("independent runs that a p99 needs",
     ((METHODS, r"\bp99 (\d+), p99\.9"),
      (RECORD, r"99 % needs (\d+) independent runs"),
      ("docs/reading.md", r"99 % needs (\d+) independent runs"),
      ("docs/commands/bench.md", r"99 % needs (\d+) independent runs"),
      ("docs/commands/throughput.md", r"\((\d+) for p99\)"))),
    ("percent of the windows of one process that agree",
     ((VALIDATION, r"\| all \| (\d+) % of [\d,]+ \|"),
      (VALIDATION, r"windows hold: (\d+) % of all"),
      ("README.md", r"were consistent in (\d+) % of [\d,]+ pairs"))),
    ("pairs of windows",
     ((VALIDATION, r"\| all \| \d+ % of ([\d,]+) \|"),
      ("README.md", r"were consistent in \d+ % of ([\d,]+) pairs"))),
    ("date of the measurement of windows and starts",
     ((VALIDATION, r"in about 93 %, because that mean is uncertain too\. ([\d-]+), commit"),
      ("README.md", r"two AMD cores \(([\d-]+)\)"))),
    ("comparisons of identical code without a false verdict",
     (("docs/commands/compare.md", r"margin 1 %: of (\d+) comparisons of identical code none"),
      ("docs/ci.md", r": (\d+) comparisons of identical code gave no false verdict"))),
    ("percent that early intervals of compare are wider",
     (("docs/commands/compare.md", r"intervals are widened by up to (\d+) %"),
      (METHODS, r"the interval is wider on each side, at first by (\d+) %"))),
    ("seconds that a program waits for others that write into the history",
     (("src/cli/commands/cmd_history.c", r'"wait", "TIME", "(\d+)s"'),
      ("include/deepclock/history.h", r"wait_ns; .*; (\d+) s \*/"),
      ("docs/commands/history.md", r"at most `--wait` \((\d+) s\)"))),
    ("seconds that bench may take",
     (("src/measure/plan.c", r'"max-time", "TIME", "(\d+)s"'),
      ("docs/reading.md", r"or (\d+) s have passed \(`--max-time`\)"))),
    ("seconds that compare may take",
     (("src/study/compare/interleaved_options.c", r'"max-time", "TIME", "(\d+)s"'),
      ("docs/commands/compare.md", r"fit into `--max-time` \((\d+) s,"))),
    ("call paths, in millions, of a process under memory",
     (("src/profiler/memory/memory_record.c", r"which has space for (\d+)"),
      ("docs/commands/memory.md", r"holds up to (\d+) million call paths"))),
    ("lines of a result",
     (("README.md", r"printed in at most (\d+) lines"),
      ("docs/commands/report.md", r"the answer in at most (\d+) lines"),
      ("docs/commands/report.md", r"## The answer in (\d+) lines"),
      ("include/deepclock/report.h", r"the answer in at most (\d+) lines"))),
    ("lists of a record",
     (("docs/architecture.md", r"is (\w+) plain lists"),
      ("include/deepclock/record.h", r"is (\w+) plain lists"))),
    ("median of the example",
     (("docs/reading.md", r"median ([\d.]+) ms \[51"),
      (METHODS, r"median ([\d.]+) ms \[51"))),
    ("effective sample size of the example",
     (("docs/reading.md", r"n_eff (\d+) of 189"),
      ("docs/reading.md", r"there are (\d+) \(of 189"),
      (METHODS, r"n_eff (\d+) of 189"))),
    ("percent of limits on a percentile that are falsely met",
     ((VALIDATION, r"\| M/D/1 at 80 %, p99 \| 16000 \| ([\d.]+) % \|"),
      ("docs/commands/load.md", r"0\.5 to ([\d.]+) % were wrongly"))),
    ("rounds of 200 that show a difference of 5 %",
     ((VALIDATION, r"^\| 5 % \| [^|]+\| [^|]+\| (\d+) \|"),
      (VALIDATION, r"a difference of 5 % takes (\d+) of 200"))),
    ("call paths that a tree keeps",
     (("src/record/tree/tree_prune.h", r"TREE_NODES_KEPT = (\d+)"),
      ("docs/commands/memory.md", r"the heaviest \[([\d,]+)\]"),
      ("docs/commands/report.md", r"A tree of more than ([\d,]+) paths"))),
    ("points of a trend",
     (("src/history/trend.c", r"POINTS_MAX (\d+)"),
      ("docs/commands/history.md", r"At most ([\d,]+) points"))),
    ("seconds that the end of a program waits for its trace",
     (("include/deepclock/trace.h", r"^ \* (\d+) s at most"),
      ("docs/commands/trace.md", r"That waits for (\d+) s at most"),
      ("docs/architecture-watching.md", r"waits for at most (\d+) s"))),
    ("samples of a second with trace --sample",
     (("src/profiler/trace/trace_samples.c", r"RATE = (\d+)"),
      ("src/profiler/trace/trace_options.c", r'"sample-rate", "HZ", "(\d+)"'),
      ("include/deepclock/trace.h", r"CPU time; 0: (\d+)"))),
    ("minor version of the ABI of plug-ins",
     (("include/deepclock/plugin.h", r"DCK_ABI_MINOR (\d+)u"),
      ("docs/commands/version.md", r"plug-in ABI 1\.(\d+)"),
      ("docs/reference/plugin.md", r"this deepclock has 1\.(\d+):"),
      ("CHANGELOG.md", r"ABI 1\.(\d+)\b"))),
    ("version",
     (("meson.build", r"^  version: '([^']+)'"),
      ("docs/commands/version.md", r"^    deepclock ([\d.]+\S*)$"),
      ("docs/commands/version.md", r"^    library ([\d.]+\S*)$"),
      ("docs/reference/record.md", r'"deepclock": "([^"]+)"'))),
    ("directories below src",
     (("tools/layers.py", r"^TOP_MAX, FILES_MAX = (\d+),"),
      ("docs/architecture.md", r"`src` to (\d+) directories"))),
    ("files of a directory",
     (("tools/layers.py", r"^TOP_MAX, FILES_MAX = \d+, (\d+)"),
      ("docs/architecture.md", r"each of them to (\d+) files"))),
    ("lines of a version",
     (("tools/links.py", r'"CHANGELOG\.md": (\d+)'),
      ("CONTRIBUTING.md", r"in at most (\d+) lines, what a"))),
    ("items per second of the lap's line",
     (("include/deepclock/lap.h", r"cpu \| ([\d,]+) items/s"),
      ("docs/c.md", r"cpu \| ([\d,]+) items/s"),
      ("docs/python.md", r"cpu \| ([\d,]+) items/s"))),
    ("milliseconds of trtexec's warm-up",
     (("README.md", r"\*\*until steady\*\* \| (\d+) ms"),
      ("docs/tools.md", r"Warm-up (\d+) ms; 10 runs"))),
    ("seconds of google/benchmark",
     (("README.md", r"10 runs and 3 s \| ([\d.]+) s \|"),
      ("docs/tools.md", r"default 0; ([\d.]+) s; warns of clock"))),
    ("MACs of resnet18",
     (("docs/commands/cost.md", r"([\d.]+) G MACs, 3\.64 G FLOPs"),
      ("docs/commands/zoo.md", r"`resnet18` ([\d.]+) G,"),
      ("docs/commands/inspect.md", r"([\d.]+) G \* batch MACs"))),
    ("MACs of resnet50",
     (("README.md", r"([\d.]+) G MACs, 8\.22 G FLOPs"),
      ("docs/commands/zoo.md", r"`resnet50` \(v1\.5\) ([\d.]+) G,"))),
    ("oldest Python",
     (("pyproject.toml", r'requires-python = ">=([\d.]+)"'),
      ("docs/python.md", r"needs Python ([\d.]+) or newer"),
      ("docs/architecture.md", r"the stable ABI of ([\d.]+) has"))),
    ("oldest PyTorch",
     (("python/deepclock/torch/__init__.py", r"needs torch \(([\d.]+) or newer\)"),
      ("docs/torch.md", r"needs torch ([\d.]+) or newer"))),
    ("oldest ONNX Runtime",
     (("src/engine/ort/ort.c", r'"ONNX Runtime ([\d.]+) or newer'),
      ("docs/commands/engines.md", r"usable: ONNX Runtime ([\d.]+) or newer"),
      ("docs/commands/engines.md", r"Its C library \(([\d.]+) or newer\)"),
      ("CHANGELOG.md", r"ONNX Runtime ([\d.]+) or newer"))),
    ("oldest OpenVINO",
     (("src/engine/openvino/ov_lib.c", r"#define YEAR_OLDEST (\d+)u"),
      ("src/engine/openvino/openvino.c", r'"OpenVINO (\d+) or newer'),
      ("docs/commands/engines.md", r"usable: OpenVINO (\d+) or newer"),
      ("docs/commands/engines.md", r"Its C library, of (\d+) or newer,"),
      ("CHANGELOG.md", r"OpenVINO (\d+) or newer"))),
    ("oldest LiteRT",
     (("src/engine/litert/lrt_lib.c", r'#define VERSION_OLDEST "([\d.]+)"'),
      ("src/engine/litert/litert.c", r'"LiteRT ([\d.]+) or newer'),
      ("docs/commands/engines.md", r"usable: LiteRT ([\d.]+) or newer"),
      ("docs/commands/engines.md", r"C library of LiteRT, ([\d.]+) or newer"),
      ("CHANGELOG.md", r"LiteRT ([\d.]+) or newer"))),
    ("seconds of a test case",
     (("tests/limit.py", r"^SECONDS = (\d+)"),
      ("CONTRIBUTING.md", r"fails after (\d+) s \(`tests/limit\.py`"))),
    ("seconds of a heavy case",
     (("tests/limit.py", r"^HEAVY_SECONDS = (\d+)"),
      ("CONTRIBUTING.md", r"heavy ones after (\d+) s\)"))),
    ("lines of a file",
     (("tools/style.py", r"^LINES_MAX = (\d+)"),
      ("CONTRIBUTING.md", r"stays well below (\d+) lines"))),
    ("lines of a file without a head",
     (("tools/style.py", r"^HEADLESS_MAX = (\d+)"),
      ("CONTRIBUTING.md", r"of more than (\d+) lines opens with"))),
)


def violations(root, figures=FIGURES):
    for what, places in figures:
        first = None
        for path, words in places:
            # Any white space may separate words, also a line break.
            found = re.findall(words.replace(" ", r"\s+"), check.read(root, path), re.MULTILINE)
            if not found:
                yield f"{path}: no longer states '{what}' where tools/figures.py looks for it"
            for figure in (f.replace(",", "") for f in found):
                first = first or (path, figure)
                if figure != first[1]:
                    yield f"{path}: {what}: {figure}, but {first[1]} in {first[0]}"


TWO = (("legs", (("a.md", r"has (\d+) legs"), ("b.md", r"on ([\d,]+) legs"))),)
CASES = (
    ("figures that agree", {"a.md": "It has 4 legs.", "b.md": "Walks on\n4 legs"}, None),
    ("figures with and without commas",
     {"a.md": "It has 4000 legs.", "b.md": "on 4,000 legs"}, None),
    ("figures that differ", {"a.md": "It has 4 legs.", "b.md": "Walks on 3 legs"},
     "b.md: legs: 3, but 4 in a.md"),
    ("a figure that differs from itself", {"a.md": "has 4 legs, has 5 legs", "b.md": "on 4 legs"},
     "a.md: legs: 5, but 4 in a.md"),
    ("a figure that is gone", {"a.md": "It has 4 legs.", "b.md": "It walks."},
     "b.md: no longer states 'legs'"),
)

if __name__ == "__main__":
    check.run(lambda root=check.ROOT: violations(root),
              lambda: check.misses(lambda where: violations(where, TWO), CASES))
