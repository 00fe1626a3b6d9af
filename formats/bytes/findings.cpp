// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/findings.hpp"

#include <fmt/format.h>

#include <utility>

namespace ttcheck::formats {

Finding found(Code code, std::string message, Where where, std::string tensor) {
  Finding finding;
  finding.code = code;
  finding.message = std::move(message);
  finding.where = std::move(where);
  finding.tensor = std::move(tensor);
  finding.incomplete = code == Code::unreadable || code == Code::omission;
  return finding;
}

Finding damaged(Where where, std::string message) {
  return found(Code::unreadable, std::move(message), std::move(where));
}

Finding beyond(Where where, std::string message) {
  Finding finding = damaged(std::move(where), std::move(message));
  finding.severity = Severity::warning;
  return finding;
}

Finding unreadable(const Error& error, std::string tensor) {
  Finding finding = found(Code::unreadable, error.message(), error.where(), std::move(tensor));
  if (error.is_unable()) finding.severity = Severity::warning;
  return finding;
}

Finding odd(Where where, std::string message, Code code) {
  Finding finding = found(code, std::move(message), std::move(where));
  finding.severity = Severity::warning;
  finding.incomplete = false;
  return finding;
}

Finding remark(Where where, std::string message, Code code) {
  Finding finding = odd(std::move(where), std::move(message), code);
  finding.severity = Severity::note;
  return finding;
}

void Findings::add(Finding finding) {
  if (++counts_[finding.code] <= kMaxListed) listed_.push_back(std::move(finding));
}

std::vector<Finding> Findings::take() {
  for (const auto& [code, count] : counts_) {
    if (count <= kMaxListed) continue;
    Finding rest;
    for (const Finding& other : listed_) {
      if (other.code == code) rest = other;
    }
    rest.tensor.clear();
    rest.message = fmt::format("{} more of these are not listed", count - kMaxListed);
    listed_.push_back(std::move(rest));
  }
  counts_.clear();
  return std::exchange(listed_, {});
}

}  // namespace ttcheck::formats
