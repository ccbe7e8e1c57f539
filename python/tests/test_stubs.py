# SPDX-License-Identifier: Apache-2.0
"""The type stubs for mypy match the extension."""

import os
import subprocess
import sys

from support import Case, deepclock, main
import stubs

HERE = os.path.dirname(os.path.abspath(__file__))
# Members that some versions of the interpreter add, or that __getitem__ provides.
ALLOWED = r"""deepclock._deepclock.zone
.*\.__match_args__
.*\.__buffer__
.*\.__iter__
"""
# Packages that deepclock imports when they are used: reading PyTorch alone takes mypy half a minute.
CONFIG = """[mypy]
[mypy-torch.*,numpy.*,pandas.*,IPython.*,tensorflow.*,transformers.*]
follow_imports = skip
follow_imports_for_stubs = True
"""
PROGRAM = '''from typing import Optional
import deepclock
r: deepclock.Record = deepclock.bench(sum, [1, 2], runs=20, warmup="auto", max_time=3.5, shape={"a": (1, 2)})
m: deepclock.Metric = r["latency/median"]
print(float(m), [n.code for n in r.notes], [f.value for f in r.facts.values()], len(r.series["latency"].values))
with deepclock.memory() as used, deepclock.memory.lines(len) as lines:
    bytearray(1000)
peak: int = used.peak or 0
told: Optional[deepclock.Record] = used.record or lines.record
@deepclock.memory.lines
def double(x: int) -> int:
    return 2 * x
print(peak, told, double(3), [row.line for row in lines.rows or []])
@deepclock.zone
def half(x: int) -> float:
    return x / 2
@deepclock.zone("named")
async def later(x: int) -> str:
    return str(x)
async def user() -> str:
    return await later(3)
with deepclock.zone("z"), deepclock.count(builtins=False) as calls, deepclock.trace(None, last="1MiB") as t:
    quarter: float = half(3) / 2
    deepclock.counter("loss", quarter)
    deepclock.start("copy").end()
if calls.record is not None and t.record is not None:
    print(calls.record.verdict, t.record.id, deepclock.count(half, 3).verdict, r.get("x"), list(r), t.path)
rows: list[dict[str, object]] = [dict(row) for row in r.tables["x"][1:2]]
with deepclock.lap("epoch", total=3) as lap, deepclock.torch.steps(total=3) as s:
    lap["loss"] = 0.5
    for batch in s([1, 2]):
        with s.forward:
            one: int = batch
seconds: float = lap.wall or 0
told = s.record or deepclock.torch.cost(lambda: 1) or deepclock.torch.profile(lambda: 1, max_time="1s")
print(deepclock.compare({"a": lambda: 1, "b": "zoo:x", "c": ["ls"]}).verdict, deepclock.load("x").id)
class Array:
    def __dlpack__(self, *, stream: Optional[int] = None) -> object: return None
    def tolist(self) -> list[float]: return []
x = Array()
deepclock.accuracy("m.onnx", inputs=x, labels=x, predictions={"a": x}, save="r.json")
deepclock.bench_model("m.onnx", input=x)
deepclock.tune("m.onnx", inputs={"a": x}, labels=x)
callbacks = [deepclock.callbacks.Laps(3, steps=True), deepclock.callbacks.Profile(x, roofs=False)]
print(deepclock.compare(url=["http://a", "http://b"], model="m", new_tokens=3).verdict)
'''
WRONG = PROGRAM + '''deepclock.bench(sum, runs=[])
deepclock.bench(sum, rans=3)
deepclock.bench(sum, save=3)
deepclock.bench_model("m.onnx", input=half)
r.nothing
peak = deepclock.memory().held
half("3")
number: int = half(3)
later("3")
deepclock.counter("x", "y")
deepclock.count(half, 3).nothing
deepclock.count().nothing
t.record.nothing if t.record else 0
deepclock.torch.cost(half).nothing
deepclock.torch.profile(half, max_tme=1)
s.nothing
lap.wall + "a"
'''


class StubsTest(Case):
    def test_are_written_anew(self):
        with open(os.path.join(os.path.dirname(HERE), "deepclock", "_deepclock.pyi"), encoding="utf-8") as f:
            self.assertEqual(f.read(), stubs.text(), "run python/tests/stubs.py")

    def mypy(self, module, *args):
        # The system's mypy runs on the system's Python, which must be able to import the extension.
        ask = "import mypy, sys; print(sys.version_info[:2])"
        python = next((p for p in (sys.executable, "/usr/bin/python3") if subprocess.run(
            [p, "-c", ask], capture_output=True, text=True, check=False).stdout == f"{sys.version_info[:2]}\n"), None)
        if python is None:
            self.skipTest("mypy is not installed")
        package = os.path.dirname(os.path.dirname(os.path.abspath(deepclock.__file__)))
        with open(self.path("mypy.ini"), "w", encoding="utf-8") as f:
            f.write(CONFIG)
        return subprocess.run([python, "-m", module, *args], capture_output=True, text=True, check=False,
                              cwd=self.folder, env={**os.environ, "MYPYPATH": package, "PYTHONPATH": package})

    def test_match_the_extension(self):
        with open(self.path("allowed"), "w", encoding="utf-8") as f:
            f.write(ALLOWED)
        ran = self.mypy("mypy.stubtest", "deepclock._deepclock", "--concise", "--allowlist", "allowed",
                        "--ignore-unused-allowlist", "--mypy-config-file", "mypy.ini")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_of_a_program(self):
        for name, text, errors in (("right.py", PROGRAM, 0), ("wrong.py", WRONG, 19)):
            with open(self.path(name), "w", encoding="utf-8") as f:
                f.write(text)
            ran = self.mypy("mypy", "--strict", "--follow-imports=silent", name)
            ours = [line for line in ran.stdout.splitlines() if line.startswith(name) and "error:" in line]
            self.assertEqual(len(ours), errors, ran.stdout + ran.stderr)


if __name__ == "__main__":
    main()
