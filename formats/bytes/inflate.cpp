// SPDX-License-Identifier: Apache-2.0
// Deflated bytes can be decoded from the start only, or from a copy of the decoder's state. A
// read further on just goes on. The first three reads back begin anew: a header, a checksum and
// the values need no more. Then the source works in blocks of 4 MiB: it keeps the block decoded
// last, and where decoding comes to the border of a block for the first time it leaves a mark,
// which is a copy of zlib's state. A block is decoded from the last mark before it, or from where
// the stream stands, if that is a border and nearer. A mark keeps no input, only how much of it
// zlib had taken.
//
// The declared size is a claim. A read that ends at it asks for one more byte, and there must be
// none; one that runs out of stream before throws. Of a block that breaks in the middle the bytes
// before the break can be read; what needs more of it, or ends at the declared end, throws.
// Whatever is claimed, a buffer here holds a block at most.

#include "formats/bytes/inflate.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kInput = std::size_t{64} * 1024;
constexpr std::size_t kSkip = std::size_t{64} * 1024;
constexpr int kRestarts = 3;  ///< as a header, a checksum and the values need; then blocks are kept
/// A mark (40 KB) is 1 % of what it saves.
constexpr std::uint64_t kInflateBlock = std::uint64_t{4} << 20;

}  // namespace

/// The place at which the stream stands. One at a time: the lock is held for a whole read.
struct Inflate::Decoder {
  std::mutex lock;
  z_stream stream{};
  bool started = false;
  bool ended = false;  ///< the final block is through
  std::uint64_t produced = 0;
  std::uint64_t consumed = 0;  ///< of the packed bytes, handed to zlib
  std::vector<std::byte> input;

  ~Decoder() {
    if (started) inflateEnd(&stream);
  }

  /// The next read starts anew.
  void stop() {
    if (started) inflateEnd(&stream);
    started = false;
  }

  void restart() {
    stop();
    stream = {};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw Error("zlib cannot start");
    started = true;
    ended = false;
    produced = consumed = 0;
  }

  /// Hands zlib the packed bytes that come next.
  void refill(const Inflate& self) {
    input.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(kInput, self.packed_ - consumed)));
    self.whole_->read(self.begin_ + consumed, input);
    consumed += input.size();
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
  }

  /// Decodes up to out.size() bytes; fewer only at the end of the stream or of the input.
  std::size_t decode(const Inflate& self, std::span<std::byte> out) {
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    while (stream.avail_out > 0 && !ended) {
      if (stream.avail_in == 0 && consumed < self.packed_) {
        try {
          refill(self);
        } catch (...) {  // what was made of the input before it is there all the same
          produced += out.size() - stream.avail_out;
          stop();
          throw;
        }
      }
      const int status = inflate(&stream, Z_NO_FLUSH);
      // Of input that is used up zlib may hold much output still; only when it makes no more is it
      // cut.
      if (status == Z_BUF_ERROR) break;
      if (status == Z_STREAM_END) ended = true;
      if (status != Z_OK && status != Z_STREAM_END) {
        const std::uint64_t at = self.begin_ + consumed - stream.avail_in;
        produced += out.size() - stream.avail_out;
        stop();
        throw Error(
            fmt::format("bad deflate data ({})", stream.msg == nullptr ? "cut" : stream.msg),
            place(self, at));
      }
    }
    const std::size_t made = out.size() - stream.avail_out;
    produced += made;
    return made;
  }

  /// Decodes up to `offset`, or to the end of the stream.
  void skip_to(const Inflate& self, std::uint64_t offset) {
    std::vector<std::byte> skipped(std::min<std::uint64_t>(kSkip, offset - produced));
    while (produced < offset) {
      const std::uint64_t step = std::min<std::uint64_t>(skipped.size(), offset - produced);
      if (decode(self, std::span(skipped).first(static_cast<std::size_t>(step))) == 0) return;
    }
  }

  /// Fills `out` with what comes next, which must be the bytes from `offset` on.
  void fill(const Inflate& self, std::span<std::byte> out, std::uint64_t offset) {
    for (std::size_t done = 0; produced == offset + done && done < out.size();) {
      // zlib counts in 32 bits
      const std::size_t step = std::min(out.size() - done, std::size_t{1} << 30);
      const std::size_t made = decode(self, out.subspan(done, step));
      if (made == 0) break;
      done += made;
    }
    if (produced == offset + out.size()) return;
    throw Error(
        fmt::format("deflate data ends after {} bytes, {} are declared", produced, self.size_),
        self.where(offset));
  }

  void check_end(const Inflate& self) {
    std::array<std::byte, 1> extra{};
    if (produced != self.size_ || decode(self, extra) == 0) return;
    stop();
    throw Error(fmt::format("deflate data goes on after the declared {} bytes", self.size_),
                self.where(self.size_));
  }

  void read_blocks(const Inflate& self, std::uint64_t offset, std::span<std::byte> out) {
    while (!out.empty()) {
      const std::uint64_t first = offset / kInflateBlock;
      if (held != first) load(self, first);
      const std::uint64_t inside = offset - first * kInflateBlock;
      if (broken && (inside + out.size() > block.size() || offset + out.size() == self.size_)) {
        throw Error(*broken);
      }
      const std::size_t count =
          std::min<std::size_t>(out.size(), block.size() - static_cast<std::size_t>(inside));
      std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(inside), count, out.begin());
      out = out.subspan(count);
      offset += count;
    }
  }

  /// Decodes a block, from the last mark before it, and leaves a mark at each that comes by.
  void load(const Inflate& self, std::uint64_t index) {
    held.reset();  // until all of it went well
    broken.reset();
    const auto mark = std::min<std::size_t>(static_cast<std::size_t>(index), marks.size());
    const bool near = started && produced % kInflateBlock == 0 &&
                      produced / kInflateBlock <= index && produced / kInflateBlock >= mark;
    if (!near) mark == 0 ? restart() : resume(marks[mark - 1]);
    while (true) {
      const std::uint64_t at = produced / kInflateBlock;
      if (at == marks.size() + 1) leave_mark();
      block.resize(static_cast<std::size_t>(std::min(kInflateBlock, self.size_ - produced)));
      const std::uint64_t start = produced;
      try {
        fill(self, block, start);
        check_end(self);
      } catch (const Error& error) {  // what came before it is there all the same
        if (at != index) throw;
        block.resize(static_cast<std::size_t>(produced - start));
        broken = error;
        if (block.empty()) throw;
      }
      if (at == index) break;
    }
    held = index;
  }

  /// The stream's state where a block begins, less the input it had not taken yet.
  struct Mark {
    z_stream stream{};
    std::uint64_t produced = 0, consumed = 0;

    Mark() = default;
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
    ~Mark() {
      if (stream.state != nullptr) inflateEnd(&stream);
    }
  };

  void leave_mark() {
    auto mark = std::make_unique<Mark>();
    if (inflateCopy(&mark->stream, &stream) != Z_OK) throw Error("zlib cannot start");
    mark->produced = produced;
    mark->consumed = consumed - stream.avail_in;
    marks.push_back(std::move(mark));
  }

  void resume(const std::unique_ptr<Mark>& mark) {
    stop();
    stream = {};
    if (inflateCopy(&stream, &mark->stream) != Z_OK) throw Error("zlib cannot start");
    started = true;
    ended = false;
    stream.avail_in = 0;
    produced = mark->produced;
    consumed = mark->consumed;
  }

  int backwards = 0;                         ///< times that somebody read back
  std::vector<std::byte> block;              ///< the one that was decoded last
  std::optional<std::uint64_t> held;         ///< its number; none: it is not one
  std::optional<Error> broken;               ///< how it ends
  std::vector<std::unique_ptr<Mark>> marks;  ///< of blocks 1, 2, ..

  static Where place(const Inflate& self, std::uint64_t at) {
    Where found = self.whole_->where(at);
    if (found.object.empty()) found.object = self.object_;
    return found;
  }
};

Inflate::Inflate(const Source& whole, std::uint64_t begin, std::uint64_t packed, std::uint64_t size,
                 std::string object)
    : whole_(&whole),
      begin_(begin),
      packed_(packed),
      size_(size),
      object_(std::move(object)),
      decoder_(std::make_unique<Decoder>()) {
  if (!within(begin, packed, whole.size())) {
    throw Error(fmt::format("{} packed bytes from {} on are outside of {} bytes", packed, begin,
                            whole.size()),
                {whole.where(0).file, begin, object_});
  }
}

Inflate::~Inflate() = default;

Where Inflate::where(std::uint64_t) const { return Decoder::place(*this, begin_); }

void Inflate::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (!within(offset, out.size(), size_)) {
    throw Error(fmt::format("{} bytes are wanted at {}, there are {}", out.size(), offset, size_),
                where(offset));
  }
  const std::lock_guard hold(decoder_->lock);
  Decoder& decoder = *decoder_;
  if (offset < decoder.produced && decoder.started) ++decoder.backwards;
  if (decoder.backwards > kRestarts) return decoder.read_blocks(*this, offset, out);
  if (!decoder.started || offset < decoder.produced) decoder.restart();
  decoder.skip_to(*this, offset);
  decoder.fill(*this, out, offset);
  decoder.check_end(*this);
}

}  // namespace ttcheck::formats
