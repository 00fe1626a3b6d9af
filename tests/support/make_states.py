# SPDX-License-Identifier: Apache-2.0
"""Makes pairs of small stored states for golden cases; NumPy alone.

    python3 tests/support/make_states.py CASE FOLDER

Each case below is a function that writes files of these names into the folder.
"""
import collections
import json
import os
import pickle
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "matrix"), os.path.join(here, "..", "..", "samples")]
import torch_zip  # noqa: E402
from write import safetensors  # noqa: E402

random = np.random.default_rng(5)


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def layers(count=6):
    return {f"layers.{i}.weight": normal(16, 16) for i in range(count)}


def zeros():
    """One side is all zeros; or has NaN: one, or nothing else."""
    state = {**layers(), "bias": np.zeros(8, np.float32), "last": normal(4, 4)}
    yield "reference.pt", state
    yield "bias.pt", {**state, "bias": np.ones(8, np.float32)}
    yield "lost.pt", {**state, "layers.3.weight": np.zeros((16, 16), np.float32)}
    one, most = state["layers.3.weight"].copy(), np.full((16, 16), np.nan, np.float32)
    one[4, 5] = np.nan
    yield "one-nan.pt", {**state, "layers.3.weight": one}
    moved = one.copy()
    moved[7] += np.float32(0.5)
    yield "nan-and-more.pt", {**state, "layers.3.weight": moved}
    yield "all-nan.pt", {**state, "layers.3.weight": most}


def rows():
    """An embedding of which most rows were trained, or a few."""
    state = {"embed.weight": normal(500, 8), **layers()}
    yield "reference.pt", state
    for name, count in (("most.pt", 430), ("few.pt", 40)):
        trained = state["embed.weight"].copy()
        at = random.permutation(500)[:count]
        trained[at] += np.float32(0.05) * normal(count, 8)
        yield name, {**state, "embed.weight": trained}


NETWORK = """conv1.weight bn1.weight bn1.running_mean bn1.running_var layer1.0.conv1.weight layer1.0.bn1.running_mean
layer1.1.conv1.weight layer1.1.bn1.running_mean layer2.0.conv1.weight layer2.0.bn1.running_mean
layer2.0.downsample.1.running_mean fc.weight""".split()
OTHERS = """cls_token pos_embed patch_embed.proj.weight stem.0.weight stages.0.blocks.0.conv.weight
stages.0.blocks.1.conv.weight stages.1.downsample.1.weight stages.1.blocks.0.conv.weight norm.weight head.weight""".split()


def order():
    """A network in the order of its state_dict, and sorted by name: running statistics moved, or all of it."""
    for net, names in (("net", NETWORK), ("others", OTHERS)):
        state = {name: normal(4, 4) if "conv" in name else np.abs(normal(4)) + 1 for name in names}
        for name, moved in (("reference", 0), ("candidate", 1)):
            part = {key: value + np.float32(0.1 * moved * (net == "others" or "running" in key))
                    for key, value in state.items()}
            yield f"{net}-{name}.pt", part
            yield f"{net}-{name}.safetensors", dict(sorted(part.items()))


def scaled():
    """All weights are a multiple, or those of some layers."""
    state = {f"layers.{i}.{part}.weight": normal(8, 8) for i in range(8) for part in ("up", "down", "gate", "q", "k", "v")}
    yield "reference.pt", state
    yield "all.pt", {key: value * np.float32(1.01) for key, value in state.items()}
    yield "some.pt", {key: value * np.float32(2 if ".up." in key or ".down." in key else 1) for key, value in state.items()}


def turned():
    """Linear against Conv1D; a vocabulary with padding."""
    state = {"h.0.c_attn.weight": normal(8, 24), "h.0.c_fc.weight": normal(8, 32), "h.0.ln.weight": normal(8)}
    yield "reference.pt", state
    yield "turned.pt", {key: np.ascontiguousarray(value.T) for key, value in state.items()}
    yield "off.pt", {key: np.ascontiguousarray((value * np.float32(1.1)).T) if value.ndim > 1 else value
                     for key, value in state.items()}
    words = {"tok.weight": normal(50, 8), "ln.weight": normal(8)}
    yield "words.pt", words
    yield "padded.pt", {**words, "tok.weight": np.concatenate([words["tok.weight"], np.zeros((14, 8), np.float32)])}
    yield "longer.pt", {**words, "tok.weight": np.concatenate([words["tok.weight"], normal(14, 8)])}


def swapped():
    """Numbers whose bytes are in the other order: of all tensors, of one; among all some become NaN."""
    state = {f"layers.{i}.weight": normal(32, 32) for i in range(6)}
    yield "reference.pt", state
    yield "all.pt", {key: value.byteswap() for key, value in state.items()}
    yield "one.pt", {**state, "layers.2.weight": state["layers.2.weight"].byteswap()}


def from_one():
    """Layers counted from 0, and from 1 after more training; a layer lost at one end and added at the other."""
    state = layers(4)
    moved = {name: value + np.float32(0.05) * normal(*value.shape) for name, value in state.items()}
    yield "reference.pt", state
    yield "trained.pt", {f"layers.{i + 1}.weight": moved[f"layers.{i}.weight"] for i in range(4)}
    yield "other-layers.pt", {**{f"layers.{i}.weight": moved[f"layers.{i}.weight"] for i in range(1, 4)},
                              "layers.4.weight": normal(16, 16)}


def respelled():
    """Layers under another word, trained on; the rest under its own."""
    parts = {"attn.q.weight": (8, 8), "attn.k.weight": (4, 8), "mlp.up.weight": (16, 8), "norm.weight": (8,)}
    state = {f"layers.{i}.{part}": normal(*shape) for i in range(3) for part, shape in parts.items()}
    state.update({"embed.weight": normal(40, 8), "head.weight": normal(32, 8)})
    yield "reference.pt", state
    yield "blocks.pt", {name.replace("layers.", "blocks."): value + np.float32(0.01) * normal(*value.shape)
                        for name, value in state.items()}
    yield "from-one.pt", {name.replace("layers.2.", "blocks.3.").replace("layers.1.", "blocks.2.").replace("layers.0.", "blocks.1."):
                          value + np.float32(0.01) * normal(*value.shape) for name, value in state.items()}


class Dumped:
    """A tensor as pickle.dump writes it: its storage is an archive of torch.save within the pickle."""

    def __init__(self, shape):
        self.shape = shape

    def __reduce__(self):
        stride = tuple(int(s) for s in np.cumprod((1,) + self.shape[:0:-1])[::-1])
        return torch_zip._named("torch._utils", "_rebuild_tensor_v2"), (
            Storage(), 0, self.shape, stride, False, collections.OrderedDict())


class Storage:
    def __reduce__(self):
        return torch_zip._named("torch.storage", "_load_from_bytes"), (b"an archive",)


def pickles():
    """What pickle.dump writes."""
    arrays = {"a": normal(3, 2), "b": np.asfortranarray(normal(2, 3)), "n": np.arange(4)}
    other = {**arrays, "a": arrays["a"] + np.float32(1)}
    for name, value in (("tensors.pkl", {"weight": Dumped((2, 2)), "bias": Dumped((2,))}),
                        ("arrays.pkl", arrays), ("other.pkl", other)):
        yield name, pickle.dumps(value, protocol=4)


def foreign():
    """Files of other kinds."""
    yield "model.gguf", b"GGUF\x03\0\0\0" + bytes(40)
    yield "model.onnx", b"\x08\x07\x12\x07pytorch\x1a\x052.0.0\x3a" + bytes(30)
    yield "model.msgpack", b"\x82\xa6params\x81\xa1w\xc7\x05\x01abcde\xa1x\x01"
    yield "page.html", b"<!DOCTYPE html><html><body>404</body></html>"
    yield "config.json", b'{"model_type": "llama"}'
    yield "users", b"root:x:0:0:root:/root:/bin/bash\n"


def optimizer(weights, step, rate):
    state = {i: {"step": np.array(step, np.float32), "exp_avg": normal(*value.shape), "exp_avg_sq": abs(normal(*value.shape))}
             for i, value in enumerate(weights.values())}
    group = {"lr": rate, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0, "params": list(range(len(weights)))}
    return {"state": state, "param_groups": [group]}


def alone():
    """The head, or the optimizer's state, is the only part that differs."""
    model = {**layers(2), "fc.weight": normal(4, 8), "fc.bias": normal(4)}
    state = optimizer(model, 3, 0.001)
    yield "reference.pt", {"model": model, "optimizer": state}
    yield "head.pt", {"model": {**model, "fc.weight": normal(4, 8), "fc.bias": normal(4)}, "optimizer": state}
    yield "optimizer.pt", {"model": model, "optimizer": optimizer(model, 3, 0.001)}
    network = {"bn.running_mean": normal(4), "bn.running_var": normal(4), "conv.weight": normal(4, 4), **model}
    moved = {name: value + np.float32(1) if "running" in name else value for name, value in network.items()}
    yield "network.pt", network
    yield "moved.pt", moved
    yield "moved-and-head.pt", {**moved, "fc.weight": normal(3, 8)}
    yield "moved-and-lost.pt", {name: value for name, value in moved.items() if name != "fc.bias"}


def layer():
    """A layer that was left out of training, and an element of another one."""
    parts = {"norm.weight": (8,), "up.weight": (8, 8), "up.bias": (8,), "down.weight": (8, 8)}
    model = {f"layers.{n}.{part}": normal(*shape) for n in range(4) for part, shape in parts.items()}
    stale = {name: value + np.float32(0.1) * normal(*value.shape) if name.startswith("layers.2.") else value
             for name, value in model.items()}
    yield "reference.pt", model
    yield "stale.pt", stale
    damaged = stale["layers.3.up.weight"].copy()
    damaged[1, 2] *= np.float32(1.1)
    yield "damaged.pt", {**stale, "layers.3.up.weight": damaged}


def keys():
    """A key's bias has a gradient that is round-off, which its moments show; another order of sums, and damage."""
    model = {f"layers.{n}.{part}": normal(*shape) for n in range(3)
             for part, shape in (("q.weight", (16, 16)), ("q.bias", (16,)), ("k.weight", (16, 16)), ("k.bias", (16,)))}

    def made(seed, damage=None, weights=model):
        draw = np.random.default_rng(seed)
        turned = lambda value: value * (1 + np.float32(1e-6) * draw.standard_normal(value.shape).astype(np.float32))  # noqa: E731
        state, weights = {}, {name: turned(value) for name, value in weights.items()}
        for i, name in enumerate(weights):
            chance = name.endswith("k.bias")
            size = np.float32(1e-9 if chance else 1e-3)
            steady = size * np.random.default_rng(100 + i).standard_normal(weights[name].shape).astype(np.float32)
            first = size * draw.standard_normal(steady.shape).astype(np.float32) if chance else turned(steady)
            state[i] = {"step": np.float32(9), "exp_avg": first, "exp_avg_sq": first * first}
            if chance:
                weights[name] = np.float32(1e-3) * np.sign(first)
        if damage:
            damage(state)
        group = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0, "params": list(range(len(weights)))}
        return {"model": weights, "optimizer": {"state": state, "param_groups": [group]}}

    def is_nan(state):
        state[3]["exp_avg"][5] = np.nan

    def doubled(state):
        state[3]["exp_avg"] = 2 * state[3]["exp_avg"]

    yield "reference.pt", made(1)
    yield "candidate.pt", made(2)
    yield "nan.pt", made(2, is_nan)
    yield "copy-doubled.pt", made(1, doubled)


def trainer():
    """A Trainer's steps; resumed at 20 from a checkpoint that had lost its optimizer."""
    global random
    for side in ("reference", "candidate"):
        for step in (10, 20, 30):
            random = np.random.default_rng(step)
            weights = {name: normal(8, 4) for name in (f"model.layers.0.self_attn.{part}_proj.weight" for part in "qk")}
            lost = side == "candidate" and step > 10
            made = step - 20 if lost and step > 20 else step
            if made != step:
                weights = {name: value + np.float32(0.01) * normal(8, 4) for name, value in weights.items()}
            rate = 0.001 * (1 - made / 40)
            folder = f"{side}/checkpoint-{step}/"
            yield folder + "pytorch_model.bin", weights
            yield folder + "rng_state.pth", {"cpu": np.arange(8, dtype=np.uint8)}
            if not (lost and step == 20):
                yield folder + "optimizer.pt", optimizer(weights, made, rate)
            yield folder + "scheduler.pt", {"last_epoch": made, "_last_lr": [rate]}
            yield folder + "config.json", json.dumps({"model_type": "llama", "num_attention_heads": 2}).encode()
            yield folder + "trainer_state.json", json.dumps({"global_step": step}).encode()


case, folder = sys.argv[1:3]
for name, content in globals()[case]():
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if isinstance(content, bytes):
        with open(path, "wb") as file:
            file.write(content)
    elif name.endswith(".safetensors"):
        safetensors(path, content)
    else:
        torch_zip.save(content, path)
