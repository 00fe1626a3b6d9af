# SPDX-License-Identifier: Apache-2.0
"""Forward and backward that compute something else: masks, positions, recomputation, hardware."""
import numpy as np

from faults import Fault, bit, local, times
from table import case, diverged

EVERY = {}


@case("Z33", "communication overlap corrupts one weight gradient (T2)", tp=2)
def _(d):
    module = d.module("attn.qkv", "mlp.gate_up")
    return [Fault(f"gradient:{module}.weight", lambda value, c: c.g.T @ np.roll(c.x, 1, 0))], diverged(
        "backward", f"{module}/grad.weight", EVERY, ["TT604"])


@case("Z35", "recomputation draws other dropout masks", dict(dropout=0.1, recompute=True), dp=2)
def _(d):
    layer = d.layer(1)
    return [Fault(f"rng:layers.{layer}.*", lambda seed, c: seed + 1 if c.recomputing else seed)], diverged(
        "backward", f"layers.{layer}.mlp.down/grad_output.0", EVERY)


@case("Z36", "recomputation starts from a changed input (T2)", dict(recompute=True), tp=2)
def _(d):
    layer = d.layer(1)
    return [Fault(f"recompute:layers.{layer}", times(1.25))], diverged("backward", f"layers.{layer}.mlp.gate_up/grad_output.0", EVERY)


@case("Z51", "rotary positions are kept in half precision (T2)", dict(theta=10000.0), tp=2, precisions=("fp32",))
def _(d):
    layer = d.layer()
    return [Fault(f"positions:layers.{layer}.attn.rope", lambda value, c: value.astype(np.float32) * np.float32(1.00134))], diverged(
        "forward", f"layers.{layer}.attn.rope/output.0", EVERY, ["TT604"])


@case("Z54", "a projection runs in bf16 (T2)", tp=2, precisions=("fp32",))
def _(d):
    from rounding import to_bf16
    module = d.module("mlp.down", "attn.qkv")
    return [Fault(f"into:{module}", lambda value, c: to_bf16(value))], diverged("forward", f"{module}/output.0", EVERY, ["TT603", "TT604"])


@case("Z55", "the attention window is one position too wide", dict(window=6), tp=2)
def _(d):
    layer = d.layer()
    return [Fault(f"mask:layers.{layer}.attn.core", lambda value, c: (c.keys <= c.queries) & (c.keys > c.queries - 7))], diverged(
        "forward", f"layers.{layer}.attn.core/output.0", EVERY, ["TT604", "TT605"])


@case("Z56", "the attention window is ignored", dict(window=6), dp=2)
def _(d):
    layer = d.layer()
    return [Fault(f"mask:layers.{layer}.attn.core", lambda value, c: c.keys <= c.queries)], diverged(
        "forward", f"layers.{layer}.attn.core/output.0", EVERY, ["TT604", "TT605"])


@case("Z57", "packed documents attend across their boundary", dict(documents=2), cp=2)
def _(d):
    layer = d.layer()
    return [Fault(f"mask:layers.{layer}.attn.core", lambda value, c: c.keys <= c.queries)], diverged(
        "forward", f"layers.{layer}.attn.core/output.0", EVERY, ["TT604", "TT605"])


@case("Z58", "the rotary base is a default", dict(theta=5e5), tp=2)
def _(d):
    return [Fault("theta:*", lambda value, c: 1e4)], diverged("forward", "layers.0.attn.rope/output.0", EVERY, ["TT604", "TT309"])


@case("Z59", "the gradient of one chunk of keys and values is wrong under context parallelism", cp=2)
def _(d):
    layer, rank = d.layer(1), d.of(1, 0)

    def first_chunk_halved(grads, c):
        grads = [np.array(g) for g in grads]
        for g in grads:
            g[:, :4] *= np.float32(0.5)
        return grads

    return [Fault(f"keys:layers.{layer}.attn.core.backward", first_chunk_halved, ranks=(rank,))], diverged(
        "backward", f"layers.{layer}.attn.rope/grad_output.1", dict(cp=0), ["TT604", "TT605"])


@case("Z60", "zigzag chunks are taken for contiguous ones (T2)", cp=2)
def _(d):
    layer = d.layer()
    contiguous = lambda value, c: np.arange(8) + 8 * c.at["cp"]
    return [Fault(f"positions:layers.{layer}.attn.rope", contiguous)], diverged(
        "forward", f"layers.{layer}.attn.rope/output.0", EVERY, ["TT604", "TT605", "TT301"])


@case("Z62", "a vocabulary-parallel embedding does not mask foreign tokens", tp=2)
def _(d):
    return [Fault("embedding.mask", lambda value, c: np.ones_like(value))], diverged("forward", "embedding/output.0", EVERY, ["TT604", "TT605", "TT611"])


@case("Z103", "a tile of a matrix product is wrong on one rank in one step", tp=2)
def _(d):
    module, rank = d.module("mlp.gate_up", "attn.qkv"), d.of(1, 0)

    def tile(value, c):
        value = np.array(value)
        value[1, 4:12, 8:16] += np.float32(2.0)
        return c.p.round(value)

    return [Fault(f"forward:{module}/output.0", tile, ranks=(rank,), steps=(2,))], diverged(
        "forward", f"{module}/output.0", dict(tp=rank), ["TT604", "TT605", "TT702"], step=2)


def without_a_chunk(value, c):
    value = np.array(value)
    value.reshape(-1)[128:256] = 0
    return value


@case("Z104a", "a chunk of a sum is zero on the receiver", tp=2)
def _(d):
    module, rank = d.module("mlp.down", "attn.o_proj"), d.of(1, 0)
    return [Fault(f"sum:{module}", without_a_chunk, ranks=(rank,))], diverged(
        "forward", f"{module}/output.0", dict(tp=rank), ["TT105", "TT101", "TT703", "TT605"])


@case("Z104b", "a chunk of what the next pipeline stage receives is zero", pp=2, mb=2)
def _(d):
    return [Fault("receive", without_a_chunk, ranks=(1,))], diverged(
        "forward", "layers.1.input_norm/output.0", dict(pp=1), ["TT604", "TT703", "TT605"])


@case("Z105", "NaN comes up on one rank and spreads through sums", tp=2)
def _(d):
    layer, rank = d.layer(1), d.of(1, 0)

    def nan(value, c):
        value = np.array(value)
        value[0, 3, 2] = np.nan
        return value

    return [Fault(f"forward:layers.{layer}.attn.core/output.0", nan, ranks=(rank,), steps=(2,))], diverged(
        "forward", f"layers.{layer}.attn.core/output.0", dict(tp=rank), ["TT602"], step=2)


@case("Z106", "a compiled backward is wrong, the forward right (T2)", dp=2)
def _(d):
    module = d.module("mlp.down", "attn.o_proj")
    return [Fault(f"gradient:{module}.weight", lambda value, c: np.triu(value))], diverged(
        "backward", f"{module}/grad.weight", EVERY, ["TT604"])
