#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports networks for one item, measures them with --batch 3, and checks deepclock's report on
the rebatched model: its outputs equal the original's, item by item. Prints TAP; without PyTorch
all cases are skipped with the reason.

  rebatched.py --program build/deepclock [CASE...]     all, or those with this prefix

PyTorch 2.5 and later have two exporters, and both are used if onnxscript is installed; with
transformers, its networks are tested too. Run it with an interpreter that has these packages:

  .venv/bin/python tests/real/rebatched.py --program build/deepclock
"""

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import warnings

from common import Skipped, arguments, expect, fact, need_engine, need_torch, run

ITEMS = 3

# name, image: small networks that cover all ways in which torchvision's networks treat a batch
NETWORKS = [
    ("resnet18", 64),
    ("mobilenet_v3_small", 64),  # squeeze and excitation
    ("shufflenet_v2_x1_0", 64),  # channels are shuffled by two Reshapes and a Transpose
    ("squeezenet1_1", 64),       # fire modules are joined
    ("swin_t", 64),              # windows are folded into the batch
]


def settle(torch, net, x):
    """Sets batch-norm statistics as after training, so that the outputs do not vanish."""
    for m in net.modules():
        if isinstance(m, torch.nn.modules.batchnorm._BatchNorm):
            m.momentum = 1.0
    with torch.no_grad():
        net.train()(torch.rand(4, *x.shape[1:]))
    return net.eval()


def export(torch, net, inputs, dynamo):
    if dynamo:
        try:
            import onnxscript  # noqa: F401
        except ImportError as e:
            raise Skipped(f"{e}: the newer exporter needs it") from e
    options = {"dynamo": True, "external_data": False} if dynamo else {"opset_version": 16}
    if net.training:
        options["training"] = torch.onnx.TrainingMode.PRESERVE
    if not dynamo and tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 5):
        options["dynamo"] = False
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        torch.onnx.export(net, inputs, "net.onnx", **options)


def bench(program):
    return subprocess.run([program, "bench", "net.onnx", "--batch", str(ITEMS), "--runs", "2",
                           "--warmup", "0", "--threads", "1", "--save", "run.json"],
                          capture_output=True, text=True, timeout=300)


def expect_rebatched(program):
    done = bench(program)
    expect(done.returncode == 0, done.stderr)
    with open("run.json", encoding="utf-8") as file:
        record = json.load(file)
    notes = [n["text"] for n in record["notes"] if n["code"] == "rebatched"]
    expect(len(notes) == 1 and notes[0].startswith("exported for 1 item;"), f"the note: {notes}")
    expect(fact(record, "subject", "rebatched").startswith(f"from 1 to {ITEMS}, "), fact(record, "subject", "rebatched"))
    items = fact(record, "subject", "items_per_run")
    expect(items == ITEMS, f"items of a run: {items}")
    checked = fact(record, "subject", "batch_checked")
    expect(checked.startswith(("its outputs are identical to", "its outputs equal")) and
         f"on {ITEMS} items" in checked, checked)


def expect_refused(program, *words):
    done = bench(program)
    expect(done.returncode == 2, f"exit status {done.returncode}: {done.stdout}{done.stderr}")
    expect(not os.path.exists("run.json"), "a record of what was refused")
    text = " ".join(done.stderr.split())
    for word in ("cannot be made to take another batch: the node '", *words):
        expect(word in text, f"no \"{word}\" in: {text}")


def expect_apart(torch, net, *inputs):
    """Checks that outputs of items differ: identical outputs would be equal in any order."""
    def first(x):
        while not isinstance(x, torch.Tensor):
            x = x[0]
        return x

    with torch.no_grad():
        one = first(net(*inputs))
        other = first(net(*(torch.rand_like(x) if x.is_floating_point() else x * 2 + 1
                            for x in inputs)))
    expect(one.isfinite().all() and (one - other).abs().max() > 1e-4, "outputs do not tell items apart")


def rebatched(program, torch, net, *inputs, dynamo=False):
    expect_apart(torch, net, *inputs)
    export(torch, net, inputs, dynamo)
    expect_rebatched(program)


def network(program, dynamo, name, image):
    torch, torchvision = need_torch()
    x = torch.rand(1, 3, image, image)
    net = settle(torch, getattr(torchvision.models, name)(weights=None), x)
    rebatched(program, torch, net, x, dynamo=dynamo)


def module(torch, f, **parts):
    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)

        def forward(self, *x):
            return f(self, *x)

    return Module().eval()


def transformer(program, dynamo):
    torch, _ = need_torch()
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    # In training mode, without dropout: older exporters do not support the fused layer.
    net = torch.nn.TransformerEncoder(layer, 2).train()
    rebatched(program, torch, net, torch.rand(1, 10, 64), dynamo=dynamo)


def lstm(program, dynamo):
    torch, _ = need_torch()
    net = module(torch, lambda m, x: m.lstm(x)[0],
                 lstm=torch.nn.LSTM(16, 24, 2, batch_first=True, bidirectional=True))
    rebatched(program, torch, net, torch.rand(1, 7, 16), dynamo=dynamo)


def class_token(program, dynamo):
    torch, _ = need_torch()
    net = module(torch, lambda m, x: m.head(torch.cat([m.token.expand(x.shape[0], -1, -1), x], 1)
                                            .softmax(1)),
                 token=torch.nn.Parameter(torch.rand(1, 1, 16)), head=torch.nn.Linear(16, 5))
    rebatched(program, torch, net, torch.rand(1, 6, 16), dynamo=dynamo)


def strided(program, dynamo):
    torch, _ = need_torch()
    net = module(torch, lambda m, x: m.fc(x).contiguous().as_strided((1, 5, 3), (15, 1, 5)).relu(),
                 fc=torch.nn.Linear(16, 5))
    rebatched(program, torch, net, torch.rand(1, 3, 16), dynamo=dynamo)


def mean_of_items(program, dynamo):
    torch, _ = need_torch()
    net = module(torch, lambda m, x: m.fc(x) - m.fc(x).mean(0, keepdim=True) / 2,
                 fc=torch.nn.Linear(16, 5))
    export(torch, net, (torch.rand(1, 16),), dynamo)
    expect_refused(program, "(ReduceMean): it combines axis 0, which holds the items")


def softmax_of_items(program, dynamo):
    torch, _ = need_torch()
    net = module(torch, lambda m, x: m.fc(x).softmax(0), fc=torch.nn.Linear(16, 5))
    export(torch, net, (torch.rand(1, 16),), dynamo)
    expect_refused(program, "(Softmax): ")


def all_in_one_row(program, dynamo):
    torch, _ = need_torch()
    net = module(torch, lambda m, x: m.fc(x.flatten()), fc=torch.nn.Linear(48, 5))
    export(torch, net, (torch.rand(1, 3, 16),), dynamo)
    expect_refused(program)


def language(program, dynamo, name):
    torch, _ = need_torch()
    import transformers
    size = {"vocab_size": 100}
    if name == "bert":
        config = transformers.BertConfig(hidden_size=32, num_hidden_layers=2, intermediate_size=64,
                                         num_attention_heads=2, **size)
        net = transformers.BertModel(config).eval()
    else:
        config = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=64,
                                         use_cache=False, **size)
        net = transformers.GPT2LMHeadModel(config).eval()
    net = module(torch, lambda m, x: m.net(input_ids=x)[0], net=net)
    try:
        rebatched(program, torch, net, torch.arange(12).reshape(1, 12), dynamo=dynamo)
    except torch.onnx.errors.UnsupportedOperatorError as e:
        raise Skipped(str(e).splitlines()[0]) from e


CASES = [transformer, lstm, class_token, strided, mean_of_items, softmax_of_items,
         all_in_one_row]


def cases_of(dynamo):
    end = "_dynamo" if dynamo else ""
    for name, image in NETWORKS:
        yield name + end, lambda p, n=name, i=image: network(p, dynamo, n, i)
    for case in CASES:
        yield case.__name__ + end, lambda p, c=case: c(p, dynamo)
    # Debian has no transformers; nothing that 'tools/setup.sh' installs is left out.
    for name in ("bert", "gpt2") if importlib.util.find_spec("transformers") else ():
        yield name + end, lambda p, n=name: language(p, dynamo, n)


def newer_exporter():
    try:
        torch, _ = need_torch()
    except Skipped:
        return False
    return tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 5)


def main():
    args = arguments(__doc__)
    cases = [*cases_of(False), *(cases_of(True) if newer_exporter() else [])]
    run([(name, lambda c=case: c(args.program)) for name, case in cases], args.prefixes,
        lambda: need_engine(args.program))


if __name__ == "__main__":
    main()
