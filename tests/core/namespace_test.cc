#include "keepsake/namespace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace keepsake {
namespace {

TEST(Namespace, its_stored_form_ends_each_label) {
  EXPECT_EQ(EncodeNamespace({"users", "u1"}), "users\x1Fu1\x1F");
  EXPECT_EQ(EncodeNamespace({}), "");
  EXPECT_EQ(EncodeNamespace({"a\x1F"
                             "b\x1E"}),
            "a\x1E"
            "1b\x1E"
            "0\x1F");
}

TEST(Namespace, its_stored_form_is_read_back) {
  for (const Namespace& ns : std::vector<Namespace>{{},
                                                    {"a"},
                                                    {"a", "b"},
                                                    {"\x1E", "\x1F",
                                                     "\x1E\x1F"
                                                     "0"},
                                                    {"\x1E"
                                                     "1"},
                                                    {"\xC3\xA9"}}) {
    EXPECT_EQ(DecodeNamespace(EncodeNamespace(ns)).value(), ns);
  }
}

TEST(Namespace, a_prefix_of_labels_is_a_prefix_of_bytes_and_nothing_else_is) {
  const auto is_prefix = [](const Namespace& prefix, const Namespace& ns) {
    return EncodeNamespace(ns).starts_with(EncodeNamespace(prefix));
  };
  EXPECT_TRUE(is_prefix({"a"}, {"a", "b"}));
  EXPECT_FALSE(is_prefix({"a"}, {"ab"}));
  EXPECT_FALSE(is_prefix({"a"}, {"a\x1F"
                                 "b"}));
  EXPECT_FALSE(is_prefix({"a\x1E"}, {"a\x1E"
                                     "0"}));
}

TEST(Namespace, bytes_that_are_no_stored_form_are_corrupt) {
  for (const char* encoded : {"a", "\x1F", "a\x1F\x1F", "a\x1E\x1F",
                              "a\x1E"
                              "2\x1F",
                              "a\x1E"}) {
    EXPECT_EQ(DecodeNamespace(encoded).error().code(), StatusCode::kCorrupt) << encoded;
  }
}

TEST(Namespace, cap_52_rules_can_be_waived_one_by_one) {
  EXPECT_EQ(ValidateNamespace({}).message(), "namespace must not be empty");
  EXPECT_TRUE(ValidateNamespace({}, {.allow_empty = true}).ok());
  EXPECT_EQ(ValidateNamespace({"langgraph"}).message(),
            "namespace must not begin with the reserved label \"langgraph\"");
  EXPECT_TRUE(ValidateNamespace({"langgraph"}, {.allow_reserved_root = true}).ok());
  EXPECT_TRUE(ValidateNamespace({"a", "langgraph"}).ok());
}

TEST(Namespace, cap_52_labels_are_checked) {
  EXPECT_EQ(ValidateNamespace({"a", ""}).message(), "namespace label must not be empty");
  EXPECT_EQ(ValidateNamespace({std::string("a\0b", 3)}).message(),
            "namespace label must not contain NUL");
  EXPECT_EQ(ValidateNamespace({"x\xED\xA0\x80y"}).message(),
            "namespace label must not contain a lone surrogate");
  EXPECT_EQ(ValidateNamespace({"x\xED\xBF\xBF"}).message(),
            "namespace label must not contain a lone surrogate");
  EXPECT_EQ(ValidateNamespace({"x\xFF"}).message(),
            R"(namespace label must be well-formed UTF-8: "x\xff")");
  EXPECT_TRUE(ValidateNamespace({"a@b+c-d/e f\x1F\xF0\x9F\x98\x80"}).ok());
}

TEST(Namespace, long_labels_are_cut_in_messages) {
  const std::string message = ValidateNamespace({std::string(500, 'x') + "."}).message();
  EXPECT_EQ(message, "namespace label must not contain '.': \"" + std::string(80, 'x') + "\"…");
}

TEST(Namespace, size_is_limited) {
  EXPECT_TRUE(ValidateNamespace(Namespace(kMaxNamespaceLabels, "a")).ok());
  EXPECT_EQ(ValidateNamespace(Namespace(100'000, "a")).message(),
            "namespace must not have more than 1000 labels: it has 100000");
  EXPECT_TRUE(ValidateNamespace({std::string(kMaxNamespaceBytes - 1, 'a')}).ok());
  EXPECT_EQ(ValidateNamespace({std::string(kMaxNamespaceBytes, 'a')}).message(),
            "namespace must not take more than 65536 bytes");
}

TEST(Namespace, cap_44_conditions_match_from_either_end) {
  const Namespace ns = {"a", "b", "c"};
  EXPECT_TRUE(Matches({MatchType::kPrefix, {"a", "b"}}, ns));
  EXPECT_TRUE(Matches({MatchType::kSuffix, {"b", "c"}}, ns));
  EXPECT_TRUE(Matches({MatchType::kPrefix, {"*", "b"}}, ns));
  EXPECT_TRUE(Matches({MatchType::kSuffix, {"*"}}, ns));
  EXPECT_TRUE(Matches({MatchType::kPrefix, {}}, ns));
  EXPECT_FALSE(Matches({MatchType::kPrefix, {"b"}}, ns));
  EXPECT_FALSE(Matches({MatchType::kSuffix, {"b"}}, ns));
  EXPECT_FALSE(Matches({MatchType::kPrefix, {"a", "b", "c", "*"}}, ns));
}

}  // namespace
}  // namespace keepsake
