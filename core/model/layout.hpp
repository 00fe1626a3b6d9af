// SPDX-License-Identifier: Apache-2.0
#pragma once
// A layout file, parsed from text (grammar: man/ttcheck-layout.5). It says how paths give mesh
// coordinates, how a rank's names become global ones, and how each tensor is placed.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/glob.hpp"
#include "core/model/box.hpp"
#include "core/model/mesh.hpp"
#include "core/model/placement.hpp"

namespace ttcheck {

using Numbers = std::map<std::string, std::int64_t, std::less<>>;

struct TensorRule {
  std::string match;  ///< name glob
  std::shared_ptr<const Placement> dims;
  std::optional<Shape> shape;        ///< logical
  std::int64_t line = 0;             ///< of the layout file, for messages
  std::shared_ptr<const Glob> glob;  ///< `match`, compiled by parse_layout
};

struct RenameRule {
  std::string match;
  std::string to;
  std::int64_t line = 0;
  std::shared_ptr<const Glob> glob;  ///< `match`, compiled by parse_layout
};

/// `[[map]]` of a map file: how names and tensors of one scheme become another's.
struct MapRule {
  std::string reference, candidate, op;
  std::int64_t line = 0;
  std::string file{};      ///< for messages
  std::string text{};      ///< the line that says `reference`
  std::size_t column = 0;  ///< of its value in `text`
};

struct Layout {
  std::string file;  ///< for messages
  std::string base = "none";
  Mesh mesh;
  std::string pattern;  ///< of [files]; empty: none
  std::string root;     ///< dotted path where the tree starts; may hold {vpp}
  Numbers model;        ///< [model]
  std::vector<TensorRule> tensors;
  std::vector<RenameRule> renames;
  std::vector<MapRule> maps;
};

/// Parses a layout (or map) file's text. Throws Error whose message shows file, line, column, the
/// line itself and a caret.
Layout parse_layout(std::string_view text, const std::string& file);

/// Coordinates that `pattern` reads from a path relative to the run's root (with `/`); nothing when
/// the path does not match. `{rank}` is expanded through the mesh (Error when it is outside of it);
/// `{step}` goes to `step`. Other axes keep what the path says, inside the mesh or not.
std::optional<Coordinates> match_path(const Layout& layout, std::string_view path,
                                      std::optional<std::int64_t>* step);

/// The first rule whose glob matches, or null.
const TensorRule* rule_for(const Layout& layout, std::string_view global);

}  // namespace ttcheck
