// SPDX-License-Identifier: Apache-2.0
#include "formats/rank_files/meta_params.hpp"

#include <array>
#include <string>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/glob.hpp"
#include "formats/folder/json_facts.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kMaxExtent = std::int64_t{1} << 32;

/// An extent that the object states; 0 where it does not, or says -1: the tokenizer knows.
std::int64_t extent(const Json& object, std::string_view key) {
  const std::optional<Json> value = object.find(key);
  if (!value || value->is(Json::Kind::null)) return 0;
  const std::int64_t number = value->integer();
  if (number == -1) return 0;
  if (number < 1 || number > kMaxExtent) value->fail("no size of a model", key);
  return number;
}

/// Two thirds of four times the width, times the multiplier, rounded up (`FeedForward`).
std::int64_t feed_forward(const Json& object, std::int64_t dim) {
  if (const std::int64_t stated = extent(object, "hidden_dim")) return stated;
  const std::int64_t multiple = extent(object, "multiple_of");
  if (multiple == 0) return 0;
  std::int64_t width = 2 * (4 * dim) / 3;
  const std::optional<Json> factor = object.find("ffn_dim_multiplier");
  if (factor && !factor->is(Json::Kind::null)) {
    const double scaled = factor->number() * static_cast<double>(width);
    if (!(scaled >= 1 && scaled <= static_cast<double>(kMaxExtent))) {
      factor->fail("no multiplier of a model's width", "ffn_dim_multiplier");
    }
    width = static_cast<std::int64_t>(scaled);
  }
  return checked_mul(ceil_div(width, multiple), multiple);
}

enum class Extent : std::uint8_t { none, dim, vocab, queries, keys, ffn, frequencies };

struct MetaRow {
  std::string_view name;
  std::array<Extent, 2> shape;
};

constexpr std::array kMetaRows = {
    MetaRow{"tok_embeddings.weight", {Extent::vocab, Extent::dim}},
    MetaRow{"output.weight", {Extent::vocab, Extent::dim}},
    MetaRow{"norm.weight", {Extent::dim, Extent::none}},
    MetaRow{"layers.*.{attention_norm,ffn_norm}.weight", {Extent::dim, Extent::none}},
    MetaRow{"layers.*.attention.wq.weight", {Extent::queries, Extent::dim}},
    MetaRow{"layers.*.attention.{wk,wv}.weight", {Extent::keys, Extent::dim}},
    MetaRow{"layers.*.attention.wo.weight", {Extent::dim, Extent::queries}},
    MetaRow{"layers.*.feed_forward.{w1,w3}.weight", {Extent::ffn, Extent::dim}},
    MetaRow{"rope.freqs", {Extent::frequencies, Extent::none}},
    MetaRow{"layers.*.feed_forward.w2.weight", {Extent::dim, Extent::ffn}},
};

std::int64_t size_of(const MetaParams& params, Extent extent) {
  switch (extent) {
    case Extent::dim:
      return params.dim;
    case Extent::vocab:
      return params.vocab;
    case Extent::queries:
      return checked_mul(params.heads, params.head_dim);
    case Extent::keys:
      return checked_mul(params.kv_heads, params.head_dim);
    case Extent::ffn:
      return params.ffn;
    case Extent::frequencies:
      return params.head_dim / 2;
    case Extent::none:
      break;
  }
  return 0;
}

}  // namespace

MetaParams meta_params(const Json& object) {
  MetaParams params;
  params.dim = extent(object, "dim");
  params.heads = extent(object, "n_heads");
  if (params.dim == 0 || params.heads == 0) object.fail("states no dim and n_heads of a model");
  params.kv_heads = extent(object, "n_kv_heads");
  if (params.kv_heads == 0) params.kv_heads = params.heads;
  params.head_dim = extent(object, "head_dim");
  if (params.head_dim == 0) params.head_dim = params.dim / params.heads;
  params.ffn = feed_forward(object, params.dim);
  params.vocab = extent(object, "vocab_size");
  return params;
}

std::vector<Fact> meta_facts(const Json& object, const MetaParams& params) {
  std::vector<Fact> facts;
  const auto add = [&](std::string_view name, std::string_view key, FactValue value) {
    const std::optional<Json> stated = object.find(key);
    Where where = stated ? stated->where() : object.where();
    where.object = key;
    facts.push_back({std::string(name), std::move(value), FactUse::compared, std::move(where)});
  };
  add("model.hidden", "dim", params.dim);
  add("model.heads", "n_heads", params.heads);
  add("model.kv_heads", "n_kv_heads", params.kv_heads);
  if (params.ffn > 0) add("model.ffn", "hidden_dim", params.ffn);
  if (params.vocab > 0) add("model.vocab", "vocab_size", params.vocab);
  if (const std::int64_t layers = extent(object, "n_layers"))
    add("model.layers", "n_layers", layers);
  for (const auto& [name, key] :
       {std::pair("model.norm_eps", "norm_eps"), std::pair("model.rope_theta", "rope_theta")}) {
    const std::optional<Json> value = object.find(key);
    if (value && !value->is(Json::Kind::null)) add(name, key, value->number());
  }
  for (Fact& note : note_facts(object, "params")) facts.push_back(std::move(note));
  return facts;
}

std::optional<MetaTensor> meta_tensor(const MetaParams& params, std::string_view name) {
  static const std::vector<Glob> globs = [] {
    std::vector<Glob> made;
    for (const MetaRow& row : kMetaRows) made.emplace_back(row.name);
    return made;
  }();
  for (std::size_t i = 0; i < kMetaRows.size(); ++i) {
    if (!globs[i].matches(name)) continue;
    MetaTensor tensor{kMetaRows[i].name, {}};
    for (const Extent one : kMetaRows[i].shape) {
      if (one != Extent::none) tensor.shape.push_back(size_of(params, one));
    }
    return tensor;
  }
  return std::nullopt;
}

}  // namespace ttcheck::formats
