#include "formats/findings.hpp"

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

Finding unreadable(const Error& error, std::string tensor) {
  return found(Code::unreadable, error.message(), error.where(), std::move(tensor));
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
