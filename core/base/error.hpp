// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one exception type. Thrown inside a room; caught at the door of `formats` (Result) and in
// main.

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
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

  /// An error of what we could not do, though nothing says that the input is bad: a permission, a
  /// link that is not followed, a read that the system failed, a filter or scheme that we don't
  /// know, a limit.
  static Error unable(std::string message, Where where = {});

  const char* what() const noexcept override { return text_.c_str(); }  ///< all of it
  const std::string& message() const { return message_; }  ///< one line, whatever names it holds
  const std::string& excerpt() const { return excerpt_; }  ///< lines of a text that it is about
  const Where& where() const { return where_; }
  bool is_unable() const { return unable_; }
  const std::string& reason() const { return reason_; }

  /// A copy of this error in other words.
  Error saying(std::string message) const;

  /// A copy of this error with lines of the text that it is about, to be shown under the message.
  Error showing(std::string excerpt) const;

  /// A copy of this error with a short word for why a comparison came to nothing.
  Error because(std::string reason) const;

  /// A copy of this error with the parts of the place that were unknown filled in.
  Error at(const Where& outer) const;

 private:
  void compose();

  std::string message_;
  std::string excerpt_;
  Where where_;
  std::string text_;
  std::string reason_ = "unreadable";
  bool unable_ = false;
};

/// The error that `what` throws; nothing where it throws none.
template <class What>
std::optional<Error> caught(What&& what) {
  try {
    what();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// Throws the first of the errors, with the words of those behind it; nothing where there are none.
void throw_any(std::span<const std::optional<Error>> errors);

}  // namespace ttcheck
