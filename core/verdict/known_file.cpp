// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/known_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/toml_reader.hpp"

namespace ttcheck::verdict {
namespace {

class KnownReader : TomlReader {
 public:
  KnownReader(std::string_view text, const std::string& file) : TomlReader(text, file) {
    known_.file = file;
  }

  KnownFile read() {
    const toml::table root = document();
    keys(root, {"known", "difference"}, "a file of known differences");
    const toml::node* version = root.get("known");
    if (version == nullptr) fail(root, "known = 1 is missing");
    if (version->value_exact<std::int64_t>() != 1) {
      fail(*version,
           "unknown version of the known file; expected 1: write its [[difference]] tables anew");
    }
    for (const toml::table* one : tables(root, "difference")) read_difference(*one);
    return std::move(known_);
  }

 private:
  /// As TOML writes dates, or a string.
  std::string date(const toml::table& one) const {
    const toml::node* node = one.get("date");
    if (node == nullptr) fail(one, "date is missing: since when it is known");
    if (node->is_string()) return node->as_string()->get();
    const auto* date = node->as_date();
    if (date == nullptr) fail(*node, "date must be a date, such as 2026-11-27");
    const toml::date& day = date->get();
    return fmt::format("{:04}-{:02}-{:02}", day.year, day.month, day.day);
  }

  void read_difference(const toml::table& one) {
    keys(one, {"reason", "date", "tensors", "codes"}, "[[difference]]");
    KnownDifference known;
    known.line = line_of(one);
    if (!one.contains("reason")) fail(one, "reason is missing: why it is no fault");
    known.reason = string(one, "reason");
    known.date = date(one);
    for (const toml::node* node : string_nodes(one, "tensors"))
      known.tensors.push_back(glob(*node));
    for (const toml::node* node : string_nodes(one, "codes")) {
      const auto code = code_named(node->as_string()->get());
      if (!code) fail(*node, "unknown code; ttcheck explain lists them");
      known.codes.push_back(*code);
    }
    if (known.tensors.empty() && known.codes.empty()) {
      fail(one, "neither tensors nor codes: it would be of everything");
    }
    known_.differences.push_back(std::move(known));
  }

  KnownFile known_;
};

}  // namespace

bool KnownDifference::is_of(const Identity& identity) const {
  return tensors.empty() || std::ranges::any_of(tensors, [&](const auto& glob) {
           return glob->matches(identity.name) || glob->matches(module_of(identity));
         });
}

bool KnownDifference::has(Code code) const {
  return codes.empty() || std::ranges::find(codes, code) != codes.end();
}

KnownFile parse_known(std::string_view text, const std::string& file) {
  return KnownReader(text, file).read();
}

}  // namespace ttcheck::verdict
