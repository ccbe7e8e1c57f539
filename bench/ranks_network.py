#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of four ranks of gloo in network namespaces, between which a switch in user space forwards frames: the link of one rank has a
delay, and every second job gives that rank a clock of its own, by a time namespace that is 1,000 s ahead. Of a planted job the rank must
be named, of a healthy one, whose collectives wait for the link, none may be accused.

  ranks_network.py BUILD [PLANTED [HEALTHY [DELAY_MS]]]     10 of each, 5 ms

Needs root, /dev/net/tun, iproute2, unshare, and PyTorch (DEEPCLOCK_TEST_TORCH, or BUILD/torch2). Not in `make bench`: it takes minutes.
Prints a row for each job; exit status 3 if one is wrong.
"""

import fcntl
import heapq
import json
import multiprocessing
import os
import select
import struct
import subprocess
import sys
import tempfile
import time

from ranks_cases import INPUT_MS, PLANTED, SPIN_MS, TRAIN, fact

RANKS, AHEAD_S = 4, 1000
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000


def name(rank):
    return f"deepclock-{os.getpid()}-{rank}"


def link_open(rank):
    """Makes the namespace of a rank and its network device. Returns the descriptor of the device."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    tap = f"tap{rank}"
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH14x", tap.encode(), IFF_TAP | IFF_NO_PI))
    subprocess.run(["ip", "netns", "add", name(rank)], check=True)
    subprocess.run(["ip", "link", "set", tap, "netns", name(rank)], check=True)
    for words in (["addr", "add", f"10.9.0.{rank + 1}/24", "dev", tap], ["link", "set", tap, "up"], ["link", "set", "lo", "up"]):
        subprocess.run(["ip", "netns", "exec", name(rank), "ip", *words], check=True)
    return device


def forward(devices, delay_s):
    """Forwards frames between the devices, each later by the delays of both links, until it is killed."""
    learned, waiting, count = {}, [], 0
    while True:
        left = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for device in select.select(devices, [], [], left)[0]:
            while True:
                try:
                    frame = os.read(device, 1 << 16)
                except BlockingIOError:
                    break
                rank = devices.index(device)
                learned[frame[6:12]] = rank
                others = [i for i in range(len(devices)) if i != rank]
                for to in [learned[frame[:6]]] if frame[:6] in learned else others:
                    count += 1
                    heapq.heappush(waiting, (time.monotonic() + delay_s[rank] + delay_s[to], count, to, frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, to, frame = heapq.heappop(waiting)
            try:
                os.write(devices[to], frame)
            except OSError:  # the device is down
                pass


def run(build, train, far, own_clock, words, saved):
    """Runs a job. Returns its record."""
    torch = os.environ.get("DEEPCLOCK_TEST_TORCH", os.path.join(build, "torch2"))
    started = []
    for rank in range(RANKS):
        ahead = ["unshare", "--time", "--boottime", str(AHEAD_S), "--monotonic", str(AHEAD_S), "--fork"]
        env = dict(os.environ, OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore", RANK=str(rank), WORLD_SIZE=str(RANKS), LOCAL_RANK="0",
                   LOCAL_WORLD_SIZE="1", MASTER_ADDR="10.9.0.1", MASTER_PORT="29500", GLOO_SOCKET_IFNAME=f"tap{rank}",
                   TORCHELASTIC_RUN_ID=saved, PYTHONPATH=os.pathsep.join([os.path.join(build, "python"), torch]))
        command = ["ip", "netns", "exec", name(rank), *(ahead if own_clock and rank == far else []), "/usr/bin/python3", "-m",
                   "deepclock", "ranks", "--no-history", "--save", saved, train, *words]
        started.append(subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True))
    texts = [p.communicate(timeout=600)[0] for p in started]
    if not os.path.exists(saved):
        raise SystemExit(f"ranks_network: a job failed: {texts[0][-1000:]}")
    with open(saved, encoding="utf-8") as f:
        return json.load(f)


def job(build, scratch, devices, number, kind, delay_ms):
    """Returns whether the answer is right."""
    far, own_clock = 1 + number % (RANKS - 1), number % 2 == 1
    slow = (number * 5 + 3) % RANKS if kind else -1
    steps, more = PLANTED[kind] if kind else (60, ["forward", "0", "1"])
    delay_s = [delay_ms / 1e3 if rank == far else 0 for rank in range(RANKS)]
    switch = multiprocessing.Process(target=forward, args=(devices, delay_s), daemon=True)
    switch.start()
    try:
        record = run(build, os.path.join(scratch, "train.py"), far, own_clock, [str(steps), INPUT_MS, SPIN_MS, str(slow), *more],
                     os.path.join(scratch, f"{number}-{kind}.json"))
    finally:
        switch.kill()
        switch.join()
    named = fact(record, "straggler")
    right = named == slow if kind else not isinstance(named, int)
    columns = {t["name"]: [c["key"] for c in t["columns"]] for t in record["tables"]}["ranks"]
    row = {t["name"]: t["rows"] for t in record["tables"]}["ranks"][far]
    offset_ms = row[columns.index("offset")] / 1e6 + (AHEAD_S * 1e3 if own_clock else 0)
    metrics = {m["tag"]: m for m in record["metrics"]}
    print(f"{far:5} {'own' if own_clock else 'same':5} {kind or 'nothing':10} {slow if kind else '-':>5}  {named!s:>17}  "
          f"step {metrics['ranks/step']['value'] / 1e6:.1f} ms, cost {metrics['ranks/cost']['value'] / 1e6:.2f} ms, round trip "
          f"{row[columns.index('round_trip')] / 1e6:.1f} ms, offset wrong by {offset_ms:.3f} ms{'' if right else '  WRONG'}", flush=True)
    return right


def main(build, planted=10, healthy=10, delay_ms=5):
    build = os.path.abspath(build)
    kinds = list(PLANTED)
    devices = []
    right = {"planted": 0, "healthy": 0}
    with tempfile.TemporaryDirectory() as scratch:
        with open(os.path.join(scratch, "train.py"), "w", encoding="utf-8") as f:
            f.write(TRAIN)
        try:
            for rank in range(RANKS):
                devices.append(link_open(rank))
            print("  far clock planted     rank              named")
            for i in range(int(planted) + int(healthy)):
                kind = kinds[i % len(kinds)] if i < int(planted) else None
                right["planted" if kind else "healthy"] += job(build, scratch, devices, i, kind, float(delay_ms))
        finally:
            for rank in range(len(devices)):
                subprocess.run(["ip", "netns", "del", name(rank)], check=False)
    print(f"{right['planted']} of {planted} planted stragglers were named, {int(healthy) - right['healthy']} of {healthy} healthy jobs "
          "accused a rank")
    return 0 if sum(right.values()) == int(planted) + int(healthy) else 3


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
