#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planted stragglers and healthy jobs under the real launchers of this machine: torchrun on gloo, Open MPI, MPICH, and Slurm with
both, each of 2 to 16 ranks. Of a planted job the rank must be named, of a healthy one none may be accused.

  ranks_cases.py BUILD [PLANTED [HEALTHY [LAUNCHER]...]]     20 of each, launchers that are here in turn

Planted is, in turn: 20 ms of processor time more in each step, of part 'forward'; 20 ms of waiting more, of part 'input'; and 150 ms
more in one step of 50. Not in `make bench`: it takes minutes, and needs two implementations of MPI, PyTorch and a cluster of Slurm
(srun; SLURM_CONF). Prints a row for each job; exit status 3 if one is wrong.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", MPIR_CVAR_POLLS_BEFORE_YIELD="1", OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore")
# Steps, and the words of ranks_program.c that follow the rank.
PLANTED = {"compute": (60, ["forward", "20", "1"]), "input": (60, ["input", "20", "1"]), "one in 50": (450, ["forward", "150", "50"])}
HEALTHY = (60, ["forward", "0", "1"])
INPUT_MS, SPIN_MS = "20", "0.2"
SIZES = [2, 4, 16, 3, 8, 12, 6]
TRAIN = """
import sys, time
import torch, deepclock
import torch.distributed as dist
steps, input_ms, spin_ms, slow, part, more_ms, every = [w if w.isalpha() else float(w) for w in sys.argv[1:]]
torch.set_num_threads(1)
dist.init_process_group("gloo")
own, reads = torch.ones(1), part == "input"

def computes(ms):
    until = time.thread_time() + ms / 1e3
    while time.thread_time() < until:
        pass

for i in range(int(steps)):
    more = more_ms if dist.get_rank() == slow and i % every == every - 1 else 0
    with deepclock.zone("step"):
        with deepclock.zone("input"):
            time.sleep((input_ms + (more if reads else 0)) / 1e3)
        with deepclock.zone("forward"):
            computes(spin_ms + (0 if reads else more))
        dist.all_reduce(own)
dist.destroy_process_group()
"""


class Launcher:
    """The command that starts n ranks, and the program in each."""

    def __init__(self, name, command, program, sizes=max(SIZES)):
        self.name, self.command, self.program, self.most = name, command, program, sizes

    def run(self, build, n, words):
        """Returns the record of a job."""
        with tempfile.TemporaryDirectory() as scratch:
            saved = os.path.join(scratch, "run.json")
            options = ["ranks", "--no-history", "--save", saved]
            command = [w.replace("RANKS", str(n)) for w in self.command]
            program = [*self.program[:-1], *options, self.program[-1]] if self.name == "torchrun" else \
                [os.path.join(build, "deepclock"), *options, "--", *self.program]
            p = subprocess.run([*command, *program, *words], env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               check=False, timeout=600)
            if not os.path.exists(saved):
                raise SystemExit(f"ranks_cases: {self.name} of {n} ranks failed: {p.stdout[-500:]}{p.stderr[-500:]}")
            with open(saved, encoding="utf-8") as f:
                return json.load(f)


def compiled(build, compiler, to):
    subprocess.run([compiler, "-O2", "-std=gnu17", "-I", os.path.join(HERE, "..", "include"), os.path.join(HERE, "ranks_program.c"),
                    "-o", to, "-L", build, "-ldeepclock_zones", f"-Wl,-rpath,{build}"], check=True)
    return to


def launchers(build, scratch):
    """Those that are here."""
    found = []
    for mpi, start in (("openmpi", "mpirun.openmpi"), ("mpich", "mpiexec.mpich")):
        if shutil.which(f"mpicc.{mpi}"):
            program = compiled(build, f"mpicc.{mpi}", os.path.join(scratch, mpi))
            found.append(Launcher({"openmpi": "Open MPI", "mpich": "MPICH"}[mpi], [start, "-n", "RANKS"], [program]))
            if shutil.which("srun") and subprocess.run(["sinfo"], env=ENV, capture_output=True, check=False).returncode == 0:
                kind = {"openmpi": "pmix", "mpich": "pmi2"}[mpi]
                found.append(Launcher(f"Slurm, {kind}", ["srun", f"--mpi={kind}", "--overcommit", "-n", "RANKS"], [program]))
    torch = os.environ.get("DEEPCLOCK_TEST_TORCH", os.path.join(build, "torch2"))
    if os.path.isdir(os.path.join(torch, "torch")):
        ENV["PYTHONPATH"] = os.pathsep.join([os.path.join(build, "python"), torch])
        train = os.path.join(scratch, "train.py")
        with open(train, "w", encoding="utf-8") as f:
            f.write(TRAIN)
        # Each rank imports PyTorch.
        found.append(Launcher("torchrun", ["/usr/bin/python3", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "RANKS"],
                              ["-m", "deepclock", train], 8))
    return found


def fact(record, key):
    return next((f.get("value") for f in record["facts"] if (f["section"], f["key"]) == ("job", key)), None)


def job(build, launcher, n, kind, slow):
    steps, words = PLANTED.get(kind, HEALTHY)
    record = launcher.run(build, n, [str(steps), INPUT_MS, SPIN_MS, str(slow), *words])
    named, part = fact(record, "straggler"), fact(record, "straggler_part")
    right = named == slow if slow >= 0 else not isinstance(named, int)
    metrics = {m["tag"]: m for m in record["metrics"]}
    said = f"rank {named}, {part}, p = {fact(record, 'straggler_p'):.2g}" if isinstance(named, int) else f"{named}"
    print(f"{launcher.name:12} {n:5}  {kind:10} {slow if slow >= 0 else '-':>5}  {said:38} "
          f"step {metrics['ranks/step'].get('value', 0) / 1e6:.1f} ms, cost {metrics['ranks/cost'].get('value', 0) / 1e6:.2f} ms, "
          f"cause {fact(record, 'straggler_cause')}{'' if right else '  WRONG'}", flush=True)
    return right


def main(build, planted=20, healthy=20, *names):
    build = os.path.abspath(build)
    with tempfile.TemporaryDirectory() as scratch:
        here = [x for x in launchers(build, scratch) if not names or x.name in names]
        kinds = list(PLANTED)
        print("launcher     ranks  planted     rank  named")
        right = {"planted": 0, "healthy": 0}
        for i in range(int(planted) + int(healthy)):
            launcher = here[i % len(here)]
            n = min(SIZES[i % len(SIZES)], launcher.most)
            kind = kinds[i // len(here) % len(kinds)] if i < int(planted) else "nothing"
            right["planted" if i < int(planted) else "healthy"] += job(build, launcher, n, kind, i * 5 % n if i < int(planted) else -1)
    print(f"{right['planted']} of {planted} planted stragglers were named, {int(healthy) - right['healthy']} of {healthy} healthy jobs "
          "accused a rank")
    return 0 if sum(right.values()) == int(planted) + int(healthy) else 3


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
