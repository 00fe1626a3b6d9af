// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/pickle.hpp"

#include <fmt/format.h>

#include <bit>

namespace ttcheck::formats {

Value Pickle::root() const { return root_ ? Value(*this, *root_) : Value(); }

Where Value::where() const {
  return pickle_ == nullptr ? Where{} : pickle_->source_->where(offset());
}

std::optional<bool> Value::boolean() const {
  const Pickle::Node* found = node(NodeKind::boolean);
  if (found == nullptr) return std::nullopt;
  return found->value != 0;
}

std::optional<double> Value::number() const {
  if (const auto whole = integer()) return static_cast<double>(*whole);
  const Pickle::Node* found = node(NodeKind::real);
  if (found == nullptr) return std::nullopt;
  return std::bit_cast<double>(found->value);
}

std::optional<ByteRange> Value::bytes() const {
  const Pickle::Node* found = node(NodeKind::bytes);
  if (found == nullptr) return std::nullopt;
  return pickle_->ranges_[found->value];
}

std::optional<std::uint64_t> Value::extension() const {
  const Pickle::Node* found = node(NodeKind::extension);
  if (found == nullptr) return std::nullopt;
  return found->value;
}

bool Value::is_global(std::string_view module, std::string_view name) const {
  const Global* found = global();
  return found != nullptr && found->module == module && found->name == name;
}

std::optional<Construction> Value::how() const {
  const Pickle::Object* found = object();
  if (found == nullptr) return std::nullopt;
  return found->how;
}

Value Value::kwargs() const {
  const Pickle::Object* found = object();
  return found == nullptr ? Value() : pickle_->at(found->kwargs);
}

void check_pickle_size(const Source& source) {
  constexpr std::uint64_t kLongestInflated = std::uint64_t{16} << 20;
  if (!source.sequential() || source.size() <= kLongestInflated) return;
  throw Error::unable(fmt::format("limit reached: a compressed pickle of {} bytes, {} at most are "
                                  "read",
                                  source.size(), kLongestInflated),
                      source.where(0));
}

}  // namespace ttcheck::formats
