// SPDX-License-Identifier: Apache-2.0
#include "core/show/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace ttcheck::show {
namespace {

/// A dims name in full, where it is one of the usual letters.
std::string in_full(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kWords = {
      {{"s", "position"},
       {"seq", "position"},
       {"b", "batch"},
       {"h", "hidden"},
       {"v", "vocabulary"}}};
  for (const auto& [letter, word] : kWords) {
    if (name == letter) return std::string(word);
  }
  return name;
}

/// The names of the dimensions, where the files state one for each.
std::vector<std::string> stated_names(const Tensor& tensor, const Placement* placement) {
  std::vector<std::string> names;
  if (placement == nullptr || placement->flat) return names;
  if (placement->dims.size() != tensor.shape.size()) return names;
  for (const DimSpec& dim : placement->dims) {
    if (dim.name == "*") return {};
    names.push_back(dim.name);
  }
  return names;
}

/// The fact `name`; 0 where none tells it.
std::int64_t number_of(const Numbers& numbers, const char* name) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? 0 : found->second;
}

std::string plain_name(std::size_t dim, const Tensor& tensor, const Numbers& numbers) {
  const Shape& shape = tensor.shape;
  if (shape.size() == 1) return "elements";
  if (dim == 0 && shape.size() > 2 && number_of(numbers, "experts") == shape[0] &&
      tensor.identity.name.find("expert") != std::string::npos) {
    return "expert";
  }
  if (shape.size() == 2) return dim == 0 ? "row" : "column";
  return fmt::format("dim {}", dim);
}

bool contains_any(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

/// A parameter, or what has its shape.
bool is_weight(Kind kind) {
  switch (kind) {
    case Kind::input:
    case Kind::output:
    case Kind::grad_input:
    case Kind::grad_output:
    case Kind::comm_in:
    case Kind::comm_out:
    case Kind::loss:
      return false;
    default:
      return true;
  }
}

/// The size of a head along `dim`; 0 where it holds none that are known.
std::int64_t head_size(std::size_t dim, const Tensor& tensor, const Numbers& numbers) {
  const std::string_view name = tensor.identity.name;
  if (!contains_any(name, {"att"})) return 0;
  const bool weight = tensor.shape.size() == 2 && is_weight(tensor.kind);
  const bool back = contains_any(name, {"o_proj", "out_proj", "c_proj", "dense", "wo."});
  const std::size_t holding = weight && !back ? 0 : tensor.shape.size() - 1;
  const bool input = contains_any(name, {"/input", "/grad_input"});
  if (dim != holding || tensor.shape.size() > 3) return 0;
  if (!weight && (back != input)) return 0;  // the hidden state, not heads
  const bool key = contains_any(name, {"k_proj", "v_proj", "key", "value"});
  const char* const kind = key && numbers.contains("kv_heads") ? "kv_heads" : "heads";
  const std::int64_t heads = number_of(numbers, kind);
  if (heads < 2) return 0;
  const std::int64_t extent = tensor.shape[dim];
  const std::int64_t size = number_of(numbers, "head_dim");
  if (size > 0 && heads <= extent / size) return extent == heads * size ? size : 0;
  return extent % heads == 0 ? extent / heads : 0;
}

}  // namespace

std::vector<compare::AxisChoice> axes_to_show(const compare::Pair& pair, const Numbers& numbers) {
  const Tensor& tensor = *pair.reference;
  const Placement* placement = tensor.placement.get();
  if (placement == nullptr && pair.candidate != nullptr) {
    placement = pair.candidate->placement.get();
  }
  const std::vector<std::string> names = stated_names(tensor, placement);
  std::vector<compare::AxisChoice> axes;
  for (std::size_t dim = 0; dim < tensor.shape.size(); ++dim) {
    if (tensor.shape[dim] < 2) continue;
    const std::string stated = names.empty() ? "" : in_full(names[dim]);
    const bool telling = stated.size() > 1;  // a letter like x says less than its place
    axes.push_back({telling ? stated : plain_name(dim, tensor, numbers), dim, 1});
    const std::int64_t head = head_size(dim, tensor, numbers);
    if (head > 1 && head < tensor.shape[dim]) axes.push_back({"head", dim, head});
  }
  return axes;
}

}  // namespace ttcheck::show
