#include "json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace keepsake::json {
namespace {

using testing::ElementsAre;
using testing::Optional;
using testing::Pair;

std::string Nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonValidate, accepts_every_form_of_value) {
  for (const char* text :
       {"null", "true", "false", "0", "-0", "10", "-1.5e-10", "1E+5", "0.1", R"("")",
        R"("\"\\\/\b\f\n\r\t\u00e9\uD83D")", "[]", "[ ]", "{}", "{ }", " [1 , 2]\r\n\t",
        R"({"a":{"b":[{}]},"a":1,"":[null]})",
        "\"\xC2\x80\xE0\xA0\x80\xED\x9F\xBF\xF4\x8F\xBF\xBF\"",
        "\"a plain run longer than a word, then \xF0\x9F\x98\x80 and \\n an escape\""}) {
    const Status status = Validate(text);
    EXPECT_TRUE(status.ok()) << text << ": " << status.message();
  }
}

TEST(JsonValidate, refuses_everything_else) {
  for (const char* text : {"",
                           " ",
                           "nul",
                           "nulll",
                           "True",
                           "01",
                           "-",
                           "+1",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "0x1",
                           "NaN",
                           "Infinity",
                           "'a'",
                           "\"",
                           "\"a",
                           R"("\x")",
                           R"("\u12")",
                           R"("\u12g4")",
                           "\"\t\"",
                           "\"\x7F",
                           "[",
                           "[1",
                           "[1,",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "]",
                           "[}",
                           "{",
                           "{\"a\"",
                           "{\"a\":",
                           "{\"a\":1",
                           "{\"a\":1,}",
                           "{,}",
                           "{a:1}",
                           "{\"a\" 1}",
                           "{1:2}",
                           "1 2",
                           "[] []",
                           "// c\n1",
                           "\xEF\xBB\xBF"
                           "1"}) {
    EXPECT_EQ(Validate(text).code(), StatusCode::kInvalidValue) << text;
  }
  EXPECT_FALSE(Validate(std::string_view("1\0", 2)).ok());
  EXPECT_FALSE(Validate(std::string_view("\"\0\"", 3)).ok());
}

TEST(JsonValidate, refuses_malformed_utf8) {
  for (const char* bytes : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x9F\xBF", "\xE2\x82",
                            "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                            "\xF5\x80\x80\x80", "\xFF", "\xC3\xC3"}) {
    EXPECT_FALSE(Validate("\"" + std::string(bytes) + "\"").ok());
  }
}

TEST(JsonValidate, names_the_problem_and_its_byte) {
  EXPECT_EQ(Validate("[1,x]").message(), "not JSON: unexpected character at byte 3");
  EXPECT_EQ(Validate("[1,").message(), "not JSON: unexpected end");
  EXPECT_EQ(Validate("\"ab\xFF\"").message(), "not JSON: malformed UTF-8 at byte 3");
  EXPECT_EQ(Validate("\"a\n\"").message(), "not JSON: control character in a string at byte 2");
}

TEST(JsonValidate, limits_depth) {
  EXPECT_TRUE(Validate(Nested(kMaxDepth)).ok());
  EXPECT_EQ(Validate(Nested(kMaxDepth + 1)).message(),
            "not JSON: nested deeper than 1000 at byte 1000");
}

TEST(JsonValidate, finds_a_special_byte_at_every_offset_of_a_word) {
  for (std::size_t at = 0; at < 24; ++at) {
    for (const char bad : {'\x01', '\x1F', '\n', '\xFF', '\x80'}) {
      std::string text = "\"" + std::string(24, ' ') + "\"";
      text[1 + at] = bad;
      EXPECT_FALSE(Validate(text).ok()) << at;
    }
    std::string text = "\"" + std::string(24, '!') + "\"";
    text[1 + at] = '"';
    EXPECT_FALSE(Validate(text).ok()) << at;
    EXPECT_TRUE(Validate(text.substr(0, at + 2)).ok()) << at;
  }
}

TEST(JsonReader, reads_members_in_their_order) {
  ObjectReader reader(R"({ "a" : 1 , "b\n" : [ { "c" : "}" } ], "d":"\"]" })");
  std::vector<std::pair<std::string, std::string>> members;
  while (reader.Next()) members.emplace_back(reader.key(), reader.value());
  EXPECT_THAT(members, ElementsAre(Pair("\"a\"", "1"), Pair("\"b\\n\"", R"([ { "c" : "}" } ])"),
                                   Pair("\"d\"", R"("\"]")")));
}

TEST(JsonReader, reads_elements_in_their_order) {
  ArrayReader reader(R"([ 1 ,"," , [2,3],{"a":[4]} , null ])");
  std::vector<std::string> elements;
  while (reader.Next()) elements.emplace_back(reader.value());
  EXPECT_THAT(elements, ElementsAre("1", R"(",")", "[2,3]", R"({"a":[4]})", "null"));
}

TEST(JsonReader, other_values_have_no_members_or_elements) {
  for (const char* raw : {"1", "\"a\"", "null", "", "[1]"}) EXPECT_FALSE(ObjectReader(raw).Next());
  for (const char* raw : {"1", "\"a\"", "null", "", "{\"a\":1}", "[]"}) {
    EXPECT_FALSE(ArrayReader(raw).Next());
  }
}

TEST(JsonReader, stays_within_damaged_text) {
  const std::string whole = R"({"a\u00e9":[1,{"b":"c\ud83d\ude00"},-2.5e3],"d":{"e":null}})";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const std::vector<char> copy(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const std::string_view cut(copy.data(), copy.size());
    FindMember(cut, "d");
    Equal(cut, whole);
    Compare(cut, whole);
    Unescape(cut);
    Pretty(cut, 1000);
    SortedMembers(cut);
  }
}

TEST(JsonReader, comes_to_an_end_whatever_byte_is_damaged) {
  const auto count = [](auto reader, std::string_view text) {
    std::size_t read = 0;
    while (read <= text.size() && reader.Next()) ++read;
    return read;
  };
  for (const std::string sound :
       {R"({"text":"note","n":[1,{"a":[]},"x"]})", R"([{"a":1},[2,"b"], null ,{}])"}) {
    for (std::size_t at = 0; at < sound.size(); ++at) {
      for (const char byte : std::string_view("[]{},:\"\\ 1n\0", 12)) {
        std::string text = sound;
        text[at] = byte;
        for (std::size_t from = 0; from < text.size(); ++from) {
          const std::string_view raw = std::string_view(text).substr(from);
          ASSERT_LE(count(ArrayReader(raw), raw), raw.size()) << raw;
          ASSERT_LE(count(ObjectReader(raw), raw), raw.size()) << raw;
        }
        Equal(text, sound);
        Unescape(text);
        Pretty(text, 1000);
        SortedMembers(text);
      }
    }
  }
}

TEST(JsonFindMember, compares_unescaped_keys) {
  EXPECT_THAT(FindMember(R"({"\u0061.b":1})", "a.b"), Optional(std::string_view("1")));
  EXPECT_THAT(FindMember(R"({"a":{"b":1}})", "b"), std::nullopt);
  EXPECT_THAT(FindMember(R"({"":0})", ""), Optional(std::string_view("0")));
}

TEST(JsonFindMember, takes_the_last_of_equal_keys) {
  EXPECT_THAT(FindMember(R"({"a":1,"b":2,"\u0061":3})", "a"), Optional(std::string_view("3")));
}

TEST(JsonSortedMembers, are_distinct_and_the_last_wins) {
  EXPECT_THAT(SortedMembers(R"({"b":1,"a":2,"b":3,"\u0062":4})"),
              ElementsAre(Pair("a", "2"), Pair("b", "4")));
}

TEST(JsonUnescape, gives_what_the_text_stands_for) {
  EXPECT_EQ(Unescape(R"("a\"\\\/\b\f\n\r\tb")"), "a\"\\/\b\f\n\r\tb");
  EXPECT_EQ(Unescape(R"("\u00e9\u20AC\ud83d\ude00")"), "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(Unescape(R"("\u0000")"), std::string(1, '\0'));
}

TEST(JsonUnescape, keeps_lone_surrogates_apart_and_replaces_them_in_given_text) {
  EXPECT_EQ(Unescape(R"("\ud83d\ud83d\ude00\ude00")"), "\xED\xA0\xBD\xF0\x9F\x98\x80\xED\xB8\x80");
  EXPECT_EQ(UnescapeToUtf8(R"("\ud83dx")"), "\xEF\xBF\xBDx");
}

TEST(JsonToDouble, reads_numbers_as_javascript_does) {
  EXPECT_EQ(ToDouble("0"), 0.0);
  EXPECT_EQ(ToDouble("-12"), -12.0);
  EXPECT_EQ(ToDouble("123456789012345"), 123456789012345.0);
  EXPECT_EQ(ToDouble("9007199254740993"), 9007199254740992.0);
  EXPECT_EQ(ToDouble("-2.5e-3"), -0.0025);
  EXPECT_EQ(ToDouble("1E2"), 100.0);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ToDouble("1e400"), infinity);
  EXPECT_EQ(ToDouble("-1e400"), -infinity);
  EXPECT_EQ(ToDouble("1" + std::string(400, '0')), infinity);
  EXPECT_EQ(ToDouble("1e-400"), 0.0);
  EXPECT_EQ(ToDouble("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(ToDouble("1" + std::string(400, '0') + "e-399"), 10.0);
  EXPECT_EQ(ToDouble("5e-324"), std::numeric_limits<double>::denorm_min());
}

TEST(JsonEqual, is_deep_and_ignores_the_order_of_members) {
  EXPECT_TRUE(Equal(R"({"a":[1,{"b":2,"c":null}],"d":true})",
                    R"({ "d" : true, "a" : [ 1.0, { "c":null, "b":2e0 } ] })"));
  EXPECT_FALSE(Equal(R"({"a":1})", R"({"a":1,"b":1})"));
  EXPECT_FALSE(Equal(R"({"a":1})", R"({"b":1})"));
  EXPECT_FALSE(Equal("[1,2]", "[2,1]"));
  EXPECT_FALSE(Equal("[1]", "[1,1]"));
  EXPECT_FALSE(Equal("[[1],[2]]", "[[1],[3]]"));
}

TEST(JsonEqual, tells_kinds_apart) {
  const std::vector<std::string> different = {"null", "true", "false", "0",      "1",       "\"1\"",
                                              "\"\"", "[]",   "{}",    "[null]", "\"null\""};
  for (const std::string& a : different) {
    for (const std::string& b : different) EXPECT_EQ(Equal(a, b), &a == &b) << a << " " << b;
  }
}

TEST(JsonEqual, compares_strings_unescaped_and_numbers_as_doubles) {
  EXPECT_TRUE(Equal(R"("\u00e9")", "\"\xC3\xA9\""));
  EXPECT_TRUE(Equal(R"("\ud83d")", R"("\uD83D")"));
  EXPECT_FALSE(Equal(R"("\ud83d")", R"("\ud83e")"));
  EXPECT_FALSE(Equal(R"("\ud83d")", R"("\ufffd")"));
  EXPECT_TRUE(Equal("-0", "0"));
  EXPECT_TRUE(Equal("1e400", "2e400"));
  EXPECT_TRUE(Equal("100", "1e2"));
}

TEST(JsonEqual, survives_the_deepest_values) {
  const std::string deep = Nested(kMaxDepth);
  EXPECT_TRUE(Equal("[" + deep + "]", "[ " + deep + "]"));
}

TEST(JsonCompare, orders_numbers_and_strings_only) {
  EXPECT_TRUE(Compare("2", "10") < 0);
  EXPECT_TRUE(Compare("\"2\"", "\"10\"") > 0);
  EXPECT_TRUE(Compare("1", "1.0") == 0);
  EXPECT_EQ(Compare("1", "\"1\""), std::partial_ordering::unordered);
  EXPECT_EQ(Compare("true", "false"), std::partial_ordering::unordered);
  EXPECT_EQ(Compare("null", "null"), std::partial_ordering::unordered);
  EXPECT_EQ(Compare("[1]", "[1]"), std::partial_ordering::unordered);
}

TEST(JsonCompare, orders_strings_by_code_point) {
  EXPECT_TRUE(Compare(R"("\uff41")", R"("\ud83d\ude00")") < 0);  // not by UTF-16 unit
  EXPECT_TRUE(Compare(R"("\ud83d")", R"("\uff41")") < 0);
}

TEST(JsonPretty, lays_out_as_javascript_does) {
  const auto pretty = [](std::string_view raw) { return Pretty(raw, 10'000).value(); };
  EXPECT_EQ(pretty(R"({"a":1,"b":[true,{"c":{}}],"d":[],"e":"{,}:\""})"),
            "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    {\n      \"c\": {}\n    }\n  ],\n"
            "  \"d\": [],\n  \"e\": \"{,}:\\\"\"\n}");
  EXPECT_EQ(pretty(" [ 1 ,2 ] "), "[\n  1,\n  2\n]");
  EXPECT_EQ(pretty("{ }"), "{}");
  EXPECT_EQ(pretty("[[ ]]"), "[\n  []\n]");
  EXPECT_EQ(pretty("\"a b\""), "\"a b\"");
  EXPECT_EQ(pretty("1.50"), "1.50");
}

TEST(JsonPretty, stops_at_its_limit) {
  EXPECT_EQ(Pretty(Nested(kMaxDepth), 100'000), std::nullopt);
  EXPECT_NE(Pretty(Nested(kMaxDepth), 10'000'000), std::nullopt);
}

}  // namespace
}  // namespace keepsake::json
