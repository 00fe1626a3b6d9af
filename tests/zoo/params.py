# SPDX-License-Identifier: Apache-2.0
"""Parameters: what the whole model has, and the part of each that a rank holds."""
import dataclasses
import zlib

import numpy as np


@dataclasses.dataclass(frozen=True)
class Spec:
    shape: tuple
    dims: str
    cut: object = None  # the dimension that tp cuts; None: each rank has all of it
    parts: tuple = ()  # lengths along it that are cut one by one
    expert: bool = False
    stage: str = "layers"  # "first" or "last" of the pipeline


def specs_of(c):
    """Every parameter of the model by name, in the order in which it is used."""
    h, q, kv = c.hidden, c.heads * c.head_dim, c.kv_heads * c.head_dim
    specs = {"embedding.weight": Spec((c.vocab, h), f"v[tp:pad={c.vocab}] h", 0, stage="first")}
    for layer in range(c.layers):
        name = f"layers.{layer}."
        specs[name + "input_norm.weight"] = Spec((h,), "h")
        if c.split:
            for part, rows in (("q", q), ("k", kv), ("v", kv)):
                specs[f"{name}attn.{part}.weight"] = Spec((rows, h), f"{part}[tp] i", 0)
        else:
            specs[name + "attn.qkv.weight"] = Spec((q + 2 * kv, h), f"(q:{q}|k:{kv}|v:{kv})[tp] i", 0, (q, kv, kv))
        specs[name + "attn.o_proj.weight"] = Spec((h, q), "h i[tp]", 1)
        specs[name + "post_norm.weight"] = Spec((h,), "h")
        if c.experts:
            specs[name + "mlp.router.weight"] = Spec((c.experts, h), "e i")
        for mlp in [f"mlp.experts.{e}." for e in range(c.experts)] or ["mlp."]:
            if c.split and not c.experts:
                specs[name + mlp + "gate.weight"] = Spec((c.ffn, h), "f[tp] i", 0)
                specs[name + mlp + "up.weight"] = Spec((c.ffn, h), "f[tp] i", 0)
            else:
                specs[name + mlp + "gate_up.weight"] = Spec((2 * c.ffn, h), "(gate|up)[tp] i", 0, (c.ffn, c.ffn), bool(c.experts))
            specs[name + mlp + "down.weight"] = Spec((h, c.ffn), "h i[tp]", 1, (), bool(c.experts))
    specs["final_norm.weight"] = Spec((h,), "h", stage="last")
    if not c.tied:
        specs["lm_head.weight"] = Spec((c.vocab, h), f"v[tp:pad={c.vocab}] h", 0, stage="last")
    return specs


def random_for(name, seed):
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def initial(name, shape, seed):
    made = random_for(name, seed).standard_normal(shape)
    if len(shape) == 1:
        return (1 + 0.2 * made).astype(np.float32)
    return (made * shape[-1] ** -0.5).astype(np.float32)


def whole_weights(c):
    """The model in fp32, the same for every layout."""
    weights = {name: initial(name, spec.shape, c.seed) for name, spec in specs_of(c.changed(split=False)).items()}
    if c.split:
        q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
        for layer in range(c.layers):
            name = f"layers.{layer}."
            parts = np.split(weights[name + "attn.qkv.weight"], [q, q + kv])
            weights.update((f"{name}attn.{part}.weight", value) for part, value in zip("qkv", parts))
            if not c.experts:
                parts = np.split(weights[name + "mlp.gate_up.weight"], 2)
                weights.update((f"{name}mlp.{part}.weight", value) for part, value in zip(("gate", "up"), parts))
    return weights


def part_of(c, spec, whole, tp_rank):
    """The part of a whole tensor that a tensor-parallel rank holds."""
    if c.tp == 1 or spec.cut is None:
        return whole
    if spec.shape[0] == c.vocab and c.vocab % c.tp:  # rows that pad the vocabulary hold garbage
        rows = -c.vocab % c.tp
        garbage = np.random.default_rng(c.tp).standard_normal((rows, whole.shape[1])).astype(np.float32)
        whole = np.concatenate([whole, garbage])
    parts = np.split(whole, np.cumsum(spec.parts)[:-1], spec.cut) if spec.parts else [whole]
    return np.concatenate([np.split(part, c.tp, spec.cut)[tp_rank] for part in parts], spec.cut)


class Param:
    """One rank's part of a parameter, with what training keeps of it."""

    def __init__(self, p, name, spec, whole, weights):
        self.name, self.spec = name, spec
        value = np.array(part_of(p.c, spec, whole, p.at["tp"]))
        p.loading = name
        exact = np.array(p.site(f"load:{name}", value, whole=whole, weights=weights, spec=spec), np.float32)
        self.exact = exact  # as the optimizer starts from it
        self.value = self.before = p.round(exact)
        self.grad = np.zeros(exact.shape, np.float32)
        self.frozen = name in p.c.frozen
        in_stream = spec.cut is None and not spec.expert  # works on the residual stream, which sp cuts
        self.replicas = [axis for axis in ("dp", "ep", "cp") if not (spec.expert and axis == "ep")]
        self.addends = self.replicas + (["tp"] if p.c.sp and in_stream else [])
        self.tied_over_stages = p.c.tied and p.c.pp > 1 and name == "embedding.weight"

    @property
    def module(self):
        return self.name.rpartition(".")[0]

    def identity(self, kind):
        return f"{self.module}/{kind}.weight"


def make_params(p, weights):
    """This rank's parts of `weights` by name. A tied head on the last stage has the embedding's name."""
    c = p.c
    per_stage = c.layers // c.pp
    first, last = p.at["pp"] == 0, p.at["pp"] == c.pp - 1
    params = {}
    for name, spec in specs_of(c).items():
        here = {"first": first or (c.tied and last), "last": last}.get(spec.stage)
        if here is None:
            here = int(name.split(".")[1]) // per_stage == p.at["pp"]
        if spec.expert:
            here = here and int(name.split(".experts.")[1].split(".")[0]) // (c.experts // c.ep) == p.at["ep"]
        if here:
            params[name] = Param(p, name, spec, weights[name], weights)
    return params
