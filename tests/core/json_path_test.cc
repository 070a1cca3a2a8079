#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "json/path.h"

namespace keepsake::json {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Texts(std::string_view value, std::string_view path) {
  return TextsAtPath(value, path).value();
}

TEST(JsonPath, is_split_into_names_brackets_and_braces) {
  EXPECT_THAT(TokenizePath("a.b"), ElementsAre("a", "b"));
  EXPECT_THAT(TokenizePath("chapters[*].content"), ElementsAre("chapters", "[*]", "content"));
  EXPECT_THAT(TokenizePath("a[0][-1]"), ElementsAre("a", "[0]", "[-1]"));
  EXPECT_THAT(TokenizePath("x.{a,b.c}"), ElementsAre("x", "{a,b.c}"));
  EXPECT_THAT(TokenizePath("..a..b."), ElementsAre("a", "b"));
  EXPECT_THAT(TokenizePath("a[b[c]]d"), ElementsAre("a", "[b[c]]", "d"));
  EXPECT_THAT(TokenizePath("[open"), ElementsAre("[open"));
  EXPECT_THAT(TokenizePath(""), IsEmpty());
}

TEST(JsonPath, cap_48_dollar_is_the_whole_value) {
  EXPECT_THAT(Texts(R"({"a":1})", "$"), ElementsAre("{\n  \"a\": 1\n}"));
  EXPECT_THAT(Texts(R"("text")", ""), ElementsAre("\"text\""));
  EXPECT_THAT(Texts("null", "$"), ElementsAre("null"));
}

TEST(JsonPath, cap_48_names_lead_into_objects) {
  constexpr std::string_view kValue = R"({"a":{"b":"x","c.d":"y"},"n":1.50,"t":true,"z":null})";
  EXPECT_THAT(Texts(kValue, "a.b"), ElementsAre("x"));
  EXPECT_THAT(Texts(kValue, "n"), ElementsAre("1.50"));
  EXPECT_THAT(Texts(kValue, "t"), ElementsAre("true"));
  EXPECT_THAT(Texts(kValue, "a"), ElementsAre("{\n  \"b\": \"x\",\n  \"c.d\": \"y\"\n}"));
  EXPECT_THAT(Texts(kValue, "z"), IsEmpty());
  EXPECT_THAT(Texts(kValue, "missing"), IsEmpty());
  EXPECT_THAT(Texts(kValue, "n.deeper"), IsEmpty());
  EXPECT_THAT(Texts(kValue, "a.c.d"), IsEmpty());
}

TEST(JsonPath, cap_48_indexes_lead_into_arrays) {
  constexpr std::string_view kValue = R"({"a":["x","y",{"b":"z"}],"o":{"0":"zero"}})";
  EXPECT_THAT(Texts(kValue, "a[0]"), ElementsAre("x"));
  EXPECT_THAT(Texts(kValue, "a[-1].b"), ElementsAre("z"));
  EXPECT_THAT(Texts(kValue, "a[3]"), IsEmpty());
  EXPECT_THAT(Texts(kValue, "a[-4]"), IsEmpty());
  EXPECT_THAT(Texts(kValue, "a[x]"), IsEmpty());
  EXPECT_THAT(Texts(kValue, "a[99999999999999999999]"), IsEmpty());
  EXPECT_THAT(Texts(kValue, "a.1"), ElementsAre("y"));
  EXPECT_THAT(Texts(kValue, "o.0"), ElementsAre("zero"));
  EXPECT_THAT(Texts(kValue, "o[0]"), IsEmpty());
}

TEST(JsonPath, cap_48_wildcards_go_in_the_order_of_the_value) {
  constexpr std::string_view kValue =
      R"({"turns":[{"text":"one"},{},{"text":"two"},3],"by":{"b":["x"],"a":["y","z"]}})";
  EXPECT_THAT(Texts(kValue, "turns[*].text"), ElementsAre("one", "two"));
  EXPECT_THAT(Texts(kValue, "by.*[*]"), ElementsAre("x", "y", "z"));
  EXPECT_THAT(Texts(kValue, "turns.*.text"), ElementsAre("one", "two"));
  EXPECT_THAT(Texts(kValue, "by[*]"), IsEmpty());
}

TEST(JsonPath, cap_48_braces_take_several_fields) {
  constexpr std::string_view kValue =
      R"({"a":"x","b":{"c":"y","n":null},"list":[{"a":1,"d":2},{"a":3}]})";
  EXPECT_THAT(Texts(kValue, "{a, b.c ,missing}"), ElementsAre("x", "y"));
  EXPECT_THAT(Texts(kValue, "list[*].{d,a}"), ElementsAre("2", "1", "3"));
  EXPECT_THAT(Texts(kValue, "{b.n}"), ElementsAre("null"));
  EXPECT_THAT(Texts(kValue, "{}"), IsEmpty());
}

TEST(JsonPath, texts_are_well_formed_utf8) {
  EXPECT_THAT(Texts(R"({"a":"\ud83d\ude00\ud83d"})", "a"),
              ElementsAre("\xF0\x9F\x98\x80\xEF\xBF\xBD"));
}

TEST(JsonPath, an_explosion_of_text_is_an_error) {
  std::string path = "{a";
  for (int i = 0; i < 1000; ++i) path += ",a";
  const std::string value = R"({"a":")" + std::string(100'000, 'x') + "\"}";
  EXPECT_EQ(TextsAtPath(value, path + "}").error().code(), StatusCode::kTooLarge);
}

}  // namespace
}  // namespace keepsake::json
