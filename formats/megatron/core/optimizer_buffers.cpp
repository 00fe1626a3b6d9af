// SPDX-License-Identifier: Apache-2.0
// A buffer is its buckets one behind the other, by their numbers. The row of masters (`param`) is
// held against the weights in each order of modules; the order with fewest copies that are not
// the weights counts, and one with none ends the search. Moments are cut in the same places, if
// their buckets have the sizes that those of the masters have. Of a gathered object the order
// counts that gives most slices, then the one that gives fewest findings.
// In the buffer a parameter is the parts that its group holds, one behind the other. A record is
// the range of one part in one chunk, so that what lost chunks held stays open. Rows behind the
// true vocabulary give none.
// A buffer without masters, or whose masters fit in no order, is unreadable as a whole. An Error
// takes the records of its buffer back, and the others go on.

#include "formats/megatron/core/optimizer_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/megatron/core/chunk.hpp"
#include "formats/torch/storages.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kGroup = "optimizer.distributed.dp_group_idx_";
constexpr std::string_view kDtype = ".dtype_(torch.";
constexpr std::string_view kBucket = ".bucket_idx_";
constexpr std::string_view kMasters = "param";

constexpr std::array kOrders = {ModuleOrder{false, false}, ModuleOrder{true, false},
                                ModuleOrder{false, true}, ModuleOrder{true, true}};

/// Without experts the later orders are the first ones again.
std::span<const ModuleOrder> orders(const MegatronArgs& args) {
  return std::span(kOrders).first(args.experts > 0 ? kOrders.size() : 2);
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

/// The number of the group, which is taken off with all before it.
std::optional<std::int64_t> take_group(std::string_view& text) {
  const std::size_t at = text.find(kGroup);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kGroup.size());
  return take_number(text);
}

std::optional<DType> torch_name(std::string_view name) {
  if (name == "bfloat16") return DType::bf16;
  if (name == "float16" || name == "half") return DType::f16;
  if (name == "float32" || name == "float") return DType::f32;
  return std::nullopt;
}

std::vector<BufferParameter> parameters_of(const std::vector<GroupParameter>& group) {
  std::vector<BufferParameter> out;
  for (const GroupParameter& one : group) out.push_back(one.parameter);
  return out;
}

std::string suffix_of(std::string_view kind) {
  return fmt::format("@{}", kind == kMasters ? "master" : kind);
}

/// What `chunks` (ascending) hold of a parameter that starts at `start`, as records.
void emit(const GroupParameter& of, const std::string& suffix, DType dtype,
          std::span<const BucketChunk> chunks, std::int64_t start, std::int64_t vocabulary,
          State& state) {
  const bool cut = vocabulary > 0 && megatron_key(of.parameter.name).vocabulary;
  for (const Record& part : of.parts) {
    const std::int64_t begin = start;
    start = checked_add(start, element_count(part.shape));
    Shape block = part.shape;
    Shape logical = part.logical.value_or(part.shape);
    const Extents lo = part.box_lo.value_or(Extents(block.size(), 0));
    if (cut && !block.empty() && logical[0] > vocabulary) {
      logical[0] = vocabulary;
      block[0] = std::clamp<std::int64_t>(vocabulary - lo[0], 0, block[0]);
    }
    const std::int64_t end = begin + element_count(block);
    auto chunk = std::ranges::partition_point(
        chunks, [&](const BucketChunk& one) { return one.begin + one.count <= begin; });
    for (; chunk != chunks.end() && chunk->begin < end; ++chunk) {
      const std::int64_t from = std::max(begin, chunk->begin);
      const std::int64_t count = std::min(end, chunk->begin + chunk->count) - from;
      if (count <= 0) continue;
      Record& record = state.records.emplace_back();
      record.identity.name = of.parameter.name + suffix;
      record.kind = kind_of_name(record.identity.name);
      record.dtype = dtype;
      record.logical = logical;
      record.box_lo = lo;
      record.shape = {count};
      record.flat = FlatRange{block, from - begin};
      record.piece = chunk->piece;
      record.piece.offset = checked_add(record.piece.offset, byte_size(dtype, from - chunk->begin));
    }
  }
}

/// The buckets of one kind of state, one behind the other.
struct Row {
  BufferRow row;
  std::vector<BucketChunk> chunks;
};

Row row_of(const std::vector<const Bucket*>& buckets) {
  Row out;
  for (const Bucket* bucket : buckets) {
    out.row.dtype = bucket->dtype;
    for (BucketChunk chunk : bucket->chunks) {
      chunk.begin = checked_add(out.row.size, chunk.begin);
      out.chunks.push_back(std::move(chunk));
    }
    out.row.size = checked_add(out.row.size, bucket->size);
  }
  std::ranges::sort(out.chunks, {}, &BucketChunk::begin);
  std::int64_t end = 0;
  for (const BucketChunk& chunk : out.chunks) {
    if (chunk.begin > end) out.row.holes.push_back({end, chunk.begin});
    end = std::max(end, checked_add(chunk.begin, chunk.count));
    out.row.pieces.push_back(chunk.piece);
    out.row.pieces.back().cells = {{Box{{chunk.begin}, {chunk.count}}, 0, {1}}};
  }
  if (end < out.row.size) out.row.holes.push_back({end, out.row.size});
  return out;
}

using Kinds = std::map<std::string, std::vector<const Bucket*>>;

class BufferAdder {
 public:
  BufferAdder(GroupParameters& groups, const MegatronArgs& args, const Where& where, State& state)
      : groups_(groups), args_(args), where_(where), state_(state) {}

  void add(const std::string& name, const Kinds& kinds) {
    const auto masters = kinds.find(std::string(kMasters));
    if (masters == kinds.end()) return refuse(name, "has no row of parameters", kinds);
    const std::vector<const Bucket*>& buckets = masters->second;
    const Row row = row_of(buckets);
    std::vector<std::int64_t> sizes;
    for (const Bucket* bucket : buckets) sizes.push_back(bucket->size);
    if (!is_floating(row.row.dtype) || !find(buckets.front()->key, row.row, sizes)) {
      return refuse(name,
                    fmt::format("of {} elements cannot be cut into parameters: no order that the "
                                "writer uses agrees with the weights",
                                row.row.size),
                    kinds);
    }
    for (Finding& finding : findings_of(fit_, row.row.dtype, where_)) {
      state_.findings.push_back(std::move(finding));
    }
    for (const auto& [kind, held] : kinds) cut(name, kind, held, sizes);
  }

 private:
  void refuse(const std::string& name, std::string_view what, const Kinds& kinds) {
    for (const auto& [kind, buckets] : kinds) {
      state_.unreadable += static_cast<std::int64_t>(buckets.size());
    }
    state_.findings.push_back(damaged(where_, fmt::format("the buffer {} {}", name, what)));
  }

  /// The best order of the group's parameters.
  bool find(const BucketKey& key, const BufferRow& row, std::span<const std::int64_t> sizes) {
    bool any = false;
    for (const ModuleOrder order : orders(args_)) {
      auto group = groups_.of(key.group, order);
      auto parameters = parameters_of(group);
      auto fit = fit_buffer(row, key.dtype, parameters, args_, sizes);
      if (!fit || (any && fit->disagree.size() >= fit_.disagree.size())) continue;
      any = true;
      group_ = std::move(group);
      parameters_ = std::move(parameters);
      fit_ = std::move(*fit);
      if (fit_.disagree.empty()) break;
    }
    return any;
  }

  void cut(const std::string& name, const std::string& kind,
           const std::vector<const Bucket*>& buckets, const std::vector<std::int64_t>& sizes) {
    const bool alike = std::ranges::equal(buckets, sizes, {}, &Bucket::size);
    if (!alike) {
      return refuse(name, fmt::format("holds {} in other sizes than the parameters", kind),
                    {{kind, buckets}});
    }
    const Row row = row_of(buckets);
    for (std::size_t i = 0; i < fit_.members.size(); ++i) {
      const auto at = static_cast<std::size_t>(fit_.members[i] - parameters_.data());
      emit(group_[at], suffix_of(kind), row.row.dtype, row.chunks, fit_.layout.starts[i],
           args_.vocab, state_);
    }
  }

  GroupParameters& groups_;
  const MegatronArgs& args_;
  const Where& where_;
  State& state_;
  std::vector<GroupParameter> group_;
  std::vector<BufferParameter> parameters_;
  BufferFit fit_;
};

}  // namespace

std::optional<BucketKey> bucket_key(std::string_view key) {
  std::string_view rest = key;
  BucketKey out;
  const auto group = take_group(rest);
  const std::size_t dtype = rest.find(kDtype);
  const std::size_t bucket = rest.find(kBucket);
  if (!group || dtype == std::string_view::npos || bucket == std::string_view::npos ||
      bucket < dtype) {
    return std::nullopt;
  }
  out.group = *group;
  std::string_view name = rest.substr(dtype + kDtype.size());
  const auto type = torch_name(name.substr(0, name.find_first_of(",)")));
  rest.remove_prefix(bucket + kBucket.size());
  out.buffer = key.substr(0, key.size() - rest.size() - kBucket.size());
  const auto number = take_number(rest);
  if (!type || !number || rest.size() < 2 || rest.front() != '.') return std::nullopt;
  out.dtype = *type;
  out.bucket = *number;
  out.kind = rest.substr(1);
  return out;
}

std::optional<std::int64_t> gathered_group(std::string_view key) {
  const auto group = take_group(key);
  return key == ".param_state" || key.starts_with(".param_state/") ? group : std::nullopt;
}

void add_gathered(const TorchFile& file, std::int64_t group, GroupParameters& groups,
                  const MegatronArgs& args, State& state) {
  std::optional<State> best;
  std::vector<GroupParameter> held;
  std::vector<BufferSlice> slices;
  for (const ModuleOrder order : orders(args)) {
    auto parameters = groups.of(group, order);
    State tried;
    auto found = read_buffers(file, parameters_of(parameters), args, tried);
    const bool better =
        !best || found.size() > slices.size() ||
        (found.size() == slices.size() && tried.findings.size() < best->findings.size());
    if (!better) continue;
    best = std::move(tried);
    held = std::move(parameters);
    slices = std::move(found);
    if (best->findings.empty()) break;
  }
  state.unreadable += best->unreadable;
  std::ranges::move(best->findings, std::back_inserter(state.findings));
  NameViewMap<const GroupParameter*> by_name;
  for (const GroupParameter& one : held) by_name.emplace(one.parameter.name, &one);
  for (const BufferSlice& slice : slices) {
    const std::size_t at = slice.name.rfind('@');
    const auto of = by_name.find(std::string_view(slice.name).substr(0, at));
    if (of == by_name.end()) continue;
    const BucketChunk all{0, element_count(slice.tensor.shape), slice.tensor.piece};
    emit(*of->second, slice.name.substr(at), slice.tensor.dtype, std::span(&all, 1), 0, args.vocab,
         state);
  }
}

void add_buckets(std::vector<Bucket> buckets, GroupParameters& groups, const MegatronArgs& args,
                 const Where& where, State& state) {
  std::ranges::sort(buckets, {}, [](const Bucket& one) { return one.key.bucket; });
  std::map<std::string, Kinds> buffers;
  for (const Bucket& bucket : buckets) {
    buffers[bucket.key.buffer][bucket.key.kind].push_back(&bucket);
  }
  for (const auto& [name, kinds] : buffers) {
    const std::size_t records = state.records.size();
    try {
      BufferAdder(groups, args, where, state).add(name, kinds);
    } catch (const Error& error) {
      state.records.resize(records);
      ++state.unreadable;
      state.findings.push_back(unreadable(error.at(where), name));
    }
  }
}

}  // namespace ttcheck::formats
