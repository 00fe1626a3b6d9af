// SPDX-License-Identifier: Apache-2.0
#include "formats/sandbox/worker.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "core/base/checked.hpp"
#include "formats/sandbox/confine.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kMostMemory = std::uint64_t{4} << 30;  // bytes
constexpr std::uint64_t kLeastTime = 3, kMostTime = 600;       // of CPU, seconds
constexpr std::uint64_t kBytesPerSecond = 1 << 20;
constexpr std::size_t kKept = 64;  // blocks

struct Row {
  WorkerParser::Load load;
  WorkerParser::Parse parse;
};

std::vector<Row>& parsers() {
  static std::vector<Row> all;
  return all;
}

/// The file as the worker sees it: a block at a time, asked for. A library goes to and fro between
/// a group's tree and its datasets, so some blocks are kept, each at its own place.
class Remote final : public Source {
 public:
  Remote(const Channel& data, const WorkerTask& work)
      : data_(data), size_(work.file_size), place_(work.place) {}

  std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!within(offset, out.size(), size_))
      throw Error("read beyond the end of the file", where(offset));
    while (!out.empty()) {
      const std::uint64_t begin = offset / kServedBlock * kServedBlock;
      Kept& kept = kept_[begin / kServedBlock % kKept];
      if (begin != kept.begin || kept.bytes.empty()) fetch(begin, kept);
      const std::span<const std::byte> there =
          std::span(kept.bytes).subspan(static_cast<std::size_t>(offset - begin));
      const std::size_t count = std::min(there.size(), out.size());
      std::memcpy(out.data(), there.data(), count);
      offset += count;
      out = out.subspan(count);
    }
  }

  Where where(std::uint64_t offset) const override { return {place_.file, offset, place_.object}; }

 private:
  struct Kept {
    std::uint64_t begin = 0;
    std::vector<std::byte> bytes;
  };

  void fetch(std::uint64_t begin, Kept& kept) const {
    kept.bytes.assign(static_cast<std::size_t>(std::min(kServedBlock, size_ - begin)),
                      std::byte{0});
    kept.begin = begin;
    data_.send_number(kRead);
    data_.send_number(begin);
    data_.send_number(kept.bytes.size());
    if (data_.receive_number() == 0) {
      kept.bytes.clear();
      throw Error("the file cannot be read", where(begin));
    }
    data_.receive(kept.bytes);
  }

  const Channel& data_;
  std::uint64_t size_;
  Where place_;
  mutable std::array<Kept, kKept> kept_;
};

/// A parser that runs in circles on a damaged file is ended by its CPU time, which does not depend
/// on how busy the machine is.
void bound(std::uint64_t file_size) {
  const rlim_t seconds = kLeastTime + std::min(file_size / kBytesPerSecond, kMostTime);
  const rlimit none{0, 0}, memory{kMostMemory, kMostMemory}, time{seconds, seconds + 1};
  ::setrlimit(RLIMIT_CORE, &none);
  ::setrlimit(RLIMIT_CPU, &time);
  if (!is_sanitized()) ::setrlimit(RLIMIT_DATA, &memory);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGXCPU}) {
    std::signal(signal, SIG_DFL);
  }
}

void say(const Channel& data, std::uint64_t word, std::span<const std::byte> text) {
  data.send_number(word);
  data.send_number(text.size());
  data.send(text);
}

}  // namespace

WorkerParser::WorkerParser(Load load, Parse parse) : number_(parsers().size()) {
  parsers().push_back({load, parse});
}

void load_parser(std::uint64_t number) {
  if (number >= parsers().size()) throw Error("there is no such parser");
  if (const WorkerParser::Load load = parsers()[number].load) load();
}

void say_failed(const Channel& data, const Error& error) {
  say(data, error.is_unable() ? kUnable : kFailed, std::as_bytes(std::span(error.message())));
}

void be_worker(const Channel& data, const WorkerTask& work, pid_t broker) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != broker) ::_exit(1);
  bound(work.file_size);
  confine_worker(data.descriptor());
  try {
    std::vector<std::byte> answer;
    const std::optional<Error> error =
        caught([&] { answer = parsers()[work.parser].parse(Remote(data, work), work.argument); });
    if (error) {
      say_failed(data, *error);
    } else {
      say(data, kDone, answer);
    }
    ::_exit(0);
  } catch (...) {
    ::_exit(1);  // out of memory, or nobody listens
  }
}

}  // namespace ttcheck::formats
