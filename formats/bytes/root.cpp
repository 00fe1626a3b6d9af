// SPDX-License-Identifier: Apache-2.0
// The user names one path; all others come from files, which may lie. So a path must be plain (no
// `..`, no leading slash), and it is opened beneath the descriptor of a directory, the boundary
// (formats/bytes/beneath). A link that leads out is refused, but for one into the blobs of a hub
// snapshot (formats/bytes/boundary); with `follow_links` links may lead anywhere. A file that the
// user names as a link out of its directory makes the place where it leads the root. A root below
// another shares its boundary, its counter and its faults.
//
// "Not there" and "cannot be opened" are kept apart: a thing that is there but cannot be opened,
// followed or looked at is noted, so that nobody takes it for absent; so is a name that was
// listed and then is gone. A file is opened without waiting, so that no pipe can hang the reader,
// and stays one source for the life of the root. When no descriptor is left, idle files are
// closed and the open is tried again. Listing goes level by level.

#include "formats/bytes/root.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>

#include "formats/bytes/boundary.hpp"
#include "formats/bytes/file.hpp"

namespace ttcheck::formats {
namespace {

constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

std::string join(std::string_view directory, std::string_view path) {
  if (directory.empty()) return std::string(path);
  if (path.empty()) return std::string(directory);
  return fmt::format("{}{}{}", directory, directory.back() == '/' ? "" : "/", path);
}

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

void require_plain(std::string_view path, const std::string& given) {
  if (is_plain_path(path)) return;
  throw Error(fmt::format("path '{}' is not a plain relative one and is not opened", path),
              {given, {}, {}});
}

EntryKind kind_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return EntryKind::file;
  return S_ISDIR(status.st_mode) ? EntryKind::directory : EntryKind::other;
}

}  // namespace

struct Root::State {
  std::string given;
  std::string file_name;  ///< empty for a directory
  std::string base;       ///< what `given` without the file name is, for messages
  std::string prefix;     ///< of the root below the boundary
  std::shared_ptr<const Descriptor> boundary;
  std::shared_ptr<const Descriptor> blobs;  ///< of a hub snapshot; null or empty for others
  bool follow_links = false;
  bool glance = false;  ///< links that cannot be followed are not noted
  std::shared_ptr<std::atomic<std::uint64_t>> counter;
  std::shared_ptr<ReadErrors> faults;
  mutable std::mutex mutex;
  mutable std::map<std::string, std::unique_ptr<FileSource>, std::less<>> files;

  void set_boundary(const std::string& directory) {
    Boundary found = find_boundary(directory);
    boundary = std::make_shared<const Descriptor>(std::move(found.directory));
    blobs = std::make_shared<const Descriptor>(std::move(found.blobs));
  }

  std::string display(std::string_view path) const { return join(base, path); }

  Descriptor open(std::string_view path, int flags) const {
    Descriptor descriptor = open_once(path, flags);
    const bool full = !descriptor && (errno == EMFILE || errno == ENFILE);
    return full && close_idle_files() ? open_once(path, flags) : std::move(descriptor);
  }

  Descriptor open_once(std::string_view path, int flags) const {
    std::string full = join(prefix, path);
    if (full.empty()) full = ".";
    if (follow_links) return Descriptor(openat(boundary->get(), full.c_str(), flags | O_CLOEXEC));
    Descriptor opened = open_beneath(boundary->get(), full, flags);
    if (opened || errno != EXDEV || !*blobs) return opened;
    const std::string blob = blob_of(boundary->get(), full);
    if (!blob.empty()) return open_beneath(blobs->get(), blob, flags);
    errno = EXDEV;
    return {};
  }

  void note(std::string_view path, std::string message) const {
    faults->note(Error::unable(std::move(message), {display(path), {}, {}}));
  }

  /// Notes that something is there which cannot be opened; false when nothing is.
  bool note_unopened(std::string_view path, int error) const {
    if (!is_missing(error)) {
      if (!glance || !is_of_link(error)) faults->note(open_error(display(path), error));
      return true;
    }
    if (open(path, O_PATH | O_NOFOLLOW)) {
      if (!glance) note(path, "is a link to what is not there");
      return true;
    }
    if (!faults->was_listed(display(path))) return false;
    note(path, "was listed, and is no longer there");
    return true;
  }

  std::optional<Entry> entry(std::string_view path) const {
    Entry found = {std::string(path), EntryKind::other, 0};
    const Descriptor descriptor = open(path, O_PATH);
    if (!descriptor) {
      if (!note_unopened(path, errno)) return std::nullopt;
      return found;
    }
    struct stat status{};
    if (fstat(descriptor.get(), &status) != 0) {
      note(path, "cannot be examined: " + std::generic_category().message(errno));
      return found;
    }
    found.kind = kind_of(status);
    if (found.kind == EntryKind::file) found.size = static_cast<std::uint64_t>(status.st_size);
    if (found.kind == EntryKind::other && !glance) {
      note(path, "is neither a regular file nor a directory");
    }
    return found;
  }

  [[noreturn]] void fail_list(std::string_view under, int error) const {
    note_unopened(under, error);
    throw open_error(display(under), error);
  }

  /// Whether the name itself is a link, where its directory did not say what it is.
  bool is_link(std::string_view path) const {
    const Descriptor itself = open(path, O_PATH | O_NOFOLLOW);
    struct stat status{};
    return itself && fstat(itself.get(), &status) == 0 && S_ISLNK(status.st_mode);
  }

  /// Entries of one directory, unsorted; true beside those that are links.
  std::vector<std::pair<Entry, bool>> list_one(std::string_view under) const {
    Descriptor descriptor = open(under, kReadFlags | O_DIRECTORY);
    if (!descriptor) fail_list(under, errno);
    std::vector<std::pair<Entry, bool>> entries;
    DIR* stream = fdopendir(descriptor.get());
    if (stream == nullptr) fail_list(under, errno);
    descriptor.release();  // the stream owns it now
    const std::unique_ptr<DIR, int (*)(DIR*)> closer(stream, &closedir);
    while (true) {
      errno = 0;
      const dirent* item = readdir(stream);
      if (item == nullptr) {
        if (errno != 0) fail_list(under, errno);
        return entries;
      }
      const std::string_view name = item->d_name;
      if (name == "." || name == "..") continue;
      const std::string path = join(under, name);
      faults->listed(display(path));
      entries.emplace_back(entry(path).value_or(Entry{path, EntryKind::other, 0}),
                           item->d_type == DT_LNK || (item->d_type == DT_UNKNOWN && is_link(path)));
    }
  }
};

Root::Root(std::unique_ptr<State> state) : state_(std::move(state)) {}
Root::~Root() = default;
Root::Root(Root&&) noexcept = default;

Root::Root(const std::string& path, bool follow_links) : state_(std::make_unique<State>()) {
  if (path.empty()) throw Error("an empty path was given");
  if (path.find('\0') != std::string::npos) throw Error("the path holds a zero byte");
  state_->given = path;
  state_->follow_links = follow_links;
  state_->counter = std::make_shared<std::atomic<std::uint64_t>>(0);
  state_->faults = std::make_shared<ReadErrors>();
  const std::string clean = without_trailing_slash(path);
  struct stat status{};
  if (stat(clean.c_str(), &status) != 0) throw open_error(path, errno);
  std::string directory = clean;
  if (S_ISREG(status.st_mode)) {
    std::tie(directory, state_->file_name) = split_path(clean);
    state_->base = directory == "." && !clean.starts_with("./") ? "" : directory;
  } else if (S_ISDIR(status.st_mode)) {
    state_->base = clean;
  } else {
    throw Error("is neither a regular file nor a directory", {path, {}, {}});
  }
  state_->set_boundary(directory);
  if (is_file() && !state_->open(file_name(), O_PATH)) {
    // The user named a link out of its directory: the place where it leads is what was given.
    std::tie(state_->base, state_->file_name) = split_path(real_path(clean));
    state_->set_boundary(state_->base);
  }
}

Root Root::below(std::string_view path) const {
  require_plain(path, given());
  const std::optional<Entry> found = entry(path);
  if (!found) throw open_error(state_->display(path), ENOENT);
  auto state = std::make_unique<State>();
  state->given = state_->display(path);
  state->boundary = state_->boundary;
  state->blobs = state_->blobs;
  state->follow_links = state_->follow_links;
  state->counter = state_->counter;
  state->faults = state_->faults;
  if (found->kind == EntryKind::directory) {
    state->base = state->given;
    state->prefix = join(state_->prefix, path);
  } else {
    const auto [parent, name] = split_path(std::string(path));
    state->file_name = name;
    const std::string above = parent == "." ? "" : parent;
    state->base = join(state_->base, above);
    state->prefix = join(state_->prefix, above);
  }
  return Root(std::move(state));
}

Root Root::glance(std::string_view path) const {
  Root root = below(path);
  root.state_->glance = true;
  return root;
}

std::pair<std::uint64_t, std::uint64_t> Root::place() const {
  const Descriptor directory = state_->open("", O_PATH | O_DIRECTORY);
  struct stat status{};
  if (!directory || fstat(directory.get(), &status) != 0) state_->fail_list("", errno);
  return {status.st_dev, status.st_ino};
}

const std::string& Root::given() const { return state_->given; }
bool Root::is_file() const { return !state_->file_name.empty(); }
std::string Root::file_name() const { return state_->file_name; }

std::vector<Entry> Root::list(std::string_view under, int depth) const {
  if (is_file()) {
    if (auto found = entry(file_name())) return {*found};
    return {};
  }
  std::vector<Entry> all;
  std::vector<std::string> level = {std::string(under)};
  for (int deep = 0; deep < depth && !level.empty(); ++deep) {
    std::vector<std::string> next;
    for (const std::string& directory : level) {
      try {
        for (auto& [found, is_link] : state_->list_one(directory)) {
          if (found.kind == EntryKind::directory && !is_link) next.push_back(found.path);
          all.push_back(std::move(found));
        }
      } catch (const Error&) {
        if (deep == 0) throw;
      }
    }
    level = std::move(next);
  }
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.path < b.path; });
  return all;
}

std::optional<Entry> Root::entry(std::string_view path) const {
  if (!is_plain_path(path)) return std::nullopt;
  return state_->entry(path);
}

const Source& Root::file(std::string_view path) const {
  require_plain(path, given());
  const std::lock_guard lock(state_->mutex);
  const auto known = state_->files.find(path);
  if (known != state_->files.end()) return *known->second;
  const State* state = state_.get();
  auto opener = [state, name = std::string(path)] { return state->open(name, kReadFlags); };
  {
    const Descriptor probe = state->open(path, O_PATH);
    if (!probe) {
      const int error = errno;
      state->note_unopened(path, error);
      throw open_error(state->display(path), error);
    }
  }
  try {
    auto source =
        std::make_unique<FileSource>(state->display(path), opener, *state->counter, state->faults);
    return *state_->files.emplace(path, std::move(source)).first->second;
  } catch (const Error& error) {
    if (error.is_unable()) state->faults->note(error);
    throw;
  }
}

std::string Root::text(std::string_view path, std::uint64_t limit) const {
  const Source& source = file(path);
  if (source.size() > limit) {
    throw Error(fmt::format("has {} bytes, at most {} were expected", source.size(), limit),
                {state_->display(path), {}, {}});
  }
  std::string content(source.size(), '\0');
  source.read(0, std::as_writable_bytes(std::span(content)));
  return content;
}

std::vector<Error> Root::take_faults() const { return state_->faults->take(); }
std::uint64_t Root::bytes_read() const { return state_->counter->load(); }

bool was_opened(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && was_opened(status);
}

std::vector<Finding> Root::changed() const {
  std::vector<Finding> findings;
  const std::lock_guard lock(state_->mutex);
  for (const auto& [path, source] : state_->files) {
    const std::string change = source->changed();
    if (change.empty()) continue;
    Finding finding;
    finding.code = Code::unreadable;
    finding.where = source->where(0);
    finding.where->offset.reset();
    finding.message = "the file changed while it was analysed: " + change;
    finding.incomplete = true;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ttcheck::formats
