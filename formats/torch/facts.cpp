// SPDX-License-Identifier: Apache-2.0
// A fact is a number, a truth value or a short text, whatever stands in the file. A leaf is tried
// as a scalar, a NumPy array, a sequence, and at last told by its class. Arrays, byte strings and
// lists that are not short, and text beyond 1024 bytes become a size and a hash. Arrays are
// hashed in canonical order, so that equal values have equal hashes whatever byte order and
// strides store them. The name, mostly its last word, decides whether runs are compared by a
// fact; of a hash nothing but equality can be told, so a note that is one is opaque. Options of
// numbered groups are marked, as torch's defaults stand for those that are missing. A leaf that
// cannot be read stays as a fact that says why. A tensor is hashed in blocks of 2^20 elements,
// and not read at all above 1 GiB, or where those before it took what all of a file may take.

#include "formats/torch/facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "core/base/checked.hpp"
#include "core/base/digest.hpp"
#include "core/base/digits.hpp"
#include "core/model/decode.hpp"
#include "core/model/gather.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kShownItems = 16;
constexpr std::size_t kShownText = 1024;

constexpr std::array<std::string_view, 33> kCompared = {
    "step",
    "global_step",
    "iteration",
    "iter",
    "epoch",
    "last_epoch",
    "last_batch_iteration",
    "num_steps",
    "global_steps",
    "global_samples",
    "lr",
    "initial_lr",
    "learning_rate",
    "betas",
    "eps",
    "weight_decay",
    "momentum",
    "dampening",
    "nesterov",
    "amsgrad",
    "maximize",
    "decoupled_weight_decay",
    "loss_scale",
    "cur_scale",
    "scale",
    "growth_factor",
    "backoff_factor",
    "growth_interval",
    "consumed_train_samples",
    "consumed_valid_samples",
    "num_update_steps",
    "_step_count",
    "_last_lr",
};

std::string printed(const Scalar& value) {
  switch (value.type) {
    case Scalar::Type::boolean:
      return value.integer != 0 ? "True" : "False";
    case Scalar::Type::integer:
      return fmt::format("{}", value.integer);
    case Scalar::Type::real:
      return to_string(FactValue(value.real));
    case Scalar::Type::text:
      return "'" + value.text + "'";
    default:
      return value.text;
  }
}

FactValue value_of(const Scalar& scalar) {
  switch (scalar.type) {
    case Scalar::Type::boolean:
      return scalar.integer != 0;
    case Scalar::Type::integer:
      return scalar.integer;
    case Scalar::Type::real:
      return scalar.real;
    default:
      return shortened(scalar.text, kShownText);
  }
}

std::string printed_list(const std::vector<Value>& items) {
  std::string text;
  for (const Value& item : items) {
    text += (text.empty() ? "" : ", ") + printed(scalar(item).value_or(Scalar{}));
  }
  if (items.size() <= kShownItems) return shortened("[" + text + "]", kShownText);
  return fmt::format("{} items, xxh3 {:016x}", items.size(), digest_of(text));
}

/// Throws Error where the array holds what is no plain number.
std::string printed_array(const NumpyArray& array, const Source& source) {
  std::string shape;
  for (const std::int64_t extent : array.shape) {
    shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
  }
  const std::vector<std::byte> bytes = canonical_bytes(array, source);
  Digest digest;
  digest.add(bytes);
  return fmt::format("{}[{}] xxh3 {:016x}", array.descr.substr(1), shape, digest.value());
}

/// A leaf in words: an object has nothing in it but its class. Throws Error for what has no value
/// here.
std::string printed_object(Value value) {
  if (value.is(NodeKind::dict)) return "{}";
  if (const auto range = value.bytes()) {
    Stream in(value.pickle().source(), range->offset, range->offset + range->size);
    return fmt::format("{} bytes, xxh3 {:016x}", range->size, in.hash(range->size, "bytes"));
  }
  if (value.is(NodeKind::object)) {
    const Global* made = class_of(value);
    return made == nullptr ? "object" : fmt::format("object of {}.{}", made->module, made->name);
  }
  if (const auto code = value.extension()) return fmt::format("extension {}", *code);
  throw Error::unable("a value of a kind that is not read", value.where());
}

/// Options of an optimizer's parameters, one group of them.
FactSource source_of(std::string_view name) {
  constexpr std::string_view kGroups = ".groups.";
  const std::size_t at = name.find(kGroups);
  if (at == std::string_view::npos) return FactSource::none;
  const std::string_view group = name.substr(at + kGroups.size());
  const std::size_t end = group.find('.');
  const bool numbered = end != std::string_view::npos && is_number(group.substr(0, end));
  return numbered ? FactSource::groups : FactSource::none;
}

/// True for what the functions above print of a value that is too long, or means nothing, as text.
bool is_digest(const FactValue& value) {
  constexpr std::string_view kMark = " xxh3 ";
  constexpr std::size_t kHex = 16;
  const auto* const text = std::get_if<std::string>(&value);
  return text != nullptr && text->size() > kMark.size() + kHex &&
         std::string_view(*text).substr(text->size() - kMark.size() - kHex).starts_with(kMark);
}

constexpr std::uint64_t kReadTensor = std::uint64_t{1} << 30;  ///< about a second of reading
/// All tensors of a file may say each of its bytes a few times, as they may share a storage, and
/// those of a small file what so many more would allow.
constexpr std::uint64_t kHashedPerByte = 4;
constexpr std::uint64_t kFreeHashed = std::uint64_t{16} << 20;
constexpr std::int64_t kHashBlock = std::int64_t{1} << 20;  ///< elements at a time

/// The number that a tensor of one element holds.
FactValue value_of_element(DType dtype, std::span<const std::byte> bytes) {
  std::uint64_t code = 0;
  std::memcpy(&code, bytes.data(), std::min(bytes.size(), sizeof code));
  if (dtype == DType::i64) return static_cast<std::int64_t>(code);
  return value_of(dtype, code);
}

}  // namespace

FactUse use_of(std::string_view name) {
  if (name.find('@') != std::string_view::npos) return FactUse::compared;
  if (name.starts_with("rng") || name.find(".rng") != std::string_view::npos)
    return FactUse::opaque;
  const std::string_view last = name.substr(name.rfind('.') + 1);
  const bool known = std::find(kCompared.begin(), kCompared.end(), last) != kCompared.end();
  return known ? FactUse::compared : FactUse::note;
}

Fact fact_of(const Leaf& leaf) {
  Fact fact{leaf.path, std::string(), use_of(leaf.path), leaf.value.where(), source_of(leaf.path)};
  try {
    if (const auto known = scalar(leaf.value)) {
      fact.value = value_of(*known);
    } else if (const auto array = numpy_array(leaf.value)) {
      fact.value = printed_array(*array, leaf.value.pickle().source());
    } else if (const auto items = sequence(leaf.value)) {
      fact.value = printed_list(*items);
    } else {
      fact.value = printed_object(leaf.value);
    }
  } catch (const Error& error) {
    fact.value = "not read: " + error.message();
    fact.unread = true;
  }
  if (fact.use == FactUse::note && is_digest(fact.value)) fact.use = FactUse::opaque;
  return fact;
}

FactValue value_of_array(const Piece& piece, DType dtype, const Shape& shape) {
  const std::string kind = fmt::format("{}[{}]", name(dtype), fmt::join(shape, ", "));
  const std::int64_t count = element_count(shape);
  if (count == 0) return kind;
  const std::uint64_t size = byte_size(dtype, count);
  if (size > kReadTensor) {
    throw Error::unable(fmt::format("limit reached: {} of {} bytes beside the tensors, at most {} "
                                    "are read",
                                    kind, size, kReadTensor),
                        piece.where());
  }
  Digest digest;
  std::vector<std::byte> bytes;
  for (std::int64_t at = 0; at < count; at += kHashBlock) {
    const std::int64_t part = std::min(kHashBlock, count - at);
    bytes.resize(byte_size(dtype, part));
    gather(std::span(&piece, 1), dtype, shape, at, part, bytes);
    digest.add(bytes);
  }
  if (count == 1 && !is_complex(dtype)) return value_of_element(dtype, bytes);
  return fmt::format("{} xxh3 {:016x}", kind, digest.value());
}

HashBudget::HashBudget(const TorchFile& file) : left_(checked_add(kFreeHashed, file.size())) {}

bool HashBudget::take(std::uint64_t bytes) {
  const std::uint64_t cost = bytes / kHashedPerByte;
  if (cost > left_) return false;
  left_ -= cost;
  return true;
}

Fact fact_of_tensor(const TorchFile& file, const Leaf& leaf, HashBudget& budget) {
  const TorchTensor tensor = file.tensor(leaf.value);
  Fact fact{leaf.path, tensor.opaque, use_of(leaf.path), leaf.value.where()};
  if (tensor.opaque.empty()) {
    const std::uint64_t size = byte_size(tensor.dtype, element_count(tensor.shape));
    if (size <= kReadTensor && !budget.take(size)) {
      throw Error::unable(fmt::format("limit reached: {} bytes beside the tensors, more than is "
                                      "left of what may be read of this file",
                                      size),
                          tensor.piece.where());
    }
    fact.value = value_of_array(tensor.piece, tensor.dtype, tensor.shape);
  }
  if (fact.use == FactUse::note && is_digest(fact.value)) fact.use = FactUse::opaque;
  return fact;
}

}  // namespace ttcheck::formats
