// Makes JSON over a small world of names and values, so that values, filters and paths meet.
// The same value is written in many ways: with space, escapes, repeated keys, forms of numbers.
#ifndef KEEPSAKE_TESTS_FUZZ_JSON_GENERATOR_H_
#define KEEPSAKE_TESTS_FUZZ_JSON_GENERATOR_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "byte_source.h"

namespace keepsake::fuzz {

// One step of a path (json/path.h), as the judge understands it without its text.
struct PathStep {
  enum class Kind : std::uint8_t { kName, kIndex, kEveryElement, kEverything };
  Kind kind = Kind::kName;
  std::string name;
  int index = 0;
};

struct Path {
  std::vector<PathStep> steps;
  std::vector<std::vector<std::string>> fields;  // "{a,b.c}" at its end: names of each
};

class JsonGenerator {
 public:
  explicit JsonGenerator(ByteSource& source) : source_(source) {}

  // Often one of the last few short ones again, so that there are equal ones.
  std::string Value(int depth = 3) {
    constexpr std::size_t kLast = 8, kShort = 64;
    if (source_.Chance(2) && !made_.empty()) {
      return made_[made_.size() - 1 - source_.Below(std::min(kLast, made_.size()))];
    }
    std::string value = NewValue(depth);
    if (value.size() <= kShort) made_.push_back(value);
    return value;
  }

  std::string Document() {
    return Object([&] { return Value(2); });
  }

  // For a document. Some break a rule.
  std::string Filter(int depth = 2) {
    if (source_.Chance(16)) return source_.Text({"{}", "[]", " "});
    const auto field = [&] { return Key() + Space() + ":" + Condition(depth); };
    return "{" + field() + (source_.Chance(4) ? "," + field() : "") + "}";
  }

  Path AnyPath() {
    Path path;
    for (std::size_t left = source_.Below(4); left > 0; --left) path.steps.push_back(AnyStep());
    for (std::size_t left = source_.Below(3); left > 0; --left) path.fields.push_back(Names());
    return path;
  }

  // `text` with up to three bytes exchanged or added.
  std::string Damaged(std::string text) {
    constexpr std::string_view kTelling = "0123456789.eE+-\"\\u{}[],: tfnl\x7F\x1F\x80\xED\xF0";
    for (std::size_t left = source_.Below(4); left > 0; --left) {
      const std::size_t at = (source_.Byte() * 256U + source_.Byte()) % text.size();
      const std::uint8_t byte = source_.Byte();
      const char c = source_.Chance(4) ? static_cast<char>(byte) : kTelling[byte % kTelling.size()];
      if (source_.Chance(2)) text.insert(at, 1, c);
      text[at] = c;
    }
    return text;
  }

 private:
  std::string NewValue(int depth) {
    switch (depth == 0 ? 0 : source_.Below(3)) {
      case 1:
        return Object([&] { return Value(depth - 1); });
      case 2:
        return Array([&] { return Value(depth - 1); });
      default:
        return Scalar();
    }
  }

  std::string Scalar() {
    switch (source_.Below(4)) {
      case 0:
        return Number();
      case 1:
        return String();
      default:
        return source_.Text({"null", "true", "false"});
    }
  }

  std::string Number() {
    if (source_.Chance(64)) return source_.Text({"1e999", "-1e999"});
    return source_.Text({"0",
                         "1",
                         "-0",
                         "-0.0",
                         "1.0",
                         "10e-1",
                         "0.1E1",
                         "-1",
                         "2",
                         "2.5",
                         "100",
                         "1e2",
                         "0.1",
                         "9007199254740992",
                         "9007199254740993",
                         "9223372036854775808",
                         "18446744073709551616",
                         "1e308",
                         "5e-324",
                         "1e-999",
                         "123456789012345678901234567890"});
  }

  std::string String() {
    std::string raw = "\"";
    for (std::size_t left = source_.Below(4); left > 0; --left) {
      raw += source_.Text({"a", "\\u0061", "b", "A", "é", "\\u00e9", "😀", "\\ud83d\\uDE00",
                           "\\uffff", "\\n", "\\/", "/", "\\\"", "\\\\", "\\u0000", "{", ","});
    }
    if (source_.Chance(64)) raw += source_.Text({"\\ud83d", "\\ude00"});
    return raw + '"';
  }

  std::string Key() {
    return source_.Text(
        {R"("a")", R"("\u0061")", R"("a")", R"("b")", R"("b")", R"("0")", R"("")", R"("é")"});
  }

  std::string Name() { return source_.Text({"a", "a", "b", "b", "0", "1", "é"}); }

  std::vector<std::string> Names() {
    std::vector<std::string> names = {Name()};
    if (source_.Chance(3)) names.push_back(Name());
    return names;
  }

  std::string Space() { return source_.Text({"", "", "", " ", "\n\t\r"}); }

  template <typename Member>
  std::string Object(const Member& member) {
    return Container('{', '}', [&] { return Key() + Space() + ":" + Space() + member(); });
  }

  template <typename Element>
  std::string Array(const Element& element) {
    return Container('[', ']', element);
  }

  template <typename Part>
  std::string Container(char opening, char closing, const Part& part) {
    std::string raw = opening + Space();
    const std::size_t parts = source_.Below(4);
    for (std::size_t i = 0; i < parts; ++i) raw += (i > 0 ? "," : "") + Space() + part() + Space();
    return raw + closing;
  }

  std::string Condition(int depth) {
    switch (source_.Below(depth == 0 ? 4 : 5)) {
      case 0:
        return Value(2);
      case 1:
        return "{" + Comparison() + "," + Comparison() + "}";
      case 4:
        return Filter(depth - 1);
      default:
        return "{" + Comparison() + "}";
    }
  }

  std::string Comparison() {
    if (source_.Chance(64)) return source_.Text({R"("$is":1)", R"("a":1)", R"("$in":1)"});
    if (source_.Chance(3)) {
      return source_.Text({R"("$in":)", R"("$nin":)"}) + Array([&] { return Value(1); });
    }
    return source_.Text({R"("$eq":)", R"("$ne":)", R"("$gt":)", R"("$gte":)", R"("$lt":)",
                         R"("$lte":)", R"("\u0024eq":)"}) +
           Value(2);
  }

  PathStep AnyStep() {
    switch (source_.Below(5)) {
      case 0:
        return {PathStep::Kind::kIndex, "", static_cast<int>(source_.Below(6)) - 3};
      case 1:
        return {PathStep::Kind::kEveryElement, "", 0};
      case 2:
        return {PathStep::Kind::kEverything, "", 0};
      default:
        return {PathStep::Kind::kName, Name(), 0};
    }
  }

  ByteSource& source_;
  std::vector<std::string> made_;
};

}  // namespace keepsake::fuzz

#endif  // KEEPSAKE_TESTS_FUZZ_JSON_GENERATOR_H_
