// SPDX-License-Identifier: Apache-2.0
// safetensors: one file, described by its JSON header.

#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/base/digest.hpp"
#include "core/base/name_map.hpp"
#include "formats/arrays/safetensors_header.hpp"
#include "formats/bytes/cursor.hpp"
#include "formats/readers/format.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxFactText = 1024;  // of a metadata value that is kept as a fact

/// The header's length fits the file and its first character is an opening brace.
Bid bid_safetensors(const Probe& probe) {
  if (probe.file.empty() || probe.head.size() < 9) return Bid::none;
  const auto entry = probe.root.entry(probe.file);
  if (!entry) return Bid::none;
  Cursor cursor(probe.head, probe.file);
  const std::uint64_t length = cursor.u64("header length");
  if (length < 2) return Bid::none;
  while (!cursor.done()) {
    const std::uint8_t byte = cursor.u8("header");
    if (byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r') continue;
    if (byte != '{') return Bid::none;
    if (length <= entry->size - 8) return Bid::safetensors;
    // Cut inside its header: the claim is too large, yet no larger than a header may be.
    const bool quoted = cursor.done() || cursor.u8("header") == '"';
    return quoted && length <= kMaxSafetensorsHeader ? Bid::torn_safetensors : Bid::none;
  }
  return Bid::none;
}

std::vector<Fact> facts_of(const SafetensorsHeader& header, const Where& where) {
  std::vector<Fact> facts;
  for (const auto& [key, text] : header.metadata) {
    std::string value = text.substr(0, kMaxFactText);
    if (value.size() < text.size())
      value += fmt::format("... ({} bytes, xxh3 {:016x})", text.size(), digest_of(text));
    facts.push_back({"metadata." + key, std::move(value), FactUse::note, where});
  }
  return facts;
}

/// Names that safetensors.torch.save_model left out since their tensor is another's: metadata that
/// maps a name that is not there to one that is (bindings/python/py_src/safetensors/torch.py).
void add_ties(const SafetensorsHeader& header, const Where& where, std::vector<Fact>& facts) {
  if (header.metadata.empty()) return;
  NameViewSet names;
  for (const SafetensorsEntry& entry : header.tensors) names.insert(entry.name);
  for (const auto& [key, text] : header.metadata) {
    if (names.contains(text) && !names.contains(key)) {
      facts.push_back({"tied." + key, text, FactUse::note, where});
    }
  }
}

State read(const Source& source) {
  SafetensorsHeader header = read_safetensors_header(source);
  State state;
  state.facts = facts_of(header, source.where(8));
  add_ties(header, source.where(8), state.facts);
  state.findings = std::move(header.findings);
  state.bytes_unclaimed = header.unclaimed;
  state.unreadable = header.unreadable;
  state.records.reserve(header.tensors.size());
  for (SafetensorsEntry& entry : header.tensors) {
    Record record;
    record.kind = kind_of_name(entry.name);
    record.identity.name = std::move(entry.name);
    record.dtype = entry.dtype;
    record.shape = std::move(entry.shape);
    record.piece.source = &source;
    record.piece.offset = entry.begin;
    record.piece.dtype = entry.dtype;
    state.records.push_back(std::move(record));
  }
  return state;
}

Run open_safetensors(const Probe& probe, const OpenOptions&) {
  const Source& source = probe.root.file(probe.file);
  Run run;
  run.format = "safetensors";
  run.steps = {std::nullopt};
  auto first = std::make_shared<std::optional<State>>(read(source));
  // The header is read while opening, so that a bad one is refused at the door.
  run.open = [&source, first](std::size_t) {
    if (!first->has_value()) return read(source);
    State state = std::move(**first);
    first->reset();
    return state;
  };
  return run;
}

}  // namespace

const Format kSafetensors = {"safetensors", "tensors behind a JSON header, one file",
                             bid_safetensors, open_safetensors};

}  // namespace ttcheck::formats
