# SPDX-License-Identifier: Apache-2.0
"""What a run starts from, and what the optimizer makes of it: loading, resuming, updating."""
import numpy as np

from faults import Fault, bit, put, times
from params import initial, part_of, whole_weights
from rounding import to_bf16
from table import MOE, case, diverged, not_comparable
from train import global_batch, trained

EVERY = {}
LR = dict(lr=2e-2)
RESUMED = dict(lr=2e-2, first=3, last=3)


def loaded(names, change):
    return Fault(f"load:{names}", change)


def fresh(value, c):
    """Of another initialisation."""
    return part_of(c.p.c, c.spec, initial(c.p.loading, c.spec.shape, c.p.c.seed + 1), c.at["tp"])


def rows(order):
    """The whole tensor with its rows in another order, cut as ever."""
    return lambda value, c: part_of(c.p.c, c.spec, c.whole[order(len(c.whole))], c.at["tp"])


@case("Z38a", "every tensor-parallel rank is initialised as the first", tp=2)
def _(d):
    same = lambda value, c: part_of(c.p.c, c.spec, c.whole, 0)
    return [loaded("*", same)], not_comparable("state", "embedding/param.weight", dict(tp=1), ["TT104"])


@case("Z38b", "a module's shards are initialised alike on all ranks", tp=2)
def _(d):
    module = d.module("mlp.gate_up", "attn.qkv", "mlp.down")
    return [loaded(f"{module}.weight", lambda value, c: part_of(c.p.c, c.spec, c.whole, 0))], diverged(
        "state", f"{module}/param.weight", dict(tp=1), ["TT104", "TT605"])


@case("Z44", "quantised weights lose their scales", tp=2)
def _(d):
    module = d.module("mlp.gate_up", "attn.o_proj")
    return [loaded(f"{module}.weight", times(200))], diverged("state", f"{module}/param.weight", EVERY, ["TT201"])


@case("Z45", "block scales of a square weight are transposed", tp=2)
def _(d):
    module = d.module("attn.o_proj")
    scales = np.random.default_rng(2).uniform(0.5, 2, (4, 4)).astype(np.float32)
    ratio = np.kron(scales.T / scales, np.ones((8, 8), np.float32))
    return [loaded(f"{module}.weight", lambda value, c: part_of(c.p.c, c.spec, c.whole * ratio, c.at["tp"]))], diverged(
        "state", f"{module}/param.weight", EVERY, ["TT605"])


@case("Z46", "scales are spread over blocks of the wrong size", tp=2)
def _(d):
    module = d.module("mlp.gate_up", "attn.qkv")

    def drifting(value, c):
        n = len(c.whole)
        scales = np.random.default_rng(2).uniform(0.5, 2, n).astype(np.float32)
        ratio = scales[np.arange(n) // 7] / scales[np.arange(n) // 8]
        return part_of(c.p.c, c.spec, c.whole * ratio[:, None], c.at["tp"])

    return [loaded(f"{module}.weight", drifting)], diverged("state", f"{module}/param.weight", EVERY, ["TT605"])


@case("Z49", "masters are rebuilt from bf16 weights on resuming", RESUMED, precisions=("bf16",), tp=2)
def _(d):
    rebuilt = lambda kept, c: (kept[0], kept[1], to_bf16(kept[2]), kept[3])
    return [Fault("resume:*", rebuilt)], diverged("state", "embedding/master.weight", EVERY, ["TT603", "TT404"], step=3)


@case("Z67", "one rank resumes from an older step", dict(lr=2e-2, first=4, last=4), dp=2, zero=3)
def _(d):
    def older(kept, c):
        master, m, v = (c.part(whole) for whole in trained(c.p.c, 1)[c.param.name])
        return m, v, master, kept[3]

    return [Fault("resume:*", older, ranks=(1,))], diverged(
        "state", "embedding/moment1.weight", dict(dp=1), ["TT106", "TT605", "TT703"], step=4)


@case("Z68", "chunks of two mesh axes are joined in the wrong order", tp=2)
def _(d):
    module = d.module("attn.o_proj", "mlp.down")
    swapped = rows(lambda n: np.concatenate([np.split(np.arange(n), 4)[i] for i in (0, 2, 1, 3)]))
    return [loaded(f"{module}.weight", swapped)], diverged("state", f"{module}/param.weight", EVERY, ["TT301", "TT605"])


@case("Z69", "the last rows of an uneven vocabulary are stale", tp=4)
def _(d):
    def tail(value, c):
        value = np.array(value)
        value[9:16] *= np.float32(0.5)
        return value

    name = d.of("lm_head", "embedding")
    return [Fault(f"load:{name}.weight", tail, ranks=(3,))], diverged("state", f"{name}/param.weight", dict(tp=3), ["TT605"])


@case("Z70", "all expert-parallel ranks load the first one's experts", MOE, ep=2)
def _(d):
    def first_ranks(value, c):
        return c.weights[c.p.loading.replace("experts.2", "experts.0").replace("experts.3", "experts.1")]

    return [loaded("*.experts.[23].*", first_ranks)], diverged(
        "state", "layers.0.mlp.experts.2.gate_up/param.weight", dict(ep=1), ["TT104", "TT302", "TT301"])


@case("Z71", "the second pipeline stage loads the first one's layers", dict(layers=4), pp=2, mb=2)
def _(d):
    def first_stage(value, c):
        return c.weights[c.p.loading.replace("layers.2", "layers.0").replace("layers.3", "layers.1")]

    return [loaded("layers.[23].*", first_stage)], diverged("state", "layers.2.input_norm/param.weight", dict(pp=1), ["TT302", "TT104"])


@case("Z72", "a layer is dropped", dict(layers=4), layers=3)
def _(d):
    next_layer = lambda value, c: initial(c.p.loading.replace("layers.2", "layers.3"), c.spec.shape, c.p.c.seed)
    return [loaded("layers.2.*", next_layer)], diverged("state", "layers.2.input_norm/param.weight", EVERY, ["TT302"])


@case("Z73", "the second virtual stages keep a fresh initialisation", dict(layers=4), tp=2)
def _(d):
    return [loaded("layers.[13].*", fresh)], diverged("state", "layers.1.input_norm/param.weight", EVERY, ["TT610", "TT302"])


@case("Z74", "experts are never loaded", MOE, tp=2)
def _(d):
    return [loaded("*.experts.*", fresh)], not_comparable(  # experts have other tokens then, so shapes differ too
        "state", "layers.0.mlp.experts.0.gate_up/param.weight", EVERY, ["TT610"], exits=(3,))


@case("Z75", "nothing is loaded", tp=2)
def _(d):
    return [loaded("*", fresh)], not_comparable("state", "embedding/param.weight", EVERY, ["TT610"])


@case("Z78", "a flat buffer is read some elements too late", dp=2)
def _(d):
    layer = d.layer(1)
    return [loaded(f"layers.{layer}.*", lambda value, c: np.roll(value.reshape(-1), -4).reshape(value.shape))], diverged(
        "state", f"layers.{layer}.input_norm/param.weight", EVERY, ["TT301"])


def as_initialised(c):
    return c.part(whole_weights(c.p.c)[c.param.name])


@case("Z79", "optimizer shards stay as they were before loading", RESUMED, precisions=("bf16",), dp=2, zero=1)
def _(d):
    unloaded = lambda kept, c: (kept[0], kept[1], as_initialised(c), kept[3])
    return [Fault("resume:*", unloaded)], diverged("state", "embedding/master.weight", EVERY, ["TT404", "TT611"], step=3)


@case("Z80", "after loading, ranks keep old values of what others own", RESUMED, dp=2)
def _(d):
    stale = lambda kept, c: (*kept[:3], c.p.round(as_initialised(c)))
    return [Fault("resume:layers.0.attn.*", stale, ranks=(1,)), Fault("resume:layers.1.attn.*", stale, ranks=(0,))], diverged(
        "state", "layers.0.attn.qkv/param.weight", dict(dp=1), ["TT101", "TT106"], step=3, also=["layers.1.attn.qkv/param.weight"])


def grouped(n):
    """Rows of [q; k; v] as if they were [q q k v] group by group (2 q heads, one k, one v of 4 rows)."""
    q, k, v = np.split(np.arange(n), [n // 2, 3 * n // 4])
    return np.concatenate([np.concatenate([q[8 * g:8 * g + 8], k[4 * g:4 * g + 4], v[4 * g:4 * g + 4]]) for g in range(4)])


@case("Z82", "fused projections are joined one behind the other, not group by group", tp=2)
def _(d):
    return [loaded("*.attn.qkv.weight", rows(grouped))], diverged("state", "layers.0.attn.qkv/param.weight", EVERY, ["TT301", "TT605"])


def keys_turned(n):
    """Rows of k, halves of each head interleaved as if there were twice the heads."""
    order = np.arange(n)
    k = order[n // 2:3 * n // 4]
    order[n // 2:3 * n // 4] = k.reshape(-1, 2, 2).swapaxes(1, 2).reshape(-1)
    return order


@case("Z83", "rows of k alone are turned by the wrong number of heads", tp=2)
def _(d):
    return [loaded("*.attn.qkv.weight", rows(keys_turned))], diverged("state", "layers.0.attn.qkv/param.weight", EVERY, ["TT301", "TT605"])


@case("Z84", "gate and up are cut as one tensor", tp=2)
def _(d):
    contiguous = lambda value, c: np.split(c.whole, 2)[c.at["tp"]]
    return [loaded("*.mlp.gate_up.weight", contiguous)], diverged("state", "layers.0.mlp.gate_up/param.weight", EVERY, ["TT301", "TT605"])


@case("Z86", "a fused projection is cut contiguously, right on one rank only", tp=2)
def _(d):
    contiguous = lambda value, c: np.split(c.whole, 2)[c.at["tp"]]
    return [loaded("*.attn.qkv.weight", contiguous)], diverged("state", "layers.0.attn.qkv/param.weight", EVERY, ["TT301", "TT605"])


@case("Z87", "norm weights are one too large", tp=2)
def _(d):
    return [loaded("*norm.weight", lambda value, c: value + np.float32(1))], diverged("state", "layers.0.input_norm/param.weight", EVERY, ["TT202"])


def updated(d, tensor, at, **more):
    """The first record that shows a wrong update: masters where there are any."""
    kind = "param" if d.precision == "fp32" else "master"
    return diverged("optimizer", f"{tensor}/{kind}.weight", at, **more)


@case("Z89", "the step counter starts again on resuming", RESUMED, dp=2)
def _(d):
    return [Fault("resume.count", put(0))], updated(d, "embedding", EVERY, codes=["TT403", "TT201", "TT401"], step=3)


@case("Z90", "moments are zero after resuming", RESUMED, dp=2)
def _(d):
    lost = lambda kept, c: (np.zeros_like(kept[0]), np.zeros_like(kept[1]), *kept[2:])
    return [Fault("resume:*", lost)], diverged("state", "embedding/moment1.weight", EVERY, ["TT402"], step=3)


@case("Z91", "the learning rate lags", RESUMED, tp=2)
def _(d):
    return [Fault("lr", times(d.of(0.5, 2)))], updated(d, "embedding", EVERY, codes=["TT403", "TT309"], step=3)


@case("Z92", "a batch is replayed after resuming", RESUMED, dp=2)
def _(d):
    return [Fault("batch", lambda value, c: global_batch(c.p.c, 1), steps=(3,))], not_comparable(
        "forward", "embedding/input.0", EVERY, ["TT406"], step=3)


@case("Z93", "optimizer state is given to another parameter of the same shape", RESUMED, tp=2)
def _(d):
    part = d.of("mlp.down", "attn.qkv", "mlp.gate_up")

    def other(kept, c):
        twins = {"layers.0": "layers.1", "layers.1": "layers.0"}
        _, m, v = c.saved[twins[c.param.name[:8]] + c.param.name[8:]]
        return c.part(m), c.part(v), *kept[2:]

    return [Fault(f"resume:layers.*.{part}.weight", other)], diverged(
        "state", f"layers.0.{part}/moment1.weight", EVERY, ["TT301", "TT611"], step=3, also=[f"layers.1.{part}/moment1.weight"])


@case("Z96", "norms decay", dict(lr=2e-2), precisions=("fp32",), tp=2)
def _(d):
    return [Fault("decay:*norm.weight", put(0.1))], updated(d, "layers.0.input_norm", EVERY, codes=["TT403", "TT201", "TT611"])


@case("Z97", "the optimizer holds arrays that the model does not use", LR, dp=2)
def _(d):
    return [Fault("written:*", lambda value, c: c.before)], diverged("optimizer", "embedding/param.weight", EVERY, ["TT408", "TT106"])


@case("Z101", "an update in place does nothing on memory that is not contiguous", LR, tp=2)
def _(d):
    module = d.module("mlp.down", "attn.o_proj")
    return [Fault(f"update:{module}.weight", lambda value, c: c.old)], diverged(
        "optimizer", f"{module}/moment1.weight", EVERY, ["TT408", "TT106", "TT402"])


@case("Z101b", "one rank of several does not update its shard", LR, tp=2)
def _(d):
    module = d.module("mlp.down", "attn.o_proj")
    return [Fault(f"update:{module}.weight", lambda value, c: c.old, ranks=(1,))], diverged(
        "optimizer", f"{module}/moment1.weight", dict(tp=1), ["TT106" if d.precision == "fp32" else "TT605"])


@case("Z101c", "one replica does not update a parameter", LR, dp=2)
def _(d):
    module = d.module("mlp.down", "attn.o_proj")
    return [Fault(f"update:{module}.weight", lambda value, c: c.old, ranks=(1,))], diverged(
        "optimizer", f"{module}/moment1.weight", dict(dp=1), ["TT106" if d.precision == "fp32" else "TT101"])


@case("Z102a", "one bit of a weight is flipped on one replica", dp=2)
def _(d):
    module, place = d.module("attn.qkv", "mlp.down"), d.of(77, 5, 300)
    number = d.of(30, 23, 10 if d.precision == "fp32" else 18)
    return [Fault(f"load:{module}.weight", bit(place, number), ranks=(1,))], diverged(
        "state", f"{module}/param.weight", dict(dp=1), ["TT101", "TT701"])


@case("Z102b", "one bit of a moment is flipped on one rank", RESUMED, tp=2)
def _(d):
    module = d.module("attn.o_proj", "mlp.down")
    # Of the largest element: without this bit of its exponent one is as good as 0, and a small one's loss is
    # within what bf16 explains.
    flipped = lambda kept, c: (bit(abs(kept[0]).argmax(), 29)(kept[0], c), *kept[1:])
    return [Fault(f"resume:{module}.weight", flipped, ranks=(1,))], diverged(
        "state", f"{module}/moment1.weight", dict(tp=1), ["TT701", "TT605"], step=3)


@case("Z102c", "one bit of an activation is flipped on one rank", tp=2)
def _(d):
    layer, place = d.layer(), d.of(5, 77, 300)
    return [Fault(f"forward:layers.{layer}.mlp.act/output.0", bit(place, 28), ranks=(1,))], diverged(
        "forward", f"layers.{layer}.mlp.act/output.0", dict(tp=1), ["TT701"])
