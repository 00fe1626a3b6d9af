// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a reader says that an input is bad, and what it found wrong collected: each code is listed at
// most kMaxListed times per reader, all are counted, and the rest is said in one line.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/finding.hpp"

namespace ttcheck::formats {

inline constexpr std::int64_t kMaxListed = 100;

/// An error of this code. Incomplete for TT501 and TT505, which leave something unchecked.
Finding found(Code code, std::string message, Where where, std::string tensor = {});

/// TT501: something cannot be read, so part of the input goes unchecked.
Finding damaged(Where where, std::string message);

/// TT501 as a warning: a limit or a scheme that is ours, so part of the input goes unchecked,
/// though nothing says that it is bad.
Finding beyond(Where where, std::string message);

/// TT501 from the error that ended the reading of one thing: a warning where the input may be
/// sound.
Finding unreadable(const Error& error, std::string tensor = {});

/// A warning: the input is odd, but all of it was read.
Finding odd(Where where, std::string message, Code code = Code::unreadable);

/// A note: worth listing, and no fault.
Finding remark(Where where, std::string message, Code code = Code::unreadable);

class Findings {
 public:
  void add(Finding finding);
  /// All, with one line for each code that was cut short. Leaves the collection empty.
  std::vector<Finding> take();

 private:
  std::vector<Finding> listed_;
  std::map<Code, std::int64_t> counts_;
};

}  // namespace ttcheck::formats
