#include "reports/terminal.hpp"

namespace ttcheck::reports {

std::string write_terminal(const Verdict& verdict, const ReportOptions&) {
  return last_line(verdict) + "\n";
}

}  // namespace ttcheck::reports
