// SPDX-License-Identifier: Apache-2.0
#include "cli/show_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/usage.hpp"
#include "core/base/first_few.hpp"
#include "core/base/glob.hpp"
#include "core/base/wider_glob.hpp"

namespace ttcheck::cli {
namespace {

constexpr std::size_t kListed = 5;

bool is_glob(const std::string& text) { return text.find_first_of("*{") != std::string::npos; }

std::vector<std::string> distinct(const std::vector<std::string>& names) {
  std::set<std::string> seen;
  std::vector<std::string> once;
  for (const std::string& name : names) {
    if (seen.insert(name).second) once.push_back(name);
  }
  return once;
}

}  // namespace

WantedTensor::WantedTensor(const Options& options)
    : typed_(options.words.at(1)),
      text_(typed_),
      microbatch_(options.microbatch),
      call_(options.call) {
  if (!options.phase.empty()) flag_ = phase_ = phase_named(options.phase);
  const std::size_t colon = text_.find(':');
  if (colon == std::string::npos || colon == 0) return;
  const auto phase = phase_named(std::string_view(text_).substr(0, colon));
  if (!phase) return;
  phase_ = phase;
  text_.erase(0, colon + 1);
}

bool WantedTensor::admits(const Identity& identity) const {
  const std::optional<Phase>& phase = identity.name == typed_ ? flag_ : phase_;
  return (!phase || identity.phase == *phase) &&
         (!microbatch_ || identity.microbatch == *microbatch_) &&
         (!call_ || identity.call == *call_);
}

std::optional<std::string> WantedTensor::among(const std::vector<std::string>& names) const {
  for (const std::string& meant : {typed_, text_}) {
    if (std::ranges::find(names, meant) != names.end()) return meant;
  }
  if (!is_glob(text_)) return std::nullopt;
  const Glob glob(text_);
  std::vector<std::string> matching;
  for (const std::string& name : distinct(names)) {
    if (glob.matches(name)) matching.push_back(name);
  }
  if (matching.empty()) return std::nullopt;
  if (matching.size() == 1) return matching.front();
  throw Error(fmt::format("'{}' matches {} tensors, expected one: {}", text_, matching.size(),
                          first_few(matching, kListed)));
}

Error WantedTensor::unknown(const std::vector<std::string>& names, const std::string& where) const {
  std::string message = fmt::format("no tensor named '{}'", text_);
  if (names.empty()) message += ": none can be read";
  const std::vector<std::string> once = distinct(names);
  std::vector<std::string> alike;
  for (const std::string& name : once) {
    if (text_.size() > 1 && name.find(text_) != std::string::npos) alike.push_back(name);
  }
  if (!alike.empty() && !is_glob(text_)) {
    message += "; did you mean " + first_few(alike, kListed) + "?";
  } else if (!is_glob(text_)) {
    message += did_you_mean(text_, once);
  } else if (const std::string wider = wider_glob(text_); !wider.empty()) {
    const Glob glob(wider);
    const bool matches = std::ranges::any_of(once, [&](auto& name) { return glob.matches(name); });
    if (matches) message += wider_words(wider);
  }
  return Error(message, {.file = where});
}

}  // namespace ttcheck::cli
