# SPDX-License-Identifier: Apache-2.0
"""The bugs that are planted into a training, and where each shows first (a prefix of the record's name)."""
import torch

BUGS = ("mask", "rope", "eps", "theta", "clip", "loss-scale", "all-reduce")
LAYER = "layers.1"


def attention_of(kind):
    return {"llama": "self_attn", "gpt2": "attn"}.get(kind)


def norm_of(kind):
    return {"llama": "input_layernorm", "gpt2": "ln_1", "moe": "norm", "resnet": "norm1"}[kind]


def has(kind, bug):
    if bug == "mask":
        return attention_of(kind) is not None
    return kind == "llama" if bug in ("rope", "theta") else True


def shows_at(kind, bug):
    """Phases and the beginnings of names of which the first difference must have one."""
    attention = f"{LAYER}.{attention_of(kind)}.attention"
    return {"mask": (f"{attention}/output",), "rope": (f"{attention}/input",),
            "eps": (f"{LAYER}.{norm_of(kind)}/output",), "theta": ("rotary_emb/output",), "loss-scale": ("loss/loss",),
            "clip": ("clip ", "optimizer "), "all-reduce": (f"sync {LAYER}.",)}[bug]


def scale_of(bug):
    return 0.5 if bug == "loss-scale" else 1.0


def clip_of(bug):
    return 0.1 if bug == "clip" else 100.0  # which no gradient reaches: stages of a pipeline do not clip


def layer_of(model):
    model = getattr(model, "module", model)
    return model.layers["1"]


class WrongHalves:
    """The halves of a head are exchanged."""

    @staticmethod
    def turned(x, cos, sin):
        half = x.shape[-1] // 2
        turned = torch.cat((x[..., half:], -x[..., :half]), -1)
        return x * cos[:, None] + turned * sin[:, None]


def plant(model, kind, bug, rank):
    if not bug:
        return
    layer = layer_of(model)
    if bug == "mask":
        getattr(layer, attention_of(kind)).causal = False
    elif bug == "rope":
        layer.self_attn.turn = WrongHalves.turned
    elif bug == "eps":
        getattr(layer, norm_of(kind)).eps = 1e-2
    elif bug == "theta":
        getattr(model, "module", model).rotary_emb.theta = 500000.0
    elif bug == "all-reduce":
        weight = next(layer.parameters())
        weight.register_hook(lambda gradient: setattr(weight, "own", gradient.clone()))


def before_clip(model, bug, rank):
    """One rank goes on with a gradient that was not summed."""
    if bug == "all-reduce" and rank == 1:
        weight = next(layer_of(model).parameters())
        weight.grad.copy_(weight.own)
