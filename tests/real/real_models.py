#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures third-party networks: exported by PyTorch and torchvision, and those of the onnx
package. Prints TAP; a case whose package is not installed is skipped with the reason.

  real_models.py --program build/deepclock [CASE...]     all, or those with this prefix
"""

import glob
import json
import os
import subprocess

from common import Skipped, arguments, expect, fact, need_engine, need_torch, run

ONNX_DATA = "/usr/share/libonnx-testdata/data"  # Debian's libonnx-testdata
FAMILIES = ["simple", "pytorch-converted", "pytorch-operator"]


def bench(program, model, *options):
    """Returns the record of a short measurement, the exit code and stderr."""
    done = subprocess.run(
        [program, "bench", model, "--format", "json", "--runs", "5", "--warmup", "2", *options],
        capture_output=True, text=True, timeout=120)
    record = json.loads(done.stdout) if done.returncode == 0 else None
    return record, done.returncode, done.stderr


def metric(record, tag):
    return next(m.get("value") for m in record["metrics"] if m["tag"] == tag)


def torchvision_resnet18(program):
    torch, torchvision = need_torch()
    net = torchvision.models.resnet18().eval()
    torch.onnx.export(net, torch.zeros(1, 3, 224, 224), "resnet18.onnx", input_names=["image"],
                      output_names=["score"], dynamic_axes={"image": {0: "n"}, "score": {0: "n"}})
    record, code, err = bench(program, "resnet18.onnx")
    expect(code == 0 and "leaves sizes open and ran with --batch 1" in err, f"left open: {code} {err}")
    expect("1x3x224x224" in fact(record, "subject", "input/image"), "shape of the input with an open size")
    record, code, err = bench(program, "resnet18.onnx", "--batch", "2", "--threads", "1")
    expect(code == 0, err)
    expect("2x3x224x224" in fact(record, "subject", "input/image"), "shape of the input")
    expect(fact(record, "subject", "items_per_run") == 2, "items per run")
    expect(metric(record, "runs/count") == 5, "runs")
    items, latency = metric(record, "throughput/items"), metric(record, "latency/median")
    expect(abs(items * latency / 1e9 - 2) < 1e-6, "throughput is two items in the median run")
    record, code, err = bench(program, "resnet18.onnx", "--dim", "n=3", "--threads", "1")
    expect(code == 0 and "3x3x224x224" in fact(record, "subject", "input/image"), err)


def torch_embedding(program):
    torch, _ = need_torch()

    class Words(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = torch.nn.Embedding(37, 8)
            self.lstm = torch.nn.LSTM(8, 16, batch_first=True)
            self.head = torch.nn.Linear(16, 2)

        def forward(self, ids):
            out, _ = self.lstm(self.words(ids))
            return self.head(out[:, -1])

    torch.onnx.export(Words().eval(), torch.zeros(1, 12, dtype=torch.long), "words.onnx",
                      input_names=["ids"], output_names=["y"])
    record, code, err = bench(program, "words.onnx", "--input-pool", "4")
    expect(code == 0, err)
    text = fact(record, "subject", "input/ids")
    expect("0..36" in text, f"integers within the table's 37 rows: {text}")


def torch_shapes(program):
    """Inferred shapes of exported networks equal those of a real run, with open dimensions given."""
    torch, torchvision = need_torch()

    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = torch.nn.Linear(16, 48)

        def forward(self, x, keys, values):
            b, t, c = x.shape
            q, k, v = self.qkv(x).view(b, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4)
            k, v = torch.cat([keys, k], 2), torch.cat([values, v], 2)
            scores = q @ k.transpose(-1, -2) / (c // 4) ** 0.5
            seen = torch.ones(k.size(2), k.size(2), dtype=torch.bool).tril()[-t:]
            scores = scores.masked_fill(~seen, float("-inf")).softmax(-1)
            return (scores @ v).transpose(1, 2).reshape(b, t, c), k, v

    class Grows(torch.nn.Module):
        def forward(self, x):
            y = x
            for _ in range(5):
                y = torch.cat([y, x], 0)
            parts = []
            for i in range(x.size(0)):
                parts.append(y[i] * 2)
            return torch.stack(parts) if bool(y.sum() > 0) else y

    class Resizes(torch.nn.Module):
        def forward(self, x):
            n, c, h, w = x.shape
            p = torch.nn.functional.pad(x, (0, (4 - w % 4) % 4, 0, (4 - h % 4) % 4))
            u = torch.nn.functional.unfold(p, kernel_size=2, stride=2)
            z = torch.nn.functional.interpolate(x, size=(h // 2, w // 3), mode="nearest")
            return u, z, x.repeat(1, 2, 1, 1).permute(0, 2, 3, 1).reshape(n, -1, 2 * c)

    cache = torch.zeros(2, 4, 7, 4)
    nets = [
        ("decoder", Decoder().eval(), (torch.zeros(2, 3, 16), cache, cache),
         {"x0": {0: "b", 1: "t"}, "x1": {0: "b", 2: "past"}, "x2": {0: "b", 2: "past"}},
         ["b=2", "t=3", "past=9"], 0),
        ("resizes", Resizes().eval(), (torch.zeros(2, 3, 10, 14),),
         {"x0": {0: "n", 2: "h", 3: "w"}}, ["n=2", "h=11", "w=17"], 0),
        ("grows", torch.jit.script(Grows()), (torch.zeros(3, 4),), {}, [], None),
        ("shufflenet", torchvision.models.shufflenet_v2_x0_5().eval(),
         (torch.zeros(1, 3, 64, 64),), {"x0": {0: "n"}}, ["n=2"], 0),
    ]
    for name, net, args, axes, dims, filled in nets:
        torch.onnx.export(net, args, name + ".onnx", input_names=[f"x{i}" for i in range(len(args))],
                          dynamic_axes=axes, opset_version=14)
        sizes = [word for d in dims for word in ("--dim", d)]
        done = subprocess.run(
            [program, "cost", name + ".onnx", "--run", "--format", "json", *sizes],
            capture_output=True, text=True, timeout=120)
        expect(done.returncode == 0, f"{name}: {done.stderr}")
        record = json.loads(done.stdout)
        values, differ = fact(record, "cost", "run_values"), fact(record, "cost", "run_differ")
        got = fact(record, "cost", "run_filled")
        print(f"# {name}: {values} values, {got} not known before the run, {differ} differ")
        expect(values > 3 and differ == 0, f"{name}: {differ} of {values} values differ")
        expect(filled is None or got == filled, f"{name}: {got} values depend on the run")


def torchvision_modules(program):
    """The exporter stores equal weights once, followed by Identity nodes without a module."""
    torch, torchvision = need_torch()
    net = torchvision.models.resnext50_32x4d().eval()
    torch.onnx.export(net, torch.zeros(1, 3, 224, 224), "net.onnx", opset_version=16)
    done = subprocess.run(
        [program, "profile", "net.onnx", "--format", "json", "--runs", "5", "--warmup", "2",
         "--profile-runs", "10", "--no-roofs", "--no-memory"],
        capture_output=True, text=True, timeout=300)
    expect(done.returncode == 0, done.stderr)
    ops = [o for o in json.loads(done.stdout)["ops"] if o["type"] != "(engine)"]
    for what in "time", "macs":
        total = sum(o[what] for o in ops)
        without = sum(o[what] for o in ops if "scope" not in o)
        expect(without < 0.02 * total, f"{what}: {without / total:.3f} of it has no module")
    expect(any(o["scope"].startswith("layer2.1") for o in ops), "operators of layer2.1")


def onnx_package(program):
    models = sorted(p for f in FAMILIES for p in glob.glob(f"{ONNX_DATA}/{f}/*/model.onnx"))
    if not models:
        raise Skipped("no models: install libonnx-testdata")
    measured, refused = 0, []
    for path in models:
        _, code, err = bench(program, path)
        name = os.path.basename(os.path.dirname(path))
        expect(code in (0, 1, 2), f"{name}: exit {code}: {err}")
        if code == 0:
            measured += 1
        else:
            lines = [l for l in err.splitlines() if l]
            expect(len(lines) == 1 and lines[0].startswith("deepclock: "), f"{name}: {err}")
            refused.append(f"{name}: {lines[0]}")
    for line in refused:
        print(f"# {line}")
    print(f"# {measured} of {len(models)} models measured")
    expect(measured >= 0.6 * len(models), f"only {measured} of {len(models)} could be measured")


# Of the packages that tools/setup.sh fetches: convolutions, attention, recurrent cells.
NETWORKS = ["ch_PP-OCRv4_det_infer", "ch_PP-OCRv4_rec_infer", "ch_ppocr_mobile_v2.0_cls_infer", "silero_vad_openvino_16k"]


def openvino_agrees(program):
    """Both runtimes give the same outputs; python/tests/test_openvino.py has the other built-in networks."""
    need_engine(program, "openvino")
    models = os.path.join(os.path.dirname(os.path.abspath(program)), "models")
    paths = [os.path.join(models, name + ".onnx") for name in NETWORKS]
    if not all(map(os.path.exists, paths)):
        raise Skipped("BUILD/models does not exist: 'make test-all' fetches them")
    # Small inputs leave the layers what they are.
    for words in [*([path] for path in paths), ["zoo:vgg16"], ["zoo:resnet50", "--image-size", "64"], ["zoo:bert_base", "--seq", "16"]]:
        done = subprocess.run([program, "accuracy", *words, "--vary", "engine=ort,openvino", "--format", "json"],
                              capture_output=True, text=True, timeout=400)
        expect(done.returncode == 0, f"{words}: {done.stderr}")
        expect(fact(json.loads(done.stdout), "difference", "verdict") in ("close", "identical"), f"{words}: {done.stderr}")


CASES = [torchvision_resnet18, torch_embedding, torch_shapes, torchvision_modules, onnx_package, openvino_agrees]


def main():
    args = arguments(__doc__)
    run([(case.__name__, lambda c=case: c(args.program)) for case in CASES], args.prefixes,
        lambda: need_engine(args.program))


if __name__ == "__main__":
    main()
