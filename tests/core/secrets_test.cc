// Secrets in values. The cases are those of TypeScript, too: tests/js/secrets.test.mjs.
#include "keepsake/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "json/json.h"
#include "keepsake/in_memory_store.h"
#include "keepsake/json.h"

namespace keepsake {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

const Json& Cases() {
  static const Json cases = Json::parse(std::ifstream(KEEPSAKE_TESTS_DIR "/golden/secrets.json"));
  return cases;
}

std::string Run(const std::string& name, std::size_t count) {
  const auto characters = Cases()["runs"][name].get<std::string>();
  std::string run;
  while (run.size() < count) run += characters;
  return run.substr(0, count);
}

std::string TextOf(const Json& pieces) {
  std::string text;
  for (const Json& piece : pieces) {
    if (piece.is_string()) {
      text += piece.get<std::string>();
    } else {
      text += Run(piece.begin().key(), piece.begin().value().get<std::size_t>());
    }
  }
  return text;
}

std::string SecretOf(const std::string& kind) {
  for (const Json& one : Cases()["secrets"]) {
    if (one["kind"] == kind) return TextOf(one["text"]);
  }
  ADD_FAILURE() << "no case of a " << kind;
  return "";
}

TEST(Secrets, cap_106_each_is_masked_and_reported) {
  ASSERT_GE(Cases()["secrets"].size(), 30U);
  for (const Json& one : Cases()["secrets"]) {
    const auto kind = one["kind"].get<std::string>();
    const std::string secret = TextOf(one["text"]);
    for (const Json& around : Cases()["around"]) {
      const auto before = around[0].get<std::string>();
      const auto after = around[1].get<std::string>();
      std::string json = Json{{"text", before + secret + after}, {"n", {1}}}.dump();
      EXPECT_THAT(MaskSecrets(json), ElementsAre(kind)) << before + secret;
      const Json masked = {{"text", before + "[" + kind + "]" + after}, {"n", {1}}};
      EXPECT_EQ(json, masked.dump());
    }
  }
}

TEST(Secrets, cap_106_nothing_is_masked_in_what_only_looks_like_one) {
  ASSERT_GE(Cases()["harmless"].size(), 20U);
  for (const Json& text : Cases()["harmless"]) {
    const std::string before = Json{{"text", text}, {"nested", {{"again", {text}}}}}.dump();
    std::string json = before;
    const char* const place = json.data();
    const SecretKinds kinds = MaskSecrets(json);
    EXPECT_THAT(kinds, IsEmpty()) << text;
    EXPECT_EQ(json, before);
    // Nothing was allocated for it.
    EXPECT_EQ(json.data(), place);
    EXPECT_EQ(kinds.capacity(), 0U);
  }
}

TEST(Secrets, cap_106_all_secrets_of_a_value_are_masked_where_they_stand) {
  for (const Json& one : Cases()["values"]) {
    std::string json = TextOf(one["json"]);
    const SecretKinds kinds = MaskSecrets(json);
    EXPECT_EQ(json, one["masked"].get<std::string>()) << one["name"];
    EXPECT_EQ(Json(kinds), one["kinds"]) << one["name"];
  }
}

TEST(Secrets, cap_106_a_long_text_is_read_once) {
  for (const Json& one : Cases()["long"]) {
    auto text = one["begin"].get<std::string>();
    for (auto times = one["times"].get<int>(); times > 0; --times)
      text += one["again"].get_ref<const std::string&>();
    std::string json = Json{{"text", text}}.dump();
    EXPECT_EQ(MaskSecrets(json).size(), one["masked"].get<std::size_t>()) << one["name"];
  }
}

// Text that JavaScript writes so never.
TEST(Secrets, what_is_escaped_is_read_and_all_else_stays_byte_for_byte) {
  std::string json = R"({ "a\u0062" : [ 1e+4 , "\u0063ard 4111 \u0031111 1111 1111\u2028 \/" ] })";
  EXPECT_THAT(MaskSecrets(json), ElementsAre("card number"));
  EXPECT_EQ(json, R"({ "a\u0062" : [ 1e+4 , "\u0063ard [card number]\u2028 \/" ] })");
}

TEST(Secrets, a_text_that_ends_anywhere_is_read_to_its_end) {
  for (const Json& one : Cases()["secrets"]) {
    const std::string whole = TextOf(one["text"]);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      // Of its own size, so that a sanitizer sees each byte that is read behind it.
      std::string json(whole.substr(0, size));
      json.shrink_to_fit();
      MaskSecrets(json);
      json = whole.substr(0, size) + "\\";
      json.shrink_to_fit();
      MaskSecrets(json);
    }
  }
}

// --- Handling ---

TEST(Secrets, cap_106_a_put_masks_refuses_or_leaves_them) {
  const std::unique_ptr<Store> store = MakeInMemoryStore();
  const std::string secret = SecretOf("github token");
  const Json value = {{"text", "use " + secret}, {"card", 4111111111111111}};
  const Json masked = {{"text", "use [github token]"}, {"card", 4111111111111111}};

  EXPECT_THAT(PutJson(*store, {"n"}, "a", value, SecretHandling::kMask).value(),
              ElementsAre("github token"));
  EXPECT_EQ(GetJson(*store, {"n"}, "a").value(), masked);
  EXPECT_THAT(PutJson(*store, {"n"}, "b", {{"n", 1}}).value(), IsEmpty());

  const Status refused =
      PutJson(*store, {"n"}, "c", {value, value}, SecretHandling::kRefuse).error();
  EXPECT_EQ(refused.code(), StatusCode::kSecretFound);
  EXPECT_THAT(refused.message(),
              HasSubstr(R"(the value of "c" holds a secret (github token): leave)"));
  EXPECT_THAT(refused.message(), Not(HasSubstr(secret)));
  EXPECT_EQ(GetJson(*store, {"n"}, "c").value(), std::nullopt);
  EXPECT_TRUE(PutJson(*store, {"n"}, "c", {{"n", 1}}, SecretHandling::kRefuse));

  for (const auto& [ns, key, name] : std::vector<std::tuple<Namespace, std::string, std::string>>{
           {{"n", secret}, "k", "l"}, {{"n"}, secret, "l"}, {{"n"}, "k", secret}}) {
    const Status named = PutJson(*store, ns, key, {{name, 1}}, SecretHandling::kMask).error();
    EXPECT_EQ(named.code(), StatusCode::kSecretFound);
    EXPECT_THAT(named.message(), HasSubstr("a name can't be masked"));
    EXPECT_THAT(named.message(), Not(HasSubstr(secret)));
  }

  EXPECT_THAT(PutJson(*store, {"n"}, "d", value).value(), IsEmpty());
  EXPECT_EQ(GetJson(*store, {"n"}, "d").value(), value);
}

// --- Properties, over random values ---

class RandomJson {
 public:
  explicit RandomJson(unsigned seed) : random_(seed) {}

  // Of words, escapes, spaces and short numbers.
  std::string Harmless() {
    // No secret can come of them, in whatever order.
    static const std::vector<std::string> pieces = {
        "tea",  "Rome",   "2026",   "\n",      "\r",     "\t",   "\b",         "\f",
        "\"",   "\\",     "\u00e9", "😀",      "\u2028", " ",    "-",          "_",
        "sk- ", "npm",    ":",      "://a.b/", "eyJ,",   "AKIA", "4111-1111-", "Bearer x,",
        ".",    "\u00a0", "ghp_,",  "@",       "\x01"};
    std::string text;
    for (std::size_t count = Below(12); count > 0; --count) text += pieces[Below(pieces.size())];
    return text;
  }
  // With what secrets are made of, whole and in parts, next to each other.
  std::string Risky() {
    std::string text;
    for (std::size_t count = 1 + Below(5); count > 0; --count) {
      const Json& one = Cases()["secrets"][Below(Cases()["secrets"].size())];
      const std::string secret = TextOf(one["text"]);
      const std::size_t begin = Below(3) == 0 ? Below(secret.size()) : 0;
      text += Harmless() + secret.substr(begin, Below(3) == 0 ? Below(secret.size()) : secret.npos);
      if (Below(4) == 0) text += "://ada:" + Harmless() + "hunter2@db";
      if (Below(4) == 0) text += "Bearer " + Run("letters", 15 + Below(10));
    }
    return text;
  }
  Json Value(std::string (RandomJson::*text)()) {
    static const std::vector<Json> numbers = {
        0, -1, 4111111111111111, -4111111111111111, 378282246310005, 1.5e300, 0.4111111111111111};
    Json value = Json::object();
    for (std::size_t count = Below(4); count > 0; --count) {
      value[(this->*text)()] = {(this->*text)(), {{"deep", (this->*text)()}}, nullptr};
      if (text == &RandomJson::Risky) value["n"] = numbers[Below(numbers.size())];
    }
    return value;
  }

 private:
  std::size_t Below(std::size_t end) { return random_() % end; }

  std::mt19937 random_;
};

TEST(Secrets, cap_106_masked_json_is_json_and_holds_none_any_more) {
  RandomJson random(106);
  std::size_t found = 0;
  for (int round = 0; round < 1000; ++round) {
    const std::string before = random.Value(&RandomJson::Risky).dump();
    std::string json = before;
    const SecretKinds kinds = MaskSecrets(json);
    found += kinds.size();
    ASSERT_TRUE(json::Validate(json).ok()) << before << "\n" << json;
    EXPECT_EQ(kinds.empty(), json == before);
    const std::string once = json;
    ASSERT_THAT(MaskSecrets(json), IsEmpty()) << before << "\n" << once;
    ASSERT_EQ(json, once);
  }
  EXPECT_GT(found, 2000U);
}

TEST(Secrets, cap_106_json_without_secrets_stays_as_it_is) {
  RandomJson random(107);
  for (int round = 0; round < 2000; ++round) {
    const std::string before = random.Value(&RandomJson::Harmless).dump();
    std::string json = before;
    ASSERT_THAT(MaskSecrets(json), IsEmpty()) << before;
    ASSERT_EQ(json, before);
  }
}

}  // namespace
}  // namespace keepsake
