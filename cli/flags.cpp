// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.hpp"

#include <algorithm>
#include <string>

#include "cli/usage.hpp"
#include "cli/values.hpp"

namespace ttcheck::cli {
namespace {

constexpr std::string_view kWhen = "auto|always|never";
constexpr std::string_view kFailOn = "noise|warning|error|never";
constexpr std::string_view kLimits = "exact|model|FILE";

constexpr std::string_view kOver = "steps|ops";
constexpr std::string_view kPhase = "state|forward|loss|backward|sync|clip|optimizer|comm";
constexpr std::string_view kBad = "diverged|non-finite|replicas-differ";

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t bar = std::min(text.find('|'), text.size());
    parts.emplace_back(text.substr(0, bar));
    text.remove_prefix(std::min(bar + 1, text.size()));
  }
  return parts;
}

constexpr int kMostThreads = 4096;
constexpr int kMostRows = 1'000'000'000;

constexpr Flag kFlags[] = {
    {"--layout", "FILE", "how ranks' files fit together; also reference=FILE, candidate=FILE",
     FlagGroup::input,
     [](Options& o, const std::string& v) { o.layouts.push_back(parse_layout_file(v)); }},
    {"--map", "FILE", "how names of one side become the other's", FlagGroup::input,
     [](Options& o, const std::string& v) { o.maps.push_back(v); }},
    {"--include", "GLOB", "only tensors whose name matches", FlagGroup::input,
     [](Options& o, const std::string& v) {
       parse_glob("--include", v);
       o.include.push_back(v);
     }},
    {"--exclude", "GLOB", "no tensors whose name matches", FlagGroup::input,
     [](Options& o, const std::string& v) {
       parse_glob("--exclude", v);
       o.exclude.push_back(v);
     }},
    {"--step", "A..B", "only these steps: A, A..B, A.. or ..B, inclusive", FlagGroup::input,
     [](Options& o, const std::string& v) { o.steps = parse_steps(v); }},
    {"--follow-links", "", "also follow links that leave the run", FlagGroup::input,
     [](Options& o, const std::string&) { o.follow_links = true; }},

    {"--rtol", "[GLOB:]V", "noise if |b-a| <= atol + rtol |a| everywhere", FlagGroup::judging,
     [](Options& o, const std::string& v) {
       o.limits.rtol.push_back(parse_tolerance("--rtol", v));
     }},
    {"--atol", "[GLOB:]V", "see --rtol", FlagGroup::judging,
     [](Options& o, const std::string& v) {
       o.limits.atol.push_back(parse_tolerance("--atol", v));
     }},
    {"--limits", kLimits, "admit no difference, what dtype and depth explain, or what was measured",
     FlagGroup::judging,
     [](Options& o, const std::string& v) {
       using Mode = limits::LimitOptions::Mode;
       if (v.empty()) throw Usage("--limits: expected exact, model or a file, got ''");
       o.limits_file = v == "exact" || v == "model" ? "" : v;
       o.limits.mode = v == "exact" ? Mode::exact : v == "model" ? Mode::model : Mode::file;
     }},
    {"--base", "RUN", "a state both came from: judge by the ways since then", FlagGroup::judging,
     [](Options& o, const std::string& v) { o.base = v; }},
    {"--exact-sums", "", "sum in double precision throughout", FlagGroup::judging,
     [](Options& o, const std::string&) { o.exact_sums = true; }},
    {"--fail-on", kFailOn, "the least that makes the exit code 1 (default error)",
     FlagGroup::judging,
     [](Options& o, const std::string& v) {
       o.fail_on = static_cast<FailOn>(parse_choice("--fail-on", v, split(kFailOn)));
     }},
    {"--show-map", "", "print which names met, and by which rule", FlagGroup::judging,
     [](Options& o, const std::string&) { o.show_map = true; }},

    {"--over", kOver, "what is searched (default steps, of a single one its ops)",
     FlagGroup::searching,
     [](Options& o, const std::string& v) {
       o.over = parse_choice("--over", v, split(kOver)) == 0 ? Over::steps : Over::ops;
     }},
    {"--bad", kBad, "what makes a step bad (default diverged)", FlagGroup::searching,
     [](Options& o, const std::string& v) {
       o.predicate = static_cast<bisect::Predicate>(parse_choice("--bad", v, split(kBad)));
     }},
    {"--run", "CMD", "ask a command of the shell: exit 0 good, 125 skip, up to 127 bad",
     FlagGroup::searching, [](Options& o, const std::string& v) { o.run = v; }},
    {"--log", "FILE", "write what each step was found to be", FlagGroup::searching,
     [](Options& o, const std::string& v) { o.log = v; }},
    {"--replay", "FILE", "take what a log says instead of looking again", FlagGroup::searching,
     [](Options& o, const std::string& v) { o.replay = v; }},

    {"--manifest", "SIDE=FILE", "hashes of a side's tensors: the same there is the same",
     FlagGroup::searching,
     [](Options& o, const std::string& v) { o.manifests.push_back(parse_manifest(v)); }},

    {"--write", "FILE", "write the manifest there", FlagGroup::hashing,
     [](Options& o, const std::string& v) { o.write = v; }},
    {"--verify", "FILE", "compare with this manifest instead of writing one", FlagGroup::hashing,
     [](Options& o, const std::string& v) { o.verify = v; }},
    {"--ensemble", "", "two groups of runs, as A... -- B...: more apart than among themselves?",
     FlagGroup::repeating, [](Options& o, const std::string&) { o.ensemble = true; }},
    {"--known", "FILE", "differences that are known, set apart from the verdict",
     FlagGroup::excusing, [](Options& o, const std::string& v) { o.known = v; }},
    {"--phase", kPhase, "of this phase", FlagGroup::picking,
     [](Options& o, const std::string& v) {
       parse_choice("--phase", v, split(kPhase));
       o.phase = v;
     }},
    {"--microbatch", "N", "of this micro-batch, from 0", FlagGroup::picking,
     [](Options& o, const std::string& v) {
       o.microbatch = parse_number("--microbatch", v, 0, kMostRows);
     }},
    {"--call", "N", "of this call of the module, from 0", FlagGroup::picking,
     [](Options& o, const std::string& v) { o.call = parse_number("--call", v, 0, kMostRows); }},
    {"-o", "FILE", "write the limits file", FlagGroup::measuring,
     [](Options& o, const std::string& v) { o.limits_out = v; }},

    {"--out", "FORMAT=PATH", "write a report; PATH - replaces the one on stdout", FlagGroup::report,
     [](Options& o, const std::string& v) { o.outputs.push_back(parse_output(v)); }},
    {"--json", "", "short for --out json=-", FlagGroup::report,
     [](Options& o, const std::string&) { o.outputs.push_back(parse_output("json=-")); }},
    {"--top", "N", "list that many rows (default 10; 0: all)", FlagGroup::report,
     [](Options& o, const std::string& v) {
       o.top = o.rows = static_cast<int>(parse_number("--top", v, 0, kMostRows));
     }},
    {"--all", "", "list every tensor", FlagGroup::report,
     [](Options& o, const std::string&) { o.all = true; }},
    {"--color", kWhen, "colour on the terminal (NO_COLOR is heeded)", FlagGroup::report,
     [](Options& o, const std::string& v) {
       o.color = static_cast<When>(parse_choice("--color", v, split(kWhen)));
     }},
    {"--redact", "", "leave paths, names of host and user, and values out", FlagGroup::report,
     [](Options& o, const std::string&) { o.redact = true; }},
    {"--reproducible", "", "nothing in a report that a second run would change", FlagGroup::report,
     [](Options&, const std::string&) {}},  // no report has a time or the like
    {"-q", "", "only the last line", FlagGroup::report,
     [](Options& o, const std::string&) { o.verbose = -1; }},
    {"-v", "", "findings, limits, what was compared; twice: a curve of the step", FlagGroup::report,
     [](Options& o, const std::string&) { o.verbose = std::max(o.verbose, 0) + 1; }},

    {"--threads", "N", "use that many threads (default: all)", FlagGroup::running,
     [](Options& o, const std::string& v) {
       o.threads = static_cast<int>(parse_number("--threads", v, 1, kMostThreads));
     }},
    {"--max-memory", "BYTES", "give up rather than use more, such as 2G", FlagGroup::running,
     [](Options& o, const std::string& v) { o.max_memory = parse_bytes("--max-memory", v); }},
    {"--progress", kWhen, "progress on stderr (auto: only on a terminal)", FlagGroup::running,
     [](Options& o, const std::string& v) {
       o.progress = static_cast<When>(parse_choice("--progress", v, split(kWhen)));
     }},
    {"--timing", "", "how long each part took, on stderr", FlagGroup::running,
     [](Options& o, const std::string&) { o.timing = std::make_shared<Timing>(); }},
};

}  // namespace

std::span<const Flag> flags() { return kFlags; }

std::string_view title(FlagGroup group) {
  switch (group) {
    case FlagGroup::input:
      return "What is read";
    case FlagGroup::judging:
      return "How it is judged";
    case FlagGroup::searching:
      return "How it is searched";
    case FlagGroup::hashing:
      return "What is made of it";
    case FlagGroup::repeating:
      return "Repeated runs";
    case FlagGroup::excusing:
      return "What is known";
    case FlagGroup::picking:
      return "Which record of a trace";
    case FlagGroup::measuring:
      return "What is written";
    case FlagGroup::report:
      return "What is printed";
    case FlagGroup::running:
      return "How it runs";
  }
  return "";
}

std::vector<std::string> alternatives(const Flag& flag) {
  if (flag.name == "--out") {
    std::vector<std::string> names;
    for (const reports::Report& report : reports::reports()) {
      names.push_back(std::string(report.name) + "=");
    }
    return names;
  }
  if (flag.value.find('|') == std::string_view::npos) return {};
  std::vector<std::string> words = split(flag.value);
  std::erase(words, "FILE");  // stands for any
  return words;
}

}  // namespace ttcheck::cli
