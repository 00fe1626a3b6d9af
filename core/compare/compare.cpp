// SPDX-License-Identifier: Apache-2.0
#include "core/compare/compare.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>
#include <utility>

#include "core/base/checked.hpp"
#include "core/compare/ordered.hpp"
#include "core/compare/ranges.hpp"
#include "core/compare/sampled.hpp"
#include "core/compare/window.hpp"

namespace ttcheck::compare {
namespace {

constexpr std::uint64_t kBatchBytes = 256 << 10;  ///< small pairs are handed out together

/// Work of one thread at a time: ranges of one large pair, or several small pairs whole.
struct Unit {
  std::size_t first, last;  ///< pairs, in reading order
  std::size_t tasks;        ///< ranges of one pair that may be read apart
};

/// What one task found: a part of one pair.
struct Part {
  std::size_t pair = 0;
  std::uint64_t bytes = 0;
  Compared found;
};

void add_rank(std::vector<std::int32_t>& ranks, std::int32_t rank) {
  const auto at = std::ranges::lower_bound(ranks, rank);
  if (at == ranks.end() || *at != rank) ranks.insert(at, rank);
}

/// Ranks of those `copies` that differ from `primary` somewhere in the range.
void check_copies(const Tensor& tensor, std::span<const Piece> copies, std::int64_t begin,
                  std::span<const std::byte> primary, std::int64_t count,
                  std::span<std::byte> scratch, std::vector<std::int32_t>& ranks) {
  for (const Piece& piece : copies) {
    std::memcpy(scratch.data(), primary.data(), primary.size());
    gather({&piece, 1}, tensor.dtype, tensor.shape, begin, count, scratch);
    if (std::memcmp(scratch.data(), primary.data(), primary.size()) != 0)
      add_rank(ranks, piece.rank);
  }
}

/// Ranks whose copy of a piece, or of an addend, differs from the first one.
void check_replicas(const Tensor& tensor, std::int64_t begin, std::span<const std::byte> primary,
                    std::int64_t count, std::span<std::byte> scratch,
                    std::vector<std::int32_t>& ranks) {
  check_copies(tensor, tensor.replicas, begin, primary, count, scratch, ranks);
  for (std::size_t t = 0; t < tensor.term_replicas.size(); ++t) {
    if (tensor.term_replicas[t].empty()) continue;
    std::vector<std::byte> addend(primary.size());
    gather(tensor.terms[t], tensor.dtype, tensor.shape, begin, count, addend);
    check_copies(tensor, tensor.term_replicas[t], begin, addend, count, scratch, ranks);
  }
}

/// Of few floats that differ, how far they are apart as a sample of theirs tells, which is all of
/// them.
void add_sample(const Pair& pair, const WholeBytes& bytes, Compared& found) {
  const Tensor& a = *pair.reference;
  const Tensor& b = *pair.candidate;
  if (found.metrics.unequal_values == 0 || is_exact(a.dtype) || is_exact(b.dtype)) return;
  if (element_count(a.shape) > kMostSampled || !has_real_values(pair)) return;
  found.sample = std::make_unique<Sampled>(sampled(pair, bytes));
}

/// One range: read both sides, compare replicas, measure.
void measure_range(const Pair& pair, const Rule& rule, std::int64_t begin, std::int64_t count,
                   bool sample, Buffers& buffers, Compared& found) {
  const auto a = buffers.a(*pair.reference, begin, count);
  const auto b = buffers.b(*pair.candidate, begin, count);
  gather(*pair.reference, begin, count, a);
  gather(*pair.candidate, begin, count, b);
  check_replicas(*pair.reference, begin, a, count, buffers.replica(*pair.reference, begin, count),
                 found.reference_differs);
  check_replicas(*pair.candidate, begin, b, count, buffers.replica(*pair.candidate, begin, count),
                 found.candidate_differs);
  if (pair.reference_map != nullptr) apply(*pair.reference_map, pair.reference->dtype, count, a);
  if (pair.candidate_map != nullptr) apply(*pair.candidate_map, pair.candidate->dtype, count, b);
  const std::vector<LinearRange> holes = holes_of(pair, begin, begin + count);
  append(found.metrics, measure(rule, begin, count, a, b, holes, buffers.scratch()));
  if (sample) add_sample(pair, {a, b}, found);
}

/// Why a pair cannot be measured at all, if so.
std::optional<Error> unfit(const Pair& pair) {
  if (pair.reference->shape != pair.candidate->shape) return Error("shapes differ");
  if (is_complex(pair.reference->dtype) != is_complex(pair.candidate->dtype)) {
    return Error("cannot compare complex with real numbers");
  }
  return std::nullopt;
}

std::uint64_t bytes_of(const Pair& pair, std::int64_t count) {
  return byte_size(pair.reference->dtype, count) + byte_size(pair.candidate->dtype, count);
}

void merge(Compared& whole, Compared&& part) {
  append(whole.metrics, part.metrics);
  for (const std::int32_t rank : part.reference_differs) add_rank(whole.reference_differs, rank);
  for (const std::int32_t rank : part.candidate_differs) add_rank(whole.candidate_differs, rank);
  if (part.sample) whole.sample = std::move(part.sample);
  if (!whole.error && part.error) whole.error = std::move(part.error);
  whole.stopped = whole.stopped || part.stopped;
}

class Comparison {
 public:
  Comparison(std::span<const Pair> pairs, const CompareOptions& options)
      : pairs_(pairs), options_(options), order_(pairs.size()), results_(pairs.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto place = [&](std::size_t i) { return pairs[i].reference->order; };
    if (!std::ranges::is_sorted(order_, {}, place)) std::ranges::stable_sort(order_, {}, place);
    make_units();
  }

  std::vector<Compared> run() {
    const auto work = [&](std::size_t task) {
      return stopped() ? std::vector<Part>() : run_task(task);
    };
    const auto fold = [&](std::size_t task, std::vector<Part>&& parts) {
      if (parts.empty()) return leave_out(task);
      for (Part& part : parts) {
        merge(results_[part.pair], std::move(part.found));
        done_ += part.bytes;
      }
      if (options_.progress) options_.progress(done_, total_);
    };
    fold_in_order(first_task_.empty() ? 0 : first_task_.back(), work, fold);
    return std::move(results_);
  }

 private:
  void make_units() {
    std::uint64_t batch = 0;
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const Pair& pair = pairs_[order_[at]];
      const std::int64_t count = element_count(pair.reference->shape);
      const std::uint64_t bytes = bytes_of(pair, count);
      total_ += bytes;
      const std::int64_t range = range_elements(pair.reference->dtype, pair.candidate->dtype);
      const bool whole = count <= range || plan_of(*pair.reference).sequential ||
                         plan_of(*pair.candidate).sequential;
      if (whole && batch > 0 && batch + bytes <= kBatchBytes) {
        units_.back().last = at + 1;
        batch += bytes;
        continue;
      }
      const auto tasks = whole ? std::size_t{1} : static_cast<std::size_t>(ceil_div(count, range));
      units_.push_back({at, at + 1, tasks});
      batch = whole ? std::max<std::uint64_t>(bytes, 1) : 0;
    }
    std::size_t sum = 0;
    for (const Unit& unit : units_) first_task_.push_back(sum += unit.tasks);
  }

  bool stopped() const { return options_.stop && options_.stop(); }

  std::size_t unit_of(std::size_t task) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(first_task_, task) -
                                    first_task_.begin());
  }

  /// Marks the pairs of a task that was not begun.
  void leave_out(std::size_t task) {
    const Unit& unit = units_[unit_of(task)];
    for (std::size_t at = unit.first; at < unit.last; ++at) results_[order_[at]].stopped = true;
  }

  std::vector<Part> run_task(std::size_t task) {
    const std::size_t unit_at = unit_of(task);
    const Unit& unit = units_[unit_at];
    if (unit.last - unit.first > 1) {
      if (auto parts = run_together(unit)) return std::move(*parts);
    }
    std::vector<Part> parts(unit.last - unit.first);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].pair = order_[unit.first + i];
      const Pair& pair = pairs_[parts[i].pair];
      const std::int64_t count = element_count(pair.reference->shape);
      std::int64_t begin = 0;
      std::int64_t end = count;
      if (unit.tasks > 1) {
        const std::int64_t range = range_elements(pair.reference->dtype, pair.candidate->dtype);
        const std::size_t before = first_task_[unit_at] - unit.tasks;
        begin = static_cast<std::int64_t>(task - before) * range;
        end = std::min(count, begin + range);
      }
      parts[i].bytes = bytes_of(pair, end - begin);
      run_ranges(pair, begin, end, parts[i].found);
    }
    return parts;
  }

  /// Several small pairs whose bytes can be had with one read a side; else nothing.
  std::optional<std::vector<Part>> run_together(const Unit& unit) {
    std::vector<const Tensor*> a, b;
    for (std::size_t at = unit.first; at < unit.last; ++at) {
      const Pair& pair = pairs_[order_[at]];
      if (!pair.reference->replicas.empty() || !pair.candidate->replicas.empty() || pair.mapped() ||
          unfit(pair)) {
        return std::nullopt;
      }
      a.push_back(pair.reference);
      b.push_back(pair.candidate);
    }
    auto window_a = Window::over(a);
    auto window_b = Window::over(b);
    if (!window_a || !window_b) return std::nullopt;
    Buffers& buffers = Buffers::mine();
    try {
      window_a->read(buffers, 0);
      window_b->read(buffers, 1);
    } catch (const Error&) {  // read one by one, each error is laid to its tensor
      return std::nullopt;
    }
    std::vector<Part> parts(a.size());
    for (std::size_t n = 0; n < parts.size(); ++n) {
      Part& part = parts[n];
      part.pair = order_[unit.first + n];
      const Pair& pair = pairs_[part.pair];
      const std::int64_t count = element_count(pair.reference->shape);
      part.bytes = bytes_of(pair, count);
      if (count == 0) continue;
      part.found.metrics = measure(rule_of(pair, options_.exact_sums), 0, count, window_a->at(n),
                                   window_b->at(n), {}, buffers.scratch());
      if (options_.sample) add_sample(pair, {window_a->at(n), window_b->at(n)}, part.found);
    }
    return parts;
  }

  /// All ranges of [begin, end), one after the other; what cannot be read is skipped.
  void run_ranges(const Pair& pair, std::int64_t begin, std::int64_t end, Compared& found) {
    if (auto error = unfit(pair)) {
      found.error = std::make_unique<Error>(std::move(*error));
      return;
    }
    const Rule rule = rule_of(pair, options_.exact_sums);
    const std::int64_t range = range_elements(rule.a, rule.b);
    for (std::int64_t at = begin; at < end; at += range) {
      if (stopped()) {
        found.stopped = true;
        return;
      }
      try {
        measure_range(pair, rule, at, std::min(range, end - at), options_.sample, Buffers::mine(),
                      found);
      } catch (const Error& error) {
        if (!found.error) found.error = std::make_unique<Error>(error);
      }
    }
  }

  std::span<const Pair> pairs_;
  const CompareOptions& options_;
  std::vector<std::size_t> order_;  ///< pairs in reading order
  std::vector<Unit> units_;
  std::vector<std::size_t> first_task_;  ///< running sum of tasks, unit by unit
  std::vector<Compared> results_;
  std::uint64_t done_ = 0, total_ = 0;
};

}  // namespace

std::vector<Compared> compare(std::span<const Pair> pairs, const CompareOptions& options) {
  return Comparison(pairs, options).run();
}

}  // namespace ttcheck::compare
