// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/series_names.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace ttcheck::formats {
namespace {

/// Entries of these names; directories end in `/`.
SeriesNames named(std::vector<std::string> names) {
  std::ranges::sort(names);
  std::vector<Entry> entries;
  for (std::string& name : names) {
    const bool directory = name.ends_with('/');
    if (directory) name.pop_back();
    entries.push_back({name, directory ? EntryKind::directory : EntryKind::file, 1});
  }
  return series_names(entries);
}

/// `1: a.pt b.pt (part); 2: ...`.
std::string words(const SeriesNames& names) {
  std::string text;
  for (const auto& [step, entries] : names.steps) {
    text += fmt::format("{}{}:", text.empty() ? "" : "; ", step);
    for (const StepEntry& entry : entries) {
      text += " " + entry.path;
      if (!entry.part.empty()) text += " (" + entry.part + ")";
    }
  }
  return text;
}

using Names = std::vector<std::string>;

TEST_CASE("frameworks' names of steps come before all others") {
  CHECK(words(named({"checkpoint-10/", "checkpoint-2/", "epoch_1.pt", "final/"})) ==
        "2: checkpoint-2; 10: checkpoint-10");
  CHECK(words(named({"step_5.log", "step_5.pt"})) == "5: step_5.pt");
  CHECK(words(named({"1/", "2/"})) == "1: 1; 2: 2");
}

TEST_CASE("a word of time in front of a number") {
  CHECK(words(named({"epoch_1.pt", "epoch_10.pt", "best.pt"})) == "1: epoch_1.pt; 10: epoch_10.pt");
  CHECK(words(named({"checkpoint-epoch3.pth"})) == "3: checkpoint-epoch3.pth");
  CHECK(words(named({"epoch=1-val_loss=0.3.ckpt", "epoch=2-val_loss=0.25.ckpt", "last.ckpt"})) ==
        "1: epoch=1-val_loss=0.3.ckpt; 2: epoch=2-val_loss=0.25.ckpt");
  CHECK(words(named({"net_iter_50_epoch_1.pth", "net_iter_99_epoch_2.pth"})) ==
        "50: net_iter_50_epoch_1.pth; 99: net_iter_99_epoch_2.pth");
  CHECK(words(named({"checkpoint_epoch_7.pth.tar"})) == "7: checkpoint_epoch_7.pth.tar");
  CHECK(words(named({"Epoch 3/", "Epoch 4/"})) == "3: Epoch 3; 4: Epoch 4");
  CHECK_FALSE(named({"epoch_1.pt"}).by_change);
}

TEST_CASE("Lightning's second file of a name is no step") {
  CHECK(words(named({"epoch=0-step=8.ckpt", "epoch=0-step=8-v1.ckpt"})) ==
        "8: epoch=0-step=8.ckpt");
  CHECK(words(named({"epoch=1-v1.ckpt"})) == "1: epoch=1-v1.ckpt");
}

TEST_CASE("the only number that changes") {
  const SeriesNames models = named({"model_100.pt", "model_200.pt", "last.pt"});
  CHECK(words(models) == "100: model_100.pt; 200: model_200.pt");
  CHECK(models.by_change);
  CHECK(models.form == "model_#.pt");
  CHECK(words(named({"1.pt", "2.pt"})) == "1: 1.pt; 2: 2.pt");
  CHECK(words(named({"gpt2-7.pt", "gpt2-9.pt"})) == "7: gpt2-7.pt; 9: gpt2-9.pt");
  CHECK(named({"gpt2-7.pt", "gpt2-9.pt"}).form.empty());
  CHECK(words(named({"model_1/", "model_2/"})) == "1: model_1; 2: model_2");
}

TEST_CASE("several names that change together are parts of a step") {
  const SeriesNames parts =
      named({"netG_1.pth", "netD_1.pth", "netG_2.pth", "netD_2.pth", "netG_3.pth"});
  CHECK(words(parts) ==
        "1: netD_1.pth (netD) netG_1.pth (netG); 2: netD_2.pth (netD) netG_2.pth (netG); "
        "3: netG_3.pth (netG)");
  CHECK(parts.form.empty());
  CHECK(words(named({"epoch_1_G.pt", "epoch_1_D.pt"})) == "1: epoch_1_D.pt (D) epoch_1_G.pt (G)");
  CHECK(words(named({"epoch_1.pt", "epoch_1.bin", "epoch_1_ema.pt"})) ==
        "1: epoch_1.bin (bin) epoch_1.pt (pt) epoch_1_ema.pt (ema)");
}

TEST_CASE("a # in a name is no number of it") {
  CHECK(named({"a1_5.pt", "a2_#.pt"}).steps.empty());
  CHECK(named({"a1_#.pt", "a#_1.pt"}).steps.empty());
  CHECK(words(named({"a1_#.pt", "a2_#.pt"})) == "1: a1_#.pt; 2: a2_#.pt");
  CHECK(words(named({"a#_1/", "a#_2/", "a1_#/"})) == "1: a#_1; 2: a#_2");
  const auto form = [](const char* name) { return step_in_form(name, false).value().first; };
  CHECK(form("a1_#.pt") != form("a#_1.pt"));
  CHECK(form("a1_#.pt") == form("a2_#.pt"));
  CHECK(named({"a1_#.pt", "a2_#.pt"}).form == form("a3_#.pt"));
}

TEST_CASE("a directory of very many names takes no time for each pair of them") {
  constexpr int kMany = 300'000;  // of pairs of which looking one by one takes minutes
  Names names;
  for (int i = 0; i < kMany; ++i) names.push_back(fmt::format("m_{}-v1.ckpt", i));
  const SeriesNames found = named(names);
  CHECK(found.steps.size() == kMany);
  CHECK(std::ranges::all_of(names, [&](const auto& name) { return found.holds(name); }));
  CHECK_FALSE(found.holds("m_1.ckpt"));
}

TEST_CASE("what is no step") {
  for (const Names& names :
       {Names{"model_1.pt"}, Names{"layer_1.pt", "layer_2.pt"}, Names{"rank_0.pt", "rank_1.pt"},
        Names{"a_1.npy", "a_2.npy"}, Names{"model-00001-of-00002.bin", "model-00002-of-00002.bin"},
        Names{"w_1.pt", "w_2.pt", "v_3.pt", "v_4.pt"}, Names{"a1b1.pt", "a2b2.pt"},
        Names{"run_1/", "run_2/"}, Names{"notes_1.txt", "notes_2.txt"}, Names{".ckpt_1/"},
        Names{"model_99999999999999999999.pt", "model_99999999999999999998.pt"}}) {
    CHECK_MESSAGE(named(names).steps.empty(), names.front());
  }
}

TEST_CASE("what one name says by itself, and as one of a form") {
  CHECK(step_stated_by("checkpoint-20", true) == 20);
  CHECK(step_stated_by("epoch=0-step=8.ckpt", false) == 8);
  CHECK(step_stated_by("checkpoint-epoch3.pth", false) == 3);
  CHECK_FALSE(step_stated_by("20", true));
  CHECK_FALSE(step_stated_by("model_20.pt", false));
  CHECK(step_in_form("model_20.pt", false) ==
        std::pair(std::string("model_#.pt"), std::int64_t{20}));
  CHECK_FALSE(step_in_form("gpt2-7.pt", false));
  CHECK_FALSE(step_in_form("last.pt", false));
}

}  // namespace
}  // namespace ttcheck::formats
