// SPDX-License-Identifier: Apache-2.0
// A file is a graph of groups: several links may lead to one object, and a group may contain
// itself. Objects are known by their address, so that each group is walked once and each dataset
// read once; a further link to a dataset is an item that refers to the first. Groups wait on a
// stack, which takes the place of recursion. A soft link to a dataset is followed inside of the
// file, one to a group is noted. Links out of the file are named only.
//
// Damage stays local. A group that cannot be listed to its end gives an error and the members up
// to there; a dataset that cannot be opened or described has a problem. The library walks an
// index as a whole only where it is asked for its size, so `check_index` asks. A version that the
// library here does not know is no proof of damage. The worker that this runs in has its own
// bounds of time and memory (formats/sandbox/isolate); a path of more than 16 KiB is not
// followed, and where a link of more leads is not named.

#include "formats/bytes/hdf5/worker/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <set>

#include "formats/bytes/hdf5/worker/dataset.hpp"
#include "formats/bytes/hdf5/worker/driver.hpp"
#include "formats/bytes/hdf5/worker/types.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kPathLimit = std::size_t{1} << 14;

/// One link of a group, as it is listed.
struct Link {
  std::string name;
  H5L_type_t type = H5L_TYPE_ERROR;
  std::size_t value_size = 0;
};

herr_t keep_link(hid_t, const char* name, const H5L_info_t* info, void* out) {
  try {
    const bool valued = info->type != H5L_TYPE_HARD;
    static_cast<std::vector<Link>*>(out)->push_back(
        {name, info->type, valued ? info->u.val_size : 0});
    return 0;
  } catch (...) {  // no exception may cross the library
    return -1;
  }
}

/// A message of a version that the library here does not know: a later one wrote it.
bool is_of_later_version(std::string_view reason) {
  return reason.starts_with("bad version number");
}

class Walk {
 public:
  Walk(const Hdf5Library& library, const Source& file, std::string_view attribute, Hdf5Plan& out)
      : h5_(library), attribute_(attribute), out_(out) {
    medium_.file = &file;
  }

  void run() {
    h5_.H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // printing of errors is set for each thread
    const Hdf5Handle file = open_hdf5(h5_, medium_);
    groups_.push_back({});
    while (!groups_.empty()) {
      const Group next = std::move(groups_.back());
      groups_.pop_back();
      walk_group(file.id(), next);
    }
    read_definition(file.id());
  }

 private:
  void read_definition(hid_t file) {
    try {
      out_.definition = text_attribute(h5_, file, "model_config");
    } catch (const Error& error) {
      note(Severity::note, "", error.message());
    }
  }

  void note(Severity severity, const std::string& path, std::string message) {
    out_.notes.push_back({severity, path, std::move(message)});
  }

  /// A group to be walked. It is opened by its address: by its path the library would walk all that
  /// it lies in again.
  struct Group {
    std::string path;  ///< empty: the root
    haddr_t address = 0;
  };

  void walk_group(hid_t file, const Group& next) {
    const std::string& path = next.path;
    const Hdf5Handle group(path.empty() ? h5_.H5Gopen2(file, "/", H5P_DEFAULT)
                                        : h5_.H5Oopen_by_addr(file, next.address),
                           h5_.H5Gclose);
    if (!group) {
      return note(Severity::error, path, "group cannot be opened: " + hdf5_reason(h5_));
    }
    if (path.empty()) check_index(group.id(), ".", path);
    std::vector<Link> links;
    hsize_t at = 0;
    if (h5_.H5Literate(group.id(), H5_INDEX_NAME, H5_ITER_INC, &at, keep_link, &links) < 0) {
      note(Severity::error, path,
           fmt::format("group cannot be listed beyond {} members: {}", links.size(),
                       hdf5_reason(h5_)));
    }
    std::vector<Group> inner;
    for (const Link& link : links) {
      const std::string name = path.empty() ? link.name : path + "/" + link.name;
      if (name.size() > kPathLimit) {
        note(Severity::error, path, "path is too long to be followed");
      } else if (link.type == H5L_TYPE_HARD || link.type == H5L_TYPE_SOFT) {
        follow(group.id(), link, name, inner);
      } else {
        note(Severity::warning, name,
             fmt::format("link to {}, not followed; {}", outside_target(group.id(), link),
                         kNeverFollowed));
      }
    }
    groups_.insert(groups_.end(), std::make_move_iterator(inner.rbegin()),
                   std::make_move_iterator(inner.rend()));
  }

  std::string outside_target(hid_t group, const Link& link) const {
    constexpr std::string_view kUnnamed = "an object outside of this file";
    if (link.type != H5L_TYPE_EXTERNAL || link.value_size > kPathLimit) {
      return std::string(kUnnamed);
    }
    std::vector<char> value(link.value_size + 1, '\0');
    unsigned flags = 0;
    const char* file = nullptr;
    const char* object = nullptr;
    if (h5_.H5Lget_val(group, link.name.c_str(), value.data(), link.value_size, H5P_DEFAULT) < 0 ||
        h5_.H5Lunpack_elink_val(value.data(), link.value_size, &flags, &file, &object) < 0) {
      return std::string(kUnnamed);
    }
    return fmt::format("{} in another file, {}", object, file);
  }

  void follow(hid_t group, const Link& link, const std::string& path, std::vector<Group>& inner) {
    H5O_info_t info{};
    const bool soft = link.type == H5L_TYPE_SOFT;
    if (h5_.H5Oget_info_by_name2(group, link.name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) <
        0) {
      const std::string reason = hdf5_reason(h5_);
      if (soft) return note(Severity::note, path, "soft link leads nowhere: " + reason);
      return note(Severity::error, path, "object cannot be read: " + reason);
    }
    if (!soft) check_index(group, link.name.c_str(), path);
    if (info.type == H5O_TYPE_GROUP) {
      if (soft || !seen_.insert(info.addr).second || is_root(info.addr, group)) {
        return note(Severity::note, path, "link to a group that is listed elsewhere");
      }
      inner.push_back({path, info.addr});
    } else if (info.type == H5O_TYPE_DATASET) {
      const auto [first, fresh] = datasets_.try_emplace(info.addr, out_.items.size());
      if (fresh) {
        read_dataset(group, link.name, path);
      } else {
        add_name(first->second, path);
      }
    }
  }

  /// A group's index, or that of a dataset's chunks, which the library walks whole only where it is
  /// asked how much room it takes.
  void check_index(hid_t group, const char* name, const std::string& path) {
    H5O_info_t info{};
    if (h5_.H5Oget_info_by_name2(group, name, &info, H5O_INFO_META_SIZE, H5P_DEFAULT) >= 0) return;
    const std::string reason = hdf5_reason(h5_);
    if (is_of_later_version(reason)) return;  // said where the object is read
    note(Severity::error, path, "its index is damaged: " + reason);
  }

  /// One more link to a dataset that was read.
  void add_name(std::size_t first, const std::string& path) {
    Hdf5Item item;
    item.path = path;
    item.same = first;
    item.text = out_.items[first].text;
    out_.items.push_back(std::move(item));
  }

  bool is_root(haddr_t address, hid_t group) {
    if (!root_) {
      H5O_info_t info{};
      if (h5_.H5Oget_info_by_name2(group, "/", &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        return false;
      root_ = info.addr;
    }
    return address == *root_;
  }

  void read_dataset(hid_t group, const std::string& name, const std::string& path) {
    Hdf5Item item;
    item.path = path;
    const Hdf5Handle id(h5_.H5Dopen2(group, name.c_str(), H5P_DEFAULT), h5_.H5Dclose);
    if (!id) {
      const std::string reason = hdf5_reason(h5_);
      item.problem = "cannot be opened: " + reason;
      item.unsupported = is_of_later_version(reason);
      if (item.unsupported) item.problem += " (a later HDF5 wrote it than the one here, or damage)";
    } else {
      describe_dataset(h5_, medium_, id.id(), item);
      try {
        if (!attribute_.empty()) item.text = text_attribute(h5_, id.id(), attribute_);
      } catch (const Error& error) {  // no damage beside it becomes a limit of ours
        const bool alone = item.problem.empty();
        item.problem = alone ? error.message() : item.problem + "; " + error.message();
        item.unsupported = error.is_unable() && (alone || item.unsupported);
      }
    }
    out_.items.push_back(std::move(item));
  }

  const Hdf5Library& h5_;
  std::string attribute_;
  Hdf5Plan& out_;
  Hdf5Medium medium_;
  std::vector<Group> groups_;                // to be walked, next last
  std::set<haddr_t> seen_;                   // groups that were met
  std::map<haddr_t, std::size_t> datasets_;  // that were read, and which items they are
  std::optional<haddr_t> root_;
};

}  // namespace

Hdf5Plan walk_hdf5(const Source& file, std::string_view attribute) {
  Hdf5Plan plan;
  Walk(hdf5_library(), file, attribute, plan).run();
  return plan;
}

}  // namespace ttcheck::formats
