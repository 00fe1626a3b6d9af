#pragma once
// The one exception type. Thrown inside a room; caught at the door of `formats` (Result) and in
// main.

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace ttcheck {

/// A place in an input: file, absolute byte offset in it, and the object that was being read
/// (member, tensor, field). Empty parts are unknown.
struct Where {
  std::string file;
  std::optional<std::uint64_t> offset = {};
  std::string object = {};

  bool operator==(const Where&) const = default;
};

/// `file:0x1f40: object`, leaving out what is unknown. Not escaped: reports escape at their
/// boundary.
std::string to_string(const Where& where);

/// "We could not do the job." Messages start lower-case, have no final stop, and name expected and
/// actual. What is merely bad in an input is a Finding, not an Error.
class Error : public std::exception {
 public:
  explicit Error(std::string message, Where where = {});

  const char* what() const noexcept override { return text_.c_str(); }  ///< place and message
  const std::string& message() const { return message_; }               ///< message alone
  const Where& where() const { return where_; }

  /// The same error with the parts of the place that were unknown filled in.
  Error at(const Where& outer) const;

 private:
  std::string message_;
  Where where_;
  std::string text_;
};

}  // namespace ttcheck
