// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace ttcheck {

std::string to_string(const Where& where) {
  std::string text = where.file;
  if (where.offset) text += fmt::format("{}0x{:x}", text.empty() ? "" : ":", *where.offset);
  if (!where.object.empty()) text += (text.empty() ? "" : ": ") + where.object;
  return text;
}

Error::Error(std::string message, Where where)
    : message_(std::move(message)), where_(std::move(where)), reason_("error") {
  compose();
}

void Error::compose() {
  const std::string place = to_string(where_);
  text_ = place.empty() ? message_ : place + ": " + message_;
  if (!excerpt_.empty()) text_ += "\n" + excerpt_;
}

Error Error::unable(std::string message, Where where) {
  Error error(std::move(message), std::move(where));
  error.unable_ = true;
  return error;
}

Error Error::saying(std::string message) const {
  Error error = *this;
  error.message_ = std::move(message);
  error.compose();
  return error;
}

Error Error::showing(std::string excerpt) const {
  Error error = *this;
  error.excerpt_ = std::move(excerpt);
  error.compose();
  return error;
}

Error Error::because(std::string reason) const {
  Error error = *this;
  error.reason_ = std::move(reason);
  return error;
}

Error Error::at(const Where& outer) const {
  Error error = *this;
  if (where_.file.empty()) error.where_.file = outer.file;
  if (!where_.offset) error.where_.offset = outer.offset;
  if (where_.object.empty()) error.where_.object = outer.object;
  error.compose();
  return error;
}

void throw_any(std::span<const std::optional<Error>> errors) {
  std::optional<Error> first;
  for (const std::optional<Error>& one : errors) {
    if (!one) continue;
    if (first && std::string_view(first->what()) == one->what()) continue;
    first = first ? first->saying(first->message() + "; " + one->what()) : one;
  }
  if (first) throw Error(*first);
}

}  // namespace ttcheck
