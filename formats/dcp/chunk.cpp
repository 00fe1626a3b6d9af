// SPDX-License-Identifier: Apache-2.0
// A chunk is stored as a whole torch.save archive, so that where its numbers begin is known only
// once the archive is parsed. The first read does that, under a lock, and holds dtype and shape
// against the table. A tensor whose values lie in the file as they are (little-endian, row-major,
// not compressed) is from then on read straight from there, and of its archive one offset is
// kept. Of any other, such as one with strides or one that a transform went over, the archive
// stays open: a read gathers the elements that its bytes touch in groups of eight, which end on a
// byte in every dtype.
//
// An archive that is damaged or holds something else makes each read throw, while `where` falls
// back to the start of the item. A transform may give out the chunk's size and 16 MiB at most. A
// read verifies no checksums: `check_sums` goes over the archive for that.

#include "formats/dcp/chunk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/checked.hpp"
#include "core/model/gather.hpp"
#include "formats/bytes/slice.hpp"
#include "formats/bytes/zip.hpp"
#include "formats/bytes/zstd.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
constexpr std::uint64_t kNotPlain = kUnknown - 1;
constexpr std::uint64_t kArchive = std::uint64_t{16} << 20;  ///< an archive's bytes beside the data
constexpr std::string_view kZstd = "stream.zstd/";  ///< _extension.py, ZStandard; then a version

bool is_plain(const Piece& piece, const Shape& shape) {
  if (piece.order != ByteOrder::little || piece.flag != ValueFlag::none) return false;
  if (piece.source->sequential()) return false;
  if (piece.cells.empty()) return true;
  const Cell& cell = piece.cells.front();
  return piece.cells.size() == 1 && cell.start == 0 && cell.box == whole(shape) &&
         cell.strides == row_major_strides(shape);
}

}  // namespace

DcpStream::DcpStream(const Source& file, const DcpPlace& place,
                     const std::vector<std::string>& transforms, std::uint64_t limit,
                     const std::string& object) {
  layers_.push_back(std::make_unique<Slice>(file, place.offset, place.length, object));
  for (const std::string& transform : transforms) {
    if (!transform.starts_with(kZstd)) {
      throw Error::unable(
          fmt::format("the bytes went through '{}', which is not known here", transform),
          layers_.front()->where(0));
    }
    layers_.push_back(std::make_unique<Zstd>(*layers_.back(), limit, object));
  }
}

void DcpStream::settle() {
  for (const auto& layer : layers_) {
    if (auto* zstd = dynamic_cast<Zstd*>(layer.get())) zstd->forget_ends();
  }
}

struct DcpChunkSource::Opened {
  DcpStream stream;
  TorchFile file;
  Tensor tensor;
};

DcpChunkSource::DcpChunkSource(const Source& file, const DcpTensor& tensor, const DcpChunk& chunk,
                               const std::vector<std::string>& transforms)
    : file_(&file),
      tensor_(&tensor),
      chunk_(&chunk),
      transforms_(&transforms),
      size_(byte_size(*tensor.dtype, element_count(chunk.sizes))),
      begin_(kUnknown) {}

DcpChunkSource::~DcpChunkSource() = default;

Where DcpChunkSource::start() const {
  Where place = file_->where(chunk_->place->offset);
  place.object = tensor_->name;
  return place;
}

std::uint64_t DcpChunkSource::resolve() const {
  if (const std::uint64_t known = begin_.load(); known != kUnknown) return known;
  const std::lock_guard hold(mutex_);
  if (const std::uint64_t known = begin_.load(); known != kUnknown) return known;
  const DcpPlace& place = *chunk_->place;
  DcpStream stream(*file_, place, *transforms_, checked_add(size_, kArchive), tensor_->name);
  TorchFile torch = read_torch(stream.bytes(), 0);
  for (const Finding& finding : torch.findings()) {
    if (finding.severity != Severity::error) continue;
    throw Error("the item's archive: " + finding.message, finding.where.value_or(start()));
  }
  if (!TorchFile::is_tensor(torch.root())) throw Error("the item holds no tensor", start());
  TorchTensor held = torch.tensor(torch.root());
  if (!held.opaque.empty()) throw Error(fmt::format("the item is a {}", held.opaque), start());
  if (held.dtype != *tensor_->dtype || held.shape != chunk_->sizes) {
    throw Error(fmt::format("the item holds {}[{}], the table says {}[{}]", name(held.dtype),
                            fmt::join(held.shape, ", "), name(*tensor_->dtype),
                            fmt::join(chunk_->sizes, ", ")),
                start());
  }
  const Where at = held.piece.where();
  if (transforms_->empty() && is_plain(held.piece, held.shape) && at.offset &&
      *at.offset >= place.offset && within(*at.offset - place.offset, size_, place.length)) {
    begin_ = *at.offset;
    return *at.offset;
  }
  Tensor tensor;
  tensor.dtype = held.dtype;
  tensor.shape = held.shape;
  tensor.pieces.push_back(std::move(held.piece));
  stream.settle();
  opened_ = std::make_unique<Opened>(std::move(stream), std::move(torch), std::move(tensor));
  begin_ = kNotPlain;
  return kNotPlain;
}

void DcpChunkSource::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (!within(offset, out.size(), size_)) {
    throw Error(fmt::format("{} bytes are wanted at {}, there are {}", out.size(), offset, size_),
                start());
  }
  if (out.empty()) return;
  const std::uint64_t begin = resolve();
  if (begin != kNotPlain) return file_->read(begin + offset, out);
  const Tensor& tensor = opened_->tensor;
  // Eight elements end on a byte in all types.
  const std::uint64_t group = byte_size(tensor.dtype, 8);
  const std::uint64_t first = offset / group;
  const std::uint64_t last = (offset + out.size() + group - 1) / group;
  const auto from = static_cast<std::int64_t>(first) * 8;
  const std::int64_t to =
      std::min(static_cast<std::int64_t>(last) * 8, element_count(tensor.shape));
  if (offset == first * group && out.size() == byte_size(tensor.dtype, to - from)) {
    return gather(tensor, from, to - from, out);
  }
  std::vector<std::byte> groups(byte_size(tensor.dtype, to - from));
  gather(tensor, from, to - from, groups);
  std::memcpy(out.data(), groups.data() + (offset - first * group), out.size());
}

void DcpChunkSource::check_sums(std::vector<Finding>& findings) const {
  const DcpPlace& place = *chunk_->place;
  try {
    const Slice bytes(*file_, place.offset, place.length, tensor_->name);
    if (!looks_like_zip(bytes)) return;
    const Zip zip(bytes);
    std::vector<Finding> found = zip.findings();
    std::ranges::move(check_crc(zip, place.length), std::back_inserter(found));
    for (Finding& finding : found) {
      if (finding.severity == Severity::note) continue;
      finding.tensor = tensor_->name;
      findings.push_back(std::move(finding));
    }
  } catch (const Error&) {
    return;  // said when the chunk is read
  }
}

Where DcpChunkSource::where(std::uint64_t offset) const {
  try {
    const std::uint64_t begin = resolve();
    if (begin == kNotPlain) return start();
    Where place = file_->where(begin + offset);
    place.object = tensor_->name;
    return place;
  } catch (const Error&) {
    return start();
  }
}

}  // namespace ttcheck::formats
