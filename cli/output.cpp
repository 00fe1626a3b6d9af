// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.hpp"
#include "formats/bytes/write_all.hpp"

namespace ttcheck::cli {

void reopen_closed_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(file, F_GETFD) == -1 && errno == EBADF) {
      // The lowest free number is this one, since those below it are open. Write-only stdin and
      // read-only stdout: using them is then an error and not silence.
      static_cast<void>(::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
  }
}

void write_stdout(std::string_view text) {
  const int fault = formats::write_all(STDOUT_FILENO, text);
  if (fault != 0 && fault != EPIPE) {
    throw Error(fmt::format("cannot write report: {}", std::strerror(fault)), {.file = "stdout"});
  }
}

void write_stderr(std::string_view text) {
  static_cast<void>(formats::write_all(STDERR_FILENO, text));
}

}  // namespace ttcheck::cli
