#pragma once
// How a reader says that an input is bad.

#include <string>
#include <utility>

#include "core/model/finding.hpp"

namespace ttcheck::formats {

/// The input is odd, but all of it was read.
inline Finding odd(Where where, std::string message, Code code = Code::unreadable) {
  Finding finding;
  finding.code = code;
  finding.severity = Severity::warning;
  finding.where = std::move(where);
  finding.message = std::move(message);
  return finding;
}

/// Worth listing, and no fault.
inline Finding remark(Where where, std::string message, Code code = Code::unreadable) {
  Finding finding = odd(std::move(where), std::move(message), code);
  finding.severity = Severity::note;
  return finding;
}

/// Something in the input cannot be read, so part of it goes unchecked.
inline Finding damaged(Where where, std::string message) {
  Finding finding = odd(std::move(where), std::move(message));
  finding.severity = Severity::error;
  finding.incomplete = true;
  return finding;
}

/// The Error as a finding.
inline Finding damaged(const Error& error) { return damaged(error.where(), error.message()); }

}  // namespace ttcheck::formats
