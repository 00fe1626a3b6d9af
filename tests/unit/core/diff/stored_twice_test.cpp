// SPDX-License-Identifier: Apache-2.0
#include "core/diff/stored_twice.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/diffed.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/trace_builder.hpp"

namespace ttcheck::diff {
namespace {

using tests::diffed;
using tests::TempDir;
using tests::TraceFile;

/// Names, and the first of the two numbers of each.
using Values = std::vector<std::pair<std::string, float>>;

/// A folder as Hugging Face's libraries write it; the second number is a step further.
std::string written(const TempDir& directory, const Values& values,
                    const std::string& metadata = "", float step = 1) {
  std::string header = metadata, data;
  for (const auto& [name, first] : values) {
    header += fmt::format(R"({}"{}":{{"dtype":"F32","shape":[2],"data_offsets":[{},{}]}})",
                          header.empty() ? "" : ",", name, data.size(), data.size() + 8);
    for (const float value : {first, first + step}) {
      char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      data.append(bytes, sizeof value);
    }
  }
  directory.write("config.json", R"({"model_type":"own"})");
  directory.write("model.safetensors", tests::safetensors_of("{" + header + "}", data));
  return directory.path();
}

bool has_rule(const Verdict& verdict, const std::string& rule) {
  return std::ranges::any_of(verdict.coverage.excluded_by,
                             [&](const auto& one) { return one.first == rule; });
}

/// As libraries write it that store a shared tensor once.
const std::string kSaid =
    R"("__metadata__":{"format":"pt","lm_head.weight":"model.embed_tokens.weight"})";

const Values kModel = {{"model.embed_tokens.weight", 1},
                       {"model.layers.0.input_layernorm.weight", 5},
                       {"model.norm.weight", 5}};

TEST_CASE("a head that is the embedding, stored twice, is no error on either side") {
  Values twice = kModel;
  twice.push_back({"lm_head.weight", 1});
  const TempDir a, b;
  const std::string one = written(a, kModel), two = written(b, twice);
  for (const auto& [left, right] : {std::pair(one, two), std::pair(two, one)}) {
    const Verdict verdict = diffed(left, right);
    CHECK(verdict.outcome == Outcome::equal);
    CHECK(verdict.complete);
    CHECK(verdict.findings.empty());
    CHECK(has_rule(verdict, kStoredTwice));
    CHECK(verdict.coverage.excluded == 1);
  }
}

TEST_CASE("a head that is not the embedding it is tied to is a mismatch of the tie") {
  Values twice = kModel;
  twice.push_back({"lm_head.weight", 3});
  const TempDir a, b;
  const std::string one = written(a, kModel), two = written(b, twice);
  for (const TempDir* const side : {&a, &b}) {
    side->write("config.json", R"({"model_type":"own","tie_word_embeddings":true})");
  }
  for (const auto& [left, right] : {std::pair(one, two), std::pair(two, one)}) {
    const Verdict verdict = diffed(left, right);
    CHECK(verdict.outcome == Outcome::diverged);
    const auto tie = std::ranges::find(verdict.findings, Code::tie_mismatch, &Finding::code);
    REQUIRE(tie != verdict.findings.end());
    CHECK(tie->severity == Severity::error);
    CHECK((tie->tensor == "lm_head.weight" || tie->candidate_tensor == "lm_head.weight"));
  }
}

TEST_CASE("a tie is not to blame where the embedding is wrong, or where the config denies it") {
  Values twice = kModel, wrong = kModel;
  twice.push_back({"lm_head.weight", 3});
  wrong.front().second = 2;
  wrong.push_back({"lm_head.weight", 2});
  const TempDir a, b, c;
  const std::string one = written(a, kModel), two = written(b, twice), off = written(c, wrong);
  const auto mismatches = [&](const std::string& left, const std::string& right) {
    return std::ranges::count(diffed(left, right).findings, Code::tie_mismatch, &Finding::code);
  };
  for (const bool tied : {true, false}) {
    for (const TempDir* const side : {&a, &b, &c}) {
      side->write("config.json", fmt::format(R"({{"model_type":"own","tie_word_embeddings":{}}})",
                                             tied ? "true" : "false"));
    }
    CHECK(mismatches(one, two) == (tied ? 1 : 0));
    CHECK(mismatches(two, one) == (tied ? 1 : 0));
    CHECK(mismatches(one, off) == 0);
    CHECK(mismatches(off, one) == 0);
  }
}

TEST_CASE("a copy that the other file says is tied is loose where what it is tied to is right") {
  Values twice = kModel, wrong = kModel;
  twice.push_back({"lm_head.weight", 3});
  wrong.front().second = 2;
  wrong.push_back({"lm_head.weight", 3});
  const TempDir a, b, c;
  const std::string file = "/model.safetensors";
  const std::string one = written(a, kModel, kSaid) + file;
  const std::string two = written(b, twice) + file, off = written(c, wrong) + file;
  const auto loose = [&](const std::string& left, const std::string& right) {
    return std::ranges::count(diffed(left, right).findings, Code::tie_mismatch, &Finding::code);
  };
  CHECK(loose(one, two) == 1);
  CHECK(loose(two, one) == 1);
  CHECK(loose(one, off) == 0);
  CHECK(loose(off, one) == 0);
}

TEST_CASE("a file of tensors alone holds what was saved: what it lacks was lost, or it says why") {
  Values twice = kModel;
  twice.push_back({"lm_head.weight", 1});
  const TempDir a, b, c;
  const std::string whole = written(a, twice) + "/model.safetensors";
  const std::string lost = written(b, kModel) + "/model.safetensors";
  CHECK(diffed(whole, lost).outcome == Outcome::diverged);
  const std::string said = written(c, kModel, kSaid) + "/model.safetensors";
  CHECK(diffed(whole, said).outcome == Outcome::equal);
  CHECK(diffed(said, whole).outcome == Outcome::equal);
}

TEST_CASE("encoder's and decoder's embeddings, modules that stages share") {
  for (const auto& [stored, again] :
       {std::pair("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"),
        std::pair("shared.weight", "encoder.embed_tokens.weight"),
        std::pair("embedding.word_embeddings.weight", "output_layer.weight"),
        std::pair("tied_modules.x.weight", "tied_modules.y.weight")}) {
    CAPTURE(stored);
    const TempDir a, b;
    const Verdict verdict =
        diffed(written(a, {{stored, 1}}), written(b, {{stored, 1}, {again, 1}}));
    CHECK(verdict.outcome == Outcome::equal);
  }
}

TEST_CASE("a head's bias is that of what it lies in, also where both are constant") {
  const Values stored = {{"cls.predictions.bias", 3}};
  for (const auto& [name, first, equal] : {std::tuple("cls.predictions.decoder.bias", 3.0F, true),
                                           std::tuple("cls.predictions.decoder.bias", 4.0F, false),
                                           std::tuple("cls.transform.decoder.bias", 3.0F, false),
                                           std::tuple("cls.predictions.norm.bias", 3.0F, false)}) {
    CAPTURE(name);
    CAPTURE(first);
    for (const float step : {1.0F, 0.0F}) {
      Values more = stored;
      more.push_back({name, first});
      const TempDir a, b;
      const Verdict verdict = diffed(written(a, stored, "", step), written(b, more, "", step));
      CHECK((verdict.outcome == Outcome::equal) == equal);
      CHECK(has_rule(verdict, kStoredTwice) == equal);
    }
  }
}

TEST_CASE("what is lost stays lost: other values, layers, norms, other kinds, constants") {
  for (const auto& [name, first] :
       {std::pair("lm_head.weight", 2.0F), std::pair("model.layers.1.input_layernorm.weight", 5.0F),
        std::pair("model.layers.0.head.weight", 1.0F), std::pair("model.final_norm.weight", 5.0F),
        std::pair("model.embed_positions.weight", 1.0F)}) {
    CAPTURE(name);
    Values more = kModel;
    more.push_back({name, first});
    const TempDir a, b;
    const Verdict verdict = diffed(written(a, more), written(b, kModel));
    CHECK(verdict.outcome == Outcome::diverged);
    REQUIRE(verdict.first);
    CHECK(verdict.first->tensor == name);
    CHECK_FALSE(has_rule(verdict, kStoredTwice));
  }
}

TEST_CASE("the head of a trace's last stage") {
  const auto trace = [](const TempDir& directory, bool head) {
    TraceFile file;
    file.add("k0", 2,
             R"({"seq":0,"phase":"state","module":"embedding","kind":"param","slot":"weight"})", 1);
    if (head) {
      file.add(
          "k1", 2,
          R"({"seq":1,"phase":"state","module":"output_layer","kind":"param","slot":"weight"})", 1);
    }
    directory.write("run.json", tests::run_json());
    directory.write("step-000001/rank-00000.safetensors", file.text());
    return directory.path();
  };
  const TempDir a, b;
  const Verdict verdict = diffed(trace(a, false), trace(b, true));
  CHECK(verdict.outcome == Outcome::equal);
  CHECK(has_rule(verdict, kStoredTwice));
}

}  // namespace
}  // namespace ttcheck::diff
