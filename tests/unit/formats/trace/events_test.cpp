// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/events.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/support/memory_source.hpp"

namespace ttcheck::formats {
namespace {

TraceEvents read(std::string_view text, const std::set<std::int64_t>& steps = {1}) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  const tests::MemorySource file({bytes, bytes + text.size()});
  return read_trace_events(file, steps);
}

std::string line(std::string_view name, std::string_view value, int rank = 0, int step = 1) {
  return "{\"step\":" + std::to_string(step) + ",\"rank\":" + std::to_string(rank) +
         ",\"name\":\"" + std::string(name) + "\",\"value\":" + std::string(value) + "}\n";
}

const Fact* fact(const TraceEvents& events, std::string_view name, std::int64_t step = 1) {
  const auto found = events.facts.find(step);
  return found == events.facts.end() ? nullptr : find_fact(found->second, name);
}

TEST_CASE("events are facts of their step; those of other steps are skipped") {
  const TraceEvents events =
      read(line("loss", "2.5") + line("lr", "0.001") + line("loss", "1.5", 1, 2) +
               line("batch_id", "\"b7\"") + line("sample_ids", "[1, 2]") + line("ok", "true"),
           {1});
  CHECK(events.findings.empty());
  CHECK(events.facts.size() == 1);
  REQUIRE(fact(events, "loss") != nullptr);
  CHECK(fact(events, "loss")->value == FactValue(2.5));
  CHECK(fact(events, "loss")->use == FactUse::note);
  CHECK(fact(events, "lr")->use == FactUse::compared);
  CHECK(fact(events, "batch_id")->value == FactValue(std::string("b7")));
  CHECK(fact(events, "sample_ids")->value == FactValue(std::string("[1, 2]")));
  CHECK(fact(events, "ok")->value == FactValue(true));
  CHECK(fact(events, "lr")->where.object == "line 2");
  CHECK(fact(events, "lr")->where.offset == line("loss", "2.5").size());
}

TEST_CASE("ranks that agree share a fact, others keep their own, repeats are numbered") {
  const TraceEvents events =
      read(line("lr", "0.5", 0) + line("lr", "0.5", 1) + line("loss", "1.5", 0) +
           line("loss", "2.5", 1) + line("norm", "1") + line("norm", "2"));
  CHECK(events.facts.at(1).size() == 5);
  CHECK(fact(events, "lr") != nullptr);
  CHECK(fact(events, "loss") == nullptr);
  CHECK(fact(events, "loss.rank.1")->value == FactValue(2.5));
  CHECK(fact(events, "norm")->value == FactValue(std::int64_t{1}));
  CHECK(fact(events, "norm.1")->value == FactValue(std::int64_t{2}));
}

TEST_CASE("JL01: a line nested too deep is left out, the next is read") {
  for (const std::string& deep : {std::string(1'000'000, '['), [] {
                                    std::string text;
                                    for (int i = 0; i < 100'000; ++i) text += "{\"a\":";
                                    return text;
                                  }()}) {
    const TraceEvents events = read(deep + "\n" + line("lr", "1"));
    CHECK(events.findings.size() == 1);
    CHECK(fact(events, "lr") != nullptr);
  }
}

TEST_CASE("JL02: a line beyond the limit is skipped and counted") {
  std::string text = line("a", "1");
  text += std::string((std::size_t{16} << 20) + 1, ' ') + "\n" + line("lr", "1");
  const TraceEvents events = read(text);
  REQUIRE(events.findings.size() == 1);
  CHECK(events.findings[0].message == "line of 16777217 bytes, at most 16777216 are read");
  CHECK(events.findings[0].where->object == "line 2");
  CHECK(fact(events, "lr") != nullptr);
}

TEST_CASE("JL03: a half-written last line is a warning, not damage") {
  const TraceEvents events = read(line("lr", "1") + R"({"step":1,"ran)");
  REQUIRE(events.findings.size() == 1);
  CHECK(events.findings[0].severity == Severity::warning);
  CHECK(!events.findings[0].incomplete);
  CHECK(events.findings[0].message == "last line is incomplete; is the run still writing?");
  std::string whole = line("lr", "1");
  whole.pop_back();
  CHECK(read(whole).findings.empty());
  CHECK(fact(read(whole), "lr") != nullptr);
}

TEST_CASE("JL04: NaN and Infinity are values, other spellings are not JSON") {
  const TraceEvents events = read(line("a", "NaN") + line("b", "-Infinity") +
                                  line("c", "Infinity") + line("d", "\"NaN\""));
  CHECK(events.findings.empty());
  CHECK(std::isnan(std::get<double>(fact(events, "a")->value)));
  CHECK(std::get<double>(fact(events, "b")->value) == -HUGE_VAL);
  CHECK(std::get<double>(fact(events, "c")->value) == HUGE_VAL);
  CHECK(fact(events, "d")->value == FactValue(std::string("NaN")));
  for (const char* bad : {"0x10", "+1", ".5", "nan", "inf", "1e999"}) {
    CAPTURE(bad);
    CHECK(read(line("a", bad)).findings.size() == 1);
  }
}

TEST_CASE("JL05: integers keep all digits of 64 bits, or their text") {
  const TraceEvents events =
      read(line("a", "9007199254740993") + line("b", "-9223372036854775808") +
           line("c", "18446744073709551615"));
  CHECK(fact(events, "a")->value == FactValue(std::int64_t{9007199254740993}));
  CHECK(std::get<std::int64_t>(fact(events, "b")->value) ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(fact(events, "c")->value == FactValue(std::string("18446744073709551615")));
}

TEST_CASE("JL06: a byte-order mark is no part of the first line, bad UTF-8 is a finding") {
  CHECK(read("\xef\xbb\xbf" + line("lr", "1")).findings.empty());
  const TraceEvents events = read(line("\xff\xfe", "1") + line("\\ud800", "1") + line("lr", "1"));
  CHECK(events.findings.size() == 2);
  CHECK(fact(events, "lr") != nullptr);
}

TEST_CASE("JL07: a key that is there twice is a finding") {
  const TraceEvents events = read(R"({"step":1,"name":"lr","value":1,"value":2})"
                                  "\n");
  CHECK(events.findings.size() == 1);
  CHECK(fact(events, "lr") == nullptr);
}

TEST_CASE("JL08: blank lines and CRLF are no records, a trailing comma is damage") {
  const TraceEvents events =
      read("\n\r\n" + line("a", "1").insert(line("a", "1").size() - 1, "\r") + "{},\n" +
           line("lr", "1"));
  REQUIRE(events.findings.size() == 1);
  CHECK(events.findings[0].where->object == "line 4");
  CHECK(fact(events, "a") != nullptr);
  CHECK(fact(events, "lr") != nullptr);
}

TEST_CASE("JL09: a binary file named .jsonl is summarised") {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "\x1f\x8b\x08\n";
  const TraceEvents events = read(text);
  CHECK(events.findings.size() == 101);
  CHECK(events.findings.back().message == "4900 more of these are not listed");
}

TEST_CASE("JL10: steps that go back are noted, steps beyond 64 bits and below 0 are findings") {
  const TraceEvents back = read(line("a", "1", 0, 5) + line("a", "1", 0, 1));
  REQUIRE(back.findings.size() == 1);
  CHECK(back.findings[0].message == "steps of rank 0 go back from 5 to 1");
  CHECK(back.findings[0].severity == Severity::note);
  CHECK(read(line("a", "1", 0, 5) + line("a", "1", 1, 1)).findings.empty());
  CHECK(read(line("a", "1", 0, -1)).findings.size() == 1);
  CHECK(read(R"({"step":9223372036854775808,"name":"a","value":1})"
             "\n")
            .findings.size() == 1);
}

TEST_CASE("what ranks state one by one is compared where the shared value would be") {
  const TraceEvents events = read(line("batch_id", "1", 0) + line("batch_id", "2", 1) +
                                  line("loss", "1", 0) + line("loss", "2", 1));
  CHECK(events.findings.empty());
  CHECK(fact(events, "batch_id.rank.1")->use == FactUse::compared);
  CHECK(fact(events, "loss.rank.1")->use == FactUse::note);
  const TraceEvents rates = read(line("lr", "1", 0) + line("lr", "1", 1) + line("lr", "2", 2));
  REQUIRE(rates.findings.size() == 1);
  CHECK(rates.findings[0].code == Code::config);
  CHECK(rates.findings[0].severity == Severity::warning);
  CHECK(rates.findings[0].step == 1);
  CHECK(rates.findings[0].message == "ranks disagree on lr: 1 on rank 0, 2 on rank 2");
}

TEST_CASE("JL11: no fact of a step is left out in silence, nor kept without end") {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += line("n" + std::to_string(i), "1");
  const TraceEvents events = read(text + line("lr", "0.5"));
  CHECK(events.findings.empty());
  REQUIRE(fact(events, "lr") != nullptr);
  for (int i = 0; i < 100'002; ++i) text += line("n", "1");
  const TraceEvents full = read(text);
  REQUIRE(full.findings.size() == 1);
  CHECK(full.findings[0].incomplete);
  CHECK(full.findings[0].message == "more than 100000 events in step 1, the rest is not read");
}

TEST_CASE("events without a name, step or value are findings") {
  for (const char* bad :
       {R"({"name":"a","value":1})", R"({"step":1,"value":1})", R"({"step":1,"name":"a"})",
        R"({"step":1,"name":"","value":1})", R"({"step":"1","name":"a","value":1})", "7"}) {
    CAPTURE(bad);
    CHECK(read(std::string(bad) + "\n").findings.size() == 1);
  }
}

}  // namespace
}  // namespace ttcheck::formats
