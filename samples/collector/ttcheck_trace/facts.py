# SPDX-License-Identifier: Apache-2.0
"""What run.json says of the run: the model, its precision, the optimizer, and what made it."""
import torch

MODEL_KEYS = {"layers": ("num_hidden_layers", "n_layer", "num_layers"),
              "hidden": ("hidden_size", "n_embd", "d_model"),
              "heads": ("num_attention_heads", "n_head", "num_heads"),
              "kv_heads": ("num_key_value_heads", "num_query_groups"), "head_dim": ("head_dim",),
              "ffn": ("intermediate_size", "n_inner", "ffn_hidden_size"), "vocab": ("vocab_size",),
              "experts": ("num_local_experts", "num_experts", "n_routed_experts"),
              "tied_embeddings": ("tie_word_embeddings",)}
PLAIN = (bool, int, float, str)
LEFT_OUT = ("_name_or_path", "transformers_version", "torch_dtype", "dtype", "architectures", "id2label", "label2id")


def config_of(model):
    config = getattr(model, "config", None)
    if hasattr(config, "to_dict"):
        config = config.to_dict()
    elif config is not None and not isinstance(config, dict):
        config = getattr(config, "__dict__", None)
    return config if isinstance(config, dict) else {}


def model_facts(model):
    """The numbers that ttcheck knows by name, then every other plain setting by its own."""
    config, facts = config_of(model), {}
    for fact, keys in MODEL_KEYS.items():
        for key in keys:
            if isinstance(config.get(key), PLAIN):
                facts[fact] = config[key]
    if "head_dim" not in facts and facts.get("heads") and facts.get("hidden"):
        facts["head_dim"] = facts["hidden"] // facts["heads"]
    named = {key for keys in MODEL_KEYS.values() for key in keys}
    for key, value in sorted(config.items()):
        of_the_run = key in LEFT_OUT or "parallel" in key  # which run.json has as mesh
        if key not in named and not of_the_run and not key.startswith("_") and isinstance(value, PLAIN):
            facts.setdefault(key, value)
    return facts


def optimizer_facts(optimizer):
    group = optimizer.param_groups[0]
    facts = {"name": type(optimizer).__name__.lower()}
    for key, value in group.items():
        if key == "params":
            continue
        if isinstance(value, torch.Tensor) and value.numel() == 1:
            value = value.item()
        if isinstance(value, tuple) and all(isinstance(one, PLAIN) for one in value):
            value = list(value)
        if isinstance(value, PLAIN) or isinstance(value, list):
            facts[key] = value
    return facts


def precision_facts(model):
    words = sorted({str(parameter.dtype).removeprefix("torch.") for parameter in model.parameters()})
    facts = {"params": words[0] if len(words) == 1 else words}
    if torch.is_autocast_enabled():
        facts["compute"] = str(torch.get_autocast_gpu_dtype()).removeprefix("torch.")
    return facts


def facts_of(model, optimizers):
    facts = {"framework": f"torch {torch.__version__}", "precision": precision_facts(model),
             "deterministic": torch.are_deterministic_algorithms_enabled()}
    model_is = model_facts(model)
    if model_is:
        facts["model"] = model_is
    if optimizers:
        facts["optimizer"] = optimizer_facts(optimizers[0])
    return facts
