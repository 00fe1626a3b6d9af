// SPDX-License-Identifier: Apache-2.0
// The calls that rebuild tensors, recognised by exact name and shape of their arguments. Wrappers
// (Parameter, subclass) are taken off in a loop, so a file may stack as many as it likes.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/checked.hpp"
#include "core/model/value_flag.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/file.hpp"
#include "formats/torch/storages.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostDims = 64;
constexpr int kMostWrappers = 1000;
/// A view may say its storage's elements again and again: so many times, or so many bytes in all.
constexpr std::uint64_t kExpansion = 1024;
constexpr std::uint64_t kFreeExpansion = std::uint64_t{1} << 30;

enum class Rebuild : std::uint8_t { plain, typed, quantised, wrapper, subclass, opaque };

struct Row {
  std::string_view module;
  std::string_view name;
  Rebuild how;
  std::string_view opaque;  ///< what it is, of opaque ones
};

constexpr std::string_view kUtils = "torch._utils";
constexpr std::array kRows = {
    Row{kUtils, "_rebuild_tensor_v2", Rebuild::plain, ""},
    Row{kUtils, "_rebuild_tensor", Rebuild::plain, ""},
    Row{kUtils, "_rebuild_tensor_v3", Rebuild::typed, ""},
    Row{kUtils, "_rebuild_parameter", Rebuild::wrapper, ""},
    Row{kUtils, "_rebuild_parameter_with_state", Rebuild::wrapper, ""},
    Row{kUtils, "_rebuild_device_tensor_from_cpu_tensor", Rebuild::wrapper, ""},
    Row{"torch._tensor", "_rebuild_from_type_v2", Rebuild::subclass, ""},
    Row{kUtils, "_rebuild_wrapper_subclass", Rebuild::opaque,
        "tensor subclass without bytes of its own"},
    Row{kUtils, "_rebuild_sparse_tensor", Rebuild::opaque, "sparse tensor"},
    Row{kUtils, "_rebuild_sparse_csr_tensor", Rebuild::opaque, "sparse tensor"},
    Row{kUtils, "_rebuild_qtensor", Rebuild::quantised, "quantised tensor"},
    Row{kUtils, "_rebuild_nested_tensor", Rebuild::opaque, "nested tensor"},
    Row{kUtils, "_rebuild_meta_tensor_no_storage", Rebuild::opaque, "meta tensor"},
    Row{kUtils, "_rebuild_device_tensor_from_numpy", Rebuild::opaque,
        "tensor kept as a numpy array"},
    Row{kUtils, "_rebuild_xla_tensor", Rebuild::opaque, "tensor kept as a numpy array"},
};

const Row* row_of(const Global* global) {
  if (global == nullptr) return nullptr;
  for (const Row& row : kRows) {
    if (global->module == row.module && global->name == row.name) return &row;
  }
  return nullptr;
}

/// One rebuild: the function and its arguments, wherever they were found.
struct Step {
  const Row* row = nullptr;
  Value args;
};

/// Hooks are an OrderedDict, or nothing; what else builds them, torch refuses or runs.
void check_hooks(Value hooks) {
  if (!hooks || hooks.is_none() || mapping(hooks)) return;
  const Global* const made = class_of(hooks);
  throw Error(fmt::format("hooks of a tensor are no OrderedDict but of {}",
                          made == nullptr ? "no class" : made->module + "." + made->name),
              hooks.where());
}

Step step_of(Value value) { return {row_of(value.callable().global()), value.args()}; }

/// The innermost rebuild under Parameters and subclasses.
Step unwrap(Value value) {
  Step step = step_of(value);
  for (int depth = 0; step.row != nullptr; ++depth) {
    if (depth == kMostWrappers) throw Error("tensor is wrapped too often", value.where());
    if (step.row->how == Rebuild::wrapper) {
      if (step.row->name == "_rebuild_parameter") check_hooks(step.args[2]);
      step = step_of(step.args[0]);
    } else if (step.row->how == Rebuild::subclass) {
      step = {row_of(step.args[0].global()), step.args[2]};
    } else {
      return step;
    }
  }
  throw Error("a tensor's wrapper holds no tensor", value.where());
}

Extents numbers_of(Value tuple, std::string_view what) {
  if (!tuple.is(NodeKind::tuple) && !tuple.is(NodeKind::list)) {
    throw Error(fmt::format("{} of a tensor is no tuple", what), tuple.where());
  }
  if (tuple.size() > kMostDims) {
    throw Error(
        fmt::format("tensor has {} dimensions, {} at most are possible", tuple.size(), kMostDims),
        tuple.where());
  }
  Extents numbers;
  for (std::size_t i = 0; i < tuple.size(); ++i) {
    const auto number = tuple[i].integer();
    if (!number || *number < 0) {
      throw Error(
          fmt::format("{} of a tensor has something other than a count at place {}", what, i),
          tuple.where());
    }
    numbers.push_back(*number);
  }
  return numbers;
}

/// A size as tuple, or as torch.Size((...)).
Value plain_size(Value value) {
  return value.callable().is_global("torch", "Size") ? value.args()[0] : value;
}

ValueFlag flags_of(Value metadata) {
  ValueFlag flags = ValueFlag::none;
  if (metadata.find("conj").boolean() == true) flags = flags | ValueFlag::conjugate;
  if (metadata.find("neg").boolean() == true) flags = flags | ValueFlag::negate;
  return flags;
}

/// Bytes of one counted element, and how many numbers it holds: packed 4-bit types count bytes.
std::pair<std::uint64_t, std::int64_t> unit_of(DType dtype) {
  const auto width = static_cast<std::uint64_t>(bits(dtype));
  return width < 8 ? std::pair<std::uint64_t, std::int64_t>{1, 8 / bits(dtype)}
                   : std::pair<std::uint64_t, std::int64_t>{width / 8, 1};
}

/// One past the last element that a view touches, from the storage's start.
std::uint64_t reach(std::int64_t start, const Shape& shape, const Extents& strides) {
  std::int64_t last = start;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return static_cast<std::uint64_t>(start);
    last = checked_add(last, checked_mul(shape[d] - 1, strides[d]));
  }
  return static_cast<std::uint64_t>(checked_add(last, std::int64_t{1}));
}

bool is_row_major(const Shape& shape, const Extents& strides) {
  std::int64_t expected = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && strides[d] != expected) return false;
    expected = checked_mul(expected, shape[d]);
  }
  return true;
}

/// Turns shape and strides of bytes into those of packed numbers, `pack` to the byte.
void unpack(Shape& shape, Extents& strides, std::int64_t pack) {
  if (pack == 1) return;
  if (shape.empty() || (strides.back() != 1 && shape.back() > 1)) {
    throw Error("a view of a packed type is not contiguous in its last dimension");
  }
  for (std::int64_t& stride : strides) stride = checked_mul(stride, pack);
  strides.back() = 1;
  shape.back() = checked_mul(shape.back(), pack);
}

/// Throws unless the storage holds `needed` bytes and the view does not say them too often.
void check_extent(const TorchStorage& storage, std::string_view key, std::uint64_t needed,
                  std::uint64_t written) {
  if (needed > storage.size) {
    throw Error(fmt::format("tensor reaches to byte {} of storage {}, which has {}", needed, key,
                            storage.size),
                storage.where);
  }
  if (written / kExpansion > std::max(storage.size, kFreeExpansion / kExpansion)) {
    throw Error::unable(fmt::format("limit reached: strides of 0 make {} bytes of a storage of {}",
                                    written, storage.size),
                        storage.where);
  }
}

/// How a rebuild sees its storage.
struct View {
  std::int64_t start = 0;  ///< in elements of the storage
  Extents strides;
  ValueFlag flag = ValueFlag::none;
};

View view_of(const Step& step, std::size_t dims, const Where& where) {
  View view{0, numbers_of(step.args[3], "stride"), ValueFlag::none};
  const auto start = step.args[1].integer();
  if (!start || *start < 0 || view.strides.size() != dims) {
    throw Error("tensor has no valid offset, size and stride", where);
  }
  view.start = *start;
  return view;
}

const TorchStorage& storage_of(const TorchContents& contents, std::string_view key) {
  const auto found = contents.storages.find(std::string(key));
  if (found == contents.storages.end()) throw Error(fmt::format("storage {} is missing", key));
  if (!found->second.problem.empty()) throw Error(found->second.problem, found->second.where);
  return found->second;
}

/// Says where the elements of a tensor, whose dtype and shape are known, lie in its storage.
void lay_out(const TorchContents& contents, const StorageId& id, View view, TorchTensor& tensor) {
  element_count(tensor.shape);
  const auto [width, pack] = unit_of(tensor.dtype);
  const std::uint64_t first = static_cast<std::uint64_t>(checked_add(view.start, id.root_offset));
  const std::uint64_t needed =
      checked_mul(reach(static_cast<std::int64_t>(first), tensor.shape, view.strides), width);
  const TorchStorage& storage = storage_of(contents, id.root_key);
  const bool empty = element_count(tensor.shape) == 0;
  const std::uint64_t written =
      byte_size(tensor.dtype, checked_mul(element_count(tensor.shape), pack));
  if (!empty) check_extent(storage, id.root_key, needed, written);
  tensor.piece.source = storage.source;
  tensor.piece.offset =
      empty ? storage.offset : checked_add(storage.offset, checked_mul(first, width));
  tensor.piece.dtype = tensor.dtype;
  tensor.piece.order = contents.order;
  tensor.piece.flag = view.flag;
  unpack(tensor.shape, view.strides, pack);
  if (!empty && !is_row_major(tensor.shape, view.strides)) {
    tensor.piece.cells.push_back({whole(tensor.shape), 0, std::move(view.strides)});
  }
}

}  // namespace

bool TorchFile::is_tensor(Value value) { return row_of(value.callable().global()) != nullptr; }

bool TorchFile::is_dumped(Value value) {
  try {
    const Step step = unwrap(value);
    if (step.row->how == Rebuild::opaque) return false;
    const Value made = step.args[0].callable();
    return made && made.is_global("torch.storage", "_load_from_bytes");
  } catch (const Error&) {
    return false;  // said when its record is made
  }
}

TorchTensor TorchFile::tensor(Value value, bool integers) const {
  const Where where = value.where();
  const Step step = unwrap(value);
  TorchTensor tensor;
  const bool quantised = step.row->how == Rebuild::quantised;
  if (step.row->how == Rebuild::opaque || (quantised && !integers)) {
    tensor.opaque = step.row->opaque;
    return tensor;
  }
  const auto id = storage_id(step.args[0]);
  if (!id) throw Error("tensor has no well-formed storage id", where);
  const bool typed = step.row->how == Rebuild::typed;
  if (typed || step.row->how == Rebuild::plain) check_hooks(step.args[5]);
  const std::optional<DType> dtype = typed       ? torch_dtype(step.args[6])
                                     : quantised ? id->kind.integers
                                                 : id->kind.dtype;
  tensor.storage = id->root_key;
  tensor.shape = numbers_of(plain_size(step.args[2]), "size");
  if (id->location == "meta") tensor.opaque = "meta tensor";
  if (!dtype)
    tensor.opaque = id->kind.quantised ? "quantised tensor" : "tensor of an unknown dtype";
  if (!tensor.opaque.empty()) return tensor;

  tensor.dtype = *dtype;
  if (is_exact(*dtype) && !quantised && step.args[4].boolean() == true) {
    throw Error("a tensor of integers asks for gradients: torch refuses it", where);
  }
  View view = view_of(step, tensor.shape.size(), where);
  view.flag = flags_of(step.args[typed ? 7 : 6]);
  try {
    lay_out(*contents_, *id, std::move(view), tensor);
  } catch (const Error& error) {
    throw error.at(where);
  }
  return tensor;
}

}  // namespace ttcheck::formats
