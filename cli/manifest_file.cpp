// SPDX-License-Identifier: Apache-2.0
#include "cli/manifest_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/read_text.hpp"
#include "core/base/error.hpp"
#include "core/base/for_reason.hpp"
#include "formats/bytes/json.hpp"

namespace ttcheck::cli {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kLargest = std::size_t{1} << 30;  // bytes of a manifest

std::string text_of(const formats::Json& line, std::string_view key) {
  const auto value = line.find(key);
  if (!value) line.fail(fmt::format("no {}", key));
  return std::string(value->string());
}

void add_line(const formats::Json& line, Manifest& manifest) {
  const auto stated = line.find("step");
  if (!stated) line.fail("no step");
  std::optional<std::int64_t> step;
  if (!stated->is(formats::Json::Kind::null)) step = stated->integer();
  ManifestEntry entry{text_of(line, "dtype"), {}, text_of(line, "hash"), false};
  if (const auto constant = line.find("constant")) entry.constant = constant->boolean();
  const auto shape = line.find("shape");
  if (!shape) line.fail("no shape");
  for (const formats::Json& extent : shape->items()) entry.shape.push_back(extent.integer());
  const std::string name = text_of(line, "name");
  if (!manifest.emplace(std::pair(step, name), std::move(entry)).second) {
    line.fail("a second line of this step and tensor", name);
  }
}

void check_head(const formats::Json& line) {
  const auto version = line.find("ttcheck_manifest");
  if (!version) line.fail("no ttcheck_manifest: this is no manifest");
  if (version->integer() != kVersion) {
    version->fail(fmt::format(
        "manifest version {} where {} is known: ttcheck manifest --write writes it anew",
        version->integer(), kVersion));
  }
}

}  // namespace

ManifestEntry manifest_entry(const Tensor& tensor, compare::Hash hash) {
  return {std::string(name(tensor.dtype)), tensor.shape, std::move(hash.text), hash.constant};
}

std::string manifest_head() { return fmt::format("{{\"ttcheck_manifest\": {}}}\n", kVersion); }

std::string manifest_line(std::optional<std::int64_t> step, const std::string& name,
                          const ManifestEntry& entry) {
  nlohmann::ordered_json line;
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

namespace {

Manifest parse_manifest(const std::string& text, const std::string& path) {
  Manifest manifest;
  bool head = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const formats::JsonDocument line(text.substr(begin, end - begin), path, begin);
    if (head) {
      check_head(line.root());
    } else {
      add_line(line.root(), manifest);
    }
    head = false;
    begin = end + 1;
  }
  if (head) throw Error("an empty file is no manifest", {.file = path, .offset = 0});
  return manifest;
}

}  // namespace

Manifest read_manifest(const std::string& path) {
  return for_reason("bad-manifest",
                    [&] { return parse_manifest(read_text(path, kLargest), path); });
}

}  // namespace ttcheck::cli
