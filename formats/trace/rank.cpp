// SPDX-License-Identifier: Apache-2.0
// A record is a JSON object beside its array: in HDF5 the attribute `ttcheck` of a dataset, in
// safetensors the text under the tensor's name in `__metadata__`, where `ttcheck_trace` gives the
// version. The header of safetensors shows at the ninth byte; otherwise HDF5's signature is
// looked for in the first 32 KiB, since a user block may lie before it. Then both go one way:
// records are sorted by `seq`, those without `call` are numbered in that order, and one whose
// identity another has is left out; the micro-batch that `dims` cuts along counts as a part of
// the identity. An array without a record and a record without an array are left out too. Another
// version, or a container that cannot be read, is an Error. Each spelling of a dims line is
// parsed once for all records.

#include "formats/trace/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/name_map.hpp"
#include "formats/arrays/safetensors_header.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/hdf5.hpp"
#include "formats/trace/record.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kAttribute = "ttcheck";
constexpr std::string_view kVersionKey = "ttcheck_trace";

class Reader {
 public:
  Reader(const Source& file, std::int32_t rank, const Coordinates& at)
      : file_(file), rank_(rank), at_(at) {}

  TraceRankFile read() {
    if (is_hdf5()) {
      read_hdf5_payload();
    } else {
      read_safetensors_payload();
    }
    finish();
    out_.findings.insert(out_.findings.begin(), std::make_move_iterator(whole_.begin()),
                         std::make_move_iterator(whole_.end()));
    for (Finding& finding : findings_.take()) out_.findings.push_back(std::move(finding));
    return std::move(out_);
  }

 private:
  template <std::size_t kSize>
  std::span<std::byte> head(std::array<std::byte, kSize>& bytes) const {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kSize, file_.size()));
    const std::span<std::byte> there = std::span(bytes).first(size);
    file_.read(0, there);
    return there;
  }

  /// Behind a user block its signature may lie far in; a header of JSON shows at once.
  bool is_hdf5() const {
    std::array<std::byte, 9> start{};
    if (head(start).size() == start.size() && start.back() == std::byte{'{'}) return false;
    std::array<std::byte, std::size_t{1} << 15> more{};
    return looks_like_hdf5(head(more));
  }

  Where place(std::string object) const {
    Where where = file_.where(0);
    where.offset.reset();
    where.object = std::move(object);
    return where;
  }

  void leave_out(std::string message, const std::string& object) {
    ++out_.unreadable;
    findings_.add(mine(found(Code::unreadable, std::move(message), place(object))));
  }

  Finding mine(Finding finding) const {
    finding.ranks = {rank_};
    return finding;
  }

  Record stored(DType dtype, Shape shape, const Source& source, std::uint64_t offset) const {
    Record record;
    record.dtype = dtype;
    record.shape = std::move(shape);
    record.at = at_;
    record.piece.source = &source;
    record.piece.offset = offset;
    record.piece.dtype = dtype;
    record.piece.rank = rank_;
    return record;
  }

  void add(std::string_view json, Record record, const std::string& object) {
    try {
      parsed_.push_back(parse_trace_record(json, std::move(record), place(object), dims_));
    } catch (const Error& error) {
      leave_out(error.message(), object);
    }
  }

  void read_hdf5_payload() {
    auto contents = std::make_shared<Hdf5Contents>(read_hdf5(file_, kAttribute));
    out_.owner = contents;
    for (Finding& finding : contents->findings) whole_.push_back(mine(std::move(finding)));
    for (const Hdf5Dataset& dataset : contents->datasets) {
      if (!dataset.problem.empty()) {
        leave_out(dataset.problem, dataset.path);
      } else if (!dataset.text) {
        leave_out("dataset has no attribute ttcheck, so it is no record", dataset.path);
      } else {
        Record record = stored(dataset.dtype, dataset.shape, *dataset.source, dataset.offset);
        record.piece.order = dataset.order;
        add(*dataset.text, std::move(record), dataset.path);
      }
    }
  }

  void read_safetensors_payload() {
    const SafetensorsHeader header = read_safetensors_header(file_);
    for (const Finding& finding : header.findings) whole_.push_back(mine(finding));
    out_.unclaimed = header.unclaimed;
    out_.unreadable = header.unreadable;
    NameViewMap<std::string_view> records;
    for (const auto& [key, text] : header.metadata) {
      if (key == kVersionKey && text != "1") {
        throw Error(fmt::format("trace version {} where 1 is known", text), place(key));
      }
      if (key != kVersionKey) records.emplace(key, text);
    }
    for (const SafetensorsEntry& entry : header.tensors) {
      const auto text = records.find(entry.name);
      if (text == records.end()) {
        leave_out("tensor has no record in __metadata__", entry.name);
        continue;
      }
      add(text->second, stored(entry.dtype, entry.shape, file_, entry.begin), entry.name);
      records.erase(text);
    }
    // Records whose tensor is missing or was refused; other metadata is no object.
    std::set<std::string_view> rest;
    for (const auto& [key, text] : records) {
      if (text.starts_with('{')) rest.insert(key);
    }
    for (const std::string_view key : rest)
      leave_out("record has no readable tensor", std::string(key));
  }

  using Key = std::tuple<Identity, std::int64_t>;
  static Key key_of(const Record& record) { return {record.identity, coordinate(record.at, "mb")}; }

  void finish() {
    std::ranges::stable_sort(parsed_, {},
                             [](const ParsedRecord& one) { return one.record.trace->seq; });
    number_calls();
    std::set<Key> seen;
    for (ParsedRecord& one : parsed_) {
      if (seen.insert(key_of(one.record)).second) {
        out_.records.push_back(std::move(one.record));
      } else {
        const Identity& identity = one.record.identity;
        leave_out(
            fmt::format("record seq {} repeats the identity of another", one.record.trace->seq),
            fmt::format("{}:{}", name(identity.phase), identity.name));
      }
    }
  }

  void number_calls() {
    std::map<Key, std::int32_t> next;
    std::int64_t repeats = 0;
    std::string first;
    for (ParsedRecord& one : parsed_) {
      if (one.call_given) continue;
      std::int32_t& call = next[key_of(one.record)];
      one.record.identity.call = call++;
      if (call == 1) continue;
      if (repeats++ == 0) first = one.record.identity.name;
    }
    if (repeats == 0) return;
    Finding finding = mine(found(
        Code::unreadable, fmt::format("{} repeats without `call` are numbered by `seq`", repeats),
        place(first)));
    finding.severity = Severity::warning;
    finding.incomplete = false;
    findings_.add(std::move(finding));
  }

  const Source& file_;
  std::int32_t rank_;
  const Coordinates& at_;
  DimsCache dims_;
  std::vector<ParsedRecord> parsed_;
  std::vector<Finding> whole_;  // of the container
  Findings findings_;
  TraceRankFile out_;
};

}  // namespace

TraceRankFile read_trace_rank(const Source& file, std::int32_t rank, const Coordinates& at) {
  return Reader(file, rank, at).read();
}

}  // namespace ttcheck::formats
