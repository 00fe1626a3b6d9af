# SPDX-License-Identifier: Apache-2.0
"""Collectives that are missing, doubled or of the wrong group; factors that are wrong."""
import numpy as np

from faults import Fault, local, put, times
from table import MOE, case, diverged

EVERY = {}


def mean(value, c):
    return value / np.float32(len(c.members))


@case("Z01", "clipping scales norm gradients on the first tensor-parallel rank alone", tp=4)
def _(d):
    others = [dict(tp=rank) for rank in (1, 2, 3)]
    return [Fault("clip:*norm.weight", put(1.0), ranks=(1, 2, 3))], diverged("clip", "layers.0.input_norm/main_grad.weight", others, ["TT101", "TT201"])


@case("Z03", "a norm's gradient is not summed under sequence parallelism", tp=2, sp=True)
def _(d):
    norm = d.of("final_norm", "layers.0.input_norm", "layers.1.post_norm")
    return [Fault(f"sync.tp:{norm}.weight", local)], diverged("sync", f"{norm}/main_grad.weight", EVERY, ["TT102", "TT101"])


@case("Z04", "norm gradients are averaged instead of summed", tp=2, sp=True)
def _(d):
    return [Fault("sync.tp:*norm.weight", mean)], diverged("sync", "layers.0.input_norm/main_grad.weight", EVERY, ["TT201"])


@case("Z05", "the router's gradient is of local tokens only", MOE, tp=2, sp=True)
def _(d):
    layer = d.layer()
    return [Fault(f"sync.tp:layers.{layer}.mlp.router.weight", local)], diverged(
        "sync", f"layers.{layer}.mlp.router/main_grad.weight", EVERY, ["TT102", "TT101"])


@case("Z06", "expert gradients are too large by the number of expert-parallel ranks", MOE, ep=2)
def _(d):
    return [Fault("reduced:*.experts.*", times(2))], diverged(
        "sync", "layers.0.mlp.experts.0.gate_up/main_grad.weight", dict(ep=0), ["TT201"])


@case("Z07", "gradients of unlike expert shards are averaged over the dense group", MOE, tp=2)
def _(d):
    def over_tp(value, c):
        return c.p.sum("tp", value, "wrong group") / np.float32(2)

    return [Fault("reduced:*.experts.*", over_tp)], diverged(
        "sync", "layers.0.mlp.experts.0.gate_up/main_grad.weight", EVERY, ["TT611", "TT104"])


@case("Z08", "a tied embedding is reduced over data parallelism before its stages are summed", dict(tied=True), pp=2, dp=2, zero=1)
def _(d):
    def other_stage_unreduced(value, c):
        shares = c.p.world.group("pp", c.rank).exchange(c.rank, c.param.grad)
        return c.p.sum("dp", c.param.grad, "early") + shares[1 - c.at["pp"]]

    return [Fault("reduced:embedding.weight", other_stage_unreduced)], diverged(
        "sync", "embedding/main_grad.weight", EVERY, ["TT103", "TT101", "TT611"])


@case("Z12", "data-parallel ranks stop summing gradients", dp=2)
def _(d):
    return [Fault("sync.dp:*", local, steps=(2,))], diverged("sync", "embedding/main_grad.weight", EVERY, ["TT101", "TT102"], step=2)


@case("Z13", "only the last micro-batch is summed over data parallelism", dp=2, mb=4)
def _(d):
    def remember(value, c):
        if c.microbatch == 2:
            c.param.early = np.array(value)
        return value

    def last_alone(value, c):
        return c.param.early + c.p.sum("dp", c.param.grad - c.param.early, "late")

    return [Fault("after:*", remember), Fault("reduced:*", last_alone)], diverged(
        "sync", "embedding/main_grad.weight", EVERY, ["TT101", "TT611"])


@case("Z14", "the input gradient of a column-parallel layer is summed into a temporary copy (T2)", tp=2)
def _(d):
    return [Fault("sum:lm_head.backward", local)], diverged("backward", "final_norm/grad_output.0", EVERY, ["TT102", "TT101"])


@case("Z18", "each micro-batch's loss is a mean of its own", mb=4)
def _(d):
    def own_count(total, c):
        return c.batch[2][c.p.rows(c.microbatch)].sum() * c.p.c.mb

    if d.precision == "bf16":  # tokens lose much alike, so their sum is off by less than bf16 shows
        return [Fault("total", own_count)], diverged("backward", "loss/grad_output.0", EVERY, ["TT203"])
    return [Fault("total", own_count)], diverged("loss", "loss/loss.1", EVERY, ["TT203"])


@case("Z19", "the gradient is multiplied by the number of context-parallel ranks", cp=2)
def _(d):
    return [Fault("loss.gradient", times(d.of(2, 0.5)))], diverged("backward", "loss/grad_output.0", EVERY, ["TT201"])


@case("Z21", "gradients are divided by tensor-parallel ranks too", tp=2, dp=2)
def _(d):
    return [Fault("reduced:*", times(0.5))], diverged("sync", "embedding/main_grad.weight", EVERY, ["TT201"])


@case("Z22", "gathered logits go into a vocabulary-parallel loss", tp=2)
def _(d):
    def gathered(logits, c):
        whole = c.p.gather("tp", logits, -1)
        whole[..., c.p.c.vocab:] = -np.inf
        return whole

    def own_part(g, c):
        return np.split(g, 2, -1)[c.at["tp"]]

    return [Fault("loss.logits", gathered), Fault("loss.real", lambda real, c: np.ones_like(real)),
            Fault("loss.logits.backward", own_part)], diverged("loss", "loss/output.0", EVERY, ["TT202", "TT201"])


@case("Z26", "the norm counts replicated parameters on every tensor-parallel rank", tp=4)
def _(d):
    return [Fault("counted:*norm.weight", put(1.0))], diverged("clip", "clip/state.grad_norm", EVERY, ["TT204", "TT201"])


@case("Z27", "the norm misses experts of other ranks", MOE, ep=4)
def _(d):
    return [Fault("counted:*.experts.*", put(0.0), ranks=(1, 2, 3))], diverged("clip", "clip/state.grad_norm", EVERY, ["TT204", "TT201"])


@case("Z28", "gradients are never scaled by the clipping factor", tp=2)
def _(d):
    return [Fault("clip.factor", put(1.0))], diverged("clip", "embedding/main_grad.weight", EVERY, ["TT201"])


@case("Z29a", "gradients are unscaled though the loss was not scaled", dp=2)
def _(d):
    return [Fault("unscale", times(2.0 ** -16))], diverged("sync", "embedding/main_grad.weight", EVERY, ["TT201"])


@case("Z29b", "gradients are not set to zero, and are unscaled though the loss was not scaled", dp=2)
def _(d):
    return [Fault("start:*", lambda value, c: c.grad, steps=(2,)), Fault("unscale", times(2.0 ** -16), steps=(2,))], diverged(
        "backward", "embedding/grad.weight", EVERY, ["TT611"], step=2)


@case("Z31", "a rank computes with weights of before the last update", dict(lr=2e-2), dp=2, zero=1)
def _(d):
    module, rank = d.module("mlp.gate_up", "attn.qkv", "mlp.down"), d.rank("dp")
    return [Fault(f"weight:{module}.weight", lambda value, c: c.before, ranks=(rank,), steps=(2,))], diverged(
        "forward", f"{module}/output.0", dict(dp=rank), ["TT106", "TT101", "TT604"], step=2)


@case("Z32", "a gradient buffer begins with the parameter in it", dp=2, zero=1)
def _(d):
    module = d.module("mlp.down", "attn.o_proj")
    return [Fault(f"start:{module}.weight", lambda value, c: np.array(c.value))], diverged(
        "backward", f"{module}/grad.weight", EVERY, ["TT611"])


@case("Z34", "a bucket is reduced before one rank's last gradient is in it (T2)", dp=2)
def _(d):
    module = d.module("mlp.down", "attn.qkv")

    def without_rank_1(value, c):
        return c.p.world.group("dp", c.rank).exchange(c.rank, c.local)[0]

    return [Fault(f"sync.dp:{module}.weight", without_rank_1, steps=(2,))], diverged(
        "sync", f"{module}/main_grad.weight", EVERY, ["TT105", "TT102"], step=2)


@case("Z99", "gradients are not set to zero", tp=2)
def _(d):
    return [Fault("start:*", lambda value, c: c.grad, steps=(2,))], diverged("backward", "embedding/grad.weight", EVERY, ["TT611"], step=2)
