// SPDX-License-Identifier: Apache-2.0
// Runs the units. Ends with 77 where a case was skipped and none failed; a case without a check
// fails.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "tests/unit/skip.hpp"

namespace ttcheck::tests {
namespace {

int skipped = 0, bare = 0;

class BareCases final : public doctest::IReporter {
 public:
  explicit BareCases(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& data) override {
    case_ = &data;
    skipped_before_ = skipped;
  }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (stats.numAssertsCurrentTest > 0 || skipped > skipped_before_) return;
    ++bare;
    std::printf("%s:%u: no check in \"%s\"\n", case_->m_file.c_str(), case_->m_line, case_->m_name);
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  const doctest::TestCaseData* case_ = nullptr;
  int skipped_before_ = 0;
};

REGISTER_LISTENER("bare cases", 1, BareCases);

}  // namespace

void skip_case(std::string_view why) {
  ++skipped;
  std::printf("skipped: %s\n", std::string(why).c_str());
}

}  // namespace ttcheck::tests

#ifdef __SANITIZE_ADDRESS__
#define TTCHECK_LEAKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TTCHECK_LEAKS 1
#endif
#endif
#ifdef TTCHECK_LEAKS
// LLVM's OpenMP library keeps what a thread that was not its own had used.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the sanitizer's name
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp.so"; }  // NOLINT
#endif

int main(int count, char** words) {
  using namespace ttcheck::tests;
  doctest::Context context(count, words);
  const int code = context.run();
  if (code != 0) return code;
  if (bare > 0) return 1;
  return skipped > 0 ? 77 : 0;
}
