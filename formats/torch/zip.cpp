// SPDX-License-Identifier: Apache-2.0
// torch.save writes an archive with one folder: `data.pkl` is the object, each member of `data/`
// a storage under its key, `byteorder` and `version` small records beside them; TorchScript adds
// `code/` and `constants.pkl`. The folder is that of the first `data.pkl`, since a file may have
// been renamed; a second object is a finding. Storages come first, and are only noted, not read;
// one that cannot be read keeps the reason until a tensor needs it. Small records are next: a
// byte order that is neither is an Error, an odd version a finding. Then the object's pickle is
// read, and other pickles only to be judged. Last, ids are held against storages, and members
// against their checksums as far as the budget goes. Without a `data.pkl` whose bytes can be had,
// the file is an Error. Of a small record at most 4096 bytes are read.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/digits.hpp"
#include "core/base/utf8.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/objects/judge.hpp"
#include "formats/torch/storages.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kLongestRecord = 4096;  ///< of `byteorder` and `version`

std::string small_text(const Zip& zip, std::size_t member) {
  const Source& source = zip.source(member);
  std::string text(static_cast<std::size_t>(std::min(source.size(), kLongestRecord)), '\0');
  source.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

/// The folder of the first `data.pkl`; every further one is a finding.
std::string find_prefix(const Zip& zip, std::vector<Finding>& findings) {
  std::optional<std::string> prefix;
  for (const ZipMember& member : zip.members()) {
    constexpr std::string_view kObject = "data.pkl";
    const std::size_t slash = member.name.find('/');
    const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
    if (member.name.substr(start) != kObject) continue;
    const std::string folder = member.name.substr(0, start);
    if (!prefix) {
      prefix = folder;
    } else if (*prefix != folder) {
      Where where = zip.file().where(member.header);
      where.object = member.name;
      findings.push_back(damaged(std::move(where),
                                 "the archive holds a second object; only the first one is read"));
    }
  }
  if (!prefix) throw Error("archive has no data.pkl", zip.file().where(0));
  return *prefix;
}

void read_byte_order(const Zip& zip, std::size_t member, TorchContents& contents) {
  const std::string text = small_text(zip, member);
  if (text == "big") {
    contents.order = ByteOrder::big;
  } else if (text != "little") {
    throw Error(fmt::format("byteorder is neither little nor big, but {} bytes of something else",
                            zip.source(member).size()),
                zip.source(member).where(0));
  }
}

/// torch refuses an archive without this record, and one outside of the versions that it knows
/// (caffe2/serialize/versions.h, inline_container.cc `PyTorchStreamReader::init`).
void check_version(const Zip& zip, const std::string& prefix, TorchContents& contents) {
  constexpr std::uint64_t kOldest = 1, kNewest = 10;
  const auto member = zip.find(prefix + "version");
  if (!member) {
    contents.findings.push_back(
        damaged(zip.file().where(0), "the archive has no record of its version: torch refuses it"));
    return;
  }
  if (!zip.members()[*member].problem.empty()) return;  // told by the archive; the rest is read
  const Where where = zip.source(*member).where(0);
  const std::string text = small_text(zip, *member);
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || version < kOldest) {
    contents.findings.push_back(damaged(where, "the record of the archive's version holds none"));
  } else if (version > kNewest) {
    contents.findings.push_back(
        beyond(where, fmt::format("the archive is of version {}, {} is the newest that is known",
                                  version, kNewest)));
  }
}

/// Records that torch turns into a number or text when it opens the archive.
void check_records(const Zip& zip, const std::string& prefix, TorchContents& contents) {
  for (const std::string_view name : {".data/serialization_id", ".storage_alignment"}) {
    const auto member = zip.find(prefix + std::string(name));
    if (!member || !zip.members()[*member].problem.empty()) continue;
    const std::string text = small_text(zip, *member);
    const bool number = name == ".storage_alignment";
    if (number ? is_number(text) : is_utf8(text, Surrogates::refused)) continue;
    contents.findings.push_back(damaged(
        zip.source(*member).where(0),
        fmt::format("the record {} is no {}: torch refuses it", name, number ? "number" : "text")));
  }
}

TorchStorage storage_of(const Zip& zip, std::size_t index) {
  const ZipMember& member = zip.members()[index];
  TorchStorage storage;
  storage.where = zip.file().where(member.data);
  storage.where.object = member.name;
  storage.problem = member.problem;
  storage.size = member.size;
  if (storage.problem.empty()) storage.source = &zip.source(index);
  return storage;
}

/// Judges every pickle but the object's, other objects' too.
void read_other_pickles(const Zip& zip, std::size_t object, TorchContents& contents) {
  for (std::size_t i = 0; i < zip.members().size(); ++i) {
    const ZipMember& member = zip.members()[i];
    const std::string_view name = member.name;
    if (i == object || !name.ends_with(".pkl") || !member.problem.empty()) continue;
    try {
      check_pickle_size(zip.source(i));
    } catch (const Error& error) {
      contents.findings.push_back(unreadable(error));
      continue;
    }
    Stream in(zip.source(i));
    contents.pickles.push_back(read_pickle(in));
    judge_pickle(contents.pickles.back(), name, contents.findings);
  }
}

}  // namespace

void read_torch_zip(const Source& file, std::uint64_t budget, TorchContents& contents) {
  contents.zip = std::make_unique<Zip>(file);
  const Zip& zip = *contents.zip;
  contents.findings = zip.findings();
  contents.unclaimed = zip.unclaimed();
  const std::string prefix = find_prefix(zip, contents.findings);
  contents.saved_as = prefix.substr(0, prefix.find('/'));
  const std::string data = prefix + "data/";
  const std::string code = prefix + "code/";
  bool constants = false;
  for (std::size_t i = 0; i < zip.members().size(); ++i) {
    const std::string_view name = zip.members()[i].name;
    if (name.starts_with(data)) {
      contents.storages.insert_or_assign(std::string(name.substr(data.size())), storage_of(zip, i));
    }
    if (name.starts_with(code)) contents.code = true;
    if (name == prefix + "constants.pkl") constants = true;
  }
  contents.container = constants ? TorchContainer::script : TorchContainer::zip;
  if (const auto order = zip.find(prefix + "byteorder")) read_byte_order(zip, *order, contents);
  check_version(zip, prefix, contents);
  check_records(zip, prefix, contents);
  const std::size_t object = *zip.find(prefix + "data.pkl");
  check_pickle_size(zip.source(object));
  Stream in(zip.source(object));
  contents.pickles.push_back(read_pickle(in));
  judge_pickle(contents.pickles.back(), "data.pkl", contents.findings);
  if (!in.done()) {
    contents.findings.push_back(odd(in.source().where(in.offset()),
                                    fmt::format("{} bytes follow the pickle", in.remaining())));
  }
  read_other_pickles(zip, object, contents);
  check_storages(contents);
  const std::vector<Finding> sums = check_crc(zip, budget);
  contents.findings.insert(contents.findings.end(), sums.begin(), sums.end());
}

}  // namespace ttcheck::formats
