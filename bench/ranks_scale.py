#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What rank 0 of `deepclock ranks` needs for a job of 1,024 ranks at 10 steps/s: the others are connections of this process,
which exchange time stamps as a rank does, and at the end send the parts of that many steps, one rank's with a delay.

  ranks_scale.py DEEPCLOCK

A step has three parts and two collectives. The limits: less than one core, also in the analysis, and 500 MB.
"""

import json
import os
import random
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time

import rows

RANKS, RATE, SLOW = 1024, 10, 700
SECONDS = 5 if rows.QUICK else 60
HELLO, WELCOME, PING, PONG, RESULT, DONE = range(1, 7)
EXCHANGES = 8
NAMES = [b"step", b"forward", b"backward", b"update", b"collective:all_reduce", b"collective:barrier"]
STEP, PART, COLLECTIVE = range(3)
MS = 1000000


def boottime():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def receive(s, n):
    got = b""
    while len(got) < n:
        more = s.recv(n - len(got))
        if not more:
            raise SystemExit("ranks_scale: rank 0 closed the connection of a rank")
        got += more
    return got


def connect(path, rank):
    """Returns the connection of a rank, which rank 0 has welcomed."""
    with open(path, encoding="ascii") as f:
        _, host, port, token = f.read().split("\n")[:4]
    s = socket.create_connection((host, int(port)), timeout=120)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.sendall(struct.pack("=II32sI", HELLO, 36, token.encode(), rank))
    assert struct.unpack("=II", receive(s, 8))[0] == WELCOME
    return s


def exchange(ranks, made, number):
    """A round of exchanges of all ranks."""
    for _ in range(EXCHANGES):
        for s in ranks:
            s.sendall(struct.pack("=IIq", PING, 8, boottime()))
        for s, stamps in zip(ranks, made):
            stamps.append(struct.pack("=3qqQ", *struct.unpack("=II3q", receive(s, 32))[2:], boottime(), number))


def steps_make(begin, steps, slow, draw):
    """The ranges of a rank: each step has 100 ms; its forward part takes `slow` ms longer, and it waits less for that."""
    out = []
    for k in range(steps):
        at = begin + k * 1000 * MS // RATE
        times = [at + int(MS * x) for x in (0, 20 + slow + draw.random(), 50 + slow + draw.random(), 80, 85, 90, 95)]
        for name, kind, first, last in ((0, STEP, 0, 6), (1, PART, 0, 1), (2, PART, 1, 2), (4, COLLECTIVE, 2, 3), (3, PART, 3, 4),
                                        (5, COLLECTIVE, 4, 5)):
            out.append(struct.pack("=qqII", times[first], times[last], name, kind))
    return b"".join(out)


def field(number, content):
    """A field of a message of protocol buffers: its bytes."""
    size, n = b"", len(content)
    while n > 127:
        size += bytes([n & 127 | 128])
        n >>= 7
    return bytes([number << 3 | 2]) + size + bytes([n]) + content


def part_make(rank, begin, stamps):
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        boot = f.read().strip().encode()
    ranges = steps_make(begin, SECONDS * RATE, 8 if rank == SLOW else 0, random.Random(rank))
    return (field(1, f"node{rank // 8}".encode()) + field(2, boot) + b"\x31" + struct.pack("=d", 50.0)
            + b"".join(field(7, name) for name in NAMES) + field(8, ranges) + field(9, b"".join(stamps)))


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        words = f.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def main(program):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < RANKS + 100:
        print(f"skipped: {RANKS} connections need more than {hard} open files")
        return 77
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * RANKS)), hard))
    with tempfile.TemporaryDirectory() as here:
        meeting, record = os.path.join(here, "meeting"), os.path.join(here, "job.json")
        done = os.path.join(here, "done")
        rank0 = subprocess.Popen(
            [program, "ranks", "--no-history", "--quiet", "--rendezvous", meeting, "--wait", "300s", "--save", record, "--",
             "sh", "-c", f"until [ -e {done} ]; do sleep 0.1; done"], stdout=subprocess.DEVNULL,
            env={**os.environ, "RANK": "0", "WORLD_SIZE": str(RANKS), "LOCAL_WORLD_SIZE": str(RANKS)})
        while not os.path.exists(meeting):
            if rank0.poll() is not None:
                raise SystemExit("ranks_scale: rank 0 ended")
            time.sleep(0.01)
        ranks, made = [connect(meeting, rank) for rank in range(1, RANKS)], [[] for _ in range(1, RANKS)]
        begin, cpu, at = boottime(), cpu_seconds(rank0.pid), time.monotonic()
        for second in range(SECONDS):
            exchange(ranks, made, second)
            time.sleep(max(0, at + second + 1 - time.monotonic()))
        running = (cpu_seconds(rank0.pid) - cpu) / (time.monotonic() - at)
        with open(done, "w", encoding="ascii"):
            pass
        sent = time.monotonic()
        for rank, s in enumerate(ranks, 1):
            part = part_make(rank, begin, made[rank - 1])
            s.sendall(struct.pack("=II", RESULT, len(part)) + part)
            assert struct.unpack("=II", receive(s, 8))[0] == DONE
        arrived = time.monotonic()
        _, status, usage = os.wait4(rank0.pid, 0)
        ended = time.monotonic()
        rank0.returncode = os.waitstatus_to_exitcode(status)
        with open(record, encoding="utf-8") as f:
            facts = {(x["section"], x["key"]): x.get("value") for x in json.load(f)["facts"]}
        assert rank0.returncode == 0, rank0.returncode
        assert facts["job", "straggler"] == SLOW, facts["job", "straggler"]
        assert facts["job", "steps"] == SECONDS * RATE - 2, facts["job", "steps"]
    work = f"ranks: rank 0 of {RANKS:,} at {RATE} steps/s for {SECONDS} s"
    whole = (usage.ru_utime + usage.ru_stime) / (SECONDS + arrived - sent + ended - arrived)
    rows.put(f"{work}: CPU while they run", [running], "cores", most=1)
    rows.put(f"{work}: CPU with the analysis", [whole], "cores", most=1)
    rows.put(f"{work}: peak memory", [usage.ru_maxrss / 1000 * 1.024], "MB", most=500)
    rows.put(f"{work}: from the last part to the end", [ended - arrived], "s")
    return rows.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
