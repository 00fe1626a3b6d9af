// SPDX-License-Identifier: Apache-2.0
#include "reports/jsonl.hpp"

#include <string_view>

#include "reports/escape.hpp"
#include "reports/json_parts.hpp"
#include "reports/listed.hpp"

namespace ttcheck::reports {
namespace {

std::string line(std::string_view type, const OrderedJson& object) {
  OrderedJson typed = {{"type", type}};
  typed.update(object);
  return json_plain(typed.dump()) + "\n";
}

}  // namespace

std::string write_jsonl(const Verdict& verdict, const ReportOptions& options) {
  std::string text = line("summary", summary_of(verdict));
  for (const Finding& one : verdict.findings) text += line("finding", json_of(one));
  if (verdict.outcome) {
    for (const TensorResult& one : listed(verdict, options)) text += line("tensor", json_of(one));
  }
  for (const FactResult& one : verdict.facts) text += line("fact", json_of(one));
  return text;
}

}  // namespace ttcheck::reports
