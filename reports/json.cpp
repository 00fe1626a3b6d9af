// SPDX-License-Identifier: Apache-2.0
#include "reports/json.hpp"

#include <fmt/format.h>

#include "reports/escape.hpp"
#include "reports/inventory.hpp"
#include "reports/json_parts.hpp"
#include "reports/listed.hpp"

namespace ttcheck::reports {
namespace {

/// One object, written key by key, so that a report of many tensors is never held twice.
class Object {
 public:
  void add(std::string_view key, const OrderedJson& value) {
    begin(key) += json_plain(value.dump());
  }

  template <class Rows, class Of>
  void add_rows(std::string_view key, Rows&& rows, const Of& of) {
    std::string& out = begin(key);
    const char* separator = "\n  ";
    out += '[';
    for (const auto& row : rows) {
      out += separator;
      out += json_plain(of(row).dump());
      separator = ",\n  ";
    }
    out += ']';
  }

  std::string finish() { return std::move(text_) + "}\n"; }

 private:
  std::string& begin(std::string_view key) {
    text_ += text_.empty() ? "{" : ",\n ";
    return text_ += fmt::format("\"{}\": ", key);
  }

  std::string text_;
};

OrderedJson inventory_row(const InventoryRow& row) {
  const bool trace = row.tensor->identity.phase != Phase::none;
  OrderedJson object = {{"name", text(row.tensor->identity.name)},
                        {"kind", std::string(name(row.tensor->kind))},
                        {"dtype", std::string(name(row.tensor->dtype))},
                        {"shape", row.tensor->shape},
                        {"steps", row.steps}};
  if (trace) {
    object["phase"] = std::string(name(row.tensor->identity.phase));
    object["microbatch"] = row.tensor->identity.microbatch;
  }
  return object;
}

}  // namespace

std::string write_json(const Verdict& verdict, const ReportOptions& options) {
  const bool judged = verdict.outcome.has_value();
  Object object;
  const OrderedJson summary = summary_of(verdict);
  for (const auto& [key, value] : summary.items()) object.add(key, value);
  object.add_rows("findings", verdict.findings, [](const Finding& one) { return json_of(one); });
  if (judged) {
    object.add_rows("tensors", listed(verdict, options),
                    [](const TensorResult& one) { return json_of(one); });
  } else {
    const auto rows = options.all ? inventory(verdict.tensors) : std::vector<InventoryRow>();
    object.add_rows("tensors", rows, inventory_row);
  }
  object.add_rows("facts", verdict.facts, [](const FactResult& one) { return json_of(one); });
  if (!verdict.known.empty()) {
    object.add_rows("known", verdict.known, [](const KnownTold& one) {
      return OrderedJson{{"count", one.count},
                         {"reason", text(one.reason)},
                         {"date", text(one.date)},
                         {"first", text_or_null(one.first)}};
    });
  }
  if (verdict.search) object.add("bisect", json_of(*verdict.search));
  if (verdict.shown) object.add("show", json_of(*verdict.shown, verdict, options));
  if (verdict.calibration) object.add("calibration", json_of(*verdict.calibration, options.all));
  // Words that could not be understood lead to no finding; then this says why.
  if (!verdict.complete && verdict.findings.empty() && !verdict.reason.empty()) {
    object.add("error", text(verdict.reason));
  }
  return object.finish();
}

}  // namespace ttcheck::reports
