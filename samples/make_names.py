"""Makes samples/names: one small Llama under the names of three families, converted with NumPy alone.

    python samples/make_names.py [FOLDER]      (numpy)
"""
import json
import os
import struct
import sys

import numpy as np

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
    """Names that a map has to escape; each side spells one word in another way."""
    random = np.random.default_rng(29)
    names = [f"callbacks.{'Average' if renamed else 'Ema'}{{'every': 2}}.layers.{layer}.weight" for layer in range(2)]
    names += [f"{'states' if renamed else 'state'}.{'3.0' if renamed else '0.3'}.*.weight",
              f"{'shown' if renamed else 'show'}.\x1b[31mred\u202e.weight",
              f"{'logs' if renamed else 'log'}.##[error].weight",
              f"C:\\{'names' if renamed else 'name'}.weight"]
    return {name: random.standard_normal((at + 1, 2)).astype(np.float32) for at, name in enumerate(names)}


def write(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = np.ascontiguousarray(tensor).tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def main(folder):
    os.makedirs(os.path.join(folder, "hf"), exist_ok=True)
    model = weights()
    write(os.path.join(folder, "hf", "model.safetensors"), model)
    with open(os.path.join(folder, "hf", "config.json"), "w") as file:
        json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN,
                   "intermediate_size": FFN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
                   "num_key_value_heads": GROUPS, "vocab_size": VOCAB, "tie_word_embeddings": False}, file, indent=1)
        file.write("\n")
    write(os.path.join(folder, "megatron.safetensors"), megatron(model))
    write(os.path.join(folder, "meta.safetensors"), meta(model))
    write(os.path.join(folder, "odd.safetensors"), odd(False))
    write(os.path.join(folder, "odd-renamed.safetensors"), odd(True))
    # A converter that puts all queries first, then all keys, then all values.
    wrong = megatron(model)
    name = "decoder.layers.1.self_attention.linear_qkv.weight"
    wrong[name] = np.concatenate([model[f"model.layers.1.self_attn.{part}_proj.weight"] for part in "qkv"])
    write(os.path.join(folder, "megatron-blocks.safetensors"), wrong)


main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "names"))
