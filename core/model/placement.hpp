// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a rank's piece lies in the logical tensor: the syntax tree of the dims grammar
// (man/ttcheck-layout.5; `b s[cp:zigzag] h[tp]`). `parse_dims` makes it, `assemble` reads it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ttcheck {

/// A number, or the name of one in the layout's [model] or the run's facts.
using Size = std::variant<std::int64_t, std::string>;

enum class Reduce : std::uint8_t { none, sum, avg, max };

/// One `axis:mod+mod` of a shard list.
struct ShardSpec {
  std::string axis;
  bool even = false;                ///< must divide
  std::vector<std::int64_t> sizes;  ///< sizes=a/b/c; empty: by the ceiling rule
  bool zigzag = false;              ///< 2n chunks, rank r holds chunks r and 2n-1-r
  std::int64_t stride = 0;          ///< DTensor's _StridedShard split factor; 0: none
  std::int64_t interleave = 0;      ///< block-cyclic, blocks of k; 0: none
  std::optional<Size> pad;          ///< trim to N after merging
  std::optional<Size> align;        ///< the total is padded to a multiple of N, then cut
  Reduce partial = Reduce::none;    ///< reduce over the axis instead of concatenating

  bool operator==(const ShardSpec&) const = default;
};

/// One part of `(gate|up)`; without a size the parts are equal.
struct PartSpec {
  std::string name;
  std::optional<Size> size;

  bool operator==(const PartSpec&) const = default;
};

struct DimSpec {
  std::string name;               ///< ident, `a*b`, "1", or "*" for any number of dims
  std::vector<PartSpec> parts;    ///< of `(a|b|c)`; else empty
  std::vector<ShardSpec> shards;  ///< left to right, outermost first

  bool operator==(const DimSpec&) const = default;
};

struct Placement {
  std::vector<DimSpec> dims;  ///< under `flat`: those after `of`
  bool flat = false;          ///< the tensor (or the rank's part of it) lies flattened
  std::vector<ShardSpec> flat_shards;
  bool flat_of = false;  ///< `of` was written: what is flattened is the rank's own part
  std::vector<std::string> replicated;                  ///< axis:replicated
  std::vector<std::pair<std::string, Reduce>> partial;  ///< axis:partial, for whole tensors
  std::vector<std::pair<std::string, std::string>>
      renamed;           ///< `dp:=group`: in this line dp means group
  bool rep_any = false;  ///< rep=any: replicas need not agree

  bool operator==(const Placement&) const = default;
};

/// Parses one dims line. Throws LineError (core/model/caret.hpp), whose message shows the line, a
/// caret and what was expected.
Placement parse_dims(std::string_view line);

/// The line in its shortest spelling; parse_dims(to_string(p)) == p.
std::string to_string(const Placement& placement);

}  // namespace ttcheck
