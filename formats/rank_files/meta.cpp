// SPDX-License-Identifier: Apache-2.0
// What the shapes of one rank's file say, held against those of the whole: a tensor of the same
// shape is replicated, one that is a Nth along one dimension is cut there, for one N that most
// agree on. Llama 1 and 2 cut the embedding by columns, Llama 3 by rows; nothing but the shape
// tells which.

#include "formats/rank_files/meta.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/glob.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/rank_files/meta_params.hpp"
#include "formats/readers/auction.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kParams = "params.json";
constexpr std::uint64_t kMaxParams = std::uint64_t{1} << 20;
constexpr std::string_view kPattern = "consolidated.{tp}.pth";
constexpr std::string_view kByRows = "x[tp:even] *";
constexpr std::string_view kByColumns = "x y[tp:even]";
constexpr std::string_view kReplicated = "*";

/// The ranks' files by number.
std::map<std::int64_t, std::string> rank_files_of(const Probe& probe) {
  const Glob glob(kPattern, '/');
  std::map<std::int64_t, std::string> files;
  for (const std::string& name : probe.names) {
    if (const auto match = glob.match(name)) files.emplace(match->captures.at("tp"), name);
  }
  return files;
}

bool has(const Probe& probe, std::string_view name) {
  return std::ranges::binary_search(probe.names, name);
}

struct LocalTensor {
  std::string name;
  Shape shape;
  Where where;
};

/// The tensors of the first file that can be read; that others cannot is said where they are read.
std::vector<LocalTensor> tensors_of_one(const Probe& probe, const OpenOptions& options,
                                        const std::map<std::int64_t, std::string>& files) {
  for (const auto& [rank, name] : files) {
    try {
      const Run run = open_below(probe, name, options);
      std::vector<LocalTensor> tensors;
      for (Record& record : run.open(0).records) {
        tensors.push_back(
            {std::move(record.identity.name), std::move(record.shape), record.piece.where()});
      }
      if (!tensors.empty()) return tensors;
    } catch (const Error&) {
      continue;
    }
  }
  return {};
}

/// The number of ranks by which a tensor is cut, along one dimension; 0 where the shapes do not
/// say.
std::int64_t cut_by(const Shape& local, const Shape& whole) {
  if (local.size() != whole.size() || local.size() < 2) return 0;  // only matrices are cut
  std::int64_t ranks = 1;
  for (std::size_t d = 0; d < local.size(); ++d) {
    if (local[d] == whole[d]) continue;
    if (ranks != 1 || local[d] <= 0 || whole[d] % local[d] != 0) return 0;
    ranks = whole[d] / local[d];
  }
  return ranks;
}

/// How a tensor lies on so many ranks; nothing where no cut fits. An extent that is not stated fits
/// any, in a dimension that is not cut.
std::optional<std::string_view> dims_of(const Shape& local, const Shape& whole,
                                        std::int64_t ranks) {
  if (local == whole) return kReplicated;
  if (local.size() != whole.size()) return std::nullopt;
  std::optional<std::string_view> dims;
  for (std::size_t cut = 0; cut < local.size(); ++cut) {
    bool fits = local[cut] > 0 && whole[cut] > 0 && whole[cut] % ranks == 0 &&
                whole[cut] / ranks == local[cut];
    for (std::size_t d = 0; d < local.size(); ++d) {
      fits = fits && (d == cut || whole[d] == 0 || local[d] == whole[d]);
    }
    if (fits) dims = cut == 0 ? kByRows : kByColumns;
  }
  return dims;
}

void add_rule(Layout& layout, std::string_view family, std::string_view dims) {
  TensorRule& rule = layout.tensors.emplace_back();
  rule.match = family;
  rule.glob = std::make_shared<const Glob>(family);
  rule.dims = std::make_shared<const Placement>(parse_dims(dims));
}

/// The number of ranks by which most matrices are cut; 0 where none tells.
std::int64_t ranks_by_shapes(const MetaParams& params, const std::vector<LocalTensor>& tensors) {
  std::map<std::int64_t, std::size_t> votes;
  for (const LocalTensor& tensor : tensors) {
    const auto whole = meta_tensor(params, tensor.name);
    const bool stated = whole && std::ranges::find(whole->shape, 0) == whole->shape.end();
    const std::int64_t ranks = stated ? cut_by(tensor.shape, whole->shape) : 0;
    if (ranks > 0) ++votes[ranks];
  }
  const auto most =
      std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  return most == votes.end() ? 0 : most->first;
}

/// The vocabulary where only the tokenizer knows it: the head is always cut by rows.
std::int64_t vocabulary_of(const MetaParams& params, const std::vector<LocalTensor>& tensors,
                           std::int64_t ranks) {
  for (const LocalTensor& tensor : tensors) {
    const bool head = tensor.name == "output.weight" && tensor.shape.size() == 2;
    if (head && tensor.shape[1] == params.dim) return checked_mul(tensor.shape[0], ranks);
  }
  return 0;
}

void add_rules(const MetaParams& params, const std::vector<LocalTensor>& tensors, MetaFiles& out) {
  const std::int64_t ranks = out.layout.mesh.world_size();
  std::set<std::string_view> seen;
  for (const LocalTensor& tensor : tensors) {
    const auto whole = meta_tensor(params, tensor.name);
    if (!whole || !seen.insert(whole->family).second) continue;
    if (const auto dims = dims_of(tensor.shape, whole->shape, ranks)) {
      add_rule(out.layout, whole->family, *dims);
      continue;
    }
    out.findings.push_back(found(
        Code::shape_or_dtype,
        fmt::format("shape [{}] in one of {} ranks is no part of [{}], which {} states",
                    fmt::join(tensor.shape, ", "), ranks, fmt::join(whole->shape, ", "), kParams),
        tensor.where, tensor.name));
  }
}

}  // namespace

bool is_meta(const Probe& probe) {
  return probe.file.empty() && has(probe, kParams) && !has(probe, "config.json") &&
         !rank_files_of(probe).empty();
}

MetaFiles read_meta(const Probe& probe, const OpenOptions& options) {
  const auto files = rank_files_of(probe);
  const JsonDocument document(probe.root.text(kParams, kMaxParams),
                              probe.root.file(kParams).where(0).file);
  MetaParams params = meta_params(document.root());
  MetaFiles out;
  out.layout.file = probe.root.file(kParams).where(0).file;
  out.layout.pattern = kPattern;
  const std::vector<LocalTensor> tensors = tensors_of_one(probe, options, files);
  std::int64_t ranks = ranks_by_shapes(params, tensors);
  if (ranks == 0) ranks = checked_add(files.rbegin()->first, std::int64_t{1});
  out.layout.mesh.axes.push_back({"tp", ranks});
  out.facts = meta_facts(document.root(), params);
  if (params.vocab == 0) params.vocab = vocabulary_of(params, tensors, ranks);
  add_rules(params, tensors, out);
  return out;
}

}  // namespace ttcheck::formats
