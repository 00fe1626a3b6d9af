# SPDX-License-Identifier: Apache-2.0
"""Makes samples/quantised: a small model in bf16, and what quantisers make of it; PyTorch multiplies.

    python samples/make_quantised.py [FOLDER]      (torch, safetensors)
"""
import os
import sys

import torch
from safetensors.torch import save_file

BLOCK = 128
SHAPES = {"self_attn.q_proj": (144, 136), "self_attn.k_proj": (48, 136), "mlp.down_proj": (136, 160)}
FP8 = torch.float8_e4m3fn


def model():
    torch.manual_seed(29)
    made = {f"model.layers.0.{name}.weight": torch.randn(shape) * 0.05 for name, shape in SHAPES.items()}
    made["model.layers.0.input_layernorm.weight"] = torch.rand(136) + 0.5
    return {name: value.to(torch.bfloat16) for name, value in made.items()}


def spread(scale, shape):
    """The scale of each element, of blocks of 128 x 128."""
    return scale.repeat_interleave(BLOCK, 0)[: shape[0]].repeat_interleave(BLOCK, 1)[:, : shape[1]]


def by_block(weight):
    """DeepSeek's fp8: a scale for each block."""
    rows, columns = (-(-n // BLOCK) for n in weight.shape)
    scale = torch.empty(rows, columns)
    for r in range(rows):
        for c in range(columns):
            block = weight[r * BLOCK : (r + 1) * BLOCK, c * BLOCK : (c + 1) * BLOCK]
            scale[r, c] = block.float().abs().max() / 448
    return (weight.float() / spread(scale, weight.shape)).to(FP8), scale


def by_row(weight):
    """compressed-tensors' int8: a scale in bf16 for each row."""
    scale = (weight.float().abs().amax(1, keepdim=True) / 127).to(torch.bfloat16)
    return (weight.float() / scale.float()).round().clamp(-128, 127).to(torch.int8), scale


def quantised(weights, quantise, ending):
    made = {}
    for name, weight in weights.items():
        if weight.dim() == 1:
            made[name] = weight
            continue
        made[name], made[name + ending] = quantise(weight)
    return made


def main(folder):
    os.makedirs(folder, exist_ok=True)
    save = lambda tensors, name: save_file(tensors, os.path.join(folder, name + ".safetensors"))
    weights = model()
    save(weights, "bf16")
    fp8 = quantised(weights, by_block, "_scale_inv")
    save(fp8, "fp8")
    back = {name: value if value.dim() == 1 else
            (value.float() * spread(fp8[name + "_scale_inv"], value.shape)).to(torch.bfloat16)
            for name, value in fp8.items() if not name.endswith("_scale_inv")}
    save(back, "fp8-as-bf16")
    wrong = dict(fp8)
    name = "model.layers.0.mlp.down_proj.weight_scale_inv"
    wrong[name] = fp8[name].clone()
    wrong[name][0, 1] *= 2
    save(wrong, "fp8-wrong-scale")
    int8 = quantised(weights, by_row, "_scale")
    save(int8, "int8")
    save({name: value.float() * int8[name + "_scale"].float() if value.dim() > 1 else value
          for name, value in int8.items() if not name.endswith("_scale")}, "int8-as-f32")
    save({name.replace("weight_scale", "w_scale"): value for name, value in int8.items()}, "int8-other-names")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "quantised"))
