// SPDX-License-Identifier: Apache-2.0
#pragma once
// What kind of rearrangement an order of blocks is.

#include <cstdint>
#include <optional>
#include <vector>

namespace ttcheck::explain {

/// Block i of the candidate is block order[i] of the reference; each is taken once.
using Order = std::vector<std::int64_t>;

/// The greatest number of slices that all borders of runs are multiples of.
std::int64_t block_of(const Order& from);

/// The order of blocks, each of `block` slices, that the order `from` of slices comes to. REQUIRES
/// block == block_of(from).
Order blocks_of(const Order& from, std::int64_t block);

/// The number n of blocks by which all are rolled, order[i] = (i + n) mod size; nothing where they
/// are not.
std::optional<std::int64_t> roll_of(const Order& order);

/// Is it the transpose of an r x n/r matrix of blocks, or of an n/r x r one?
bool is_transpose_by(const Order& order, std::int64_t r);

/// Is it the transpose of an r x n/r matrix of blocks for any r?
bool is_transpose_of_any(const Order& order);

/// Query, key and value blocks by group against one kind after the other, either way.
bool is_grouped(const Order& order);

/// Whether in every period one part, at its start or its end or all of it, has its halves
/// interleaved, the other way round, or swapped, or is as it was. `known`: heads are that long, so
/// that halves that are blocks by themselves count too, and a part of some heads alone.
bool is_rotary(const Order& order, std::int64_t period, bool known);

/// Two parts of equal length (gate and up) swapped, or laid side by side against one after the
/// other, by rank or as a whole, either way.
bool is_two_parts(const Order& order);

/// Every period is rolled by the same number of blocks, or as it was. Period 0: of any length, and
/// none is as it was.
bool is_roll_of_each(const Order& order, std::int64_t period);

/// Two parts of any length side by side in each period, against all first ones before all second
/// ones, either way.
bool is_split(const Order& order);

/// 0 2n-1 1 2n-2 ..., either way.
bool is_zigzag(const Order& order);

}  // namespace ttcheck::explain
