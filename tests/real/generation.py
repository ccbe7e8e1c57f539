#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `deepclock generate` with a loop by hand over a session of the package onnxruntime: the same tokens by all
engines, of random prompts and of a file, and the same times. Prints TAP; without the package all cases are skipped.

  generation.py --program build/deepclock [CASE...]     all, or those with this prefix
"""

import json
import math
import subprocess
import sys
import time

from common import Skipped, arguments, expect, fact, installed, need_engine, run, skip_all

sys.path.insert(1, installed("onnxruntime"))
try:
    import numpy
    import onnxruntime
except ImportError as e:
    skip_all(e, "the package onnxruntime")

WIDE = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15


def mixed(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WIDE
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WIDE
    return z ^ z >> 31


def prompt(request, tokens, vocabulary, seed=1):
    """Returns the prompt of a request of the first length and batch: SplitMix64, as src/base/rng.h."""
    state = mixed(mixed(seed) + request * STEP & WIDE)
    ids = []
    for _ in range(tokens):
        state = state + STEP & WIDE
        ids.append((mixed(state) >> 32) * vocabulary >> 32)
    return ids


def session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def by_hand(s, ids, new):
    """Returns the tokens of each sequence, and the times of the start and of each token, in ns."""
    names = [o.name for o in s.get_outputs()]
    batch, length = ids.shape[0], 0
    past = {i.name: numpy.zeros((batch, i.shape[1], 0, i.shape[3]), numpy.float32)
            for i in s.get_inputs() if i.name.startswith("past_key_values.")}
    tokens, times = [], [time.perf_counter_ns()]
    for _ in range(new):
        n = ids.shape[1]
        positions = numpy.broadcast_to(numpy.arange(length, length + n), (batch, n)).copy()
        out = dict(zip(names, s.run(None, {"input_ids": ids, "position_ids": positions,
                                           "attention_mask": numpy.ones((batch, length + n), numpy.int64), **past})))
        ids = out["logits"][:, -1].argmax(-1)[:, None]
        times.append(time.perf_counter_ns())
        tokens.append(ids[:, 0])
        past = {name: out[name.replace("past_key_values", "present")] for name in past}
        length += n
    return numpy.array(tokens).T, times


def generate(program, model, *options):
    done = subprocess.run([program, "generate", model, "--quiet", "--no-history", "--format", "json", "--threads", "1",
                           *map(str, options)], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def decoder(program, file, network="llama_mini", **sizes):
    words = [w for name, n in sizes.items() for w in ("--" + name.replace("_", "-"), str(n))]
    subprocess.run([program, "zoo", network, "--symbolic", *words, "-o", file], check=True)
    return file


def described(model, heads=8, kv_heads=2, width=32, layers=4):
    """Writes what ONNX Runtime GenAI reads of a decoder; without an end of a sequence that the tokens here meet."""
    names = {f"past_{part}_names": f"past_key_values.%d.{part}" for part in ("key", "value")}
    inputs = dict({name: name for name in ("input_ids", "attention_mask", "position_ids")}, **names)
    outputs = {"logits": "logits", "present_key_names": "present.%d.key", "present_value_names": "present.%d.value"}
    parts = {"filename": model, "head_size": width, "hidden_size": heads * width, "num_attention_heads": heads,
             "num_key_value_heads": kv_heads, "num_hidden_layers": layers, "session_options": {"provider_options": []},
             "inputs": inputs, "outputs": outputs}
    with open("genai_config.json", "w", encoding="utf-8") as f:
        json.dump({"model": {"type": "llama", "vocab_size": 4096, "context_length": 2048, "bos_token_id": 1, "eos_token_id": 2,
                             "pad_token_id": 0, "decoder": parts},
                   "search": {"max_length": 2048, "past_present_share_buffer": False}}, f)
    return f.name


def tokens(program, engine, batch, file=False, network="llama_mini"):
    need_engine(program, engine)
    model = decoder(program, "m.onnx", network)
    ids = numpy.array(prompt(0, 40 * batch, 4096)).reshape(batch, 40)
    words = ["--prompt-length", 40]
    if file:
        ids = ids[:, ::-1].copy()
        with open("prompts", "w", encoding="utf-8") as f:
            f.writelines(f"{row.tolist()}\n" for row in ids)
        words = ["--prompt-file", "prompts"]
    config = described(model, kv_heads=8 if network == "gpt_mini" else 2) if engine == "genai" else model
    r = generate(program, config, "--engine", engine, "--requests", 1, "--warmup", 0, "--new-tokens", 24, "--batch", batch, *words)
    found = by_hand(session(model), ids, 24)[0][0].tolist()
    expect(len(set(found)) > 12, found)
    expect(fact(r, "generate", "first_tokens") == " ".join(map(str, found)), (fact(r, "generate", "first_tokens"), found))


def network_of(transformers, name):
    """Returns the network of the transformers library that the zoo's has the sizes of."""
    sizes = {"vocab_size": 4096, "bos_token_id": 1, "eos_token_id": 2}
    if name == "gpt_mini":
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=256, n_layer=4, n_head=8, n_positions=1024, **sizes))
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        hidden_size=256, intermediate_size=688, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=2,
        rms_norm_eps=1e-5, rope_theta=10000.0, tie_word_embeddings=True, **sizes))


def transformers_generate(program, name):
    """The transformers library's generate() has the same tokens with the same weights."""
    need_engine(program)
    sys.path[1:1] = [installed(package) for package in ("transformers", "torch2", "onnx")]
    sys.modules.setdefault("torchvision", None)  # it needs a package that is not there
    try:
        import onnx
        import torch
        import transformers
    except ImportError as e:
        raise Skipped(e)
    model = decoder(program, "m.onnx", name)
    weights = {t.name: torch.tensor(onnx.numpy_helper.to_array(t).copy()) for t in onnx.load(model).graph.initializer}
    net = network_of(transformers, name).eval()
    own = net.state_dict()
    # A linear layer stores the transposed matrix.
    given = {k: weights[k] if weights[k].shape == own[k].shape and name == "gpt_mini" or weights[k].dim() < 2 or "embed" in k
             else weights[k].T for k in own if k in weights}
    left = net.load_state_dict(given, strict=False)
    expect(left.missing_keys == ["lm_head.weight"], left)  # it is tied to the embedding
    ids = torch.tensor([prompt(0, 40, 4096)])
    found = net.generate(ids, max_new_tokens=24, min_new_tokens=24, do_sample=False, attention_mask=torch.ones_like(ids),
                         pad_token_id=0, eos_token_id=None)[0, 40:].tolist()
    r = generate(program, model, "--requests", 1, "--warmup", 0, "--new-tokens", 24, "--prompt-length", 40)
    expect(fact(r, "generate", "first_tokens") == " ".join(map(str, found)), (fact(r, "generate", "first_tokens"), found))


ROUNDS = 9  # the lowest and the highest of 9 hold the median with 99.6 %
MARGIN = math.log(1.15)  # the loop by hand makes arrays and a dict in each step


def times(program):
    """The ratio of both loops' TTFT and TPOT, in rounds that take turns, has an interval that meets 1 within a margin."""
    need_engine(program)
    model = decoder(program, "m.onnx", layers=6, hidden=512)
    s = session(model)
    ratios = {"ttft": [], "tpot": []}
    for k in range(ROUNDS + 1):
        r = generate(program, model, "--requests", 1, "--new-tokens", 16, "--prompt-length", 64)
        at = by_hand(s, numpy.array([prompt(k, 64, 4096)]), 16)[1]
        own = {m["tag"]: m.get("value") for m in r["metrics"]}
        if k > 0:  # the first round warms the session up
            ratios["ttft"].append(math.log(own["generate/ttft/64x1"] / (at[1] - at[0])))
            ratios["tpot"].append(math.log(own["generate/tpot/64x1"] / ((at[-1] - at[1]) / 15)))
    for name, logs in ratios.items():
        expect(min(logs) <= MARGIN and max(logs) >= -MARGIN, (name, [round(math.exp(x), 3) for x in sorted(logs)]))
        print(f"# {name}: median {math.exp(sorted(logs)[ROUNDS // 2]):.3f} of the loop by hand "
              f"[{math.exp(min(logs)):.3f}, {math.exp(max(logs)):.3f}]")


def main():
    args = arguments(__doc__)
    p = args.program
    run([(f"tokens/{engine}/{batch}", lambda engine=engine, batch=batch: tokens(p, engine, batch))
            for engine in ("ort", "openvino", "genai") for batch in (1, 3)]
        + [(f"tokens/gpt/{engine}", lambda engine=engine: tokens(p, engine, 2, network="gpt_mini"))
           for engine in ("ort", "openvino", "genai")]
        + [(f"transformers/{name}", lambda name=name: transformers_generate(p, name)) for name in ("llama_mini", "gpt_mini")]
        + [(f"tokens/file/{engine}", lambda engine=engine: tokens(p, engine, 2, file=True)) for engine in ("ort", "genai")]
        + [("times/ort", lambda: times(p))], args.prefixes)


if __name__ == "__main__":
    main()
