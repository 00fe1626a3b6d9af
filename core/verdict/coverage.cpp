// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/coverage.hpp"

namespace ttcheck::verdict {

void exclude(Coverage& coverage, const std::string& rule, std::int64_t count) {
  coverage.excluded += count;
  for (auto& [known, total] : coverage.excluded_by) {
    if (known != rule) continue;
    total += count;
    return;
  }
  coverage.excluded_by.emplace_back(rule, count);
}

void add_beside(Coverage& coverage, const OneSided& beside) {
  for (OneSided& known : coverage.beside) {
    if (known.rule != beside.rule) continue;
    known.reference += beside.reference;
    known.candidate += beside.candidate;
    return;
  }
  coverage.beside.push_back(beside);
}

void add_coverage(const Coverage& part, Coverage& whole) {
  whole.paired += part.paired;
  whole.weights += part.weights;
  whole.only_reference += part.only_reference;
  whole.only_candidate += part.only_candidate;
  whole.unreadable += part.unreadable;
  for (const auto& [rule, count] : part.excluded_by) exclude(whole, rule, count);
  for (const OneSided& one : part.beside) add_beside(whole, one);
  const auto append = [](const auto& from, auto& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(part.steps_only_reference, whole.steps_only_reference);
  append(part.steps_only_candidate, whole.steps_only_candidate);
  whole.bytes_compared += part.bytes_compared;
  whole.bytes_read += part.bytes_read;
  whole.bytes_unclaimed += part.bytes_unclaimed;
}

}  // namespace ttcheck::verdict
