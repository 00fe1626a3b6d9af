// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the user typed cannot be meant. Always exit code 2; the message says what was expected.

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace ttcheck::cli {

class Usage : public std::exception {
 public:
  explicit Usage(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// The candidate nearest to `word` in edits, if it is near enough to be meant; else empty.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// "; did you mean 'diff'?" or nothing, ready to append to a message.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace ttcheck::cli
