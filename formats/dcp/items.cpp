// SPDX-License-Identifier: Apache-2.0
// The table alone says what the bytes of a data file are, so each item that is taken leaves its
// range with the file, and what the ranges leave or share is found at the end by sorting them
// once: a gap is TT503, an overlap TT504. Items of one file may claim twice its bytes, all
// together; an item beyond that is lost, which bounds what claims of the same bytes cost.
//
// A safetensors file is known by its first bytes or, where other values lie in front of it, by
// the one offset that the table gives all tensors in that file. Its own header then says where a
// tensor lies. What a file lacks is lost item by item and said in one line a file; a rank that
// has no data file left, while other ranks have theirs, is missing. Of one table's archives 4096
// at most, of 64 MiB together, have their checksums verified.

#include "formats/dcp/items.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/parallel.hpp"
#include "formats/bytes/cursor.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/readers/beside.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kDataEnd = ".distcp";
constexpr std::uint64_t kLongestValue = std::uint64_t{256} << 20;
constexpr std::size_t kMaxChecked = 4096;  ///< archives whose checksums are verified

/// Whether what lies from `begin` on is a safetensors file.
bool is_safetensors(const Source& source, std::uint64_t begin) {
  std::array<std::byte, 9> head{};
  if (!within(begin, head.size(), source.size())) return false;
  source.read(begin, head);
  Cursor cursor(head, "");
  const std::uint64_t length = cursor.u64("header length");
  return length >= 2 && length <= source.size() - begin - 8 && head[8] == std::byte{'{'};
}

}  // namespace

std::int32_t rank_of_data_file(std::string_view name) {
  const std::size_t start = name.rfind("__");
  if (!name.ends_with(kDataEnd) || start == std::string_view::npos) return kNoRank;
  const std::string_view numbers =
      name.substr(start + 2, name.size() - kDataEnd.size() - start - 2);
  std::int32_t rank = kNoRank;
  std::int32_t part = 0;
  const char* const last = numbers.data() + numbers.size();
  const auto [middle, bad] = std::from_chars(numbers.data(), last, rank);
  if (bad != std::errc{} || rank < 0 || middle == last || *middle != '_') return kNoRank;
  const auto [end, worse] = std::from_chars(middle + 1, last, part);
  return worse == std::errc{} && end == last && part >= 0 ? rank : kNoRank;
}

DcpData::DcpData(const Root& root, std::shared_ptr<const DcpMetadata> metadata)
    : root_(root), metadata_(std::move(metadata)), files_(metadata_->files.size()) {
  for (std::size_t i = 0; i < files_.size(); ++i) open(metadata_->files[i], files_[i]);
  find_headers();
  find_gone();
}

DcpData::~DcpData() = default;

std::uint64_t DcpData::size() const {
  std::uint64_t all = 0;
  for (const File& file : files_) {
    if (file.source != nullptr) all = checked_add(all, file.source->size());
  }
  return all;
}

void DcpData::open(const std::string& path, File& file) {
  file.rank = rank_of_data_file(path);
  try {
    if (path.find('/') != std::string::npos) {
      throw Error(fmt::format("'{}' is no name of a file beside the table and is not opened", path),
                  metadata_->where);
    }
    file.source = &root_.file(path);
    if (is_safetensors(*file.source, 0)) read_header(file, *file.source);
  } catch (const Error& error) {
    file.fault = error.at({root_.given() + "/" + path, {}, {}});
  }
}

void DcpData::read_header(File& file, const Source& source) {
  file.header = read_safetensors_header(source);
  for (std::size_t i = 0; i < file.header->tensors.size(); ++i) {
    file.entries.try_emplace(file.header->tensors[i].name, i);
  }
}

/// Finds the headers of files whose tensors all have one place, where a safetensors file begins.
void DcpData::find_headers() {
  std::vector<std::optional<std::uint64_t>> places(files_.size());
  std::vector<bool> several(files_.size());
  for (const DcpTensor& tensor : metadata_->tensors) {
    for (const DcpChunk& chunk : tensor.chunks) {
      if (!chunk.place) continue;
      const std::size_t at = chunk.place->file;
      several[at] = several[at] || places[at].value_or(chunk.place->offset) != chunk.place->offset;
      places[at] = chunk.place->offset;
    }
  }
  for (std::size_t i = 0; i < files_.size(); ++i) {
    File& file = files_[i];
    if (!places[i] || several[i] || file.source == nullptr || file.fault || file.header) continue;
    try {
      if (!is_safetensors(*file.source, *places[i])) continue;
      file.header_at = *places[i];
      file.tail = std::make_unique<Slice>(*file.source, file.header_at,
                                          file.source->size() - file.header_at, "");
      read_header(file, *file.tail);
    } catch (const Error& error) {
      file.fault = error.at({root_.given() + "/" + metadata_->files[i], {}, {}});
    }
  }
}

/// A rank with any data file here, named by the table or not, is no missing one.
void DcpData::find_gone() {
  if (std::ranges::none_of(files_, [](const File& file) { return file.source != nullptr; })) return;
  std::set<std::int32_t> here;
  for (const Entry& entry : root_.list()) here.insert(rank_of_data_file(entry.path));
  for (std::size_t i = 0; i < files_.size(); ++i) {
    File& file = files_[i];
    const bool beside = metadata_->files[i].find('/') == std::string::npos;
    file.gone = beside && file.rank != kNoRank && !here.contains(file.rank);
  }
}

Error DcpData::fault_of(const DcpPlace& place, const std::string& name) const {
  const File& file = files_[place.file];
  if (file.fault) return *file.fault;
  const std::uint64_t size = file.source->size();
  Where where = file.source->where(std::min(place.offset, size));
  where.object = name;
  if (place.length > 0 && within(place.offset, place.length, size)) {
    return Error(fmt::format("the bytes of {} are other items', too: together they claim more than "
                             "{} times the file",
                             name, ClaimedBytes::kTimes),
                 std::move(where));
  }
  return Error(fmt::format("the file ends at {}, {} is said to be {} bytes from {} on", size, name,
                           place.length, place.offset),
               std::move(where));
}

/// Nothing when the place is within its file, of which not too much is claimed already; else the
/// loss is counted.
std::optional<Error> DcpData::claim(const DcpPlace& place, const std::string& name) {
  File& file = files_[place.file];
  const bool here =
      !file.fault && place.length > 0 && within(place.offset, place.length, file.source->size());
  if (here && !file.claims) file.claims.emplace(file.source->size());
  if (here && file.claims->take(place.length)) {
    file.ranges.emplace_back(place.offset, place.offset + place.length);
    return std::nullopt;
  }
  return count_lost(file, name, fault_of(place, name));
}

Error DcpData::count_lost(File& file, const std::string& name, Error error) {
  if (file.lost++ == 0) file.first_lost = error;
  last_lost_ = {name, error};
  return error;
}

std::optional<Piece> DcpData::piece(const DcpTensor& tensor, std::size_t chunk) {
  const DcpChunk& wanted = tensor.chunks[chunk];
  if (!wanted.place) return std::nullopt;
  if (!tensor.dtype) {
    pass(wanted.place, tensor.name);  // the table names its bytes all the same
    return std::nullopt;
  }
  File& file = files_[wanted.place->file];
  if (file.header) return from_header(file, tensor, wanted);
  if (claim(*wanted.place, tensor.name)) return std::nullopt;
  const std::uint64_t needed = byte_size(*tensor.dtype, element_count(wanted.sizes));
  if (metadata_->transforms[wanted.place->transforms].empty() && needed > wanted.place->length) {
    Where where = file.source->where(wanted.place->offset);
    where.object = tensor.name;
    count_lost(file, tensor.name,
               Error(fmt::format("a chunk of {} bytes is said to lie in {} bytes", needed,
                                 wanted.place->length),
                     std::move(where)));
    return std::nullopt;
  }
  chunks_.push_back(std::make_unique<DcpChunkSource>(
      *file.source, tensor, wanted, metadata_->transforms[wanted.place->transforms]));
  Piece piece;
  piece.source = chunks_.back().get();
  piece.dtype = *tensor.dtype;
  piece.rank = file.rank;
  return piece;
}

std::optional<Piece> DcpData::from_header(File& file, const DcpTensor& tensor,
                                          const DcpChunk& chunk) {
  const auto entry = file.entries.find(tensor.name);
  std::string problem;
  if (entry == file.entries.end()) {
    problem = fmt::format("{} is not in this file, where the table says it is", tensor.name);
  } else {
    const SafetensorsEntry& held = file.header->tensors[entry->second];
    file.served.resize(file.header->tensors.size());
    if (file.served[entry->second]) {
      problem = fmt::format("the table places two chunks of {} on its one entry", tensor.name);
    } else if (held.dtype == *tensor.dtype && held.shape == chunk.sizes) {
      Piece piece;
      piece.source = file.source;
      piece.offset = checked_add(file.header_at, held.begin);
      piece.dtype = held.dtype;
      piece.rank = file.rank;
      file.served[entry->second] = true;
      return piece;
    } else {
      problem = fmt::format("{} is {}[{}] here, the table says {}[{}]", tensor.name,
                            name(held.dtype), fmt::join(held.shape, ", "), name(*tensor.dtype),
                            fmt::join(chunk.sizes, ", "));
    }
  }
  Where where = file.source->where(0);
  where.object = tensor.name;
  count_lost(file, tensor.name, Error(std::move(problem), std::move(where)));
  return std::nullopt;
}

std::optional<DcpStream> DcpData::bytes(const DcpItem& item) {
  if (!item.place) {
    throw Error(fmt::format("the table does not say where {} lies", item.name), metadata_->where);
  }
  const File& file = files_[item.place->file];
  if (file.gone) {
    gone_values_.push_back(item.name);
    return std::nullopt;
  }
  if (auto error = claim(*item.place, item.name)) throw std::move(*error);
  return DcpStream(*file.source, *item.place, metadata_->transforms[item.place->transforms],
                   kLongestValue, item.name);
}

void DcpData::pass(const std::optional<DcpPlace>& place, const std::string& name) {
  if (place && !files_[place->file].header) claim(*place, name);
}

void DcpData::lose(const DcpTensor& tensor, State& state) const {
  ++state.unreadable;
  for (const DcpChunk& chunk : tensor.chunks) {
    if (!chunk.place || !tensor.dtype) continue;
    const File& file = files_[chunk.place->file];
    Finding finding =
        file.gone
            ? found(Code::omission,
                    fmt::format("{} lies on rank {}, which is missing", tensor.name, file.rank),
                    metadata_->where, tensor.name)
        : last_lost_.first == tensor.name
            ? unreadable(last_lost_.second, tensor.name)
            : unreadable(fault_of(*chunk.place, tensor.name), tensor.name);
    if (file.rank != kNoRank) finding.ranks = {file.rank};
    state.findings.push_back(std::move(finding));
    return;
  }
  if (!tensor.dtype) {
    Finding finding = damaged(metadata_->where, fmt::format("{} is of type {}, which is not read",
                                                            tensor.name, tensor.dtype_name));
    finding.tensor = tensor.name;
    return state.findings.push_back(std::move(finding));
  }
  state.findings.push_back(found(Code::omission,
                                 fmt::format("the table does not say where {} lies", tensor.name),
                                 metadata_->where, tensor.name));
}

void DcpData::report(State& state) {
  report_losses(state);
  report_gone(state);
  report_sums(state);
  for (File& file : files_) {
    if (file.source != nullptr && !file.fault) report_gaps(file, state);
  }
}

/// One line for each file that lacks something; by rank, where the name tells it, so that holes
/// are known to come from there.
void DcpData::report_losses(State& state) const {
  for (const File& file : files_) {
    if (file.lost == 0 || file.gone) continue;
    const Error error = file.first_lost->saying(
        fmt::format("{} ({} of its items cannot be read)", file.first_lost->message(), file.lost));
    const bool first = file.rank != kNoRank && !state.unreadable_ranks.contains(file.rank);
    if (first) {
      state.unreadable_ranks.emplace(file.rank, error);
    } else {
      state.findings.push_back(unreadable(error));
    }
  }
}

void DcpData::report_gone(State& state) const {
  std::set<std::int32_t> missing(state.missing_ranks.begin(), state.missing_ranks.end());
  for (const File& file : files_) {
    if (file.gone) missing.insert(file.rank);
  }
  const std::size_t listed = std::min(missing.size(), kMaxRanksListed);
  state.missing_ranks.assign(missing.begin(),
                             std::next(missing.begin(), static_cast<std::ptrdiff_t>(listed)));
  if (gone_values_.empty()) return;
  state.findings.push_back(
      found(Code::omission, fmt::format("values lie on missing ranks: {}", named(gone_values_)),
            metadata_->where));
}

void DcpData::report_sums(State& state) const {
  std::uint64_t budget = kChecksumBudget;
  std::vector<const DcpChunkSource*> checked;
  std::size_t skipped = 0;
  for (const auto& chunk : chunks_) {
    if (!chunk->has_sums() || checked.size() == kMaxChecked || chunk->stored() > budget) {
      ++skipped;
      continue;
    }
    budget -= chunk->stored();
    checked.push_back(chunk.get());
  }
  std::vector<std::vector<Finding>> wrong(checked.size());
  parallel_for(checked.size(), [&](std::size_t i) { checked[i]->check_sums(wrong[i]); });
  for (std::vector<Finding>& findings : wrong) {
    std::ranges::move(findings, std::back_inserter(state.findings));
  }
  if (skipped == 0) return;
  state.findings.push_back(
      remark(metadata_->where,
             fmt::format("checksums of {} of {} items were not verified: too many to read, or "
                         "compressed",
                         skipped, chunks_.size()),
             Code::checksum));
}

void DcpData::report_gaps(File& file, State& state) const {
  if (file.header) {
    for (Finding& finding : file.header->findings) state.findings.push_back(finding);
    state.bytes_unclaimed = checked_add(state.bytes_unclaimed, file.header->unclaimed);
  }
  std::sort(file.ranges.begin(), file.ranges.end());
  std::uint64_t end = 0;
  std::uint64_t gaps = 0;
  std::optional<std::uint64_t> first_gap;
  std::optional<std::uint64_t> first_overlap;
  const auto gap = [&](std::uint64_t from, std::uint64_t to) {
    if (from >= to) return;
    gaps += to - from;
    if (!first_gap) first_gap = from;
  };
  for (const auto& [begin, stop] : file.ranges) {
    if (begin < end && !first_overlap) first_overlap = begin;
    gap(end, begin);
    end = std::max(end, stop);
  }
  gap(end, file.tail ? file.header_at : file.header ? 0 : file.source->size());
  if (first_overlap) {
    state.findings.push_back(odd(file.source->where(*first_overlap),
                                 "two items of the table share bytes of this file", Code::overlap));
  }
  if (gaps == 0) return;
  state.bytes_unclaimed = checked_add(state.bytes_unclaimed, gaps);
  state.findings.push_back(
      odd(file.source->where(*first_gap),
          fmt::format("{} bytes of this file belong to no item of the table", gaps), Code::torn));
}

}  // namespace ttcheck::formats
