# SPDX-License-Identifier: Apache-2.0
"""Makes samples/names: one small Llama under the names of three families, converted with NumPy alone.

    python samples/make_names.py [FOLDER]      (numpy)
"""
import json
import os
import sys

import numpy as np

from write import safetensors

VOCAB, HIDDEN, FFN, LAYERS, HEADS, GROUPS, HEAD_DIM = 9, 8, 6, 2, 4, 2, 2


def weights():
    """Hugging Face's names and cuts."""
    random = np.random.default_rng(17)
    make = lambda *shape: random.standard_normal(shape).astype(np.float32)
    model = {"model.embed_tokens.weight": make(VOCAB, HIDDEN)}
    for layer in range(LAYERS):
        name = f"model.layers.{layer}."
        model[name + "input_layernorm.weight"] = make(HIDDEN)
        for part, rows in (("q", HEADS), ("k", GROUPS), ("v", GROUPS)):
            model[name + f"self_attn.{part}_proj.weight"] = make(rows * HEAD_DIM, HIDDEN)
        model[name + "self_attn.o_proj.weight"] = make(HIDDEN, HEADS * HEAD_DIM)
        model[name + "post_attention_layernorm.weight"] = make(HIDDEN)
        model[name + "mlp.gate_proj.weight"] = make(FFN, HIDDEN)
        model[name + "mlp.up_proj.weight"] = make(FFN, HIDDEN)
        model[name + "mlp.down_proj.weight"] = make(HIDDEN, FFN)
    model["model.norm.weight"] = make(HIDDEN)
    model["lm_head.weight"] = make(VOCAB, HIDDEN)
    return model


def megatron(model):
    """Megatron core: queries, key and value of each group together, gate above up."""
    made = {"embedding.word_embeddings.weight": model["model.embed_tokens.weight"]}
    for layer in range(LAYERS):
        old, new = f"model.layers.{layer}.", f"decoder.layers.{layer}."
        q, k, v = (model[old + f"self_attn.{part}_proj.weight"] for part in "qkv")
        groups = [np.concatenate([q.reshape(GROUPS, -1, HIDDEN)[g], k.reshape(GROUPS, -1, HIDDEN)[g],
                                  v.reshape(GROUPS, -1, HIDDEN)[g]]) for g in range(GROUPS)]
        made[new + "self_attention.linear_qkv.layer_norm_weight"] = model[old + "input_layernorm.weight"]
        made[new + "self_attention.linear_qkv.weight"] = np.concatenate(groups)
        made[new + "self_attention.linear_proj.weight"] = model[old + "self_attn.o_proj.weight"]
        made[new + "mlp.linear_fc1.layer_norm_weight"] = model[old + "post_attention_layernorm.weight"]
        made[new + "mlp.linear_fc1.weight"] = np.concatenate(
            [model[old + "mlp.gate_proj.weight"], model[old + "mlp.up_proj.weight"]])
        made[new + "mlp.linear_fc2.weight"] = model[old + "mlp.down_proj.weight"]
    made["decoder.final_layernorm.weight"] = model["model.norm.weight"]
    made["output_layer.weight"] = model["lm_head.weight"]
    return made


def side_by_side(weight, heads):
    """Rotary halves of each head as neighbouring rows."""
    return weight.reshape(heads, 2, HEAD_DIM // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def meta(model):
    """Meta's names, which torchtitan keeps."""
    made = {"tok_embeddings.weight": model["model.embed_tokens.weight"]}
    for layer in range(LAYERS):
        old, new = f"model.layers.{layer}.", f"layers.{layer}."
        made[new + "attention_norm.weight"] = model[old + "input_layernorm.weight"]
        made[new + "attention.wq.weight"] = side_by_side(model[old + "self_attn.q_proj.weight"], HEADS)
        made[new + "attention.wk.weight"] = side_by_side(model[old + "self_attn.k_proj.weight"], GROUPS)
        made[new + "attention.wv.weight"] = model[old + "self_attn.v_proj.weight"]
        made[new + "attention.wo.weight"] = model[old + "self_attn.o_proj.weight"]
        made[new + "ffn_norm.weight"] = model[old + "post_attention_layernorm.weight"]
        made[new + "feed_forward.w1.weight"] = model[old + "mlp.gate_proj.weight"]
        made[new + "feed_forward.w3.weight"] = model[old + "mlp.up_proj.weight"]
        made[new + "feed_forward.w2.weight"] = model[old + "mlp.down_proj.weight"]
    made["norm.weight"] = model["model.norm.weight"]
    made["output.weight"] = model["lm_head.weight"]
    return made


def odd(renamed):
    """Names that a map has to escape; each side spells one word in another way, and one has twice the bits: bytes tell nothing."""
    random = np.random.default_rng(29)
    names = [f"callbacks.{'Average' if renamed else 'Ema'}{{'every': 2}}.layers.{layer}.weight" for layer in range(2)]
    names += [f"{'states' if renamed else 'state'}.{'3.0' if renamed else '0.3'}.*.weight",
              f"{'shown' if renamed else 'show'}.\x1b[31mred\u202e.weight",
              f"{'logs' if renamed else 'log'}.##[error].weight",
              f"C:\\{'names' if renamed else 'name'}.weight"]
    made = {name: random.standard_normal((at + 1, 2)).astype(np.float32) for at, name in enumerate(names)}
    return {name: values.astype(np.float64) for name, values in made.items()} if renamed else made


def behind(prefix, model):
    return {prefix + name: values for name, values in model.items()}


def averaged(model):
    """What a trainer keeps: the weights, their averages under another key, and its bookkeeping."""
    half = {name: values * np.float32(0.5) for name, values in model.items()}
    return {**behind("params.", model), **behind("params_ema.", half), "best_val_loss": np.float32(3.25),
            "n_averaged": np.int64(7), "rng_state": np.arange(16, dtype=np.uint8),
            "callbacks.ModelCheckpoint{'monitor': None}.kth_value": np.float32(1.5)}


def joined(model):
    """No name says anything; queries, keys and values are one tensor, and so are gate and up."""
    made, used = [], set()
    for name, values in model.items():
        if name in used:
            continue
        parts = [name]
        for first, rest in (("q_proj", ("k_proj", "v_proj")), ("gate_proj", ("up_proj",))):
            if first in name:
                parts += [name.replace(first, other) for other in rest]
        used.update(parts)
        made.append(np.concatenate([model[part] for part in parts]) if len(parts) > 1 else values)
    return {f"t{at:02}": values for at, values in enumerate(made)}


def interleaved(model):
    """No name says anything; queries, keys and values lie by groups of heads, as Megatron keeps them."""
    return {f"t{at:02}": values for at, values in enumerate(megatron(model).values())}


def packed(model):
    """bitsandbytes' nf4: two codes a byte, a scale a block. What is no matrix of a layer stays."""
    made = {}
    for name, values in model.items():
        if ".layers." not in name or values.ndim != 2:
            made[name] = values
            continue
        made[name] = np.arange(values.size // 2, dtype=np.uint8).reshape(-1, 1)
        made[name + ".absmax"] = np.ones(1, dtype=np.float32)
        made[name + ".quant_map"] = np.linspace(-1, 1, 16, dtype=np.float32)
        made[name + ".quant_state.bitsandbytes__nf4"] = np.arange(8, dtype=np.uint8)
    return made


def other_model(model):
    """Layers of other names and shapes; what is not in a layer has the same ones."""
    made = {name: values for name, values in model.items() if ".layers." not in name}
    for layer in range(LAYERS):
        for at, part in enumerate(("mixer.in_proj", "mixer.out_proj", "mixer.conv1d", "mixer.dt_proj", "mixer.x_proj")):
            made[f"model.layers.{layer}.{part}.weight"] = np.full((3, 5 + at), layer + at, dtype=np.float32)
    return made


def norms(old):
    """Norms as TensorFlow names them, and as PyTorch does."""
    random = np.random.default_rng(31)
    weight, bias = ("gamma", "beta") if old else ("weight", "bias")
    made = {}
    for layer in range(2):
        made[f"bert.encoder.layer.{layer}.output.dense.weight"] = random.standard_normal((4, 4)).astype(np.float32)
        made[f"bert.encoder.layer.{layer}.output.LayerNorm.{weight}"] = random.standard_normal(4).astype(np.float32)
        made[f"bert.encoder.layer.{layer}.output.LayerNorm.{bias}"] = random.standard_normal(4).astype(np.float32)
    return made


def main(folder):
    os.makedirs(os.path.join(folder, "hf"), exist_ok=True)
    model = weights()
    safetensors(os.path.join(folder, "hf", "model.safetensors"), model)
    with open(os.path.join(folder, "hf", "config.json"), "w") as file:
        json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN,
                   "intermediate_size": FFN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
                   "num_key_value_heads": GROUPS, "vocab_size": VOCAB, "tie_word_embeddings": False}, file, indent=1)
        file.write("\n")
    safetensors(os.path.join(folder, "megatron.safetensors"), megatron(model))
    safetensors(os.path.join(folder, "meta.safetensors"), meta(model))
    safetensors(os.path.join(folder, "odd.safetensors"), odd(False))
    safetensors(os.path.join(folder, "odd-renamed.safetensors"), odd(True))
    wrapped = os.path.join(folder, "wrapped")
    os.makedirs(wrapped, exist_ok=True)
    safetensors(os.path.join(wrapped, "net.safetensors"), behind("net.", model))
    safetensors(os.path.join(wrapped, "module.safetensors"), behind("model.", model))
    safetensors(os.path.join(wrapped, "averaged.safetensors"), averaged(model))
    safetensors(os.path.join(wrapped, "lost.safetensors"),
          {name: values for name, values in behind("net.", model).items() if ".layers.1.mlp." not in name})
    safetensors(os.path.join(wrapped, "numbered.safetensors"), behind("", {f"p{at:03}": values for at, values in enumerate(model.values())}))
    safetensors(os.path.join(wrapped, "numbered-other.safetensors"),
          {f"p{at:03}": values * np.float32(1.5) for at, values in enumerate(model.values())})
    safetensors(os.path.join(wrapped, "joined.safetensors"), joined(model))
    safetensors(os.path.join(wrapped, "interleaved.safetensors"), interleaved(model))
    safetensors(os.path.join(wrapped, "nf4.safetensors"), packed(model))
    safetensors(os.path.join(wrapped, "other-model.safetensors"), other_model(model))
    safetensors(os.path.join(wrapped, "norms.safetensors"), norms(False))
    safetensors(os.path.join(wrapped, "norms-old.safetensors"), norms(True))
    safetensors(os.path.join(wrapped, "from-one.safetensors"),
          {name.replace("layers.1.", "layers.2.").replace("layers.0.", "layers.1."): values for name, values in model.items()})
    # Some modules under other words, with other values: a map can be proposed.
    safetensors(os.path.join(wrapped, "respelled.safetensors"),
          {name.replace("mlp", "ffn").replace("layernorm", "norm"): values + np.float32(1) for name, values in model.items()})
    # A converter that puts all queries first, then all keys, then all values.
    wrong = megatron(model)
    name = "decoder.layers.1.self_attention.linear_qkv.weight"
    wrong[name] = np.concatenate([model[f"model.layers.1.self_attn.{part}_proj.weight"] for part in "qkv"])
    safetensors(os.path.join(folder, "megatron-blocks.safetensors"), wrong)


main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "names"))
