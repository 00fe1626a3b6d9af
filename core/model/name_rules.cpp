// SPDX-License-Identifier: Apache-2.0
#include "core/model/name_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ttcheck {
namespace {

constexpr NameRule kRules[] = {
    {kUserMap, "a rule of --map: names, or values that it rescales; it goes before all others"},
    {kDequantised,
     "a quantised weight and its scales, multiplied out, meet the weight of that name in f32, f16 "
     "or bf16"},
    {kOrderOfOps,
     "ops that a dump counts (linear_0, linear_1): those of one base name in the order of their "
     "calls, with the same module and shapes first"},
    {kFromOne,
     "layers that one side counts from 0 and the other from 1, where that is so of all names of "
     "one "
     "beginning and weights go with those of the next number, beyond chance"},
    {kSameName, "the same name, slot, phase and micro-batch on both sides"},
    {kWrapperPrefix,
     "the same name but for what wraps: base_model.model. in front, module., _orig_mod., "
     "_fsdp_wrapped_module., _checkpoint_wrapped_module., base_layer. and modules_to_save. as "
     "parts"},
    {kAdapterName, "the same name but for that of the adapter: lora_A.default.weight"},
    {kModelPrefix, "the same name but for model. in front of it"},
    {kLanguagePrefix, "the same name but for the language_model. of models that also see or hear"},
    {kOnePrefix,
     "the same name but for one prefix, where every name of the smaller side has its counterpart "
     "behind it, of the same shape; of several prefixes the one behind which the values are the "
     "same"},
    {kNormNames,
     "gamma and beta of a norm, as TensorFlow calls them, for its weight and bias of that shape"},
    {kOtherNames,
     "names of two families (hf, megatron, meta, gpt-oss) that are made of the same parts; fused "
     "ones are taken apart, numbers (heads, experts) are the configs'"},
    {kSpellings, "two spellings of one family that are made of the same parts"},
    {kMasterForParameter,
     "the f32 master of a parameter meets the parameter, where one side keeps no other"},
    {kTupleForField,
     "PARENT.0 meets PARENT.left, each the only one left of its parent, dtype and shape"},
    {kTiedForLayer,
     "tied_modules.NAME of a pipeline meets the number of its layer, where what follows and the "
     "shape are the same"},
    {kSharedCopy,
     "what a layer that predicts further tokens has a copy of meets what the original met"},
    {kNamedInput,
     "in traces: an input that one side recorded meets the record that the other side's op says it "
     "took"},
    {kTiedParameter, "a parameter that one side says is tied meets what that side stores it under"},
    {kEqualBytes,
     "of names that nothing makes meet: the same bytes in one dtype and shape, or in what one side "
     "joins and the other cuts; in traces, what modules make whose loaded weights one side joins"},
    {kByManifest, "the manifests on both sides state the same hash: no byte was read"},
    {kByHash, "a side kept a hash instead of the bytes"},
    {kByStatistics, "a side kept statistics instead of the bytes"},
};

/// Whether a rule's text is what the row makes with its words in capitals filled in.
bool made_by(const NameRule& row, std::string_view rule) {
  if (row.name == kUserMap) return rule.starts_with("map ");
  if (row.name == kOnePrefix) return is_prefix_rule(rule);
  if (row.name == kDequantised) return rule.starts_with("dequant(");
  rule = rule.substr(0, rule.find(", "));
  if (row.name == kOtherNames) {
    return rule.ends_with(" names") && rule.find(" for ") != std::string_view::npos;
  }
  if (row.name == kSpellings) return rule.ends_with(" spellings");
  return rule == row.name;
}

}  // namespace

std::string prefix_rule(std::string_view prefix, std::string_view side) {
  return fmt::format("prefix {} of the {}", prefix, side);
}

bool is_prefix_rule(std::string_view rule) { return rule.starts_with("prefix "); }

std::span<const NameRule> name_rules() { return kRules; }

const NameRule* name_rule(std::string_view rule) {
  const auto* row =
      std::ranges::find_if(kRules, [&](const NameRule& one) { return made_by(one, rule); });
  return row == std::end(kRules) ? nullptr : row;
}

}  // namespace ttcheck
