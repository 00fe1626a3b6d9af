// SPDX-License-Identifier: Apache-2.0
// Damages one file of a sample and looks at what `diff` says:
//   robust [--all|--few] cuts|flips VALUES REFERENCE SAMPLE [FILE [BESIDE...]]
// VALUES is the safetensors file whose tensors are in the sample; BESIDE: see DamagedCopy.
// cuts:  the file ends early. Never a crash, never exit 0, always a word of the file, and of an
//        offset in it once its signature is there.
// flips: one bit of one byte is turned (two bits a byte). Never a crash; a flip in bytes that are
//        seen to be values is never called equal (in a trace it may be noise).
// --all: at every byte, which takes ten minutes of a processor for all samples; without, beyond
// the first 3 KiB at every 61st and the last; --few: beyond the first 64 bytes.
// Prints each failure; a crash leaves the damaged copy behind, and its path is the first line.

#include <sys/resource.h>

#include <cstdio>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/robust/damage.hpp"

namespace {

using namespace ttcheck::tests;

constexpr std::size_t kEveryByte = 3072;  ///< damaged each; of what follows, every 61st
constexpr std::size_t kFew = 64;
constexpr std::size_t kStride = 61;
constexpr std::size_t kSignature = 16;  ///< bytes by which any of our formats is known
constexpr double kHang = 60;            ///< seconds of a processor, however busy the machine

struct Tally {
  std::size_t tried = 0, failed = 0, silent = 0;

  void fail(std::size_t at, const Answer& answer, const std::string& why) {
    ++failed;
    if (failed > 20) return;
    std::printf("byte %zu: %s: exit %d, %s\n", at, why.c_str(), answer.exit,
                answer.verdict.c_str());
    for (const std::string& word : answer.words) std::printf("    %s\n", word.c_str());
  }
};

/// CPU time of this process and of those that it waited for, in seconds.
double cpu_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& time : {used.ru_utime, used.ru_stime}) {
      sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
  }
  return sum;
}

Answer timed(const DamagedCopy& copy, const std::string& content, Tally& tally, std::size_t at) {
  const double start = cpu_seconds();
  const Answer answer = copy.with(content);
  const double took = cpu_seconds() - start;
  ++tally.tried;
  if (took > kHang) tally.fail(at, answer, "took " + std::to_string(took) + " s");
  if (answer.exit < 0 || answer.exit > 3) tally.fail(at, answer, "no exit code of ours");
  return answer;
}

/// Where a file of so many bytes is damaged: at the first `each`, and further apart behind them.
std::vector<std::size_t> places(std::size_t size, std::size_t each) {
  std::vector<std::size_t> chosen;
  for (std::size_t at = 0; at < size; at += at < each ? 1 : kStride) {
    chosen.push_back(at);
  }
  if (!chosen.empty() && chosen.back() + 1 != size) chosen.push_back(size - 1);
  return chosen;
}

bool names(const Answer& answer, const std::string& file) {
  for (const std::string& word : answer.words) {
    if (word.find(file) != std::string::npos) return true;
  }
  return false;
}

void cuts(const DamagedCopy& copy, std::size_t each, Tally& tally) {
  const std::string& whole = copy.original();
  const std::string file = copy.damaged_file().filename().string();
  const std::size_t content_end = whole.find_last_not_of(" \n") + 1;
  for (const std::size_t at : places(content_end, each)) {
    const Answer answer = timed(copy, whole.substr(0, at), tally, at);
    if (answer.exit == 0) tally.fail(at, answer, "a cut file passes");
    if (!names(answer, file)) tally.fail(at, answer, "no word of " + file);
    if (at >= kSignature && !answer.has_offset) tally.fail(at, answer, "no offset");
  }
}

void flips(const DamagedCopy& copy, const std::vector<std::string>& values, std::size_t each,
           Tally& tally) {
  const std::string& whole = copy.original();
  const std::vector<bool> payload = payload_of(whole, values);
  for (const std::size_t at : places(whole.size(), each)) {
    for (const unsigned bit : {0x01U, 0x80U}) {
      std::string content = whole;
      content[at] = static_cast<char>(static_cast<unsigned char>(content[at]) ^ bit);
      const Answer answer = timed(copy, content, tally, at);
      if (answer.exit == 0) ++tally.silent;
      if (answer.verdict == "equal" && payload[at])
        tally.fail(at, answer, "a changed value passes");
    }
  }
}

/// The bytes of each tensor of a safetensors file.
std::vector<std::string> tensor_bytes(const std::string& safetensors) {
  std::size_t header = 0;
  for (int i = 7; i >= 0; --i) {
    header = header << 8 | static_cast<unsigned char>(safetensors.at(static_cast<std::size_t>(i)));
  }
  static const std::regex kOffsets(R"("data_offsets":\[(\d+),(\d+)\])");
  const std::string head = safetensors.substr(8, header);
  std::vector<std::string> tensors;
  for (std::sregex_iterator one(head.begin(), head.end(), kOffsets), end; one != end; ++one) {
    const std::size_t from = std::stoul((*one)[1]), to = std::stoul((*one)[2]);
    tensors.push_back(safetensors.substr(8 + header + from, to - from));
  }
  return tensors;
}

}  // namespace

int main(int count, char** given) {
  std::vector<std::string> words(given + 1, given + count);
  const bool all = !words.empty() && words.front() == "--all";
  const bool few = !words.empty() && words.front() == "--few";
  if (all || few) words.erase(words.begin());
  const std::size_t each = all ? std::string::npos : few ? kFew : kEveryByte;
  if (words.size() < 4) {
    std::fprintf(
        stderr,
        "usage: robust [--all|--few] cuts|flips VALUES REFERENCE SAMPLE [FILE [BESIDE...]]\n");
    return 2;
  }
  const std::vector<std::string> inside(words.begin() + 4, words.end());
  const std::string file = inside.empty() ? "" : inside.front();
  const std::vector<std::string> beside(inside.begin() + (inside.empty() ? 0 : 1), inside.end());
  const DamagedCopy copy(words[3], file, words[2], beside);
  std::printf("damaging %s\n", copy.damaged_file().c_str());
  std::fflush(stdout);

  const std::vector<std::string> values = tensor_bytes(read_whole(words[1]));
  if (values.empty()) {
    std::fprintf(stderr, "robust: no tensors in %s\n", words[1].c_str());
    return 2;
  }
  Tally tally;
  const Answer whole = copy.with(copy.original());
  if (whole.exit != 0 || whole.verdict != "equal") tally.fail(0, whole, "undamaged, but not equal");
  if (words[0] == "cuts") {
    cuts(copy, each, tally);
  } else {
    flips(copy, values, each, tally);
  }
  std::printf("%zu tried, %zu failed, %zu flips that change no value\n", tally.tried, tally.failed,
              tally.silent);
  return tally.tried > 1 && tally.failed == 0 ? 0 : 1;
}
