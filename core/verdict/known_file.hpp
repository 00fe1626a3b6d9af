// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file of differences that are known: what matches is set apart from the verdict.
//
//   known = 1
//   [[difference]]
//   reason = "lm_head was padded to a multiple of 128"
//   date = 2026-11-27
//   tensors = ["lm_head.weight"]
//   codes = ["TT307"]

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/glob.hpp"
#include "core/model/codes.hpp"
#include "core/model/identity.hpp"

namespace ttcheck::verdict {

struct KnownDifference {
  std::string reason;
  std::string date;                                  ///< as a reader of the report is to see it
  std::vector<std::shared_ptr<const Glob>> tensors;  ///< none: whatever tensor, and none
  std::vector<Code> codes;                           ///< none: whatever it is called
  std::int64_t line = 0;                             ///< of the file

  /// Whether it is of a record of that name, or of the module that it belongs to.
  bool is_of(const Identity& identity) const;
  bool has(Code code) const;
};

struct KnownFile {
  std::string file;
  std::vector<KnownDifference> differences;
};

/// `file`: for messages. Throws Error with the line and a caret under the place: keys that the
/// format has not, a reason or date that is missing, a difference that says neither of which
/// tensors nor of which codes it is, a code that there is none of.
KnownFile parse_known(std::string_view text, const std::string& file);

}  // namespace ttcheck::verdict
