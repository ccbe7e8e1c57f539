#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deepclock load --url beside other clients, on a server whose times are known (tests/http/server.c), in interleaved rounds.

  server_peers.py --build BUILD [--time 5] [--rounds 3] [--tokenizer DIR]

delays:  each answer streams 5 tokens, the first after 20 ms, one each 5 ms: TTFT 20, TPOT 5, end to end 40 ms.
queue:   the server answers one request after the other, each in 10 ms, and 80 arrive a second: with Poisson arrivals and a
         constant service (M/D/1, Pollaczek and Khinchine) the mean time from the arrival to the end is 30 ms; of some hundred
         arrivals it varies by a third.

A row for each client and quantity, over what is true; of clients that are not installed, the command that installs them. guidellm
needs the tokenizer of a model in a directory. Needs a machine on which nothing else runs."""
import argparse
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import rows

MS = 1e-6
# scenario: (options of the server, requests a second, tokens, {quantity: what is true in ms})
SCENARIOS = {"delays": (["ttft=20000", "gap=5000"], 20, 5, {"TTFT": 20, "TPOT": 5, "end to end": 40}),
             "queue": (["serial=1", "ttft=10000"], 80, 1, {"end to end, mean": 30})}


class Server:
    def __init__(self, build, options):
        self.words = [os.path.join(build, "tests/http/http_server"), *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, text=True)
        return f"http://127.0.0.1:{self.process.stdout.readline().strip()}"

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def ran(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def deepclock(a, url, rate, tokens):
    ran(os.path.join(a.build, "deepclock"), "load", "--quiet", "--no-history", "--url", f"{url}/v1/completions", "--model", "m", "--rate",
        str(rate), "--time", f"{a.time}s", "--new-tokens", str(tokens), "--seed", str(a.seed), "--save", "run.json")
    with open("run.json", encoding="utf-8") as f:
        series = {s["tag"]: [v * MS for v in s["values"]] for s in json.load(f)["series"]}
    found = {"end to end": statistics.median(series["latency"]), "end to end, mean": statistics.mean(series["latency"])}
    if series.get("tpot"):
        found.update({"TTFT": statistics.median(series["ttft"]), "TPOT": statistics.median(series["tpot"])})
    return found


def guidellm(a, url, rate, tokens):
    ran(sys.executable, "-m", "guidellm", "run", "--backend", f"kind=openai_http,target={url},model=m,request_format=/v1/completions",
        "--profile", f"kind=poisson,rate={rate}", "--constraint", f"kind=max_duration,seconds={a.time}", "--tokenizer",
        f"kind=hf_auto,model={a.tokenizer}", "--data", f"kind=synthetic_text,prompt_tokens=32,output_tokens={tokens}", "--output",
        "kind=json,path=guide.json", "--disable-console")
    with open("guide.json", encoding="utf-8") as f:
        m = json.load(f)["benchmarks"][0]["metrics"]
    of = {k: m[k]["successful"] for k in ("time_to_first_token_ms", "time_per_output_token_ms", "request_latency")}
    return {"TTFT": of["time_to_first_token_ms"]["median"], "TPOT": of["time_per_output_token_ms"]["median"],
            "end to end": 1e3 * of["request_latency"]["median"], "end to end, mean": 1e3 * of["request_latency"]["mean"]}


def body(tokens):
    return json.dumps({"model": "m", "prompt": "a b c", "max_tokens": tokens, "stream": True})


def wrk(a, url, _, tokens):
    with open("post.lua", "w", encoding="utf-8") as f:
        f.write(f"wrk.method = 'POST'\nwrk.body = '{body(tokens)}'\nwrk.headers['Content-Type'] = 'application/json'\n")
    out = ran("wrk", "-t1", "-c8", f"-d{a.time}s", "--latency", "-s", "post.lua", f"{url}/v1/completions")
    unit = {"us": 1e-3, "ms": 1, "s": 1e3}
    at, mean = (re.search(p, out) for p in (r"50%\s+([\d.]+)(us|ms|s)", r"Latency\s+([\d.]+)(us|ms|s)"))
    return {"end to end": float(at[1]) * unit[at[2]], "end to end, mean": float(mean[1]) * unit[mean[2]]}


def hey(a, url, rate, tokens):
    out = ran("hey", "-z", f"{a.time}s", "-c", "8", "-q", str(rate / 8), "-m", "POST", "-T", "application/json", "-d", body(tokens),
              f"{url}/v1/completions")
    return {"end to end": 1e3 * float(re.search(r"50%+ in ([\d.]+)", out)[1]),
            "end to end, mean": 1e3 * float(re.search(r"Average:\s+([\d.]+)", out)[1])}


def present(a):
    """Returns the clients that are here, and why the others are not."""
    here, missing = {"deepclock": deepclock}, {}
    for name, client in (("wrk", wrk), ("hey", hey)):
        if shutil.which(name):
            here[name] = client
        else:
            missing[name] = f"apt-get install {name}"
    if importlib.util.find_spec("guidellm") and a.tokenizer:
        here["guidellm"] = guidellm
    else:
        missing["guidellm"] = "pip install guidellm, and --tokenizer DIR"
    return here, missing


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", required=True)
    p.add_argument("--time", type=int, default=2 if rows.QUICK else 5)
    p.add_argument("--rounds", type=int, default=rows.rounds(3))
    p.add_argument("--tokenizer")
    a = p.parse_args()
    a.build = os.path.abspath(a.build)
    here, missing = present(a)
    with tempfile.TemporaryDirectory(prefix="deepclock-peers-") as folder:
        os.chdir(folder)
        for scenario, (options, rate, tokens, true) in SCENARIOS.items():
            found = {}
            for a.seed in range(1, a.rounds + 1):  # other arrivals in each round
                for name, client in here.items():
                    with Server(a.build, options) as url:
                        for quantity, ms in client(a, url, rate, tokens).items():
                            found.setdefault((quantity, name), []).append(ms)
            for quantity, ms in true.items():
                for name in here:
                    if (quantity, name) in found:
                        rows.put(f"{scenario}: {quantity}", [v / ms for v in found[quantity, name]], f"times what is true ({ms} ms)",
                                 peer=None if name == "deepclock" else name)
                for name, bring in missing.items():
                    rows.absent(f"{scenario}: {quantity}", name, bring)
        os.chdir("/")
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
