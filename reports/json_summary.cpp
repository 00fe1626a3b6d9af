// SPDX-License-Identifier: Apache-2.0
#include "core/base/version.hpp"
#include "reports/json_parts.hpp"

namespace ttcheck::reports {
namespace {

constexpr int kSchema = 1;

OrderedJson head_of(const Verdict& verdict) {
  OrderedJson words = OrderedJson::array();
  for (const std::string& word : verdict.argv) words.push_back(text(word));
  return {{"version", version()}, {"schema", kSchema}, {"argv", words}};
}

}  // namespace

OrderedJson summary_of(const Verdict& verdict) {
  OrderedJson object = OrderedJson::object();
  object["ttcheck"] = head_of(verdict);
  object["command"] = text_or_null(verdict.command);
  if (verdict.outcome) object["verdict"] = std::string(name(*verdict.outcome));
  object["complete"] = verdict.complete;
  object["exit"] = verdict.exit;
  object["reason"] = text_or_null(verdict.reason);
  object["relation"] = json_of(verdict.relation);
  object["reference"] = json_of(verdict.reference);
  object["candidate"] = json_of(verdict.candidate);
  object["coverage"] = json_of(verdict.coverage);
  if (verdict.outcome) object["tally"] = json_of(verdict.tally);
  object["first"] = json_of(verdict.first);
  if (verdict.outcome) {
    OrderedJson roots = OrderedJson::array();
    for (const ErrorRoot& root : verdict.roots) roots.push_back(json_of(root));
    object["roots"] = roots;
  }
  return object;
}

}  // namespace ttcheck::reports
