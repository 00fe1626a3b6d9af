// SPDX-License-Identifier: Apache-2.0
#include "formats/readers/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "formats/bytes/findings.hpp"
#include "formats/bytes/zip.hpp"

namespace ttcheck::formats {
namespace {

using namespace std::string_view_literals;

struct ForeignKind {
  std::size_t offset;
  std::string_view magic;
  std::string_view name;
};

constexpr std::array kForeignKinds = {
    ForeignKind{257, "ustar"sv, "a tar archive"},
    ForeignKind{0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive"},
    ForeignKind{0, "\x1f\x8b"sv, "gzip data"},
    ForeignKind{0, "BZh"sv, "bzip2 data"},
    ForeignKind{0,
                "\xfd"
                "7zXZ\0"sv,
                "xz data"},
    ForeignKind{0, "\x28\xb5\x2f\xfd"sv, "zstd data"},
    ForeignKind{0, "Rar!\x1a\x07"sv, "a rar archive"},
    ForeignKind{0,
                "\x7f"
                "ELF"sv,
                "a program"},
    ForeignKind{0, "version https://git-lfs"sv, "a git-lfs pointer, not the file itself"},
    ForeignKind{0, "GGUF"sv, "a GGUF file"},
    ForeignKind{0, "ggjt"sv, "a GGML file"},
    ForeignKind{4, "TFL3"sv, "a TensorFlow Lite file"},
    ForeignKind{0, "<!DOCTYPE"sv, "an HTML page, perhaps of an error"},
    ForeignKind{0, "<!doctype"sv, "an HTML page, perhaps of an error"},
    ForeignKind{0, "<html"sv, "an HTML page, perhaps of an error"},
    ForeignKind{0, "%PDF"sv, "a PDF document"},
};

/// A file whose first field is the version of ONNX's format and whose second is a text
/// (onnx.proto, ModelProto: ir_version = 1, producer_name = 2).
bool looks_like_onnx(std::string_view text) {
  return text.size() > 4 && text[0] == '\x08' && text[1] > 0 && text[1] < 32 && text[2] == '\x12' &&
         text.substr(4, static_cast<unsigned char>(text[3])).find_first_of("\0\x08"sv) ==
             std::string_view::npos;
}

/// A map whose first key is a text, as flax.serialization and msgpack write it.
bool looks_like_msgpack(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() < 3) return false;
  const std::size_t key = at(0) >= 0x81 && at(0) <= 0x8f ? 1 : at(0) == 0xde ? 3 : 0;
  if (key == 0 || text.size() < key + 2) return false;
  if (at(key) == 0xd9) return true;
  return at(key) >= 0xa1 && at(key) <= 0xbf && text.size() > key + (at(key) & 0x1f);
}

/// What a file is by how it begins, where that is no magic.
std::string_view by_structure(std::string_view text) {
  if (looks_like_onnx(text)) return "an ONNX file";
  if (looks_like_msgpack(text)) return "a msgpack file, as Flax writes it";
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  const bool object = text[first] == '{' && text.find_first_of("\"}", first) < text.size();
  if (object) return "a JSON file, which holds no arrays";
  return {};
}

/// An ending that says what is in the file, and the formats that may be there.
struct Ending {
  std::string_view ending;
  std::array<std::string_view, 2> formats;
};

constexpr std::array kEndings = {
    Ending{".safetensors", {"safetensors", "hf"}},
    Ending{".npy", {"npy", ""}},
    Ending{".npz", {"npz", "npy"}},
    Ending{".pt", {"torch", "torchscript"}},
    Ending{".pth", {"torch", "torchscript"}},
};

/// What an archive is by its members' names: keras/src/saving/saving_lib.py,
/// torch/csrc/jit/serialization/export.cpp.
std::string_view foreign_archive(const Source& file) {
  try {
    const Zip zip(file);
    if (zip.find("model.weights.h5")) {
      return "a Keras archive: unpack it, its model.weights.h5 is read";
    }
    const bool script = std::ranges::any_of(zip.members(), [](const ZipMember& member) {
      return member.name.ends_with("/constants.pkl") || member.name.ends_with(".py.debug_pkl") ||
             member.name.find("/code/") != std::string::npos;
    });
    if (script) return "a TorchScript archive: save the module's state_dict() to have it read";
  } catch (const Error&) {
    return "a damaged zip archive";
  }
  return "a zip archive without arrays in it";
}

}  // namespace

std::string_view foreign_kind(const Source& file, std::span<const std::byte> head) {
  if (looks_like_zip(file)) return foreign_archive(file);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (const ForeignKind& kind : kForeignKinds) {
    if (text.size() >= kind.offset && text.substr(kind.offset).starts_with(kind.magic)) {
      return kind.name;
    }
  }
  return by_structure(text);
}

std::optional<Finding> name_mismatch(std::string_view file_name, std::string_view format,
                                     Where where) {
  for (const Ending& row : kEndings) {
    if (!file_name.ends_with(row.ending)) continue;
    if (row.formats[0] == format || row.formats[1] == format) return std::nullopt;
    return odd(std::move(where), fmt::format("the name ends in {}, the content is {}; read as what "
                                             "it is",
                                             row.ending, format));
  }
  return std::nullopt;
}

}  // namespace ttcheck::formats
