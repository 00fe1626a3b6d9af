# SPDX-License-Identifier: Apache-2.0
"""Two bugs at once: the report's first is the one that comes about first, and the other is named as a place where an error came about."""
import numpy as np

from cases_compute import without_a_chunk
from faults import Fault, local, put, times
from table import MOE, case, diverged

EVERY = {}


@case("P1", "a norm's gradient is not summed, and one module is not updated (Z03, Z101)", dict(lr=2e-2, last=1, clip=1e9), tp=2, sp=True)
def _(d):
    return [Fault("sync.tp:final_norm.weight", local), Fault("update:layers.1.mlp.down.weight", lambda value, c: c.old)], diverged(
        "sync", "final_norm/main_grad.weight", EVERY, ["TT102", "TT101"], roots=["layers.1.mlp.down/moment1.weight"])


@case("P2", "clipping on one rank and a norm's gradient that is not summed, as in BLOOM (Z01, Z03)", dict(last=1), tp=4, sp=True)
def _(d):
    return [Fault("sync.tp:final_norm.weight", local), Fault("clip:layers.0*norm.weight", put(3.0), ranks=(1, 2, 3))], diverged(
        "sync", "final_norm/main_grad.weight", EVERY, ["TT102", "TT101"], also=["layers.0.input_norm/main_grad.weight"])


@case("P3", "router and experts are reduced wrongly (Z05, Z06)", MOE, tp=2, sp=True)
def _(d):
    return [Fault("reduced:*.experts.*", times(2)), Fault("sync.tp:layers.1.mlp.router.weight", local)], diverged(
        "sync", "layers.0.mlp.experts.0.gate_up/main_grad.weight", EVERY, ["TT201"], roots=["layers.1.mlp.router/main_grad.weight"])


@case("P4", "foreign tokens are not masked, and the loss is scaled twice (Z62, Z19)", dict(last=1), tp=2)
def _(d):
    return [Fault("embedding.mask", lambda value, c: np.ones_like(value)), Fault("loss.gradient", times(2))], diverged(
        "forward", "embedding/output.0", EVERY, ["TT604", "TT605"], also=["loss/grad_output.0"])


@case("P5", "a corrupted sum and stale weights on another rank one step later (Z104, Z31)", dict(lr=2e-2), dp=2, zero=1)
def _(d):
    wrong = lambda value, c: np.where(np.arange(len(value))[:, None] < 8, np.float32(0), value)
    return [Fault("gradient:layers.0.attn.o_proj.weight", wrong, steps=(1,)),
            Fault("weight:layers.1.mlp.gate_up.weight", lambda value, c: c.before, ranks=(1,), steps=(2,))], diverged(
        "backward", "layers.0.attn.o_proj/grad.weight", EVERY, ["TT604", "TT605"], also=["layers.1.mlp.gate_up/output.0"])


@case("P6", "norm gradients are averaged, and the optimizer's results are not used (Z04, Z97)", dict(lr=2e-2, last=1, clip=1e9), tp=2, sp=True)
def _(d):
    mean = lambda value, c: value / np.float32(2)
    return [Fault("sync.tp:layers.1.*norm.weight", mean), Fault("written:layers.0.*", lambda value, c: c.before)], diverged(
        "sync", "layers.1.input_norm/main_grad.weight", EVERY, ["TT201"], roots=["layers.0.attn.qkv/param.weight"])


@case("P7", "two chunks of sums are lost, in unlike layers (Z104 twice)", dict(last=1), tp=2)
def _(d):
    return [Fault("sum:layers.0.mlp.down", without_a_chunk, ranks=(1,)), Fault("sum:layers.1.attn.o_proj", without_a_chunk, ranks=(0,))], diverged(
        "forward", "layers.0.mlp.down/output.0", dict(tp=1), ["TT105", "TT101"], roots=["layers.1.attn.o_proj/output.0"])
