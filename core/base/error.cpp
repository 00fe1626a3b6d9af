#include "core/base/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace ttcheck {

std::string to_string(const Where& where) {
  std::string text = where.file;
  if (where.offset) text += fmt::format("{}0x{:x}", text.empty() ? "" : ":", *where.offset);
  if (!where.object.empty()) text += (text.empty() ? "" : ": ") + where.object;
  return text;
}

Error::Error(std::string message, Where where)
    : message_(std::move(message)), where_(std::move(where)) {
  const std::string place = to_string(where_);
  text_ = place.empty() ? message_ : place + ": " + message_;
}

Error Error::at(const Where& outer) const {
  Where where = where_;
  if (where.file.empty()) where.file = outer.file;
  if (!where.offset) where.offset = outer.offset;
  if (where.object.empty()) where.object = outer.object;
  return Error(message_, std::move(where));
}

}  // namespace ttcheck
