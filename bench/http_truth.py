#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Injected against measured: `deepclock load --url` on a server with known delays (tests/http/server.c), at several rates.

  http_truth.py [--build build] [--time 5s] [--rate 50,200]

One row for each rate and quantity: the injected time, the measured one, and the distribution of the difference over the
requests. TTFT is from the scheduled time, so that its difference contains the client's lateness and the way through the
loopback device. Needs a machine on which nothing else runs: the numbers are not asserted anywhere."""
import argparse
import json
import os
import subprocess
import tempfile

from server_peers import Server

TTFT_US, GAP_US, TOKENS = 20000, 5000, 5


def quantile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(p * len(values)))]


def measure(args, rate, scratch):
    saved = os.path.join(scratch, "run.json")
    with Server(args.build, [f"ttft={TTFT_US}", f"gap={GAP_US}", "spin=1"]) as url:
        subprocess.run([os.path.join(args.build, "deepclock"), "load", "--quiet", "--no-history", "--url", f"{url}/v1/completions",
                        "--model", "m", "--rate", str(rate), "--time", args.time, "--new-tokens", str(TOKENS), "--save", saved],
                       check=True, stdout=subprocess.DEVNULL)
    with open(saved, encoding="utf-8") as f:
        return json.load(f)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--time", default="5s")
    parser.add_argument("--rate", default="50,200")
    args = parser.parse_args()
    print(f"{'rate/s':>7} {'quantity':12} {'requests':>8} {'injected us':>12} {'median us':>11} "
          f"{'difference us: median':>22} {'p90':>8} {'p99':>8} {'max':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        for rate in args.rate.split(","):
            record = measure(args, float(rate), scratch)
            series = {s["tag"]: s["values"] for s in record["series"]}
            metrics = {m["tag"]: m.get("value") for m in record["metrics"]}
            rows = [("TTFT", "ttft", TTFT_US), ("TPOT", "tpot", GAP_US),
                    ("end to end", "latency", TTFT_US + (TOKENS - 1) * GAP_US), ("client late", "client_late", 0)]
            for name, tag, injected in rows:
                us = [v / 1000 for v in series[tag]]
                off = [v - injected for v in us]
                print(f"{rate:>7} {name:12} {len(us):8} {injected:12} {quantile(us, 0.5):11.1f} {quantile(off, 0.5):22.1f} "
                      f"{quantile(off, 0.9):8.1f} {quantile(off, 0.99):8.1f} {max(off):8.1f}")
            print(f"{rate:>7} failed {metrics['load/failed']}, client busy {100 * metrics['load/client_busy']:.1f} %, floor "
                  f"{metrics['load/client_floor'] / 1000:.1f} us, highest rate {metrics['load/client_rate']:.0f}/s")


if __name__ == "__main__":
    main()
