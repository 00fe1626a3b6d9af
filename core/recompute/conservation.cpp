// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/conservation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>

#include "core/base/checked.hpp"
#include "core/base/parallel.hpp"
#include "core/model/decode.hpp"
#include "core/model/gather.hpp"
#include "core/recompute/operand.hpp"

namespace ttcheck::recompute {
namespace {

constexpr std::int64_t kChunk = 0x8000;  // elements read at a time
constexpr std::size_t kBatch = 64;       // chunks whose results are held at once
constexpr double kInf = std::numeric_limits<double>::infinity();

using Pieces = std::vector<Piece>;

void read(std::span<const Piece> pieces, const Tensor& of, std::int64_t begin,
          std::span<double> out) {
  const auto count = static_cast<std::int64_t>(out.size());
  std::vector<std::byte> stored(byte_size(of.dtype, count));
  gather(pieces, of.dtype, of.shape, begin, count, stored);
  to_doubles(of.dtype, stored.data(), count, out.data());
}

/// What went in: the value that must come out, how far rounding may take it from that, and the
/// largest size that it may have had on its way, in any order.
struct Expected {
  std::vector<double> values, limits, largest;
};

class Input {
 public:
  Input(const Tensor& input, DType stored) : input_(input) {
    if (input.terms.empty()) {
      terms_.emplace_back(input.pieces);
    } else {
      for (const Pieces& term : input.terms) terms_.emplace_back(term);
    }
    adds_ = input.reduce == Reduce::sum || input.reduce == Reduce::avg;
    const bool same = stored == input.dtype;
    eps_ = adds_ || !same ? std::max(epsilon(stored), epsilon(input.dtype)) : 0;
    if (adds_) {
      eps_ += std::numeric_limits<double>::epsilon();  // of what is summed here
      tiny_ = std::max<double>(is_exact(stored) ? 0 : value_of(stored, 1),
                               std::numeric_limits<float>::min());  // flushed to zero
      eps_ *= static_cast<double>(terms_.size());
    }
    if (input.reduce == Reduce::avg) scale_ = 1 / divisor_of(input);
  }

  Expected read_range(std::int64_t begin, std::int64_t count) const {
    const auto size = static_cast<std::size_t>(count);
    Expected all{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)};
    std::vector<double> term(size);
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      read(terms_[t], input_, begin, term);
      for (std::size_t i = 0; i < size; ++i) {
        const bool largest = input_.reduce == Reduce::max && t > 0 && !std::isnan(term[i]);
        all.values[i] = largest ? std::max(all.values[i], term[i]) : all.values[i] + term[i];
        all.limits[i] += std::abs(term[i]);
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      const double sizes = all.limits[i], sum = std::abs(all.values[i]);
      // (sizes + sum) / 2: all addends of one sign.
      all.largest[i] = (adds_ ? (sizes + sum) / 2 : sum) + eps_ * sizes;
      all.values[i] *= scale_;
      all.limits[i] = eps_ * sizes * scale_ + tiny_;
    }
    return all;
  }

  std::size_t terms() const { return terms_.size(); }

 private:
  const Tensor& input_;
  std::vector<std::span<const Piece>> terms_;
  bool adds_;
  double eps_ = 0, tiny_ = 0, scale_ = 1;
};

struct Peak {
  double error = 0, limit = 0, ratio = 0;
  std::int64_t index = -1;
};

/// |came out - expected|, where the type could hold it.
double error_of(double expected, double got, double largest, DType stored) {
  if (std::isfinite(expected) && std::isfinite(got)) return std::abs(got - expected);
  if (!std::isfinite(expected) && !std::isfinite(got)) return 0;
  if (std::isfinite(got)) return kInf;
  return std::isfinite(value_of(stored, code_of(stored, largest))) ? kInf : 0;
}

void raise(Peak& peak, const Peak& other) {
  if (other.ratio > 1 && other.error > peak.error) peak = other;
}

/// What one rank holds of the output.
struct Holder {
  std::int32_t rank = kNoRank;
  Pieces pieces;
  std::vector<Box> boxes;
};

std::vector<Holder> holders_of(const Tensor& output) {
  std::map<std::int32_t, Holder> by_rank;
  const auto add = [&](const Piece& piece) {
    Holder& holder = by_rank[piece.rank];
    holder.rank = piece.rank;
    holder.pieces.push_back(piece);
    if (piece.cells.empty()) holder.boxes.push_back(whole(output.shape));
    for (const Cell& cell : piece.cells) holder.boxes.push_back(cell.box);
  };
  std::ranges::for_each(output.pieces, add);
  std::ranges::for_each(output.replicas, add);
  std::vector<Holder> all;
  for (auto& [rank, holder] : by_rank) all.push_back(std::move(holder));
  return all;
}

/// The worst element of each holder in one range.
void compare_chunk(const Input& input, const Tensor& output, std::span<const Holder> holders,
                   std::int64_t begin, std::span<Peak> peaks) {
  const std::int64_t count = std::min(kChunk, element_count(output.shape) - begin);
  const Expected expected = input.read_range(begin, count);
  std::vector<double> got(static_cast<std::size_t>(count));
  for (std::size_t h = 0; h < holders.size(); ++h) {
    const auto held = ranges_in(holders[h].boxes, output.shape, begin, begin + count);
    if (held.empty()) continue;
    read(holders[h].pieces, output, begin, got);
    for (const LinearRange& range : held) {
      for (std::int64_t at = range.begin; at < range.end; ++at) {
        const auto i = static_cast<std::size_t>(at - begin);
        const double limit = expected.limits[i];
        const double error =
            error_of(expected.values[i], got[i], expected.largest[i], output.dtype);
        const double ratio = std::isfinite(error) ? error / limit : kInf;  // 0 / 0 is no ratio
        raise(peaks[h], {error, limit, ratio, at});
      }
    }
  }
}

bool holds_any(const Piece& piece, const Shape& shape, std::span<const Box> boxes) {
  const auto meets = [&](const Box& own) {
    return std::ranges::any_of(boxes,
                               [&](const Box& box) { return intersect(own, box).has_value(); });
  };
  if (piece.cells.empty()) return meets(whole(shape));
  return std::ranges::any_of(piece.cells, meets, &Cell::box);
}

/// The ranks that brought something of what the first wrong one should have got.
std::vector<std::int32_t> group_of(const Collective& collective, std::int32_t wrong,
                                   std::span<const Holder> holders) {
  if (!collective.group.empty()) return collective.group;
  const Tensor& input = collective.input;
  const auto holder = std::ranges::find(holders, wrong, &Holder::rank);
  std::set<std::int32_t> ranks;
  const auto add = [&](const Piece& piece) {
    if (holds_any(piece, input.shape, holder->boxes)) ranks.insert(piece.rank);
  };
  std::ranges::for_each(input.pieces, add);
  for (const Pieces& term : input.terms) std::ranges::for_each(term, add);
  return {ranks.begin(), ranks.end()};
}

/// True where copies of what went in are not the same, so that ranks may have summed other values.
bool brought_apart(const Tensor& input) {
  if (copies_differ(input)) return true;
  for (std::size_t t = 0; t < input.term_replicas.size(); ++t) {
    Tensor term = input;
    term.reduce = Reduce::none;
    term.pieces = input.terms[t];
    term.replicas = input.term_replicas[t];
    term.terms.clear();
    if (copies_differ(term)) return true;
  }
  return false;
}

Conservation measure(const Collective& collective, const Input& input,
                     std::span<const Holder> holders, const std::function<bool()>& stop) {
  const std::int64_t count = element_count(collective.output.shape);
  const auto chunks = static_cast<std::size_t>(ceil_div(count, kChunk));
  std::vector<Peak> worst(holders.size());
  for (std::size_t first = 0; first < chunks; first += kBatch) {
    if (stop && stop()) throw Error("stopped before its end");
    const std::size_t size = std::min(kBatch, chunks - first);
    std::vector<Peak> found(size * holders.size());
    parallel_for(size, [&](std::size_t n) {
      const auto begin = static_cast<std::int64_t>(first + n) * kChunk;
      compare_chunk(input, collective.output, holders, begin,
                    std::span(found).subspan(n * holders.size(), holders.size()));
    });
    for (std::size_t n = 0; n < found.size(); ++n) raise(worst[n % holders.size()], found[n]);
  }
  Conservation result;
  Peak all;
  for (std::size_t h = 0; h < holders.size(); ++h) {
    if (worst[h].ratio > 1) result.ranks.push_back(holders[h].rank);
    raise(all, worst[h]);
  }
  result.error = all.error;
  result.limit = all.limit;
  result.ratio = all.ratio;
  result.index = all.index;
  return result;
}

}  // namespace

std::optional<Conservation> conservation_of(const Collective& collective, double& budget,
                                            const std::function<bool()>& stop) {
  const Tensor& output = collective.output;
  if (output.reduce != Reduce::none || output.pieces.empty()) return std::nullopt;
  const Input input(collective.input, output.dtype);
  const std::vector<Holder> holders = holders_of(output);
  const double cost = static_cast<double>(element_count(output.shape)) *
                      static_cast<double>(input.terms() + holders.size());
  if (cost > budget) return std::nullopt;
  budget -= cost;
  try {
    Conservation found = measure(collective, input, holders, stop);
    if (!found.broken()) return found;
    if (brought_apart(collective.input)) return std::nullopt;
    found.group = group_of(collective, found.ranks.front(), holders);
    return found;
  } catch (const Error&) {  // stopped, or no longer readable: nothing is said
    return std::nullopt;
  }
}

}  // namespace ttcheck::recompute
