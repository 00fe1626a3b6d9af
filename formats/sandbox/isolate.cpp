// SPDX-License-Identifier: Apache-2.0
#include "formats/sandbox/isolate.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/sandbox/broker.hpp"

namespace ttcheck::formats {
namespace {

constexpr int kPatience = 60'000;                              // ms without a word
constexpr std::uint64_t kMostAnswer = std::uint64_t{1} << 30;  // bytes

/// Answers a worker's read.
void serve_read(const Channel& data, const Source& file, std::vector<std::byte>& bytes) {
  const std::uint64_t offset = data.receive_number(kPatience),
                      size = data.receive_number(kPatience);
  if (size > kServedBlock || !within(offset, size, file.size()))
    throw Error("it asked for bytes beyond the file");
  bytes.resize(static_cast<std::size_t>(size));
  file.read(offset, bytes);
  data.send_number(1);
  data.send(bytes);
}

/// Answers the worker's reads until it is done.
std::vector<std::byte> serve(const Channel& data, const Source& file) {
  std::vector<std::byte> bytes;
  for (;;) {
    const std::uint64_t word = data.receive_number(kPatience);
    if (word == kRead) {
      serve_read(data, file, bytes);
      continue;
    }
    if (word != kDone && word != kFailed && word != kUnable)
      throw Error("its answer makes no sense");
    const std::string text = data.receive_text(kMostAnswer, kPatience);
    if (word == kUnable) throw Error::unable(text, file.where(0));
    if (word == kFailed) throw Error(text, file.where(0));
    const auto found = std::as_bytes(std::span(text));
    return {found.begin(), found.end()};
  }
}

/// Ends the worker and says how it ended; empty when it left by itself.
std::string end_of(const Channel& control) {
  int status = 0;
  control.end_sending();
  if (caught([&] { status = static_cast<int>(control.receive_number()); })) return {};
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
    return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? "it ran out of memory" : "";
}

}  // namespace

std::vector<std::byte> in_child(const Source& file, const WorkerParser& parser,
                                std::string_view argument) {
  WorkerEnds worker;
  if (const auto error = caught([&] { worker = start_worker(parser, file, argument); })) {
    throw error->at(file.where(0));
  }
  try {
    return serve(worker.data, file);
  } catch (const Error& error) {
    if (error.where().file == file.where(0).file) throw;  // the parser's, or ours of reading
    const std::string end = end_of(worker.control);
    throw Error(
        fmt::format("the process that parsed it ended: {}", end.empty() ? error.message() : end),
        file.where(0));
  }
}

}  // namespace ttcheck::formats
