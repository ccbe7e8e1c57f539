# SPDX-License-Identifier: Apache-2.0
"""A program that measures itself as the ranks of a job, started as torchrun starts it."""

import os
import socket
import subprocess
import sys
import textwrap
import types

from support import Case, deepclock, main

from deepclock import _collectives

# Rank 1 takes argv[2] seconds longer for its work in each step.
PROGRAM = """
    import os, socket, sys, time
    import deepclock

    other = socket.socket(fileno=int(sys.argv[1]))
    with deepclock.ranks(warmup=1) as job:
        for _ in range(12):
            with deepclock.zone("step"):
                with deepclock.zone("work"):
                    time.sleep(float(sys.argv[2]) if os.environ["RANK"] == "1" else 0.001)
                with deepclock.zone("collective:exchange"):
                    other.sendall(b"x")
                    other.recv(1)
    if job.record:
        job.record.save(sys.argv[3])
    print(job.record is None, job.stop() is job.record)
"""

# Rank 0 of a job whose rank 1 never starts, interrupted while it waits (argv[1]: in its block).
ALONE = """
    import os, signal, sys, threading
    import deepclock

    job = deepclock.ranks(wait="10min")
    try:
        with job:
            if sys.argv[1:]:
                raise KeyboardInterrupt
            threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    except KeyboardInterrupt:
        print(job.record.incomplete, [note.code for note in job.record.notes if note.code == "interrupted"])
"""


class Ranks(Case):
    def test_a_job_without_the_program(self):
        ends = socket.socketpair()
        ranks = []
        for rank, end in enumerate(ends):
            environment = dict(os.environ, RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE="2", GROUP_RANK="0",
                               MASTER_ADDR="127.0.0.1", MASTER_PORT="29500", TORCHELASTIC_RUN_ID=self.folder)
            ranks.append(subprocess.Popen([sys.executable, "-c", textwrap.dedent(PROGRAM), str(end.fileno()), "0.15", self.path("job.json")],
                                          env=environment, pass_fds=[end.fileno()], stdout=subprocess.PIPE, text=True))
            end.close()
        self.assertEqual([r.communicate()[0] for r in ranks], ["False True\n", "True True\n"])
        self.assertEqual([r.returncode for r in ranks], [0, 0])
        record = deepclock.load(self.path("job.json"))
        self.assertEqual(record.facts["job/ranks"].value, 2)
        self.assertEqual(record.facts["job/straggler"].value, 1)
        self.assertEqual(record.facts["job/straggler_part"].value, "work")
        self.assertEqual([row["steps"] for row in record.tables["ranks"]], [12, 12])

    def test_interrupted_while_it_waits(self):
        environment = dict(os.environ, RANK="0", WORLD_SIZE="2", LOCAL_RANK="0", LOCAL_WORLD_SIZE="2", GROUP_RANK="0",
                           MASTER_ADDR="127.0.0.1", MASTER_PORT="29500", TORCHELASTIC_RUN_ID=self.folder)
        for words in ([], ["in the block"]):
            ended = subprocess.run([sys.executable, "-c", textwrap.dedent(ALONE), *words], env=environment, capture_output=True, text=True,
                                   check=False)
            self.assertEqual((ended.stdout, ended.stderr), ("True ['interrupted']\n", ""))

    def test_a_group_by_position(self):
        """Operations of torch.distributed get their group by position too."""
        seen = []

        def broadcast(tensor, src, group=None, async_op=False):
            seen.append(group)

        dist = types.SimpleNamespace(group=types.SimpleNamespace(WORLD="world"), get_process_group_ranks=lambda group: [0, 2],
                                     get_world_size=lambda: 4)
        recorded = _collectives._recorded(dist, "broadcast", broadcast)
        tensor = types.SimpleNamespace(device=types.SimpleNamespace(type="cpu"))
        with deepclock.trace() as t:
            recorded(tensor, 0, "part")
            recorded(tensor, 0, group="part")
            recorded(tensor, 0)
        self.assertEqual(seen, ["part", "part", None])
        self.assertEqual({row["name"]: row["calls"] for row in t.record.tables["zones"]},
                         {"collective:broadcast of ranks 0, 2": 2, "collective:broadcast": 1})

    def test_it_records_already(self):
        with deepclock.trace(), self.assertRaises(deepclock.ArgumentError):
            deepclock.ranks().start()
        self.assertIsNone(deepclock.ranks().stop())
        with self.assertRaises(TypeError):
            deepclock.ranks(no_such_option=1).start()


if __name__ == "__main__":
    main()
