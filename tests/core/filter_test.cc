#include "json/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace keepsake::json {
namespace {

using testing::HasSubstr;

bool Match(std::string_view filter, std::string_view value) {
  const Result<Filter> parsed = Filter::Parse(filter);
  EXPECT_TRUE(parsed) << parsed.error().message();
  return parsed && parsed->Matches(value);
}

Status ParseError(std::string_view filter) {
  const Result<Filter> parsed = Filter::Parse(filter);
  return parsed ? Status() : parsed.error();
}

TEST(Filter, cap_41_an_empty_filter_matches_everything) {
  EXPECT_TRUE(Match("", "1"));
  EXPECT_TRUE(Match("{}", "[]"));
}

TEST(Filter, cap_41_fields_are_literal_keys) {
  EXPECT_TRUE(Match(R"({"a.b":1})", R"({"a.b":1})"));
  EXPECT_FALSE(Match(R"({"a.b":1})", R"({"a":{"b":1}})"));
  EXPECT_TRUE(Match(R"({"hyphen-key \" ]":1})", R"({"hyphen-key \" ]":1})"));
}

TEST(Filter, cap_41_equality_is_deep) {
  EXPECT_TRUE(Match(R"({"tags":["a","b"]})", R"({"tags":["a","b"]})"));
  EXPECT_FALSE(Match(R"({"tags":["a"]})", R"({"tags":["a","b"]})"));
  EXPECT_TRUE(Match(R"({"o":{"$eq":{"b":1,"a":[2]}}})", R"({"o":{"a":[2.0],"b":1}})"));
  EXPECT_FALSE(Match(R"({"o":{"$eq":{"b":1}}})", R"({"o":{"a":[2],"b":1}})"));
  EXPECT_FALSE(Match(R"({"n":1})", R"({"n":"1"})"));
  EXPECT_FALSE(Match(R"({"b":true})", R"({"b":1})"));
  EXPECT_TRUE(Match(R"({"z":null})", R"({"z":null})"));
}

TEST(Filter, cap_41_nesting_asks_for_members_not_for_the_whole) {
  EXPECT_TRUE(Match(R"({"a":{"b":1}})", R"({"a":{"b":1,"c":2}})"));
  EXPECT_TRUE(Match(R"({"a":{"b":{"c":{"$gt":1}}}})", R"({"a":{"b":{"c":2}}})"));
  EXPECT_FALSE(Match(R"({"a":{"b":1,"c":3}})", R"({"a":{"b":1,"c":2}})"));
  EXPECT_FALSE(Match(R"({"a":{"b":1}})", R"({"a":1})"));
  EXPECT_FALSE(Match(R"({"a":{"b":1}})", "{}"));
}

TEST(Filter, cap_41_an_empty_object_asks_for_an_object) {
  EXPECT_TRUE(Match(R"({"a":{}})", R"({"a":{"b":1}})"));
  EXPECT_FALSE(Match(R"({"a":{}})", R"({"a":[]})"));
  EXPECT_FALSE(Match(R"({"a":{}})", "{}"));
}

TEST(Filter, cap_41_order_compares_number_with_number_and_string_with_string) {
  EXPECT_TRUE(Match(R"({"n":{"$gt":9}})", R"({"n":10})"));
  EXPECT_FALSE(Match(R"({"n":{"$gt":10}})", R"({"n":10})"));
  EXPECT_TRUE(Match(R"({"n":{"$gte":10,"$lte":10}})", R"({"n":10})"));
  EXPECT_TRUE(Match(R"({"d":{"$gt":"2024-01-31"}})", R"({"d":"2024-02-01"})"));
  EXPECT_TRUE(Match(R"({"d":{"$lt":"b"}})", R"({"d":"a"})"));
  for (const char* op : {"$gt", "$gte", "$lt", "$lte"}) {
    const std::string filter = R"({"n":{")" + std::string(op) + R"(":1}})";
    for (const char* value : {R"({"n":"5"})", R"({"n":null})", R"({"n":true})", "{}", "1"}) {
      EXPECT_FALSE(Match(filter, value)) << filter << value;
    }
  }
}

TEST(Filter, cap_41_negations_match_a_missing_field) {
  for (const char* value : {"{}", R"({"a":2})", R"({"a":null})", "1"}) {
    EXPECT_TRUE(Match(R"({"a":{"$ne":1}})", value)) << value;
    EXPECT_TRUE(Match(R"({"a":{"$nin":[0,1]}})", value)) << value;
    EXPECT_TRUE(Match(R"({"a":{"b":{"$ne":1}}})", value)) << value;
  }
  EXPECT_FALSE(Match(R"({"a":{"$ne":1}})", R"({"a":1.0})"));
  EXPECT_FALSE(Match(R"({"a":{"$nin":[0,1]}})", R"({"a":1})"));
  EXPECT_TRUE(Match(R"({"a":{"$nin":[]}})", R"({"a":1})"));
}

TEST(Filter, cap_41_everything_else_does_not_match_a_missing_field) {
  EXPECT_FALSE(Match(R"({"a":null})", "{}"));
  EXPECT_FALSE(Match(R"({"a":{"$eq":null}})", "{}"));
  EXPECT_FALSE(Match(R"({"a":{"$in":[null]}})", "{}"));
}

TEST(Filter, cap_41_in_takes_any_of_its_values) {
  EXPECT_TRUE(Match(R"({"a":{"$in":[1,[2],"x"]}})", R"({"a":[2]})"));
  EXPECT_FALSE(Match(R"({"a":{"$in":[1,[2],"x"]}})", R"({"a":2})"));
  EXPECT_FALSE(Match(R"({"a":{"$in":[]}})", R"({"a":1})"));
}

TEST(Filter, of_equal_keys_the_last_counts) {
  EXPECT_TRUE(Match(R"({"a":1,"a":2})", R"({"a":3,"a":2})"));
}

TEST(Filter, malformed_filters_are_refused) {
  for (const char* filter : {"[]", "1", "null", "{", R"({"a":})", "{\"a\":\"\xFF\"}"}) {
    EXPECT_EQ(ParseError(filter).code(), StatusCode::kInvalidFilter) << filter;
  }
}

TEST(Filter, operators_are_known_stand_alone_and_take_their_operands) {
  EXPECT_EQ(ParseError(R"({"a":{"$near":1}})").message(),
            R"(unknown filter operator "$near": there are $eq, $ne, $gt, $gte, $lt, $lte, $in )"
            "and $nin");
  EXPECT_EQ(ParseError(R"({"a":{"$in":1}})").message(),
            R"(filter operator $in of "a" needs an array)");
  EXPECT_EQ(ParseError(R"({"a":{"$nin":{}}})").message(),
            R"(filter operator $nin of "a" needs an array)");
  EXPECT_EQ(ParseError(R"({"a":{"b":1,"$gt":1}})").message(),
            R"(filter operator must stand alone below a field, as in {"age": {"$gt": 18}}: "$gt")");
  for (const char* name : {"$and", "$or", "$not"}) {
    const Status s = ParseError(R"({")" + std::string(name) + R"(":[{"a":1}]})");
    EXPECT_EQ(s.code(), StatusCode::kInvalidFilter);
    EXPECT_THAT(s.message(), HasSubstr("a filter has no \"" + std::string(name) + "\": all"));
  }
}

TEST(Filter, an_order_that_nothing_has_is_refused) {
  for (const char* op : {"$gt", "$gte", "$lt", "$lte"}) {
    for (const char* operand : {"true", "false", "null", "[1]", "{}"}) {
      const std::string filter = R"({"a":{")" + std::string(op) + "\":" + operand + "}}";
      EXPECT_EQ(ParseError(filter).message(),
                "filter operator " + std::string(op) + R"( of "a" needs a number or a string)");
    }
  }
}

TEST(Filter, size_and_depth_are_limited) {
  std::string deep = "1";
  for (std::size_t i = 0; i < kMaxFilterDepth; ++i) deep = R"({"a":)" + deep + "}";
  EXPECT_TRUE(ParseError(deep).ok());
  EXPECT_THAT(ParseError(R"({"a":)" + deep + "}").message(), HasSubstr("nested"));

  std::string wide = "{";
  for (std::size_t i = 0; i <= kMaxFilterFields; ++i) {
    wide += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
  }
  EXPECT_THAT(ParseError(wide + "}").message(), HasSubstr("1000 fields"));
}

}  // namespace
}  // namespace keepsake::json
