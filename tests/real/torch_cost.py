#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts networks that PyTorch exported, and compares with exact integers. Prints TAP; without
PyTorch all cases are skipped with the reason.

  torch_cost.py --program build/deepclock [CASE...]     all, or those with this prefix

The integers of torchvision's networks come from a counter with forward hooks that supports
convolutions, linear layers and attention, run on the networks themselves; parameters come from
PyTorch. Weights are small numbers, one for each parameter: their values do not matter,
but the exporter merges equal weights. Exports are cached in the build directory, compressed, for
the next run and for other builds of the tree, because they take nearly all of the time.
"""

import contextlib
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import warnings

import common

# name, image, parameters, multiply-accumulates. One network for each kind of layers: larger ones repeat them.
NETWORKS = [
    ("alexnet", 224, 61100840, 714188480),
    ("resnet18", 224, 11689512, 1814073344),
    ("resnet50", 224, 25557032, 4089184256),
    ("squeezenet1_0", 224, 1248424, 818924576),
    ("densenet121", 224, 7978856, 2834161664),
    # 27,161,264 with the second classifier, which is used only in training.
    ("inception_v3", 299, 23834568, 5713216096),
    ("mobilenet_v2", 224, 3504872, 300774272),
    ("mobilenet_v3_large", 224, 5483032, 216589760),
    ("mobilenet_v3_small", 224, 2542856, 56510400),
    ("efficientnet_b0", 224, 5288548, 385814752),
    ("regnet_y_1_6gf", 224, 11202430, 1612076160),
    ("convnext_tiny", 224, 28589128, 4455531264),
    ("vit_b_16", 224, 86567656, 17563828224),
    ("swin_t", 224, 28288354, 4490566656),
    ("maxvit_t", 224, 30919624, 5558046720),
]

# Results of other counters for the modules themselves.
PEERS = {
    "alexnet": {"fvcore": 714197696, "thop": 714206912, "ptflops": 716441128, "calflops": 1429741184},
    "resnet50": {"fvcore": 4111512576, "thop": 4133742592, "ptflops": 4132436968, "calflops": 8211108352},
}


def expect_equal(got, want, what):
    if got != want:
        raise AssertionError(f"{what}: {got}, not {want}")


def need_torch():
    torch, torchvision = common.need_torch()
    # Random initialisation takes time, and the values do not matter here.
    for name in ("normal_", "trunc_normal_", "uniform_", "kaiming_normal_", "kaiming_uniform_",
                 "xavier_normal_", "xavier_uniform_"):
        setattr(torch.nn.init, name, lambda t, *args, **kwargs: t)
    return torch, torchvision


def kept(name):
    """Returns the path of a cached export: the file's name contains all that determines the export."""
    torch, torchvision = need_torch()
    with open(__file__, "rb") as f:
        made_by = hashlib.sha256(f.read() + (torch.__version__ + torchvision.__version__).encode())
    return os.path.join(common.installed("exports"), f"{name}-{made_by.hexdigest()[:16]}.onnx.gz")


def export(torch, name, net, inputs, **options):
    path = kept(name)
    if os.path.exists(path):
        with gzip.open(path) as old, open("net.onnx", "wb") as new:
            shutil.copyfileobj(old, new, 1 << 20)
        return
    with torch.no_grad():
        for i, p in enumerate(net.parameters()):
            p.fill_(0.001 * (i + 1))
    with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        torch.onnx.export(net, inputs, "net.onnx", opset_version=16, do_constant_folding=False,
                          training=torch.onnx.TrainingMode.PRESERVE, **options)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = f"{path}.{os.getpid()}"
    with open("net.onnx", "rb") as old, gzip.open(part, "wb", compresslevel=1) as new:
        shutil.copyfileobj(old, new, 1 << 20)
    os.replace(part, path)


def cost(program, *options):
    done = subprocess.run([program, "cost", "net.onnx", "--format", "json", *options],
                          capture_output=True, text=True, timeout=60)
    expect_equal((done.returncode, done.stderr), (0, ""), "exit status and stderr")
    record = json.loads(done.stdout)
    return {m["tag"]: m.get("value", m.get("absent")) for m in record["metrics"]}, record


def expect_counts(program, macs, params=None, *options):
    """Checks the total, the coverage, and that the operators add up to the total."""
    metrics, record = cost(program, "--strict", *options)
    expect_equal(metrics["cost/macs"], macs, "MACs")
    expect_equal(metrics["cost/coverage"], 1, "coverage")
    expect_equal(sum(op["macs"] for op in record["ops"]), macs, "MACs of all operators")
    if params is not None:
        expect_equal(metrics["cost/params"], params, "parameters")
    return metrics


def network(program, name, image, params, macs):
    torch, torchvision = need_torch()
    if not hasattr(torchvision.models, name):
        raise common.Skipped(f"torchvision {torchvision.__version__} has no {name}")
    options = {"init_weights": False} if name == "inception_v3" else {}
    net = getattr(torchvision.models, name)(weights=None, **options).eval()
    export(torch, name, net, torch.zeros(1, 3, image, image))
    expect_counts(program, macs, params)
    for counter, want in PEERS.get(name, {}).items():
        metrics, _ = cost(program, "--as", counter)
        expect_equal(metrics["cost/peer"], want, f"--as {counter}")


def lstm(program):
    torch, _ = need_torch()
    # 100 steps of 4 gates: 512 x (300 + 512), then 512 x (512 + 512); two biases for each gate
    export(torch, "lstm", torch.nn.LSTM(300, 512, 2).eval(), torch.zeros(100, 1, 300))
    expect_counts(program, 376012800, 3768320)


def gru(program):
    torch, _ = need_torch()
    export(torch, "gru", torch.nn.GRU(64, 64).eval(), torch.zeros(100, 1, 64))
    expect_counts(program, 100 * 3 * 64 * (64 + 64), 3 * 64 * (64 + 64 + 2))


def conv_transpose(program):
    torch, _ = need_torch()
    # Every input element is multiplied by every weight of its group: the size of the output does not matter.
    for groups, macs in (1, 8388608), (4, 2097152):
        net = torch.nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1, groups=groups).eval()
        export(torch, f"conv_transpose_{groups}", net, torch.zeros(1, 64, 16, 16))
        expect_counts(program, macs, 64 * 32 // groups * 16 + 32)


def conv3d(program):
    torch, _ = need_torch()
    export(torch, "conv3d", torch.nn.Conv3d(3, 16, 3, padding=1).eval(), torch.zeros(1, 3, 8, 32, 32))
    expect_counts(program, 10616832, 3 * 16 * 27 + 16)


def transformer_layer(program):
    torch, _ = need_torch()
    net = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True).train()
    export(torch, "transformer_layer", net, torch.zeros(1, 64, 512))
    # 64 x (4 x 512 x 512 + 2 x 512 x 2048) for weights, 2 x 64 x 64 x 512 for attention
    expect_counts(program, 205520896, 3152384)


def module(torch, f):
    class Module(torch.nn.Module):
        def forward(self, *x):
            return f(*x)

    return Module().eval()


def einsum(program):
    torch, _ = need_torch()
    for equation, shapes, macs in [
        ("bhqd,bhkd->bhqk", [(2, 4, 8, 16), (2, 4, 10, 16)], 2 * 4 * 8 * 10 * 16),
        ("ij,kj->ik", [(3, 5), (7, 5)], 3 * 5 * 7),
        ("bi,bi->b", [(3, 5), (3, 5)], 15),
    ]:
        net = module(torch, lambda *x, e=equation: torch.einsum(e, *x))
        export(torch, f"einsum_{macs}", net, tuple(torch.ones(s) for s in shapes))
        expect_counts(program, macs, 0)


def broadcast_matmul(program):
    torch, _ = need_torch()
    net = module(torch, torch.matmul)
    export(torch, "broadcast_matmul", net, (torch.zeros(1, 4, 8), torch.zeros(2, 8, 16)))
    expect_counts(program, 1024, 0)


def symbolic_batch(program):
    torch, _ = need_torch()
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
                              torch.nn.Flatten(), torch.nn.Linear(8, 5)).eval()
    export(torch, "symbolic_batch", net, torch.zeros(2, 3, 16, 16), input_names=["x"], output_names=["y"],
           dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})
    one = 14 * 14 * 8 * 27 + 8 * 5
    params = 8 * 27 + 8 + 8 * 5 + 5
    for batch in 1, 4:
        expect_counts(program, batch * one, params, "--dim", f"batch={batch}")
    expect_counts(program, 3 * one, params, "--batch", "3")
    metrics, record = cost(program)
    formula = [f["value"] for f in record["facts"] if f["key"] == "macs_formula"]
    expect_equal(formula, [f"{one}*batch"], "an open batch")
    expect_equal(metrics["cost/params"], params, "parameters with an open batch")


CASES = [lstm, gru, conv_transpose, conv3d, transformer_layer, einsum, broadcast_matmul, symbolic_batch]


def main():
    args = common.arguments(__doc__)
    cases = [(case.__name__, lambda c=case: c(args.program)) for case in CASES]
    cases += [(row[0], lambda r=row: network(args.program, *r)) for row in NETWORKS]
    common.run(cases, args.prefixes)


if __name__ == "__main__":
    main()
