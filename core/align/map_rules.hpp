#pragma once
// One `[[map]]` of the user as a renaming.

#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/glob.hpp"
#include "core/model/layout.hpp"

namespace ttcheck::align {

/// Applies a map rule to names. Known ops: `same` and `ignore`; any other throws Error, naming the
/// line of the map file.
class RenamedBy {
 public:
  explicit RenamedBy(const MapRule& rule);

  bool ignores() const { return ignore_; }
  bool matches(std::string_view reference_name) const { return glob_.matches(reference_name); }

  /// The candidate's name of a reference name; empty when the rule does not match it.
  std::string candidate_name(std::string_view reference_name) const;

 private:
  Glob glob_;
  std::string to_;
  bool ignore_;
};

}  // namespace ttcheck::align
