// SPDX-License-Identifier: Apache-2.0
#include "formats/sandbox/channel.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/error.hpp"

namespace ttcheck::formats {
namespace {

[[noreturn]] void fail_gone() { throw Error("the other process is gone"); }

/// Room for one descriptor beside a message, as the system lays it out.
struct DescriptorNote {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
  char byte = 0;
  iovec one{&byte, 1};
  msghdr message{};

  DescriptorNote() {
    message.msg_iov = &one;
    message.msg_iovlen = 1;
    message.msg_control = bytes.data();
    message.msg_controllen = bytes.size();
  }
};

}  // namespace

Channel::~Channel() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Channel& Channel::operator=(Channel&& other) noexcept {
  if (this == &other) return *this;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = std::exchange(other.descriptor_, -1);
  return *this;
}

std::pair<Channel, Channel> Channel::pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(fmt::format("no socket pair: {}", std::strerror(errno)));
  }
  return {Channel(ends[0]), Channel(ends[1])};
}

void Channel::send(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail_gone();
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

void Channel::send_number(std::uint64_t value) const { send(std::as_bytes(std::span(&value, 1))); }

void Channel::send_text(std::string_view text) const {
  send_number(text.size());
  send(std::as_bytes(std::span(text)));
}

void Channel::send_channel(const Channel& other) const {
  DescriptorNote note;
  cmsghdr* const header = CMSG_FIRSTHDR(&note.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &other.descriptor_, sizeof(int));
  ssize_t sent = 0;
  do sent = ::sendmsg(descriptor_, &note.message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent != 1) fail_gone();
}

void Channel::receive(std::span<std::byte> bytes, int patience) const {
  while (!bytes.empty()) {
    if (patience != kForEver) {
      pollfd waiting{descriptor_, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, patience);
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) throw Error(fmt::format("it said nothing for {} s", patience / 1000));
    }
    const ssize_t got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail_gone();
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

std::uint64_t Channel::receive_number(int patience) const {
  std::uint64_t value = 0;
  receive(std::as_writable_bytes(std::span(&value, 1)), patience);
  return value;
}

std::string Channel::receive_text(std::uint64_t most, int patience) const {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;
  const std::uint64_t size = receive_number(patience);
  if (size > most) throw Error(fmt::format("it says {} bytes, at most {} may come", size, most));
  std::string text;
  while (text.size() < size) {
    const std::size_t had = text.size();
    text.resize(had + static_cast<std::size_t>(std::min(kBlock, size - had)));
    receive(std::as_writable_bytes(std::span(text).subspan(had)), patience);
  }
  return text;
}

Channel Channel::receive_channel() const {
  DescriptorNote note;
  ssize_t got = 0;
  do got = ::recvmsg(descriptor_, &note.message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const cmsghdr* const header = got == 1 ? CMSG_FIRSTHDR(&note.message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(int))) {
    fail_gone();
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
  return Channel(descriptor);
}

void Channel::end_sending() const { ::shutdown(descriptor_, SHUT_WR); }

}  // namespace ttcheck::formats
