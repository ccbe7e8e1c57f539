# SPDX-License-Identifier: Apache-2.0
"""Jobs of torch.distributed: collectives are recorded, and the rank that is late is named. PyTorch 2 runs under its torchrun;
that of Debian's PyTorch does not work with Debian's Python, so the test sets its variables."""

import ast
import json
import os
import subprocess
import sys
import textwrap
import unittest

from support import Case, deepclock, limit, main, needs

torch = needs("torch", "PyTorch")
if not torch.distributed.is_available():
    raise unittest.SkipTest("PyTorch has no torch.distributed")

# Rank 1's forward takes longer by argv[1] ms in each of argv[2] steps.
TRAIN = """
    import os, sys, time
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    import deepclock

    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", init_method=f"file://{sys.argv[3]}/store", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(16, 4))
    optimiser = torch.optim.SGD(model.parameters(), 0.1)
    with deepclock.torch.steps(live=False, operators=False) as s:
        for x in s([torch.full((8, 16), float(rank + 1))] * int(sys.argv[2])):
            with s.forward:
                y = model(x)
                if rank == 1:
                    time.sleep(float(sys.argv[1]) / 1e3)
            with s.backward:
                y.square().mean().backward()
            with s.optimiser:
                optimiser.step()
                optimiser.zero_grad()
    weights = [p.detach().sum().item() for p in model.parameters()]
    total = torch.ones(2) * rank
    dist.all_reduce(total)
    gathered = [torch.zeros(1), torch.zeros(1)]
    work = dist.all_gather(gathered, torch.ones(1) * rank, async_op=True)
    work.wait()
    with open(f"{sys.argv[3]}/{rank}", "w") as f:
        print(repr((weights, total.tolist(), [g.item() for g in gathered])), file=f)
    dist.barrier()
    dist.destroy_process_group()
"""


class Ranks(Case):
    def run(self, result=None):
        # Of the heavy suite: three processes import PyTorch.
        with limit.Limit(self.id(), limit.HEAVY_SECONDS):
            return unittest.TestCase.run(self, result)

    def job(self, *words):
        """Runs the command in two ranks; returns what they printed."""
        other = os.environ.get("DEEPCLOCK_TEST_TORCH")
        env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        start = [sys.executable]
        ranks = [{"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2",
                  "TORCHELASTIC_RUN_ID": self.folder} for rank in range(2)]
        if other:
            env["PYTHONPATH"] = os.pathsep.join([other, *filter(None, [env.get("PYTHONPATH")])])
            start, ranks = [*start, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"], [{}]
        started = [subprocess.Popen([*start, *words], env={**env, **rank}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    text=True) for rank in ranks]
        texts = [one.communicate()[0] for one in started]
        self.assertEqual([one.returncode for one in started], [0] * len(started), texts)
        return "".join(texts)

    def expected(self, steps):
        """Returns the weights that the mean of both ranks' gradients gives."""
        torch.manual_seed(0)
        model = torch.nn.Linear(16, 4)
        optimiser = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(steps):
            for rank in range(2):
                (model(torch.full((8, 16), float(rank + 1))).square().mean() / 2).backward()
            optimiser.step()
            optimiser.zero_grad()
        return [p.detach().sum().item() for p in model.parameters()]

    def test_the_late_rank_is_named(self):
        # The delay is longer than what a busy machine does to a rank in most steps.
        with open(self.path("train.py"), "w", encoding="utf-8") as f:
            f.write(textwrap.dedent(TRAIN))
        text = self.job("-m", "deepclock", "ranks", "--no-history", "--save", self.path("run.json"), "--traces", self.folder,
                        self.path("train.py"), "200", "16", self.folder)
        with open(self.path("run.json"), encoding="utf-8") as f:
            record = json.load(f)
        facts = {(f["section"], f["key"]): f.get("value") for f in record["facts"]}
        rows = {t["name"]: t["rows"] for t in record["tables"]}
        self.assertEqual(facts["job", "launcher"], "torchrun")
        self.assertEqual(facts["job", "straggler"], 1, text)
        self.assertEqual(facts["job", "straggler_part"], "forward")
        self.assertIn("rank 1 holds the others up", " ".join(text.split()))
        self.assertEqual(text.count("holds the others up"), 1)
        # One bucket of gradients for each step; what comes after the last step is in none.
        self.assertEqual([row[0] for row in rows["collectives"] if row[1]], ["collective:all_reduce"])
        self.assertEqual((facts["job", "collectives"], facts["job", "steps"]), (14, 14))
        parts = [row[0] for row in rows["parts"]]
        self.assertTrue({"data", "forward", "backward", "optimiser"} <= set(parts), parts)
        # The time without a processor, by which ranks that share too few are not accused.
        for rank in range(2):
            with open(self.path(f"rank-{rank}.pftrace"), "rb") as f:
                self.assertIn(b"run queue outside of collectives", f.read())
        # Recording changes no result.
        for rank in range(2):
            with open(self.path(str(rank)), encoding="utf-8") as f:
                weights, total, gathered = ast.literal_eval(f.read())
            self.assertEqual((total, gathered), ([1, 1], [0, 1]))
            for weight, expected in zip(weights, self.expected(16)):
                self.assertAlmostEqual(weight, expected, places=4)

    def test_inside_a_program(self):
        with open(self.path("train.py"), "w", encoding="utf-8") as f:
            f.write(textwrap.dedent(TRAIN))
        with open(self.path("inside.py"), "w", encoding="utf-8") as f:
            f.write("import runpy, sys\nimport deepclock\n"
                    "with deepclock.ranks() as job:\n    runpy.run_path(sys.argv.pop(1), run_name='__main__')\n"
                    "if job.record:\n    job.record.save(sys.argv[3] + '/run.json')\n")
        self.job(self.path("inside.py"), self.path("train.py"), "200", "16", self.folder)
        record = deepclock.load(self.path("run.json"))
        self.assertEqual(record.facts["job/straggler"].value, 1)
        self.assertEqual(record.facts["job/straggler_part"].value, "forward")
        self.assertEqual([row["collective"] for row in record.tables["collectives"] if row["calls"]], ["collective:all_reduce"])


if __name__ == "__main__":
    main()
