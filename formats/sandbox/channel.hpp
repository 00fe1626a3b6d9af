// SPDX-License-Identifier: Apache-2.0
#pragma once
// What two processes of this program say to each other. Numbers are native: both ends are one
// program. What comes is as little to be trusted as the process that sent it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ttcheck::formats {

/// One end of a pair of sockets, closed at the end of its life. Not for two threads at once.
/// Sending to and receiving from a process that is gone throws Error.
class Channel {
 public:
  static constexpr int kForEver = -1;

  Channel() = default;  ///< none: only assigned to
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  ~Channel();
  Channel(Channel&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Channel& operator=(Channel&& other) noexcept;

  /// Two ends. Throws Error where the system gives none.
  static std::pair<Channel, Channel> pair();

  int descriptor() const { return descriptor_; }

  void send(std::span<const std::byte> bytes) const;
  void send_number(std::uint64_t value) const;
  void send_text(std::string_view text) const;    ///< its size first
  void send_channel(const Channel& other) const;  ///< the other process gets an end of its own

  /// `patience`: milliseconds without a byte after which Error is thrown.
  void receive(std::span<std::byte> bytes, int patience = kForEver) const;
  std::uint64_t receive_number(int patience = kForEver) const;
  /// Throws Error also where it is said to be larger than `most`. Grows with what really comes.
  std::string receive_text(std::uint64_t most, int patience = kForEver) const;
  Channel receive_channel() const;

  /// Tells the other end that nothing more will come.
  void end_sending() const;

 private:
  int descriptor_ = -1;
};

}  // namespace ttcheck::formats
