// SPDX-License-Identifier: Apache-2.0
#include "formats/torch/parts.hpp"

#include <string_view>

#include "formats/torch/file.hpp"

namespace ttcheck::formats {
namespace {

constexpr int kMostWrappers = 8;

Value without_parameter(Value value) {
  for (int depth = 0; depth < kMostWrappers; ++depth) {
    if (!value.callable().is_global("torch._utils", "_rebuild_parameter")) break;
    value = value.args()[0];
  }
  return value;
}

/// Collects parts; a part that is no tensor where one must be makes the whole unknown.
class Collector {
 public:
  explicit Collector(const Leaf& leaf) : path_(leaf.path) {}

  void array(std::string_view name, Value value) {
    known_ = known_ && TorchFile::is_tensor(value);
    parts_.arrays.push_back({path(name), value});
  }
  void fact(std::string_view name, Value value) {
    if (value) parts_.facts.push_back({path(name), value});
  }
  void stored(Value value) { parts_.stored = Leaf{path("int_repr"), value}; }

  std::optional<StoredParts> take() {
    return known_ ? std::optional(std::move(parts_)) : std::nullopt;
  }

 private:
  std::string path(std::string_view name) const { return path_ + "@" + std::string(name); }

  std::string path_;
  StoredParts parts_;
  bool known_ = true;
};

/// (layout, (indices, values, size, coalesced)), or compressed and plain indices for CSR and kin.
std::optional<StoredParts> sparse(const Leaf& leaf, Value args) {
  Collector parts(leaf);
  const Value data = args[1];
  parts.fact("layout", args[0]);
  const bool compressed = data.size() == 4 && TorchFile::is_tensor(data[2]);
  if (compressed) {
    parts.array("compressed_indices", data[0]);
    parts.array("plain_indices", data[1]);
    parts.array("values", data[2]);
    parts.fact("size", data[3]);
  } else {
    parts.array("indices", data[0]);
    parts.array("values", data[1]);
    parts.fact("size", data[2]);
    parts.fact("coalesced", data[3]);
  }
  return parts.take();
}

std::optional<StoredParts> nested(const Leaf& leaf, Value args) {
  Collector parts(leaf);
  parts.array("buffer", args[0]);
  parts.array("sizes", args[1]);
  parts.array("strides", args[2]);
  parts.array("offsets", args[3]);
  return parts.take();
}

/// (storage, offset, size, stride, (scheme, scale, zero point) or (scheme, scales, points, axis))
std::optional<StoredParts> quantised(const Leaf& leaf, Value value) {
  Collector parts(leaf);
  const Value scheme = value.args()[4];
  parts.stored(value);
  parts.fact("scheme", scheme[0]);
  if (TorchFile::is_tensor(scheme[1])) {
    parts.array("scales", scheme[1]);
    parts.array("zero_points", scheme[2]);
    parts.fact("axis", scheme[3]);
  } else {
    parts.fact("scale", scheme[1]);
    parts.fact("zero_point", scheme[2]);
    parts.fact("axis", scheme[3]);
  }
  return parts.take();
}

/// A meta tensor has a dtype and a size, and no data that could differ.
std::optional<StoredParts> meta(const Leaf& leaf, Value args) {
  Collector parts(leaf);
  parts.fact("meta", args[0]);
  parts.fact("size", args[1]);
  return parts.take();
}

}  // namespace

std::optional<StoredParts> stored_parts(const Leaf& leaf) {
  const Value value = without_parameter(leaf.value);
  const Global* made = value.callable().global();
  if (made == nullptr || made->module != "torch._utils") return std::nullopt;
  const Value args = value.args();
  if (made->name == "_rebuild_sparse_tensor") return sparse(leaf, args);
  if (made->name == "_rebuild_nested_tensor") return nested(leaf, args);
  if (made->name == "_rebuild_qtensor") return quantised(leaf, value);
  if (made->name == "_rebuild_meta_tensor_no_storage") return meta(leaf, args);
  return std::nullopt;
}

}  // namespace ttcheck::formats
