// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/file_names.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kMaxRank = std::int64_t{1} << 20;

/// What is left of a name while its parts are taken off the front.
class Rest {
 public:
  explicit Rest(std::string_view text) : text_(text) {}

  bool take(std::string_view part) {
    if (!text_.starts_with(part)) return false;
    text_.remove_prefix(part.size());
    return true;
  }

  bool take_number(std::int64_t& number) {
    if (text_.empty() || text_.front() < '0' || text_.front() > '9') return false;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc{} || number >= kMaxRank) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }

  bool is(std::string_view whole) const { return text_ == whole; }

 private:
  std::string_view text_;
};

constexpr std::string_view kModelEnd = "_model_states.pt";

bool parse_layer(Rest rest, DeepspeedFile& file) {
  if (!rest.take("layer_") || !rest.take_number(file.layer)) return false;
  file.kind = DeepspeedKind::layer;
  if (rest.is("-model_states.pt")) return true;
  return rest.take("-model_") && rest.take_number(file.mp) && rest.is("-model_states.pt");
}

bool parse_expert(Rest rest, DeepspeedFile& file) {
  if (rest.take("layer_") && (!rest.take_number(file.layer) || !rest.take("_"))) return false;
  file.kind = DeepspeedKind::expert;
  return rest.take("expert_") && rest.take_number(file.expert) && rest.take("_mp_rank_") &&
         rest.take_number(file.mp) && rest.is(kModelEnd);
}

bool parse_rank(Rest rest, DeepspeedFile& file) {
  std::int64_t dp = 0;
  rest.take("bf16_");
  const bool experts = rest.take("expp_rank_");
  if (experts || rest.take("zero_pp_rank_")) {
    if (!rest.take_number(dp) || !rest.take("_")) return false;
    file.dp = dp;
  }
  if (!rest.take("mp_rank_") || !rest.take_number(file.mp)) return false;
  if (rest.is(kModelEnd)) {
    file.kind = DeepspeedKind::model;
    return !experts;
  }
  file.kind = experts ? DeepspeedKind::expert_optimizer : DeepspeedKind::optimizer;
  rest.take("_");  // the first releases wrote none
  return file.dp && rest.is("optim_states.pt");
}

auto place_of(const DeepspeedFile& file) {
  return std::tuple(file.kind, file.mp, file.dp.value_or(-1), file.layer, file.expert);
}

}  // namespace

std::optional<DeepspeedFile> parse_deepspeed_name(std::string_view name) {
  for (const auto parse : {parse_rank, parse_layer, parse_expert}) {
    DeepspeedFile file;
    file.path = name;
    if (parse(Rest(name), file)) return file;
  }
  return std::nullopt;
}

std::vector<DeepspeedFile> deepspeed_files(const std::vector<std::string>& names) {
  std::vector<DeepspeedFile> files;
  for (const std::string& name : names) {
    if (auto file = parse_deepspeed_name(name)) files.push_back(std::move(*file));
  }
  std::ranges::stable_sort(files, {}, [](const DeepspeedFile& file) { return place_of(file); });
  return files;
}

bool same_place(const DeepspeedFile& a, const DeepspeedFile& b) {
  return place_of(a) == place_of(b);
}

}  // namespace ttcheck::formats
