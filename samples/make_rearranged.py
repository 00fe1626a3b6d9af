# SPDX-License-Identifier: Apache-2.0
"""Makes samples/rearranged: conversions that put the rows of a layer in a wrong order, made with NumPy alone.

    python samples/make_rearranged.py [FOLDER]      (numpy)

`latent` and `latent-wrong`: DeepSeek's attention and experts under Hugging Face's names. `experts.safetensors` and
`experts-wrong.safetensors`: the like under Megatron's, without a config. `hf` and `meta-swapped.safetensors`: a Llama,
and the same under Meta's names with keys and values of layer 1 exchanged before keys were put in Meta's order.
"""
import json
import os
import sys

import numpy as np

from write import safetensors

HIDDEN, HEADS, GROUPS, HEAD_DIM = 8, 4, 2, 4
NOPE, ROPE, VALUE, LATENT = 6, 4, 2, 5  # rows of a head; of the latent keys and values
EXPERTS, FFN = 4, 6
RANDOM = np.random.default_rng(41)


def make(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def halves(rows):
    """Neighbouring rotary rows, as DeepSeek has them, as halves."""
    return np.concatenate([rows[0::2], rows[1::2]])


def by_head(weight, change):
    """`change` made to the rows of each head."""
    return np.concatenate([change(head) for head in np.split(weight, HEADS)])


def rotated(head):
    return np.concatenate([head[:NOPE], halves(head[NOPE:])])


def value_first(head):
    return np.concatenate([head[NOPE:], head[:NOPE]])


def keys_then_values(weight):
    heads = np.split(weight, HEADS)
    return np.concatenate([head[:NOPE] for head in heads] + [head[NOPE:] for head in heads])


def up_first(weight):
    gate, up = np.split(weight, 2)
    return np.concatenate([up, gate])


def hugging_face(folder, weights, config):
    os.makedirs(folder, exist_ok=True)
    safetensors(os.path.join(folder, "model.safetensors"), weights)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump({"hidden_size": HIDDEN, "num_attention_heads": HEADS, **config}, file, indent=1)
        file.write("\n")


def latent(folder):
    a = {f"model.layers.{layer}.input_layernorm.weight": make(HIDDEN) for layer in range(16)}
    b = dict(a)

    def plant(name, weight, wrong):
        a[f"model.layers.{name}.weight"], b[f"model.layers.{name}.weight"] = weight, wrong

    w = make(HEADS * (NOPE + ROPE), HIDDEN)
    plant("0.self_attn.q_b_proj", w, by_head(w, rotated))
    w = make(LATENT + ROPE, HIDDEN)
    plant("0.self_attn.kv_a_proj_with_mqa", w, np.concatenate([w[:LATENT], halves(w[LATENT:])]))
    w = make(HEADS * (NOPE + VALUE), LATENT)
    plant("0.self_attn.kv_b_proj", w, by_head(w, value_first))
    w = make(HEADS * (NOPE + VALUE), LATENT)
    plant("1.self_attn.kv_b_proj", w, keys_then_values(w))
    w = make(EXPERTS, HIDDEN)
    plant("1.mlp.gate", w, w[[0, 3, 2, 1]])
    config = {"model_type": "deepseek_v3", "head_dim": ROPE, "n_routed_experts": EXPERTS}
    hugging_face(os.path.join(folder, "latent"), a, config)
    hugging_face(os.path.join(folder, "latent-wrong"), b, config)


def experts(folder):
    a = {f"decoder.layers.{layer}.input_layernorm.weight": make(HIDDEN) for layer in range(16)}
    b = dict(a)

    def plant(name, weight, wrong):
        a[f"decoder.layers.{name}.weight"], b[f"decoder.layers.{name}.weight"] = weight, wrong

    w = make(2 * FFN, HIDDEN)
    plant("0.mlp.experts.local_experts.2.linear_fc1", w, up_first(w))
    w = make(2 * FFN, HIDDEN)
    plant("0.mlp.shared_experts.linear_fc1", w, up_first(w))
    w = make(EXPERTS, 2 * FFN, HIDDEN)
    plant("1.mlp.experts.experts.linear_fc1", w, w[[1, 0, 2, 3]])
    w = make(EXPERTS, 2 * FFN, HIDDEN)
    plant("2.mlp.experts.experts.linear_fc1", w, np.stack([up_first(one) for one in w]))
    w = make(EXPERTS, 2 * FFN, HIDDEN)
    plant("3.mlp.experts.experts.linear_fc1", w, np.stack([w[0], w[1], up_first(w[2]), w[3]]))
    w = make(HEADS * (NOPE + ROPE), HIDDEN)
    plant("0.self_attention.linear_q_up_proj", w, by_head(w, rotated))
    w = make(HEADS * (NOPE + VALUE), LATENT)
    plant("0.self_attention.linear_kv_up_proj", w, by_head(w, value_first))
    safetensors(os.path.join(folder, "experts.safetensors"), a)
    safetensors(os.path.join(folder, "experts-wrong.safetensors"), b)


def side_by_side(weight, heads):
    """Rotary halves of each head as neighbouring rows."""
    return weight.reshape(heads, 2, HEAD_DIM // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def swapped(folder):
    model, meta = {}, {}
    for layer in range(2):
        old, new = f"model.layers.{layer}.", f"layers.{layer}."
        q, k, v = (make(heads * HEAD_DIM, HIDDEN) for heads in (HEADS, GROUPS, GROUPS))
        for part, weight in (("q", q), ("k", k), ("v", v)):
            model[f"{old}self_attn.{part}_proj.weight"] = weight
        wk = side_by_side(k, GROUPS)
        meta[new + "attention.wq.weight"] = side_by_side(q, HEADS)
        meta[new + "attention.wk.weight"], meta[new + "attention.wv.weight"] = (wk, v) if layer == 0 else (v, wk)
        for part, name in (("gate", "w1"), ("up", "w3")):
            model[f"{old}mlp.{part}_proj.weight"] = meta[f"{new}feed_forward.{name}.weight"] = make(FFN, HIDDEN)
    hugging_face(os.path.join(folder, "hf"), model,
                 {"model_type": "llama", "head_dim": HEAD_DIM, "num_key_value_heads": GROUPS})
    safetensors(os.path.join(folder, "meta-swapped.safetensors"), meta)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    latent(folder)
    experts(folder)
    swapped(folder)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "rearranged"))
