// SPDX-License-Identifier: Apache-2.0
#include "formats/open.hpp"

#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include "formats/readers/auction.hpp"

namespace ttcheck::formats {

Result<Run> open(const std::string& path, const OpenOptions& options) {
  try {
    Run run = open_root(std::make_shared<const Root>(path, options.follow_links), options);
    std::error_code unknown;
    run.real_path = std::filesystem::canonical(path, unknown).string();
    if (unknown == std::errc::not_enough_memory) throw std::bad_alloc();
    return run;
  } catch (const Error& error) {
    const bool told = error.reason() != Error("").reason();
    return Failed((told ? error : error.because("unreadable")).at({path, {}, {}}));
  } catch (const std::bad_alloc&) {
    return Failed(Error("out of memory while its metadata were read", {path, {}, {}}));
  }
}

}  // namespace ttcheck::formats
