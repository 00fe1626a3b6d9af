// SPDX-License-Identifier: Apache-2.0
// Only decoding tells how much there is, so the constructor decodes all of it once, in blocks of
// 64 KiB, and counts. It keeps the first block and at least the last 64 KiB: what lies in there
// may be a zip archive, whose directory is at its end, and looking at that would otherwise decode
// everything once more. After that a read goes on from where the stream stands, or begins anew
// when it goes back. The decoder is freed when it stands at the end.
//
// The limit is asked after each block, so that a small blob cannot cost more than a block beyond
// it. Bad frames, a frame that is cut and bytes behind the last frame throw, with the place in
// the packed bytes. A read that gets fewer bytes than the first pass counted throws, too.

#include "formats/bytes/zstd.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kInput = std::size_t{64} * 1024;
constexpr std::size_t kEnd = std::size_t{64} * 1024;  ///< kept of each end while counting

}  // namespace

/// The place at which the stream stands. One at a time: the lock is held for a whole read.
struct Zstd::Decoder {
  struct Free {
    void operator()(ZSTD_DCtx* made) const { ZSTD_freeDCtx(made); }
  };

  std::mutex lock;
  std::unique_ptr<ZSTD_DCtx, Free> context;
  std::vector<std::byte> input;
  std::size_t used = 0;        ///< of the input
  std::uint64_t consumed = 0;  ///< of the packed bytes, put into the input
  std::uint64_t produced = 0;
  bool inside = false;  ///< of a frame that is not through yet
  std::vector<std::byte> head, tail;

  void restart() {
    if (!context) context.reset(ZSTD_createDCtx());
    if (!context) throw Error("zstd cannot start");
    ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_only);
    input.clear();
    used = 0;
    consumed = produced = 0;
    inside = false;
  }

  void release() {
    context.reset();
    input = {};
  }

  void refill(const Zstd& self, std::uint64_t left) {
    input.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kInput, left)));
    self.whole_->read(consumed, input);
    consumed += input.size();
    used = 0;
  }

  /// Decodes up to out.size() bytes; fewer only at the end. After an Error the next read starts
  /// anew.
  std::size_t decode(const Zstd& self, std::span<std::byte> out) {
    ZSTD_outBuffer made{out.data(), out.size(), 0};
    while (made.pos < made.size) {
      const std::uint64_t left = self.whole_->size() - consumed;
      if (used == input.size() && left > 0) {
        try {
          refill(self, left);
        } catch (...) {  // what was made before it went to somebody who will not count it
          release();
          throw;
        }
      }
      ZSTD_inBuffer given{input.data(), input.size(), used};
      const std::size_t before = made.pos;
      const std::size_t wanted = ZSTD_decompressStream(context.get(), &made, &given);
      const bool stands = given.pos == used && made.pos == before;
      used = given.pos;
      if (ZSTD_isError(wanted) == 0) {
        if (!stands) inside = wanted != 0;
        if (stands) break;
        continue;
      }
      const Where at = self.where_packed(consumed - input.size() + used);
      const char* name = ZSTD_getErrorName(wanted);
      release();
      throw Error(fmt::format("bad zstd data ({})", name), at);
    }
    produced += made.pos;
    return made.pos;
  }
};

Zstd::Zstd(const Source& whole, std::uint64_t limit, std::string object)
    : whole_(&whole), object_(std::move(object)), decoder_(std::make_unique<Decoder>()) {
  Decoder& decoder = *decoder_;
  decoder.restart();
  std::vector<std::byte> block(kEnd);
  std::vector<std::byte> before;
  while (const std::size_t made = decoder.decode(*this, block)) {
    if (decoder.produced > limit) {
      throw Error(fmt::format("more than {} bytes come out of {} packed ones", limit, whole.size()),
                  where(0));
    }
    const std::span<const std::byte> fresh = std::span(block).first(made);
    if (decoder.head.empty()) decoder.head.assign(fresh.begin(), fresh.end());
    std::swap(before, decoder.tail);
    decoder.tail.assign(fresh.begin(), fresh.end());
  }
  if (decoder.inside) throw Error("zstd data end within a frame", where_packed(whole.size()));
  if (decoder.tail.size() < kEnd)
    decoder.tail.insert(decoder.tail.begin(), before.begin(), before.end());
  size_ = decoder.produced;
  decoder.release();
}

Zstd::~Zstd() = default;

Where Zstd::where_packed(std::uint64_t at) const {
  Where place = whole_->where(std::min(at, whole_->size()));
  if (place.object.empty()) place.object = object_;
  return place;
}

Where Zstd::where(std::uint64_t) const { return where_packed(0); }

void Zstd::forget_ends() {
  decoder_->head = {};
  decoder_->tail = {};
}

void Zstd::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (!within(offset, out.size(), size_)) {
    throw Error(fmt::format("{} bytes are wanted at {}, there are {}", out.size(), offset, size_),
                where(offset));
  }
  if (out.empty()) return;
  const std::lock_guard hold(decoder_->lock);
  Decoder& decoder = *decoder_;
  const std::uint64_t tail = size_ - decoder.tail.size();
  if (offset + out.size() <= decoder.head.size()) {
    std::memcpy(out.data(), decoder.head.data() + offset, out.size());
    return;
  }
  if (offset >= tail) {
    std::memcpy(out.data(), decoder.tail.data() + (offset - tail), out.size());
    return;
  }
  if (!decoder.context || offset < decoder.produced) decoder.restart();
  std::vector<std::byte> skipped(std::min<std::uint64_t>(kEnd, offset - decoder.produced));
  while (decoder.produced < offset) {
    const std::uint64_t step = std::min<std::uint64_t>(skipped.size(), offset - decoder.produced);
    if (decoder.decode(*this, std::span(skipped).first(static_cast<std::size_t>(step))) == 0) break;
  }
  if (decoder.produced != offset || decoder.decode(*this, out) != out.size()) {
    throw Error(
        fmt::format("zstd data end after {} bytes, {} were there before", decoder.produced, size_),
        where(offset));
  }
  if (decoder.produced == size_) decoder.release();
}

}  // namespace ttcheck::formats
