# SPDX-License-Identifier: Apache-2.0
"""Runs without a bug: nothing may be said to be wrong."""
import numpy as np

from faults import Fault
from table import BOTH, EQUAL, MOE, NOISE, case, not_comparable


MAP = """
[[map]]
reference = "layers.{l}.attn.qkv.weight"
candidate = "layers.{l}.attn.{q,k,v}.weight"
op = "concat(0)"

[[map]]
reference = "layers.{l}.mlp.gate_up.weight"
candidate = "layers.{l}.mlp.{gate,up}.weight"
op = "glu"
"""


def control(id, title, model=None, expected=NOISE, precisions=BOTH, map="", **layout):
    case(id, title, model, precisions, map, **layout)(lambda d: ([], expected))


control("N00", "the same run again", expected=EQUAL)
control("N01a", "tensor parallelism over two ranks", tp=2)
control("N01b", "tensor parallelism over four ranks", tp=4)
control("N01c", "sequence parallelism", tp=2, sp=True)
control("N01d", "pipeline stages with micro-batches", dict(layers=4), pp=2, mb=4)
control("N01e", "data parallelism", dp=4)
control("N01f", "context parallelism, zigzag", cp=2)
control("N01g", "gradient accumulation", mb=8)
control("N01h", "ZeRO 1", dp=2, zero=1)
control("N01i", "ZeRO 3", dp=4, zero=3)
control("N01j", "all at once", tp=2, sp=True, pp=2, dp=2, mb=2, zero=1)
control("N01k", "context, tensor and data parallelism", tp=2, cp=2, dp=2)
control("N01l", "a tied head over pipeline stages and ZeRO 1", dict(tied=True), pp=2, dp=2, zero=1, mb=2)
control("N01m", "expert parallelism", MOE, ep=2)
control("N01n", "experts cut over tensor parallelism", MOE, tp=2)
control("N01o", "experts under sequence and expert parallelism", MOE, tp=2, sp=True, ep=2)
control("N01p", "dropout and recomputation", dict(dropout=0.1), recompute=True, tp=2)
control("N01q", "windows and documents", dict(window=6, documents=2), cp=2, tp=2)
control("N01r", "many steps at a high learning rate", dict(lr=2e-2, last=4), tp=2)
control("N01s", "experts over two steps", dict(experts=4), precisions=("fp32",), tp=2)
control("N02", "matrix products summed in four pieces", pieces=4)
control("N03", "embedding gradients added in another order", scatter="reversed")
control("N05", "garbage in padded rows of the vocabulary", tp=4, dp=2)
control("N06a", "projections that are fused on one side, named as in Hugging Face's models", dict(names="hf"), split=True)
control("N06b", "projections that are fused on the other side", dict(names="hf", split=True), split=False)
control("N06c", "projections that are fused on one side, by a map of the user's", map=MAP, split=True)
control("N06d", "the same over tensor-parallel ranks", dict(names="hf"), split=True, tp=2)
control("N07", "a tied weight that is stored on two stages", dict(tied=True), pp=2, mb=2)
control("N10", "ZeRO shards with padding at the end", dp=4, zero=1, align=64)
control("N12", "moments that are stored in bf16", moments="bf16")
control("N13", "parameters that are frozen", dict(frozen=("embedding.weight", "layers.0.mlp.down.weight")), tp=2)
control("N15", "a rank whose tokens do not count", dict(masked_rows=(4, 5, 6, 7)), dp=2)
control("N16", "a step whose learning rate is 0", dict(lr=0.0), tp=2)
control("N18", "norms that multiply before they round", norm="weight-then-cast")
control("N21", "modules with a wrapper's prefix", expected=EQUAL, prefix="module.")


@case("N14", "an expert without a token", MOE, tp=2)
def _(d):
    return [], NOISE


@case("N17", "one unit in the last place at the start", dict(last=4))
def _(d):
    def nudge(value, c):
        value = np.array(value)
        value[0, 0] = np.nextafter(value[0, 0], np.float32(9))
        return value

    return [Fault("load:layers.0.attn.qkv.weight", nudge)], NOISE


@case("N19", "a zero of another sign")
def _(d):
    return [Fault("backward:loss/grad_output.0", lambda g, c: np.where(g == 0, np.float32(-0.0), g))], EQUAL


@case("N22", "dropout whose random numbers depend on the layout", dict(dropout=0.1), dp=2)
def _(d):
    return [Fault("rng:*", lambda seed, c: seed + 1 + c.rank)], not_comparable(
        "forward", "layers.0.attn.drop/output.0", {}, ["TT407"])
