# SPDX-License-Identifier: Apache-2.0
"""Which op a module is, so that `ttcheck` can recompute it. What is not known for sure is left out."""
from torch import nn


def _epsilon(module):
    for name in ("eps", "variance_epsilon", "epsilon"):
        if isinstance(getattr(module, name, None), float):
            return getattr(module, name)
    return None


def _activation(module):
    if isinstance(module, nn.GELU):
        return "gelu", {"approximate": module.approximate}
    words = {nn.SiLU: "silu", nn.ReLU: "relu", nn.Sigmoid: "sigmoid", nn.Tanh: "tanh"}
    for kind, word in words.items():
        if isinstance(module, kind):
            return word, {}
    return {"SiLUActivation": ("silu", {}), "NewGELUActivation": ("gelu", {"approximate": "tanh"}),
            "PytorchGELUTanh": ("gelu", {"approximate": "tanh"}), "GELUTanh": ("gelu", {"approximate": "tanh"}),
            "GELUActivation": ("gelu", {"approximate": "none"})}.get(type(module).__name__)


def op_of(module):
    """(op, attributes, slots of the parameters it takes behind its input), or None."""
    if isinstance(module, nn.Linear):
        return "linear", {}, ("weight", "bias")
    if isinstance(module, nn.Embedding):
        plain = module.max_norm is None and not module.scale_grad_by_freq
        return ("embedding", {}, ("weight",)) if plain else None
    if isinstance(module, nn.LayerNorm) and len(module.normalized_shape) == 1:
        return "layernorm", {"eps": module.eps}, ("weight", "bias")
    name, eps = type(module).__name__, _epsilon(module)
    weights = [slot for slot, _ in module.named_parameters(recurse=False)]
    rmsnorm = isinstance(module, getattr(nn, "RMSNorm", ())) or (name.endswith("RMSNorm") and "Gemma" not in name)
    if rmsnorm and weights == ["weight"] and eps is not None:
        return "rmsnorm", {"eps": eps}, ("weight",)
    activation = _activation(module)
    return (*activation, ()) if activation else None


def attention_attrs(query, key, mask, dropout, causal, scale, grouped):
    """Of torch.nn.functional.scaled_dot_product_attention, if what it computed follows from its inputs; else None."""
    if mask is not None or dropout or query.dim() != 4:
        return None
    attrs = {"heads": query.shape[1], "kv_heads": key.shape[1], "causal": bool(causal)}
    if scale is not None:
        attrs["scale"] = float(scale)
    return attrs if grouped or attrs["heads"] == attrs["kv_heads"] else None
