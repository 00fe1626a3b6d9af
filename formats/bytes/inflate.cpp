#include "formats/bytes/inflate.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kInput = std::size_t{64} * 1024;
constexpr std::size_t kSkip = std::size_t{64} * 1024;

}  // namespace

/// Where the stream stands. One at a time: the lock is held for a whole read.
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

  void restart() {
    if (started) inflateEnd(&stream);
    started = false;
    stream = {};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw Error("zlib cannot start");
    started = true;
    ended = false;
    produced = consumed = 0;
  }

  /// Decodes up to out.size() bytes; fewer only at the end of the stream or of the input.
  std::size_t decode(const Inflate& self, std::span<std::byte> out) {
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    while (stream.avail_out > 0 && !ended) {
      if (stream.avail_in == 0 && consumed < self.packed_) {
        input.resize(
            static_cast<std::size_t>(std::min<std::uint64_t>(kInput, self.packed_ - consumed)));
        self.whole_->read(self.begin_ + consumed, input);
        consumed += input.size();
        stream.next_in = reinterpret_cast<Bytef*>(input.data());
        stream.avail_in = static_cast<uInt>(input.size());
      }
      const int status = inflate(&stream, Z_NO_FLUSH);
      // Of input that is used up zlib may hold much output still; only when it makes no more is it
      // cut.
      if (status == Z_BUF_ERROR) break;
      if (status == Z_STREAM_END) ended = true;
      if (status != Z_OK && status != Z_STREAM_END) {
        const std::uint64_t at = self.begin_ + consumed - stream.avail_in;
        started = false;
        inflateEnd(&stream);
        throw Error(
            fmt::format("bad deflate data ({})", stream.msg == nullptr ? "cut" : stream.msg),
            place(self, at));
      }
    }
    const std::size_t made = out.size() - stream.avail_out;
    produced += made;
    return made;
  }

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
  if (!decoder.started || offset < decoder.produced) decoder.restart();
  std::array<std::byte, 1> extra{};
  std::vector<std::byte> skipped(std::min<std::uint64_t>(kSkip, offset - decoder.produced));
  while (decoder.produced < offset) {
    const std::uint64_t step = std::min<std::uint64_t>(skipped.size(), offset - decoder.produced);
    const std::span<std::byte> part = std::span(skipped).first(static_cast<std::size_t>(step));
    if (decoder.decode(*this, part) == 0) break;
  }
  const std::uint64_t start = decoder.produced;
  for (std::size_t done = 0; start == offset && done < out.size();) {
    // zlib counts in 32 bits
    const std::size_t step = std::min(out.size() - done, std::size_t{1} << 30);
    const std::size_t made = decoder.decode(*this, out.subspan(done, step));
    if (made == 0) break;
    done += made;
  }
  if (decoder.produced != offset + out.size()) {
    throw Error(
        fmt::format("deflate data ends after {} bytes, {} are declared", decoder.produced, size_),
        where(offset));
  }
  if (decoder.produced == size_ && decoder.decode(*this, extra) != 0) {
    decoder.started = false;
    inflateEnd(&decoder.stream);
    throw Error(fmt::format("deflate data goes on after the declared {} bytes", size_),
                where(offset));
  }
}

}  // namespace ttcheck::formats
