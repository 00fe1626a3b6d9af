// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file: the auction, then whichever format wins. What opens must describe only bytes
// that are there, and reading them must end in bytes or in an Error.

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/base/error.hpp"
#include "formats/open.hpp"
#include "tests/support/read_piece.hpp"
#include "tests/support/scratch_folder.hpp"

namespace {

/// One file, rewritten for each input.
const std::string& scratch() {
  static const std::string path = ttcheck::tests::scratch_folder() + "/input";
  return path;
}

void write_scratch(const std::uint8_t* data, std::size_t size) {
  const int file = open(scratch().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  close(file);
}

void look_into(const ttcheck::Run& run) {
  for (std::size_t step = 0; step < run.steps.size(); ++step) {
    try {
      const ttcheck::State state = run.open(step);
      for (const ttcheck::Record& record : state.records) ttcheck::tests::read_piece(record.piece);
    } catch (const ttcheck::Error&) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  write_scratch(data, size);
  const auto run = ttcheck::formats::open(scratch());
  if (run) look_into(*run);
  return 0;
}
