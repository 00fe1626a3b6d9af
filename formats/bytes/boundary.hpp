// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a root ends: the directory beneath which links may lead, what of a hub's cache belongs to
// it besides, and what is said of a file that cannot be opened.

#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "formats/bytes/beneath.hpp"

namespace ttcheck::formats {

/// The directory beneath which links may lead, and, of a snapshot of a hub cache
/// (`models--x/snapshots/<revision>` beside `models--x/blobs`), the blobs of that model.
struct Boundary {
  Descriptor directory;
  Descriptor blobs;
};

/// The boundary of a directory that the user named. Throws Error when it cannot be opened.
Boundary find_boundary(const std::string& directory);

/// The blob that a link of a snapshot names, `../../blobs/<name>` and one `../` more for each
/// directory that it lies in; empty for any other link.
std::string blob_of(int snapshot, const std::string& path);

/// The paths at and below which a Root of `path` may open: itself, of a snapshot of a hub cache the
/// blobs beside it, and where links are followed wherever they lead, all.
std::vector<std::string> reach_of(const std::string& path, bool follow_links);

/// The path without links. Throws Error when it leads nowhere.
std::string real_path(const std::string& path);

/// What stands before the last component ("." for nothing), and that.
std::pair<std::string, std::string> split_path(const std::string& path);

/// True for errors of what is not there, and of links that cannot be followed; by errno.
bool is_missing(int error);
bool is_of_link(int error);

/// Why `file` cannot be opened, by errno.
Error open_error(const std::string& file, int error);

}  // namespace ttcheck::formats
