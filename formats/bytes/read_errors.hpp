// SPDX-License-Identifier: Apache-2.0
#pragma once
// What of a tree could not be opened, followed, looked at or read: noted where it happens, so that
// it is told whoever had asked, and what was not seen is never taken for what is not there.

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/error.hpp"

namespace ttcheck::formats {

/// Thread-safe. Shared by a root and the roots below it.
class ReadErrors {
 public:
  /// A name that a directory was seen to hold: what it is can no longer be "nothing".
  void listed(const std::string& file);
  bool was_listed(const std::string& file) const;

  /// The first error of each file is kept; it names the file.
  void note(const Error& error);

  /// What was noted since the last call, in the order of the files' names; each file once.
  std::vector<Error> take();

 private:
  mutable std::mutex mutex_;
  std::unordered_set<std::string> listed_;
  std::map<std::string, Error> noted_;
  std::set<std::string> taken_;
};

}  // namespace ttcheck::formats
