#include "formats/bytes/root.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>

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

/// Last component, and what stands before it ("." for none).
std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

[[noreturn]] void fail_open(const std::string& file, int error) {
  throw Error(error == EXDEV   ? "leads out of the run, and links are followed only inside it"
              : error == ELOOP ? "is a link that leads to itself, or a chain of too many links"
                               : "cannot be opened: " + std::generic_category().message(error),
              {file, {}, {}});
}

/// The directory beneath which links may lead: the one given, or, for a snapshot of a hub cache
/// (`models--x/snapshots/<revision>` beside `models--x/blobs`), the cache folder of that model.
struct Boundary {
  Descriptor directory;
  std::string prefix;  ///< path of the given directory below it
};

/// The path without links; throws when it leads nowhere.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), &free);
  if (!real) fail_open(path, errno);
  return real.get();
}

Boundary find_boundary(const std::string& given_directory) {
  const std::string directory = real_path(given_directory);
  const auto [parent, name] = split(directory);
  const auto [grandparent, parent_name] = split(parent);
  Descriptor given(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!given) fail_open(directory, errno);
  if (parent_name == "snapshots") {
    Descriptor cache(open(grandparent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat status{};
    if (cache && fstatat(cache.get(), "blobs", &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(status.st_mode)) {
      return {std::move(cache), "snapshots/" + name};
    }
  }
  return {std::move(given), ""};
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
  bool follow_links = false;
  std::shared_ptr<std::atomic<std::uint64_t>> counter;
  mutable std::mutex mutex;
  mutable std::map<std::string, std::unique_ptr<FileSource>, std::less<>> files;

  void set_boundary(const std::string& directory) {
    Boundary found = find_boundary(directory);
    boundary = std::make_shared<const Descriptor>(std::move(found.directory));
    prefix = std::move(found.prefix);
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
    return open_beneath(boundary->get(), full, flags);
  }

  std::optional<Entry> entry(std::string_view path) const {
    const Descriptor descriptor = open(path, O_PATH);
    if (!descriptor) {
      if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
      return Entry{std::string(path), EntryKind::other, 0};
    }
    struct stat status{};
    if (fstat(descriptor.get(), &status) != 0) return std::nullopt;
    const EntryKind kind = kind_of(status);
    return Entry{std::string(path), kind,
                 kind == EntryKind::file ? static_cast<std::uint64_t>(status.st_size) : 0};
  }

  /// Entries of one directory, unsorted; true beside those that are links.
  std::vector<std::pair<Entry, bool>> list_one(std::string_view under) const {
    Descriptor descriptor = open(under, kReadFlags | O_DIRECTORY);
    if (!descriptor) fail_open(display(under), errno);
    std::vector<std::pair<Entry, bool>> entries;
    DIR* stream = fdopendir(descriptor.get());
    if (stream == nullptr) fail_open(display(under), errno);
    descriptor.release();  // the stream owns it now
    const std::unique_ptr<DIR, int (*)(DIR*)> closer(stream, &closedir);
    while (true) {
      errno = 0;
      const dirent* item = readdir(stream);
      if (item == nullptr) {
        if (errno != 0) fail_open(display(under), errno);
        return entries;
      }
      const std::string_view name = item->d_name;
      if (name == "." || name == "..") continue;
      const std::string path = join(under, name);
      // One that vanished meanwhile stays listed, so that it is missed by name when it is opened.
      entries.emplace_back(entry(path).value_or(Entry{path, EntryKind::other, 0}),
                           item->d_type == DT_LNK);
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
  const std::string clean = without_trailing_slash(path);
  struct stat status{};
  if (stat(clean.c_str(), &status) != 0) fail_open(path, errno);
  std::string directory = clean;
  if (S_ISREG(status.st_mode)) {
    std::tie(directory, state_->file_name) = split(clean);
    state_->base = directory == "." && !clean.starts_with("./") ? "" : directory;
  } else if (S_ISDIR(status.st_mode)) {
    state_->base = clean;
  } else {
    throw Error("is neither a regular file nor a directory", {path, {}, {}});
  }
  state_->set_boundary(directory);
  if (is_file() && !state_->open(file_name(), O_PATH)) {
    // The user named a link out of its directory: the place where it leads is what was given.
    std::tie(state_->base, state_->file_name) = split(real_path(clean));
    state_->set_boundary(state_->base);
  }
}

Root Root::below(std::string_view path) const {
  require_plain(path, given());
  const std::optional<Entry> found = entry(path);
  if (!found) fail_open(state_->display(path), ENOENT);
  auto state = std::make_unique<State>();
  state->given = state_->display(path);
  state->boundary = state_->boundary;
  state->follow_links = state_->follow_links;
  state->counter = state_->counter;
  if (found->kind == EntryKind::directory) {
    state->base = state->given;
    state->prefix = join(state_->prefix, path);
  } else {
    const auto [parent, name] = split(std::string(path));
    state->file_name = name;
    const std::string above = parent == "." ? "" : parent;
    state->base = join(state_->base, above);
    state->prefix = join(state_->prefix, above);
  }
  return Root(std::move(state));
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
      for (auto& [found, is_link] : state_->list_one(directory)) {
        if (found.kind == EntryKind::directory && !is_link) next.push_back(found.path);
        all.push_back(std::move(found));
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
    if (!probe) fail_open(state->display(path), errno);
  }
  auto source = std::make_unique<FileSource>(state->display(path), opener, *state->counter);
  return *state_->files.emplace(path, std::move(source)).first->second;
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
