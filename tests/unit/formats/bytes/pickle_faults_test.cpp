// SPDX-License-Identifier: Apache-2.0
// The attack catalogue of pickle streams, one case an id.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "formats/bytes/pickle.hpp"
#include "formats/bytes/pickle/opcodes.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/objects/globals.hpp"
#include "formats/objects/judge.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/walk.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/pickle_writer.hpp"

namespace ttcheck::formats {
namespace {

using tests::little;
using tests::MemorySource;
namespace pickled = tests::pickled;
using namespace std::string_literals;

struct Read {
  explicit Read(const std::string& text)
      : source(std::make_unique<MemorySource>(tests::to_bytes(text), "p.pkl")) {
    Stream in(*source);
    pickle = read_pickle(in);
    left = in.remaining();
  }
  std::string fault() const { return pickle.fault() ? pickle.fault()->what() : ""; }
  std::vector<Finding> findings() const {
    std::vector<Finding> found;
    judge_pickle(pickle, "pickle", found);
    return found;
  }
  bool unsafe(std::string_view name) const {
    const auto all = findings();
    return std::any_of(all.begin(), all.end(), [&](const Finding& finding) {
      return finding.code == Code::unsafe_pickle && finding.severity == Severity::warning &&
             finding.message.find(name) != std::string::npos;
    });
  }
  bool says(std::string_view text, Severity severity) const {
    const auto all = findings();
    return std::any_of(all.begin(), all.end(), [&](const Finding& finding) {
      return finding.severity == severity && finding.message.find(text) != std::string::npos;
    });
  }
  bool odd(std::string_view text) const {
    const auto& all = pickle.oddities();
    return std::any_of(all.begin(), all.end(), [&](const Oddity& oddity) {
      return oddity.message.find(text) != std::string::npos;
    });
  }
  std::unique_ptr<MemorySource> source;
  Pickle pickle;
  std::uint64_t left = 0;
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("PK01: a call of os.system is a node, a name and a call, each with its offset") {
  const Read read(pickled::whole(pickled::call("os", "system", {pickled::text("true")})));
  CHECK(read.unsafe("os.system"));
  CHECK(read.pickle.globals().at(0).offset == 2);
  CHECK(read.pickle.globals().at(0).called);
  CHECK(read.pickle.root().callable().is_global("os", "system"));
  CHECK(read.pickle.root().offset() == read.source->size() - 2);  // of REDUCE, before STOP
  CHECK(read.pickle.root().is(NodeKind::object));
  for (const auto& [module, name] : std::vector<std::pair<const char*, const char*>>{
           {"builtins", "eval"}, {"__builtin__", "eval"}, {"pip", "main"}, {"runpy", "run_path"}}) {
    CHECK(Read(pickled::whole(pickled::call(module, name, {}))).unsafe(name));
  }
}

TEST_CASE("PK02: a global whose names come from memo and stack is found all the same") {
  CHECK(Read("\x80\x04\x8c\x02os\x94"
             "0h\0\x8c\x06system\x93)R."s)
            .unsafe("os.system"));
  CHECK(Read("\x80\x04\x8c\x02os2\x8c\x06system\x93)R0.").unsafe("os.system"));  // DUP
  CHECK(Read("\x80\x04\x8c\x02osN0\x8c\x06system\x93)R.").unsafe("os.system"));  // POP
  CHECK(Read("\x80\x04K\1\x8c\x06system\x93)R.").odd("no text"));
  const Read built("\x80\x04\x8c\x02os" + pickled::call("builtins", "str", {}) + "\x93)R.");
  CHECK(built.odd("no text"));
  CHECK(built.unsafe("?.?"));
}

TEST_CASE("PK03: every opcode is known, and what can import or call is recorded") {
  std::size_t known = 0;
  for (int code = 0; code < 256; ++code) {
    if (!opcode_name(static_cast<std::uint8_t>(code)).empty()) ++known;
  }
  CHECK(known == 68);
  CHECK(Read("(X\1\0\0\0aios\nsystem\n."s).unsafe("os.system"));
  CHECK(Read("(cos\nsystem\nX\1\0\0\0ao."s).unsafe("os.system"));
  CHECK(Read("\x80\x02"
             "cos\nsystem\n)\x81.")
            .unsafe("os.system"));
  CHECK(Read("\x80\x04"
             "cos\nsystem\n)}\x92.")
            .unsafe("os.system"));
  for (const std::string& extension : {"\x82\x05"s, "\x83\x05\0"s, "\x84\x05\0\0\0"s}) {
    const Read read("\x80\x02" + extension + ".");
    CHECK(read.pickle.root().extension() == 5);
    CHECK(read.odd("code 5 of the reader's extension registry"));
    std::vector<Finding> findings;  // what it stands for is in no file
    judge_pickle(read.pickle, "p", findings);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].incomplete);
    CHECK(findings[0].severity == Severity::warning);
  }
  CHECK(Read("Pkey\n.").pickle.root().is(NodeKind::persistent));
  CHECK(Read("K\1Q.").pickle.root().is(NodeKind::persistent));
  const Read built("cos\nthing\n)R}X\1\0\0\0aK\1sb."s);
  CHECK(built.pickle.root().state().find("a").integer() == 1);
}

TEST_CASE("PK04: a call whose result is dropped is recorded") {
  CHECK(Read("cos\nsystem\n(tR0N.").unsafe("os.system"));
  CHECK(Read("(cos\nsystem\n(tR1N.").pickle.globals().at(0).called);
  // stored under itself, and overwritten in the memo
  CHECK(Read("}cos\nsystem\n(tRq\0h\0sNq\0."s).unsafe("os.system"));
}

TEST_CASE("PK05: what stands before garbage is kept") {
  const Read read("cos\nsystem\n(tR\xff");
  CHECK(read.unsafe("os.system"));
  CHECK(contains(read.fault(), "0xff is no opcode"));
  const Read open_end("cos\nsystem\n(tR");
  CHECK(open_end.unsafe("os.system"));
  CHECK(open_end.pickle.fault()->where().offset == 14);
}

TEST_CASE("PK06: bytes behind STOP are left to the caller") { CHECK(Read("N.N.").left == 2); }

TEST_CASE("PK07: FRAME length lies or an opcode straddles its end") {
  CHECK(Read("\x80\x04\x95" + little(1, 8) + "\x8c\x02hi.").odd("straddles"));
  CHECK(Read("\x80\x04\x95" + little(1000, 8) + "N.").odd("FRAME claims"));
  CHECK(Read("\x80\x04\x95" + little(2, 8) + "N.").pickle.oddities().empty());
}

TEST_CASE("PK08: cut at every byte, a pickle names the opcode's offset") {
  const std::string whole =
      pickled::whole(pickled::dict({{"t", pickled::tensor({})}, {"n", "I12\n"}}));
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const Read read(whole.substr(0, cut));
    REQUIRE(read.pickle.fault());
    CHECK(read.pickle.fault()->where().file == "p.pkl");
    CHECK(*read.pickle.fault()->where().offset <= cut);
  }
  CHECK(contains(Read("\x80\x02X\xff\0\0\0abc"s).fault(),
                 "0x2: BINUNICODE: truncated: needs 255 bytes, 3 left"));
}

TEST_CASE("PK09: unknown opcode, protocol above 5, PROTO in the middle") {
  CHECK(contains(Read("\x80\x06N.").fault(), "protocol 6"));
  CHECK(contains(Read("\xa0.").fault(), "0xa0"));
  CHECK(contains(Read("N0\xa0.").fault(), "p.pkl:0x2"));
  CHECK(Read("N0\x80\x02N.").odd("PROTO in the middle"));
}

TEST_CASE("PK10: a length of 2^63 is compared with what remains") {
  for (const char* code : {"\x8d", "\x8e", "\x96"}) {
    CHECK(contains(Read(code + little(std::uint64_t{1} << 63, 8) + "abc.").fault(), "4 left"));
  }
}

TEST_CASE("PK11: memo keys are sparse, and checked") {
  CHECK(Read("K\7r\xff\xff\xff\xff"
             "0j\xff\xff\xff\xff.")
            .pickle.root()
            .integer() == 7);
  CHECK(Read("K\7p99999999999\n0g99999999999\n.").pickle.root().integer() == 7);
  CHECK(contains(Read("K\7p-1\n.").fault(), "out of range"));
  CHECK(contains(Read("h\5.").fault(), "no entry 5"));
}

TEST_CASE("PK03: a name is looked up again and again, so long ones are not") {
  const std::string name = pickled::text(std::string(1025, 'm'));
  const Read longer(name + "q\0"s + pickled::text("n") + "q\1\x93" + "0h\1h\0\x93."s);
  CHECK(longer.odd("name of more than 1024 characters"));
  REQUIRE(longer.pickle.globals().size() == 1);
  CHECK(longer.pickle.globals()[0].name == "?");
  CHECK(longer.pickle.globals()[0].computed);
  const Read fits(pickled::text(std::string(1024, 'm')) + pickled::text("n") + "\x93.");
  CHECK(fits.pickle.globals().at(0).module.size() == 1024);
  CHECK(fits.pickle.oddities().empty());
}

TEST_CASE("PK12: shared values are walked within a budget") {
  std::string text = "]K\1a";
  for (char level = 0; level < 40; ++level) {
    const std::string put = "q"s + level + "0";
    const std::string get = "h"s + level;
    text += put + "](" + get + get + "N" + get + "e";
  }
  const Read read(text + ".");
  REQUIRE(!read.pickle.fault());
  Leaves leaves;
  WalkBudget budget(read.pickle);
  add_leaves(read.pickle.root(), "", true, budget, leaves);
  CHECK(leaves.cut);
  CHECK(leaves.others.size() < 10000);
}

TEST_CASE("PK12: all walks over a pickle have one budget, and shared bytes are part of it") {
  // 30 keys lead to 2^6 leaves each; one walk fits easily, all of them do not.
  std::string text = "}q\xff](K\1X\1\0\0\0xe"s;
  for (char level = 0; level < 6; ++level) {
    text += "q"s + level + "0](h"s + level + "h"s + level + "e";
  }
  text += "q\6" + "0"s;
  const Read read(text + "].");
  WalkBudget budget(read.pickle);
  Value shared;
  for (NodeId id = 0; id < read.pickle.node_count(); ++id) {
    if (read.pickle.at(id).size() == 2) shared = read.pickle.at(id);
  }
  Leaves first;
  add_leaves(shared, "", true, budget, first);
  CHECK(!first.cut);
  CHECK(first.others.size() == 64);
  Leaves all;
  for (int i = 0; i < 300 && !all.cut; ++i) add_leaves(shared, "k", false, budget, all);
  CHECK(all.cut);
  CHECK(budget.spent());
  CHECK(all.others.size() < 300 * 64);

  const std::string bytes = "B" + little(100'000, 4) + std::string(100'000, 'b') + "q\1"s + "0";
  const auto repeated = [&](int count) {
    std::string list = bytes + "](";
    for (int i = 0; i < count; ++i) list += "h\1";
    return Read(list + "e.");
  };
  for (const auto& [count, cut] : {std::pair(20, false), std::pair(20'000, true)}) {
    const Read many = repeated(count);
    WalkBudget own(many.pickle);
    Leaves leaves;
    add_leaves(many.pickle.root(), "", true, own, leaves);
    CHECK(leaves.cut == cut);
  }
}

TEST_CASE("PK13: a value that contains itself ends the path") {
  const Read read("}q\0X\1\0\0\0ah\0sX\1\0\0\0bK\1s."s);
  Leaves leaves;
  WalkBudget budget(read.pickle);
  add_leaves(read.pickle.root(), "", true, budget, leaves);
  REQUIRE(leaves.others.size() == 1);
  CHECK(leaves.others[0].path == "b");
  CHECK(!leaves.cut);
  for (const std::string& text : {"]q\0h\0a."s, "]q\0(h\0]h\0ae."s, "](q\0h\0tq\1ah\1."s}) {
    const Read loop(text);
    Leaves none;
    WalkBudget own(loop.pickle);
    if (loop.pickle.root()) add_leaves(loop.pickle.root(), "", true, own, none);
    CHECK(none.tensors.empty());
    CHECK(!none.cut);
  }
}

TEST_CASE("an object that was made of or given itself very often is charged for that") {
  const auto often = [](const std::string& one, int count) {
    std::string made;
    for (int i = 0; i < count; ++i) made += one;
    return made;
  };
  const auto named = [&](int count) {  // C(*(), **{1: itself, ...})
    return Read("\x80\x04" + "cm\nC\n)}q\0\x92q\1h\0("s + often("K\1h\1", count) + "u0.");
  };
  const auto built = [&](int count) {  // a state that is an object with items
    return Read("cm\nC\n)Rq\1ccollections\ndeque\n)Rq\0bh\0("s + often("h\1", count) + "e0.");
  };
  for (const auto& [count, cut] : {std::pair(2, false), std::pair(2000, true)}) {
    for (const Read& read : {named(count), built(count)}) {
      REQUIRE(!read.pickle.fault());
      Leaves leaves;
      WalkBudget budget(read.pickle);
      add_leaves(read.pickle.root(), "", true, budget, leaves);
      CHECK(leaves.cut == cut);
      CHECK(budget.spent() == cut);
    }
  }
}

TEST_CASE("PK14: a million nested tuples need no stack") {
  const Read read("N" + std::string(1'000'000, '\x85') + ".");
  CHECK(!read.pickle.fault());
  CHECK(read.pickle.node_count() == 1'000'001);
  const Read marks(std::string(1'000'000, '(') + std::string(1'000'000, 't') + ".");
  CHECK(!marks.pickle.fault());
  CHECK(marks.pickle.node_count() == 1'000'000);
  Leaves leaves;
  WalkBudget budget(read.pickle);
  add_leaves(read.pickle.root(), "", true, budget, leaves);
  CHECK(leaves.cut);
}

TEST_CASE("PK15: a huge integer is kept by size and hash") {
  const Read read("\x8b" + little(100'000, 4) + std::string(100'000, '\x7f') + ".");
  CHECK(contains(std::string(*read.pickle.root().text()), "integer of 100000 bytes"));
  CHECK(contains(Read("\x8b" + little(0x80000000, 4) + ".").fault(), "negative"));
  CHECK(contains(Read("\x8b" + little(0x7fffffff, 4) + "1.").fault(), "truncated"));
  CHECK(contains(Read("L" + std::string(10'000'000, '9') + "L\n.").fault(), "no end of line"));
}

TEST_CASE("PK16: stack underflow") {
  for (const char* text :
       {"t.", "e.", "a.", "0.", "R.", "b.", "s.", "u.", "1.", "2.", "\x85.", "."}) {
    CHECK(Read(text).pickle.fault());
  }
}

TEST_CASE("PK17: SETITEM, APPEND and BUILD on another type end the pickle, as Python does") {
  CHECK(contains(Read("K\1K\2K\3s.").fault(), "sets items"));
  CHECK(contains(Read("K\1K\2a.").fault(), "appends"));
  CHECK(contains(Read("K\1}b.").fault(), "builds state"));
}

TEST_CASE("PK18: all pairs of a dict are kept in order, a key that comes twice is told") {
  const Read read("}(X\1\0\0\0aK\1X\1\0\0\0aK\2]K\3u."s);
  CHECK(read.pickle.root().size() == 3);
  CHECK(read.pickle.root().find("a").integer() == 2);
  CHECK(read.says("a dict gets the key 'a' twice", Severity::warning));
  CHECK(Read("}(K\1NK\1Nu.").says("the key '1' twice", Severity::warning));
  const Read object("ccollections\nOrderedDict\n)R(X\1\0\0\0aNX\1\0\0\0aNu."s);
  CHECK(object.says("the key 'a' twice", Severity::warning));
  CHECK(Read("}(X\1\0\0\0aNX\1\0\0\0bNu."s).findings().empty());
  // NaN is a key as often as it likes; a list is none, and is kept
  CHECK(Read("}(Fnan\nNFnan\nN]N]Nu.").pickle.root().size() == 4);
  std::string many = "}(";
  for (int i = 0; i < 200'000; ++i) many += pickled::text("key" + std::to_string(i)) + "N";
  CHECK(Read(many + "u.").findings().empty());
}

TEST_CASE("PK19: text arguments of protocol 0 are bounded") {
  CHECK(contains(Read("I" + std::string(100'000, '1') + "\n.").fault(),
                 "no end of line within 65536"));
  CHECK(contains(Read("Iabc").fault(), "no end of line"));
  CHECK(contains(Read("S'a\\'\n.").fault(), "unfinished"));
  CHECK(contains(Read("V\\u12\n.").fault(), "unfinished"));
  CHECK(Read("cos\0x\nsystem\n)R."s).pickle.globals().at(0).module == "os\0x"s);
  CHECK(!Read("cos\r\nsystem\r\n)R.").unsafe("os.system"));
}

TEST_CASE("PK20: names of globals are compared as bytes, and text is UTF-8 as Python takes it") {
  CHECK(!Read(pickled::whole(pickled::call("\xd0\xbes", "system", {}))).unsafe("system"));
  CHECK(Read(pickled::whole(pickled::call("builtins", "eval.__call__", {}))).unsafe("eval"));
  CHECK(!Read("cos \nsystem\n)R.").unsafe("os "));
  CHECK(contains(Read("c\xff\xfe\nx\n)R.").fault(), "text that is no UTF-8"));
  CHECK(contains(Read("\x80\x02X\x02\0\0\0\xe9x."s).fault(), "text that is no UTF-8"));
  CHECK(!Read("\x80\x02X\x03\0\0\0\xed\xa0\x80."s).pickle.fault());  // a lone surrogate
  CHECK(!Read("\x80\x02U\x01\xff."s).pickle.fault());                // Python 2's bytes
  CHECK(Read("cos\nsystem").pickle.fault());
}

TEST_CASE("PK21: out-of-band buffers are named") {
  CHECK(Read("\x80\x05\x97\x98.").odd("out-of-band"));
  CHECK(Read("\x98.").pickle.fault());
}

TEST_CASE("PK22: pickles within byte strings are judged, encoded ones are told") {
  const auto bytes = [](const std::string& text) { return "B" + little(text.size(), 4) + text; };
  const std::string call = pickled::whole(pickled::call("os", "system", {}));
  const Read once("\x80\x03" + bytes(call) + ".");
  CHECK(once.unsafe("os.system"));
  CHECK(once.says("a pickle in 17 bytes of pickle", Severity::warning));
  CHECK(once.findings().at(0).where->offset == 2 + 5 + 2);  // of the name in the inner one
  const Read plain("\x80\x03" + bytes("cos\nsystem\n)R.") + ".");
  CHECK(plain.unsafe("os.system"));
  const Read garbage("\x80\x03" + bytes(call + "junk") + ".");
  CHECK(garbage.unsafe("os.system"));
  std::string nested = call;
  for (int depth = 0; depth < 3; ++depth) nested = "\x80\x03" + bytes(nested) + ".";
  CHECK(Read(nested).unsafe("os.system"));
  CHECK(!Read("\x80\x03" + bytes(nested) + ".").unsafe("os.system"));  // four deep: left alone
  CHECK(Read("\x80\x03" + bytes("(raw weights") + bytes("cab\ncd\n") + "\x86.").findings().empty());
  CHECK(Read(pickled::whole(pickled::text("gAJjb3MKc3lzdGVtCilSLg==")))
            .says("1 texts that look like an encoded pickle", Severity::note));
  CHECK(Read(pickled::whole(pickled::text("8002636f730a73797374656d0a29522e")))
            .says("encoded pickle", Severity::note));
  CHECK(Read(pickled::whole(pickled::text("gAte.proj.weight"))).findings().empty());
  CHECK(Read(pickled::whole(pickled::call("torch", "load", {}))).unsafe("torch.load"));
}

TEST_CASE("PK26: an honest large pickle is read whole") {
  std::string text = "](";
  for (int i = 0; i < 300'000; ++i) text += pickled::numbers({i, i + 1});
  const Read read(text + "e.");
  CHECK(!read.pickle.fault());
  CHECK(read.pickle.root().size() == 300'000);
}

TEST_CASE("PK27: only exact pairs of module and name are known") {
  CHECK(classify({"torch._utils", "_rebuild_tensor_v2"}) == GlobalClass::data);
  CHECK(classify({"torch._utilz", "_rebuild_tensor_v2"}) == GlobalClass::unknown);
  CHECK(classify({"torch._utils", "_rebuild_tensor_v2.x"}) == GlobalClass::unknown);
  CHECK(classify({"signal", "Signals"}) == GlobalClass::data);
  CHECK(classify({"signal", "signal"}) == GlobalClass::code);
  CHECK(classify({"megatron.core.transformer.enums", "AttnBackend"}) == GlobalClass::data);
  CHECK(classify({"megatron.core.enums", "enum.sys.exit"}) == GlobalClass::code);
  CHECK(classify({"megatron.core.utils", "AttnBackend"}) == GlobalClass::unknown);
  CHECK(classify({"subprocess", "Popen"}) == GlobalClass::code);
}

TEST_CASE("a name with dots that reaches through a module of code is code") {
  CHECK(Read("\x80\x04\x8c\x13torch.serialization\x8c\x09os.system\x93)R.")
            .unsafe("torch.serialization.os.system"));
  for (const Global& code : std::vector<Global>{{"torch.serialization", "os.system"},
                                                {"mine", "a.subprocess"},
                                                {"mine", "b.c.eval"},
                                                {"mine", "builtins.exec.__call__"},
                                                {"__torch__.m", "os.system"},
                                                {"signal", "Signals.os"},
                                                {"torch", "serialization.load"},
                                                {"torch", "load.__call__"},
                                                {"mine", "torch.hub.load"}}) {
    CAPTURE(code.name);
    CHECK(classify(code) == GlobalClass::code);
  }
  for (const Global& unknown : std::vector<Global>{{"mine", "Outer.Inner"},
                                                   {"mine", "osmium.evaluate"},
                                                   {"mine", "os"},
                                                   {"mine.torch", "load"},
                                                   {"torch", "overload.y"},
                                                   {"mine", "..x"},
                                                   {"mine", "."}}) {
    CAPTURE(unknown.name);
    CHECK(classify(unknown) == GlobalClass::unknown);
  }
  CHECK(classify({"__torch__.m", "Net"}) == GlobalClass::data);
  CHECK(classify({"__torch__.m", "Outer.Net"}) == GlobalClass::data);
}

TEST_CASE("PK28: random, empty and one-byte input") {
  CHECK(Read("").pickle.fault());
  CHECK(Read("\x80").pickle.fault());
  CHECK(Read("\x80\x02").pickle.fault());
  CHECK(Read("\x13\x37").pickle.fault());
}

TEST_CASE("memory is bounded by the bytes read") {
  const Read read(std::string(8'000'000, ']') + "N.");
  REQUIRE(read.pickle.fault());
  CHECK(contains(read.fault(), "limit reached"));
}

}  // namespace
}  // namespace ttcheck::formats
