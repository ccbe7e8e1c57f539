#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deepclock ranks on programs of Open MPI and MPICH that know nothing of it, started by their own launchers: C
(examples/ranks_mpi.c), Fortran, and Python's mpi4py, which loads its MPI itself.

  ranks_mpi.py --program build/deepclock [CASE]...
"""

import collections
import functools
import json
import os
import shutil
import subprocess
import sys

from common import Skipped, arguments, expect, fact, run

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "ranks_mpi.c")
# Open MPI starts more processes than processors, and as root in a container, only if told so.
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", MPIR_CVAR_POLLS_BEFORE_YIELD="1")
MPI = {"openmpi": ("mpicc.openmpi", "mpif90.openmpi", ["mpirun.openmpi"]), "mpich": ("mpicc.mpich", "mpif90.mpich", ["mpiexec.mpich"])}
FORTRAN = """program steps
use mpi
integer :: rank, ierr, i
real(8) :: own, total
call MPI_Init(ierr)
call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
do i = 1, 12
  own = rank
  call MPI_Allreduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (total /= 1) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
end do
call MPI_Finalize(ierr)
end program
"""
PYTHON = """from array import array
from mpi4py import MPI
for _ in range(12):
    total = array("d", [0])
    MPI.COMM_WORLD.Allreduce(array("d", [MPI.COMM_WORLD.rank]), total)
    assert total[0] == 1
"""


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skipped(f"{program} is missing (tools/setup.sh BUILD test extras installs it)")


def compiled(compiler, source, *options):
    need(compiler)
    subprocess.run([compiler, *options, source, "-o", "program"], check=True, stdout=subprocess.DEVNULL)


def job(args, launcher, ranks, command, *options):
    """Runs a job, and returns its record and what rank 0 printed."""
    need(launcher[0])
    p = subprocess.run([*launcher, "-n", str(ranks), args.program, "ranks", "--no-history", "--save", "run.json", *options, "--",
                        *command], env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    expect(p.returncode == 0, (p.returncode, p.stdout, p.stderr))
    with open("run.json", encoding="utf-8") as f:
        return json.load(f), " ".join(p.stdout.split())


def calls(record):
    """Returns the number of calls of each collective."""
    table = next(t for t in record["tables"] if t["name"] == "collectives")
    return collections.Counter({row[0]: row[1] for row in table["rows"]})


def c_program(mpi):
    def case(args):
        compiler, _, launcher = MPI[mpi]
        compiled(compiler, EXAMPLE, "-O2")
        record, said = job(args, launcher, 4, ["./program", "30", "2", "150"], "--step", "collective:MPI_Allreduce", "--traces", ".")
        expect(fact(record, "job", "straggler") == 2, said)
        expect("rank 2 holds the others up" in said, said)
        found = calls(record)
        # 29 steps between 30 calls, of which the first two are left out; each rank has the calls of its pair.
        expect(found["collective:MPI_Allreduce"] == 4 * 27, found)
        for pair in ("0,1", "2,3"):
            for function in ("MPI_Reduce", "MPI_Bcast"):
                expect(found[f"collective:{function} of ranks {pair}"] == 2 * 27, found)
        # The run queue outside of collectives, before which a rank works for more than a millisecond.
        chrome = subprocess.run([args.program, "report", "rank-1.pftrace", "--format", "chrome"], check=True, capture_output=True,
                                text=True).stdout
        expect("run queue outside of collectives" in chrome, "no counter")
        # Without steps, the answer names the option.
        record, said = job(args, launcher, 4, ["./program", "10"])
        expect("--step 'collective:MPI_Allreduce' a step ends" in said and "each of its 10 calls" in said, said)
    return case


def fortran(mpi):
    def case(args):
        _, compiler, launcher = MPI[mpi]
        with open("steps.f90", "w", encoding="utf-8") as f:
            f.write(FORTRAN)
        compiled(compiler, "steps.f90", "-O1")
        record, said = job(args, launcher, 2, ["./program"], "--step", "collective:MPI_Allreduce")
        expect(calls(record) == {"collective:MPI_Allreduce": 2 * 9}, (calls(record), said))
    return case


def mpi4py(args):
    """Its library of MPI is loaded with RTLD_LOCAL."""
    if subprocess.run([sys.executable, "-c", "import mpi4py.MPI"], env=ENV, check=False, capture_output=True).returncode:
        raise Skipped("mpi4py is missing: apt-get install python3-mpi4py")
    record, said = job(args, MPI["openmpi"][2], 2, [sys.executable, "-c", PYTHON], "--step", "collective:MPI_Allreduce")
    expect(calls(record)["collective:MPI_Allreduce"] == 2 * 9, (calls(record), said))


CASES = [(f"{mpi}_{name}", make(mpi)) for mpi in MPI for name, make in (("c", c_program), ("fortran", fortran))] + [("mpi4py", mpi4py)]

if __name__ == "__main__":
    ARGS = arguments(__doc__)
    run([(name, functools.partial(case, ARGS)) for name, case in CASES], ARGS.prefixes)
