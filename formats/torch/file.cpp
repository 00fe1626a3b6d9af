// SPDX-License-Identifier: Apache-2.0
#include "formats/torch/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "formats/bytes/findings.hpp"
#include "formats/bytes/zip/directory.hpp"
#include "formats/objects/judge.hpp"
#include "formats/torch/storages.hpp"

namespace ttcheck::formats {
namespace {

/// PROTO 2, LONG1 of ten bytes, the magic number.
constexpr std::array<std::uint8_t, 14> kLegacyStart = {0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c,
                                                       0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
constexpr std::size_t kMagicReach =
    64;  ///< of the pickle that holds the magic number, whatever its protocol

constexpr std::uint64_t kSecondPickleReach = std::uint64_t{1} << 20;

/// True when the file's first pickle is the magic number, however it is spelled.
bool starts_with_magic(const Source& file) {
  Stream in(file, 0, std::min<std::uint64_t>(file.size(), kMagicReach));
  const Pickle first = read_pickle(in);
  return !first.fault() && first.root().is(NodeKind::big_integer) &&
         first.root().text() == kLegacyMagic;
}

/// The name of an archive's first member is one that torch's writers start with, behind one folder.
bool is_archive_of_torch(std::string_view head) {
  constexpr std::size_t kName = 30;  // of a local header's fixed part
  if (head.size() < kName) return false;
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(head[26]) |
                                               static_cast<unsigned char>(head[27]) << 8);
  std::string_view name = head.substr(kName, length);
  name.remove_prefix(std::min(name.size(), name.find('/') + 1));
  return name == "data.pkl" || name == "version" || name == "byteorder" ||
         name == ".format_version" || name.starts_with("data/") || name.starts_with("code/");
}

/// A file may be read in two ways at once; another reader might take the other one.
void note_second_face(const Source& file, TorchContents& contents) {
  if (contents.zip != nullptr) {
    Stream in(file, 0, std::min(file.size(), kSecondPickleReach));
    const Pickle pickle = read_pickle(in);
    // "PK\3\4" asks for a persistent id whose text ends with the line; a stop behind it is chance.
    const bool chance = pickle.root().is(NodeKind::persistent) && pickle.globals().empty();
    if (pickle.fault() || chance) return;
    contents.findings.push_back(
        odd(file.where(0), "the archive's first bytes are also a pickle; read as an archive"));
    judge_pickle(pickle, "the pickle at its start", contents.findings);
    return;
  }
  std::vector<Finding> of_archive;
  if (const auto end = find_zip_end(file, of_archive)) {
    contents.findings.push_back(
        odd(file.where(end->records),
            "the file also ends as a zip archive; read as the pickle that it starts with"));
  }
}

}  // namespace

Record record_of(std::string name, const TorchTensor& tensor, std::int32_t rank) {
  Record record;
  record.identity.name = std::move(name);
  record.kind = kind_of_name(record.identity.name);
  record.dtype = tensor.dtype;
  record.shape = tensor.shape;
  record.piece = tensor.piece;
  record.piece.rank = rank;
  return record;
}

TorchFile::TorchFile(std::unique_ptr<TorchContents> contents) : contents_(std::move(contents)) {}
TorchFile::~TorchFile() = default;
TorchFile::TorchFile(TorchFile&&) noexcept = default;

TorchContainer TorchFile::container() const { return contents_->container; }
const Pickle& TorchFile::pickle() const { return contents_->pickles[contents_->object]; }
std::uint64_t TorchFile::size() const { return contents_->file->size(); }
const std::vector<Finding>& TorchFile::findings() const { return contents_->findings; }
std::uint64_t TorchFile::unclaimed() const { return contents_->unclaimed; }
bool TorchFile::has_code() const { return contents_->code; }
const std::string& TorchFile::saved_as() const { return contents_->saved_as; }

std::uint64_t checksum_budget(std::uint64_t size) {
  constexpr std::uint64_t small = std::uint64_t{16} << 20;
  return std::min(kChecksumBudget, std::max(small, size / 8));
}

TorchFile read_torch(const Source& file) { return read_torch(file, checksum_budget(file.size())); }

TorchFile read_torch(const Source& file, std::uint64_t budget) {
  auto contents = std::make_unique<TorchContents>();
  contents->file = &file;
  if (looks_like_zip(file)) {
    read_torch_zip(file, budget, *contents);
  } else if (starts_with_magic(file)) {
    read_torch_legacy(file, *contents);
  } else {
    read_bare_pickle(file, *contents);
  }
  note_second_face(file, *contents);
  return TorchFile(std::move(contents));
}

Bid torch_signature(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  const std::string_view legacy(reinterpret_cast<const char*>(kLegacyStart.data()),
                                kLegacyStart.size());
  if (text.starts_with(legacy)) return Bid::torch_legacy;
  if (text.starts_with("PK\3\4") && is_archive_of_torch(text)) return Bid::torch_zip;
  if (text.size() >= 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5) return Bid::pickle;
  return Bid::none;
}

}  // namespace ttcheck::formats
