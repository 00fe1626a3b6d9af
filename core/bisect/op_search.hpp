// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search for the first bad record of one step of two traces, looking at few.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/bisect/chains.hpp"
#include "core/bisect/search.hpp"
#include "core/diff/context.hpp"
#include "core/diff/met.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::bisect {

class OpSearch {
 public:
  /// All must outlive it; what is looked at is judged into `verdict`.
  OpSearch(diff::MetStep& met, diff::DiffContext& context, Verdict& verdict);

  /// The record that is bad first, as far as was looked: a place among the step's pairs whose bytes
  /// can be compared.
  std::optional<std::size_t> run();
  void look_at_rest();

  std::size_t looked() const;
  std::size_t total() const { return outcomes_.size(); }
  const std::vector<std::string>& log() const { return log_; }

  /// Nothing where its bytes were not compared.
  std::optional<std::size_t> place_of(const TensorResult& result) const;

  /// Names the module of the first bad record, and that of the nearest one before it that was
  /// looked at and is not bad. False, and nothing named, where there is no bad one.
  bool name_bad(const std::optional<std::size_t>& bad, Search& search) const;

  /// The bytes, on both sides, of all records that can be looked at.
  std::uint64_t bytes() const;

 private:
  std::int64_t end_of_passes() const;
  bool is_parameter(std::size_t i) const;
  const Identity& identity(std::size_t i) const { return *records_[i].identity; }
  bool bad(std::size_t i) const { return outcomes_[i] == Outcome::diverged; }
  void look(std::span<const std::size_t> wanted);
  template <class Wanted>
  void look_at_all(Wanted&& wanted);
  Mark mark(std::size_t i);
  void look_at_batch();
  void look_at_module_of(std::size_t found);
  std::optional<std::size_t> first_in(std::size_t begin, std::size_t end);
  std::optional<std::size_t> in_chains();
  std::size_t in_block(const Chain& chain, std::optional<std::size_t> good, std::size_t bad);
  std::optional<std::size_t> died_out(std::span<const Chain> chains);
  std::optional<std::size_t> elsewhere();
  std::optional<std::size_t> of_its_op(std::size_t found);

  diff::DiffContext& context_;
  Verdict& verdict_;
  diff::MetStep& met_;
  diff::Work& work_;
  std::vector<RecordPlace> records_;
  std::vector<std::optional<Outcome>> outcomes_;
  std::unordered_set<std::size_t> asked_, chained_;
  std::vector<Chain> chains_;
  std::vector<std::string> log_;
};

}  // namespace ttcheck::bisect
