// SPDX-License-Identifier: Apache-2.0
#include "formats/own/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/for_reason.hpp"
#include "core/base/utf8.hpp"
#include "formats/bytes/json.hpp"
#include "formats/bytes/read_text.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kLargest = std::size_t{1} << 30;  // bytes of a manifest

std::string text_of(const Json& line, std::string_view key) {
  const auto value = line.find(key);
  if (!value) line.fail(fmt::format("no {}", key));
  return std::string(value->string());
}

void add_line(const Json& line, Manifest& manifest) {
  const auto stated = line.find("step");
  if (!stated) line.fail("no step");
  std::optional<std::int64_t> step;
  if (!stated->is(Json::Kind::null)) step = stated->integer();
  ManifestEntry entry{text_of(line, "dtype"), {}, text_of(line, "hash"), false};
  if (const auto constant = line.find("constant")) entry.constant = constant->boolean();
  const auto shape = line.find("shape");
  if (!shape) line.fail("no shape");
  for (const Json& extent : shape->items()) entry.shape.push_back(extent.integer());
  const std::string name = text_of(line, "name");
  if (!manifest.entries.emplace(std::pair(step, name), std::move(entry)).second) {
    line.fail("a second line of this step and tensor", name);
  }
}

constexpr std::string_view kTied = "tied_embeddings";

ManifestHead read_head(const Json& line) {
  const auto version = line.find("ttcheck_manifest");
  if (!version) line.fail("no ttcheck_manifest: this is no manifest");
  if (version->integer() != kVersion) {
    version->fail(fmt::format(
        "manifest version {} where {} is known: ttcheck manifest --write writes it anew",
        version->integer(), kVersion));
  }
  ManifestHead head;
  if (const auto format = line.find("format")) head.format = format->string();
  const auto stated = line.find("model");
  if (!stated) return head;
  for (const JsonMember& member : stated->members()) {
    if (member.first == kTied) {
      head.tied_embeddings = member.second.boolean();
    } else {
      head.model.emplace(member.first, member.second.integer());
    }
  }
  return head;
}

}  // namespace

std::string manifest_head(const ManifestHead& head) {
  nlohmann::ordered_json line = nlohmann::ordered_json::object();
  line["ttcheck_manifest"] = kVersion;
  if (!head.format.empty()) line["format"] = head.format;
  nlohmann::ordered_json model = nlohmann::ordered_json::object();
  for (const auto& [name, value] : head.model) model[as_utf8(name)] = value;
  if (head.tied_embeddings) model[kTied] = true;
  if (!model.empty()) line["model"] = std::move(model);
  return line.dump() + "\n";
}

std::string manifest_line(std::optional<std::int64_t> step, const std::string& name,
                          const ManifestEntry& entry) {
  nlohmann::ordered_json line = nlohmann::ordered_json::object();
  if (step) {
    line["step"] = *step;
  } else {
    line["step"] = nullptr;
  }
  line["name"] = name;
  line["dtype"] = entry.dtype;
  line["shape"] = entry.shape;
  line["hash"] = entry.hash;
  if (entry.constant) line["constant"] = true;
  return line.dump() + "\n";
}

Manifest parse_manifest(const std::string& text, const std::string& path) {
  Manifest manifest;
  bool head = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const JsonDocument line(text.substr(begin, end - begin), path, begin);
    if (head) {
      manifest.head = read_head(line.root());
    } else {
      add_line(line.root(), manifest);
    }
    head = false;
    begin = end + 1;
  }
  if (head) throw Error("an empty file is no manifest", {.file = path, .offset = 0});
  return manifest;
}

Manifest read_manifest(const std::string& path) {
  return for_reason("bad-manifest",
                    [&] { return parse_manifest(read_text(path, kLargest), path); });
}

}  // namespace ttcheck::formats
