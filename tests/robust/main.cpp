// Damages one file of a sample at every byte and looks at what `diff` says:
//   robust cuts|flips VALUES REFERENCE SAMPLE [FILE]
// VALUES is the safetensors file whose tensors are in the sample.
// cuts:  the file ends early. Never a crash, never exit 0, always a word of the file, and of an
//        offset in it once its signature is there.
// flips: one bit of one byte is turned (two bits a byte). Never a crash; a flip in bytes that are
//        seen to be values is never called equal (in a trace it may be noise).
// Prints each failure; a crash leaves the damaged copy behind, and its path is the first line.

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "tests/robust/damage.hpp"

namespace {

using namespace ttcheck::tests;

constexpr std::size_t kEveryByte = 3072;  ///< flipped each; of what follows, every 61st
constexpr std::size_t kStride = 61;
constexpr std::size_t kSignature = 16;  ///< bytes by which any of our formats is known
constexpr double kHang = 60;            ///< seconds: a hang, not a busy machine

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

Answer timed(const DamagedCopy& copy, const std::string& content, Tally& tally, std::size_t at) {
  const auto start = std::chrono::steady_clock::now();
  const Answer answer = copy.with(content);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ++tally.tried;
  if (took.count() > kHang) tally.fail(at, answer, "took " + std::to_string(took.count()) + " s");
  if (answer.exit < 0 || answer.exit > 3) tally.fail(at, answer, "no exit code of ours");
  return answer;
}

std::size_t next(std::size_t at) { return at < kEveryByte ? at + 1 : at + kStride; }

bool names(const Answer& answer, const std::string& file) {
  for (const std::string& word : answer.words) {
    if (word.find(file) != std::string::npos) return true;
  }
  return false;
}

void cuts(const DamagedCopy& copy, Tally& tally) {
  const std::string& whole = copy.original();
  const std::string file = copy.damaged_file().filename().string();
  const std::size_t content_end = whole.find_last_not_of(" \n") + 1;
  for (std::size_t at = 0; at < content_end; ++at) {
    const Answer answer = timed(copy, whole.substr(0, at), tally, at);
    if (answer.exit == 0) tally.fail(at, answer, "a cut file passes");
    if (!names(answer, file)) tally.fail(at, answer, "no word of " + file);
    if (at >= kSignature && !answer.has_offset) tally.fail(at, answer, "no offset");
  }
}

void flips(const DamagedCopy& copy, const std::string& values, Tally& tally) {
  const std::string& whole = copy.original();
  const std::vector<bool> payload = payload_of(whole, values);
  for (std::size_t at = 0; at < whole.size(); at = next(at)) {
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

/// What follows the header of a safetensors file.
std::string tensor_bytes(const std::string& safetensors) {
  std::size_t header = 0;
  for (int i = 7; i >= 0; --i) {
    header = header << 8 | static_cast<unsigned char>(safetensors.at(static_cast<std::size_t>(i)));
  }
  return safetensors.substr(8 + header);
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::fprintf(stderr, "usage: robust cuts|flips VALUES REFERENCE SAMPLE [FILE]\n");
    return 2;
  }
  const std::string_view what = words[1];
  const DamagedCopy copy(words[4], count > 5 ? words[5] : "", words[3]);
  std::printf("damaging %s\n", copy.damaged_file().c_str());
  std::fflush(stdout);

  Tally tally;
  const Answer whole = copy.with(copy.original());
  if (whole.exit != 0 || whole.verdict != "equal") tally.fail(0, whole, "undamaged, but not equal");
  if (what == "cuts") {
    cuts(copy, tally);
  } else {
    flips(copy, tensor_bytes(read_whole(words[2])), tally);
  }
  std::printf("%zu tried, %zu failed, %zu flips that change no value\n", tally.tried, tally.failed,
              tally.silent);
  return tally.tried > 0 && tally.failed == 0 ? 0 : 1;
}
