#include <exception>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/trouble.hpp"

int main(int argc, char** argv) {
  using namespace ttcheck::cli;
  reopen_closed_files();
  watch_signals();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    return dispatch(words);
  } catch (...) {
    return report_trouble(words, std::current_exception());
  }
}
