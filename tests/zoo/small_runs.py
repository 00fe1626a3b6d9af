# SPDX-License-Identifier: Apache-2.0
"""Runs of the small decoder, written as traces; wrong gradients put into them, and how large those are beside what
chance does to the same gradient."""
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from plain_optimizers import Optimizer
from recorder import Recorder, write_run
from rounding import ROUND
from small_model import BATCH, HEADS, TOKENS, Arithmetic, Decoder, batch_of, initial, silent

ROUNDOFF = {"fp32": 2.0 ** -24, "bf16": 2.0 ** -8}
ATTRS = {"rmsnorm": {"eps": 1e-5}, "layernorm": {"eps": 1e-5},
         "attention": {"causal": True, "heads": HEADS, "kv_heads": HEADS}}
VARIANTS = ("halves", "quarters", "fused", "permuted")
NAMES = {"fp32": "float32", "bf16": "bfloat16"}


@dataclass(frozen=True)
class Setting:
    """What both sides of a pair have in common. `graph`: what is written beside values: each op with the identities
    of its inputs (`stated`), each op with copies of its inputs (`dumped`), or outputs alone (`plain`)."""
    dtype: str = "fp32"
    scale: float = 1.0
    layers: int = 2
    graph: str = "stated"
    optimizer: str = "adam"
    owner: bool = False
    dumps: tuple = (1,)
    seed: int = 1

    def __str__(self):
        written = "owner" if self.owner else "grad"
        dumps = ",".join(map(str, self.dumps))
        return f"{self.dtype} rms={self.scale} layers={self.layers} {self.graph} {self.optimizer} {written} " \
               f"steps={dumps} seed={self.seed}"

    @property
    def rate(self):
        """So that a step moves a parameter by about a percent at most."""
        rate = {"sgd": 1e-2, "lion": 3e-4, "rmsprop": 1e-4}.get(self.optimizer, 1e-3)
        return rate * min(self.scale, 1 / self.scale)


def arithmetic(setting, variant):
    """`variant`: None, or how the candidate takes its sums."""
    keep = ROUND[setting.dtype]
    if variant in ("permuted", "fused"):
        order = np.random.default_rng(setting.seed).permutation(BATCH * TOKENS)
        return Arithmetic(keep, 1, order, ROUND["fp32"] if variant == "fused" else keep)
    return Arithmetic(keep, {None: 1, "halves": 2, "quarters": 4}[variant])


def computed(setting, variant, params, step, tape=silent, other=False):
    model = Decoder(setting.layers, arithmetic(setting, variant), params, tape)
    model.forward(*batch_of(setting.seed, step, other))
    model.backward()
    return model


def start(setting):
    return initial(setting.layers, setting.scale, setting.seed)


def rounded(setting, params):
    keep = ROUND[setting.dtype]
    return {name: keep(value) for name, value in params.items()}


# ---- faults: (the gradient, the same of another micro-batch, all gradients) -> what is recorded and applied
FAULTS = {
    "doubled": lambda g, other, grads, name: 2 * g,
    "negated": lambda g, other, grads, name: -g,
    "dropped": lambda g, other, grads, name: 0 * g,
    "elsewhere": lambda g, other, grads, name: other,
    "leaked": lambda g, other, grads, name: g + grads[name.replace(".k.", ".v.")],
}


def spoiled(setting, grads, params, variant, step, name, fault):
    other = computed(setting, variant, params, step, other=True).grads[name] if fault == "elsewhere" else None
    return ROUND[setting.dtype](np.asarray(FAULTS[fault](grads[name], other, grads, name), np.float32))


@lru_cache(maxsize=64)
def gradients(setting, variant):
    """Of the first step: gradients, and the norm of the terms of each of their elements."""
    model = computed(setting, variant, rounded(setting, start(setting)), 1)
    return model.grads, model.terms


@dataclass(frozen=True)
class Truth:
    """Norms: of the planted error, of round-off in the terms of the gradient, and of the most by which correct runs
    were seen apart."""
    error: float
    roundoff: float
    spread: float

    @property
    def certain(self):
        """Beyond both by so much that nothing but a fault explains it."""
        return self.error >= 4 * 4 * self.roundoff and self.error >= 4 * self.spread

    @property
    def own(self):
        """Beyond the op's own round-off, but not beyond what reached it from elsewhere."""
        return not self.certain and self.error >= 4 * 4 * self.roundoff


def truth(setting, variant, name, fault):
    setting = replace(setting, graph="", optimizer="", owner=False, dumps=())  # what it does not depend on
    grads, terms = gradients(setting, None)
    there = gradients(setting, variant)[0]
    norm = lambda x: float(np.linalg.norm(np.asarray(x, np.float64)))
    wrong = spoiled(setting, there, rounded(setting, start(setting)), variant, 1, name, fault)
    spread = max(norm(gradients(setting, v)[0][name] - grads[name]) for v in VARIANTS)
    return Truth(norm(wrong - there[name]), ROUNDOFF[setting.dtype] * norm(terms[name]), spread)


class Writer:
    """Writes one run: a recorder whose records follow the setting."""

    def __init__(self, setting, folder):
        self.setting, self.recorder = setting, Recorder(folder, 0)

    def tape(self, phase, module, kind, slot, value, op, inputs):
        graph = self.setting.graph
        if kind == "input" and graph != "dumped" and module != "embedding":
            return
        if phase == "backward" and graph == "plain" or kind == "grad_input" and graph != "dumped":
            return
        value = np.asarray(value)
        if value.ndim and value.shape[0] == BATCH * TOKENS:
            value = value.reshape(BATCH, TOKENS, *value.shape[1:])
        dtype = "fp32" if phase == "loss" else self.setting.dtype
        more = {}
        if graph != "plain" and op:
            more = {"op": op, "attrs": ATTRS.get(op)}
        if graph == "stated":
            more["inputs"] = inputs
        self.recorder.add(phase, f"{module}/{kind}.{slot}", value, dtype=dtype, **more)

    def params(self, phase, params):
        for name, value in params.items():
            module, slot = name.rsplit(".", 1)
            self.recorder.add(phase, f"{module}/param.{slot}", value, dtype=self.setting.dtype)

    def grads(self, grads, order):
        for i, name in enumerate(order):
            module, slot = name.rsplit(".", 1)
            if self.setting.owner:
                self.recorder.add("sync", f"ddp/main_grad.{i}", grads[name], dtype=self.setting.dtype, owner=name)
            else:
                self.recorder.add("backward", f"{module}/grad.{slot}", grads[name], dtype=self.setting.dtype)


def names_of(setting, name):
    """What the records of a parameter are called."""
    module, slot = name.rsplit(".", 1)
    index = list(start(setting)).index(name)
    return {f"{module}/{kind}.{slot}" for kind in ("grad", "param")} | {f"ddp/main_grad.{index}"}


def train(setting, folder, variant=None, name=None, fault=None):
    """With a fault, the gradient of that parameter is wrong in every step."""
    exact = start(setting)  # masters; what computes is rounded
    how, writer = Optimizer(setting.optimizer, exact, setting.rate), Writer(setting, folder)
    for step in range(1, max(setting.dumps) + 1):
        writer.recorder.begin(step)
        params = rounded(setting, exact)
        shown = step in setting.dumps
        if step == setting.dumps[0]:
            writer.params("state", params)
        model = computed(setting, variant, params, step, writer.tape if shown else silent)
        grads = dict(model.grads)
        if fault:
            grads[name] = spoiled(setting, model.grads, params, variant, step, name, fault)
        exact = {n: how.update(n, p, grads[n], step) for n, p in exact.items()}
        if shown:
            writer.grads(grads, exact)
            writer.params("optimizer", rounded(setting, exact))
            writer.recorder.end()
    write_run(folder, facts(setting), [])


def facts(setting):
    kept = NAMES[setting.dtype]
    optimizer = {"name": setting.optimizer, "lr": setting.rate, "betas": [0.9, 0.999]}
    if setting.optimizer == "sgd":
        optimizer = {"name": "sgd", "lr": setting.rate, "momentum": 0.9}
    return {"run": "r", "world_size": 1, "mesh": {}, "ranks": [{}], "model": {"layers": setting.layers},
            "precision": {"compute": kept, "params": kept, "grads": kept}, "optimizer": optimizer}
