// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files as torch.save writes them, by hand, read from memory.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/torch/file.hpp"
#include "formats/torch/state.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/pickle_writer.hpp"
#include "tests/support/zip_writer.hpp"

namespace ttcheck::tests {

/// The bytes 0 to 15: a storage of four floats.
inline const std::string kStorage("\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17", 16);

/// A file in memory, read as torch would.
struct OpenedTorch {
  explicit OpenedTorch(const std::string& text)
      : source(std::make_unique<MemorySource>(to_bytes(text), "t.pt")),
        file(std::make_unique<formats::TorchFile>(formats::read_torch(*source))),
        state(formats::torch_state(*file)) {}

  const Record* record(std::string_view name) const {
    for (const Record& found : state.records) {
      if (found.identity.name == name) return &found;
    }
    return nullptr;
  }

  /// The first finding that says `text`, or null.
  const Finding* finding(std::string_view text) const {
    for (const Finding& found : state.findings) {
      if (found.message.find(text) != std::string::npos) return &found;
    }
    return nullptr;
  }

  bool says(std::string_view text, Severity severity) const {
    return std::any_of(state.findings.begin(), state.findings.end(), [&](const Finding& found) {
      return found.severity == severity && found.message.find(text) != std::string::npos;
    });
  }
  bool error(std::string_view text) const { return says(text, Severity::error); }
  bool warning(std::string_view text) const { return says(text, Severity::warning); }

  std::unique_ptr<MemorySource> source;
  std::unique_ptr<formats::TorchFile> file;
  State state;
};

inline std::string torch_archive(const std::string& object, const std::string& storage = kStorage,
                                 const std::vector<std::pair<std::string, std::string>>& more = {},
                                 const std::string& saved_as = "x") {
  ZipWriter made;
  made.add(saved_as + "/data.pkl", pickled::whole(object));
  for (const auto& [name, content] : more) made.add(name, content);
  made.add(saved_as + "/data/0", storage);
  const auto version = [&](const auto& one) { return one.first == saved_as + "/version"; };
  if (std::ranges::none_of(more, version)) made.add(saved_as + "/version", "3\n");
  return made.finish(true);
}

inline std::string one_tensor(const pickled::Tensor& tensor) {
  return pickled::dict({{"w", pickled::tensor(tensor)}});
}

/// The legacy container around an object, with one storage.
inline std::string torch_legacy(const std::string& object, const std::string& keys,
                                const std::string& storages,
                                const std::string& little_endian = "\x88") {
  return std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.") +
         pickled::whole("M\xe9\3") +
         pickled::whole(pickled::dict({{"little_endian", little_endian}})) +
         pickled::whole(object) + pickled::whole(keys) + storages;
}

}  // namespace ttcheck::tests
