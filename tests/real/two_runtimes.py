#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that PyTorch exported, of torchvision and of transformers, in ONNX Runtime and OpenVINO: their outputs
agree. Prints TAP, and for each network the largest differences.

  two_runtimes.py --program build/deepclock [CASE...]     all, or those with this prefix
  two_runtimes.py --export DIRECTORY [CASE...]            only writes the networks, with random weights

Exports are cached in the build directory for the next run and for other builds of the tree; without one, BUILD/torch2,
BUILD/onnx and, for a BERT and a Llama, BUILD/transformers make it.
"""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import warnings

from common import Skipped, arguments, expect, fact, installed, need_engine, run

# name: package, sizes of the open dimensions
NETWORKS = {"resnet18": ("torchvision", ["n=2"]), "mobilenet_v3_small": ("torchvision", ["n=2"]),
            "shufflenet_v2_x0_5": ("torchvision", ["n=2"]), "squeezenet1_1": ("torchvision", ["n=2"]),
            "vit": ("torchvision", []), "swin": ("torchvision", []), "bert": ("transformers", ["batch=2", "seq=24"]),
            "llama": ("transformers", ["batch=2", "seq=24"])}


def image_network(torch, name):
    from torchvision import models  # type: ignore[import-not-found,import-untyped,unused-ignore]
    if name == "vit":
        net = models.VisionTransformer(image_size=64, patch_size=16, num_layers=6, num_heads=3, hidden_dim=192, mlp_dim=768)
        # Its head begins with zeros, and the outputs would be zeros.
        torch.nn.init.normal_(net.heads.head.weight, std=0.02)
    elif name == "swin":
        net = models.SwinTransformer(patch_size=[4, 4], embed_dim=48, depths=[2, 2], num_heads=[3, 6], window_size=[4, 4])
    else:
        net = getattr(models, name)(weights=None)
    # Attention is exported with its batch as a constant.
    axes = {} if name in ("vit", "swin") else {"image": {0: "n"}}
    return net, (torch.randn(1, 3, 64, 64),), ["image"], axes


def text_network(torch, name):
    import transformers  # type: ignore[import-not-found,import-untyped,unused-ignore]
    size = {"hidden_size": 128, "num_hidden_layers": 3, "intermediate_size": 344, "vocab_size": 1000, "attn_implementation": "eager"}

    class Text(torch.nn.Module):
        def __init__(self):
            super().__init__()
            if name == "bert":
                self.net = transformers.BertModel(transformers.BertConfig(num_attention_heads=4, **size))
            else:
                self.net = transformers.LlamaForCausalLM(
                    transformers.LlamaConfig(num_attention_heads=4, num_key_value_heads=2, **size))

        def forward(self, ids, mask):
            more = {} if name == "bert" else {"use_cache": False}
            return self.net(input_ids=ids, attention_mask=mask, return_dict=False, **more)[0]

    ids = torch.randint(0, 1000, (1, 16))
    open_sizes = {0: "batch", 1: "seq"}
    return Text(), (ids, torch.ones_like(ids)), ["input_ids", "attention_mask"], \
        {"input_ids": open_sizes, "attention_mask": open_sizes}


def export_all(directory, names):
    """Runs in a Python that has the packages."""
    warnings.simplefilter("ignore")
    import torch  # type: ignore[import-not-found,import-untyped,unused-ignore]
    for name in names:
        torch.manual_seed(1)
        make = image_network if NETWORKS[name][0] == "torchvision" else text_network
        net, inputs, names_in, axes = make(torch, name)
        path = os.path.join(directory, name + ".onnx")
        with torch.no_grad(), contextlib.redirect_stdout(sys.stderr):
            torch.onnx.export(net.eval(), inputs, path + ".part", input_names=names_in, output_names=["y"], dynamic_axes=axes,
                              opset_version=17, dynamo=False)
        os.replace(path + ".part", path)


def kept():
    """Returns the directory of the exports, which this file determines."""
    with open(__file__, "rb") as f:
        return os.path.join(installed("exports"), "two_runtimes-" + hashlib.sha256(f.read()).hexdigest()[:16])


def need_export(name):
    path = os.path.join(kept(), name + ".onnx")
    if os.path.exists(path):
        return path
    packages = ["torch2", "onnx"] + (["transformers"] if NETWORKS[name][0] == "transformers" else [])
    for package in packages:
        if not os.path.exists(installed(package)):
            raise Skipped(f"BUILD/{package} does not exist: 'make test-all' fetches it")
    os.makedirs(kept(), exist_ok=True)
    # All of the package at once: importing PyTorch takes most of the time.
    missing = [n for n in NETWORKS if NETWORKS[n][0] == NETWORKS[name][0] and not os.path.exists(os.path.join(kept(), n + ".onnx"))]
    done = subprocess.run([sys.executable, __file__, "--export", kept(), *missing], capture_output=True, text=True, timeout=500,
                          env={**os.environ, "PYTHONPATH": ":".join(map(installed, packages))})
    expect(done.returncode == 0, done.stderr[-2000:])
    return path


def metric(record, tag):
    return next(m["value"] for m in record["metrics"] if m["tag"] == tag)


def agrees(program, name):
    need_engine(program, "openvino")
    path = need_export(name)
    sizes = [word for size in NETWORKS[name][1] for word in ("--dim", size)]
    done = subprocess.run([program, "accuracy", path, "--vary", "engine=ort,openvino", *sizes, "--format", "json"],
                          capture_output=True, text=True, timeout=400)
    expect(done.returncode == 0, done.stderr)
    record = json.loads(done.stdout)
    print(f"# {name}: {fact(record, 'difference', 'verdict')}, largest difference "
          f"{metric(record, 'difference/max_abs'):.2g}, mean {metric(record, 'difference/mean_abs'):.2g}, "
          f"1 - cosine {1 - metric(record, 'difference/cosine'):.2g}")
    expect(fact(record, "difference", "verdict") in ("close", "identical"), done.stderr)
    # Zeros would agree whatever the runtimes compute.
    expect(metric(record, "difference/cosine") > 0.99999, "the outputs are numbers")


def compared(program):
    """`compare` checks the same, beside the times."""
    need_engine(program, "openvino")
    done = subprocess.run([program, "compare", need_export("vit"), "--vary", "engine=ort,openvino", "--check-outputs", "--rounds", "6",
                           "--max-time", "15s", "--format", "json"], capture_output=True, text=True, timeout=400)
    expect(done.returncode in (0, 3, 4), done.stderr)
    record = json.loads(done.stdout)
    tables = {t["name"]: t["rows"] for t in record["tables"]}
    expect([row[0] for row in tables["compare/alternatives"]] == ["engine=ort", "engine=openvino"], tables)
    expect([row[1] for row in tables["difference/outputs"]] == ["close"], tables)


def main():
    if sys.argv[1:2] == ["--export"]:
        export_all(sys.argv[2], sys.argv[3:] or list(NETWORKS))
        return
    args = arguments(__doc__)
    cases = [(name, lambda n=name: agrees(args.program, n)) for name in NETWORKS]
    run([*cases, ("compare", lambda: compared(args.program))], args.prefixes, lambda: need_engine(args.program))


if __name__ == "__main__":
    main()
