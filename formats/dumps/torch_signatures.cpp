// SPDX-License-Identifier: Apache-2.0
// Signatures are torch's (torch/nn/functional.py, torch/_torch_docs.py, torch_npu's op-plugin).
// In their text `x:0` is the op's argument 0, `w:weight` and `b:bias` its parameters, `p=dropout`
// an attribute that records call by another name, and any other word an attribute of that name. A
// number where a tensor may stand is an attribute, too.
// The order of the words is that of the function, the numbers are the op's own: `addmm` takes its
// bias first, `__rsub__` its operands exchanged. A function is looked up by its whole name,
// `relu_` as `relu`; classes and submodules by how their names end, and the first row that fits
// counts.

#include "formats/dumps/torch_signatures.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ttcheck::formats {
namespace {

struct Row {
  std::string_view name, op, parameters;
};

constexpr std::string_view kUnary = "input:0";
constexpr std::string_view kBinary = "input:0 other:1 alpha";

constexpr Row kFunctions[] = {
    {"linear", "linear", "input:0 weight:weight bias:bias"},
    {"addmm", "linear", "input:bias mat1:0 mat2:weight beta alpha"},
    {"embedding", "embedding",
     "input:0 weight:weight padding_idx max_norm norm_type scale_grad_by_freq sparse"},
    {"layer_norm", "layernorm", "input:0 normalized_shape weight:weight bias:bias eps"},
    {"rms_norm", "rmsnorm", "input:0 normalized_shape weight:weight eps"},
    {"npu_rms_norm", "rmsnorm", "self:0 gamma:weight epsilon=eps"},
    {"silu", "silu", "input:0 inplace"},
    {"gelu", "gelu", "input:0 approximate"},
    {"fast_gelu", "gelu", kUnary},
    {"npu_swiglu", "swiglu", "self:0 dim"},
    {"swiglu", "swiglu", "self:0 dim"},
    {"relu", "relu", "input:0 inplace"},
    {"sigmoid", "sigmoid", kUnary},
    {"tanh", "tanh", kUnary},
    {"exp", "exp", kUnary},
    {"square", "square", kUnary},
    {"sqrt", "sqrt", kUnary},
    {"rsqrt", "rsqrt", kUnary},
    {"neg", "neg", kUnary},
    {"__neg__", "neg", kUnary},
    {"add", "add", kBinary},
    {"__add__", "add", kBinary},
    {"__radd__", "add", kBinary},
    {"sub", "sub", kBinary},
    {"__sub__", "sub", kBinary},
    {"__rsub__", "sub", "input:1 other:0"},
    {"mul", "mul", "input:0 other:1"},
    {"__mul__", "mul", "input:0 other:1"},
    {"__rmul__", "mul", "input:0 other:1"},
    {"div", "div", "input:0 other:1 rounding_mode"},
    {"true_divide", "div", "input:0 other:1"},
    {"__truediv__", "div", "input:0 other:1"},
    {"__rtruediv__", "div", "input:1 other:0"},
    {"__rdiv__", "div", "input:1 other:0"},
    {"pow", "pow", "input:0 exponent:1"},
    {"__pow__", "pow", "input:0 exponent:1"},
    {"addcmul", "addcmul", "input:0 tensor1:1 tensor2:2 value"},
    {"addcdiv", "addcdiv", "input:0 tensor1:1 tensor2:2 value"},
    {"lerp", "lerp", "input:0 end:1 weight"},
    {"matmul", "matmul", kBinary},
    {"mm", "matmul", kBinary},
    {"bmm", "matmul", kBinary},
    {"__matmul__", "matmul", kBinary},
    {"softmax", "softmax", "input:0 dim"},
    {"cross_entropy", "cross_entropy",
     "input:0 target:1 weight:weight size_average ignore_index reduce reduction label_smoothing"},
    {"scaled_dot_product_attention", "attention",
     "query:0 key:1 value:2 attn_mask:3 dropout_p=dropout is_causal=causal scale enable_gqa"},
    {"dropout", "dropout", "input:0 p training inplace"},
};

/// Classes by their end: transformers' norms bear their model's name.
constexpr Row kModules[] = {
    {"Linear", "linear", kUnary},   {"Dense", "linear", kUnary},
    {"Conv1D", "linear", kUnary},   {"Embedding", "embedding", kUnary},
    {"RMSNorm", "rmsnorm", kUnary}, {"LayerNorm", "layernorm", kUnary},
    {"SiLU", "silu", kUnary},       {"SiLUActivation", "silu", kUnary},
    {"GELU", "gelu", kUnary},       {"GELUActivation", "gelu", kUnary},
    {"GELUTanh", "gelu", kUnary},   {"ReLU", "relu", kUnary},
    {"Sigmoid", "sigmoid", kUnary}, {"Tanh", "tanh", kUnary},
    {"Softmax", "softmax", kUnary}, {"CrossEntropyLoss", "cross_entropy", "input:0 target:1"},
    {"Dropout", "dropout", kUnary},
};

/// Names that models of transformers give their parts, by their end.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kSubmodules = {{
    {"act_fn", "activation"},
    {"activation_fn", "activation"},
    {"act", "activation"},
    {"_proj", "linear"},
    {"lm_head", "linear"},
    {"fc1", "linear"},
    {"fc2", "linear"},
    {"c_attn", "linear"},
    {"c_fc", "linear"},
    {"embed_tokens", "embedding"},
    {"wte", "embedding"},
    {"layernorm", "norm"},
    {"norm", "norm"},
}};

TorchParameter parameter_of(std::string_view word) {
  using Role = TorchParameter::Role;
  const std::size_t end = word.find_first_of(":=");
  TorchParameter made{word.substr(0, end), word.substr(0, end)};
  if (end == std::string_view::npos) return made;
  const std::string_view rest = word.substr(end + 1);
  if (word[end] == '=') {
    made.words = rest;
  } else if (rest == "weight" || rest == "bias") {
    made.role = rest == "weight" ? Role::weight : Role::bias;
  } else {
    made.role = Role::argument;
    made.place = static_cast<std::size_t>(rest.front() - '0');
  }
  return made;
}

TorchSignature signature_of(const Row& row) {
  TorchSignature made{row.op, {}};
  for (std::string_view left = row.parameters; !left.empty();) {
    const std::size_t end = std::min(left.find(' '), left.size());
    made.parameters.push_back(parameter_of(left.substr(0, end)));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return made;
}

}  // namespace

const TorchParameter* TorchSignature::at(std::size_t place) const {
  return place < parameters.size() ? &parameters[place] : nullptr;
}

const TorchParameter* TorchSignature::named(std::string_view name) const {
  const auto found = std::ranges::find(parameters, name, &TorchParameter::name);
  return found == parameters.end() ? nullptr : &*found;
}

std::optional<TorchSignature> torch_function(std::string_view name) {
  const bool in_place = name.size() > 1 && name.back() == '_' && name[name.size() - 2] != '_';
  if (in_place) name.remove_suffix(1);
  const auto* const found = std::ranges::find(kFunctions, name, &Row::name);
  if (found == std::end(kFunctions)) return std::nullopt;
  return signature_of(*found);
}

std::optional<TorchSignature> torch_module(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kModules, [&](const Row& row) { return name.ends_with(row.name); });
  if (found == std::end(kModules)) return std::nullopt;
  return signature_of(*found);
}

std::string_view op_of_submodule(std::string_view name) {
  name = name.substr(name.rfind('.') + 1);
  for (const auto& [end, op] : kSubmodules) {
    if (name.ends_with(end)) return op;
  }
  return {};
}

}  // namespace ttcheck::formats
