// SPDX-License-Identifier: Apache-2.0
// A buffer holds the parameters of one dtype in reversed order, of a model chunk as a whole, of
// all but its experts, or of these alone. Their starts depend on the sizes of buckets: where
// these are not known, buckets without end, of the stated size and of the usual one are tried,
// tied weights with and without a bucket of their own. A layout that is longer than the buffer is
// no fit, nor is one that leaves more than 2^20 elements for padding.
// Each parameter is compared at its start, middle and end, by up to 256 elements: the copies,
// rounded to the weight's dtype, must equal the weight. Copies of another step hardly ever do, so
// these are told by correlation: nine of ten parameters that vary must have copies that vary with
// them.
// What meets a hole of the buffer is not compared, and a layout of which nothing was compared is
// no fit. A weight that cannot be read counts as one that disagrees; its own reader says why.

#include "formats/megatron/buffer_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/base/checked.hpp"
#include "core/model/decode.hpp"
#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kAlignment = 64;  // of a parameter's start, in elements
constexpr std::int64_t kSample = 256;    // elements compared at each of three places
constexpr std::int64_t kTelling =
    32;                        // elements of the smallest parameter that is looked at for kin
constexpr double kAkin = 0.5;  // far above what 32 and more unrelated elements come to by chance
constexpr std::int64_t kMaxEndPadding = std::int64_t{1} << 20;
constexpr std::int64_t kUsualBucket = 40'000'000;
constexpr std::int64_t kUsualBucketPerRank = 1'000'000;

std::vector<double> values(const BufferRow& row, std::int64_t first, std::int64_t count) {
  std::vector<std::byte> bytes(byte_size(row.dtype, count));
  gather(row.pieces, row.dtype, {row.size}, first, count, bytes);
  std::vector<double> out(static_cast<std::size_t>(count));
  to_doubles(row.dtype, bytes.data(), count, out.data());
  return out;
}

bool same(double weight, double rounded) {
  return weight == rounded || (std::isnan(weight) && std::isnan(rounded));
}

bool has_hole(const BufferRow& row, std::int64_t begin, std::int64_t end) {
  return std::ranges::any_of(
      row.holes, [&](const LinearRange& hole) { return hole.begin < end && begin < hole.end; });
}

/// How copies and a weight meet, by some elements of it.
struct Meeting {
  bool agree = true;   ///< the copies, rounded, are the weight
  bool tells = false;  ///< it varies enough for what follows to mean something
  bool akin = false;   ///< as two steps of one parameter are, and two parameters are not
};

/// Correlation of two rows of values; 0 where one does not vary.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double count = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

Meeting meeting(const BufferRow& weight, const BufferRow& masters, std::int64_t start) {
  const std::int64_t count = weight.size;
  const std::int64_t size = std::min(count, kSample);
  Meeting out;
  std::vector<double> weights, copies;
  for (const std::int64_t first : {std::int64_t{0}, (count - size) / 2, count - size}) {
    const std::vector<double> own = values(weight, first, size);
    std::vector<double> copy = values(masters, checked_add(start, first), size);
    std::vector<std::byte> rounded(byte_size(weight.dtype, size));
    from_doubles(weight.dtype, copy.data(), size, rounded.data());
    to_doubles(weight.dtype, rounded.data(), size, copy.data());
    out.agree = out.agree && std::equal(own.begin(), own.end(), copy.begin(), same);
    weights.insert(weights.end(), own.begin(), own.end());
    copies.insert(copies.end(), copy.begin(), copy.end());
  }
  const bool varies = std::ranges::any_of(weights, [&](double w) { return w != weights.front(); });
  out.tells = size >= kTelling && varies;
  out.akin = out.tells && correlation(weights, copies) > kAkin;
  return out;
}

Meeting meeting_at(const BufferParameter& parameter, const BufferRow& masters, std::int64_t start) {
  try {
    return meeting(row_of(parameter.weight, parameter.parts), masters, start);
  } catch (const Error&) {
    return {false, false, false};  // said where the tensor itself is read
  }
}

bool better(const BufferFit& fit, const BufferFit& other) {
  if (fit.another_step != other.another_step) return other.another_step;
  return fit.disagree.size() < other.disagree.size();
}

/// A set of parameters that one buffer may hold, in reversed order.
using Members = std::vector<const BufferParameter*>;

/// Parameters by model chunk; all of them, without the experts, the experts alone.
std::vector<Members> candidates(DType dtype, const std::vector<BufferParameter>& parameters) {
  std::map<std::size_t, std::array<Members, 3>> by_chunk;
  for (auto one = parameters.rbegin(); one != parameters.rend(); ++one) {
    const bool alone = one->parts.empty() && !is_plain(one->weight);
    if (one->weight.dtype != dtype || alone) continue;
    std::array<Members, 3>& kinds = by_chunk[one->chunk];
    kinds[0].push_back(&*one);
    kinds[one->expert ? 2 : 1].push_back(&*one);
  }
  std::vector<Members> sets;
  for (auto& [chunk, kinds] : by_chunk) {
    const bool mixed = !kinds[1].empty() && !kinds[2].empty();
    for (std::size_t kind = 0; kind < (mixed ? 3 : 1); ++kind) {
      if (!kinds[kind].empty()) sets.push_back(std::move(kinds[kind]));
    }
  }
  return sets;
}

std::vector<BufferLayout> layouts(const Members& members, const MegatronArgs& args,
                                  std::span<const std::int64_t> buckets) {
  std::vector<std::int64_t> sizes;
  std::vector<bool> tied;
  for (const BufferParameter* one : members) {
    sizes.push_back(element_count(one->weight.shape));
    tied.push_back(one->tied);
  }
  if (!buckets.empty()) {
    std::optional<BufferLayout> layout = buffer_layout(sizes, buckets);
    if (!layout) return {};
    return {std::move(*layout)};
  }
  const std::int64_t usual = std::max(kUsualBucket, checked_mul(kUsualBucketPerRank, args.dp));
  std::vector<BufferLayout> all;
  for (const std::int64_t bucket : {std::int64_t{0}, args.bucket_size, usual}) {
    for (const std::vector<bool>& alone : {std::vector<bool>(), tied}) {
      BufferLayout layout = buffer_layout(sizes, bucket, alone);
      const auto known = [&](const BufferLayout& one) { return one.starts == layout.starts; };
      if (std::none_of(all.begin(), all.end(), known)) all.push_back(std::move(layout));
    }
  }
  return all;
}

}  // namespace

bool is_plain(const TorchTensor& tensor) {
  return tensor.opaque.empty() && tensor.piece.cells.empty() &&
         tensor.piece.order == ByteOrder::little && tensor.piece.flag == ValueFlag::none;
}

BufferRow row_of(const TorchTensor& tensor, const std::vector<Piece>& parts) {
  return {tensor.dtype, element_count(tensor.shape),
          parts.empty() ? std::vector<Piece>{tensor.piece} : parts};
}

BufferLayout buffer_layout(const std::vector<std::int64_t>& sizes, std::int64_t bucket_size,
                           const std::vector<bool>& alone) {
  BufferLayout layout;
  std::int64_t bucket = 0, held = 0;  // where the bucket starts, and what it holds so far
  const auto close = [&] {
    bucket = checked_add(bucket, held);
    held = 0;
  };
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool own = !alone.empty() && alone[i];
    if (own) close();
    const std::int64_t start = checked_mul(ceil_div(held, kAlignment), kAlignment);
    layout.starts.push_back(checked_add(bucket, start));
    held = checked_add(start, sizes[i]);
    if (own || (bucket_size > 0 && held >= bucket_size)) close();
  }
  layout.end = checked_add(bucket, held);
  return layout;
}

std::optional<BufferLayout> buffer_layout(const std::vector<std::int64_t>& sizes,
                                          std::span<const std::int64_t> buckets) {
  BufferLayout layout;
  std::size_t bucket = 0;
  std::int64_t begin = 0, held = 0;  // where the bucket starts, and what it holds so far
  for (const std::int64_t size : sizes) {
    std::int64_t start = checked_mul(ceil_div(held, kAlignment), kAlignment);
    while (bucket < buckets.size() && checked_add(start, size) > buckets[bucket]) {
      begin = checked_add(begin, buckets[bucket++]);
      start = 0;
    }
    if (bucket == buckets.size()) return std::nullopt;
    layout.starts.push_back(checked_add(begin, start));
    held = start + size;
  }
  layout.end = checked_add(begin, held);
  return layout;
}

std::optional<BufferFit> fit_buffer(const BufferRow& masters, DType dtype,
                                    const std::vector<BufferParameter>& parameters,
                                    const MegatronArgs& args,
                                    std::span<const std::int64_t> buckets) {
  std::optional<BufferFit> best;
  for (Members& members : candidates(dtype, parameters)) {
    for (BufferLayout& layout : layouts(members, args, buckets)) {
      const std::int64_t rest = masters.size - layout.end;
      if (rest < 0 || rest > kMaxEndPadding) continue;
      BufferFit fit{members, std::move(layout), {}, false};
      std::size_t compared = 0, telling = 0, akin = 0;
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::int64_t start = fit.layout.starts[i];
        const std::int64_t count = element_count(members[i]->weight.shape);
        if (has_hole(masters, start, checked_add(start, count))) continue;
        const Meeting met = meeting_at(*members[i], masters, start);
        ++compared;
        telling += met.tells ? 1 : 0;
        akin += met.akin ? 1 : 0;
        if (!met.agree) fit.disagree.push_back(members[i]);
      }
      if (compared == 0) continue;
      if (fit.disagree.empty()) return fit;
      const bool most = fit.disagree.size() * 2 < compared && rest == 0;
      fit.another_step = !most && telling > 0 && akin * 10 >= telling * 9;
      if ((most || fit.another_step) && (!best || better(fit, *best))) best = std::move(fit);
    }
  }
  return best;
}

std::vector<Finding> findings_of(const BufferFit& fit, DType masters, const Where& where) {
  std::vector<Finding> out;
  if (fit.another_step) {
    out.push_back(found(
        Code::mixed_step,
        fmt::format("the optimizer's {} copies are of these parameters at another step than the "
                    "weights (no step is stated with them): {} of {} are not the weights, and yet "
                    "vary with them",
                    name(masters), fit.disagree.size(), fit.members.size()),
        where));
    return out;
  }
  for (const BufferParameter* parameter : fit.disagree) {
    out.push_back(
        found(Code::master_mismatch,
              fmt::format("the {} copy of {} in the optimizer, rounded to {}, is not the weight",
                          name(masters), parameter->name, name(parameter->weight.dtype)),
              where, parameter->name));
  }
  return out;
}

}  // namespace ttcheck::formats
