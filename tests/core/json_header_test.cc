#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "keepsake/in_memory_store.h"
#include "keepsake/json.h"

namespace keepsake {
namespace {

using Json = nlohmann::json;

TEST(JsonHeader, a_value_is_put_and_comes_back) {
  const std::unique_ptr<Store> store = MakeInMemoryStore();
  const Json value = {{"text", "grün"}, {"n", {1, 2.5, -3}}, {"none", nullptr}};
  ASSERT_TRUE(PutJson(*store, {"a"}, "k", value));
  EXPECT_EQ(GetJson(*store, {"a"}, "k").value(), value);
  EXPECT_EQ(GetJson(*store, {"a"}, "other").value(), std::nullopt);
}

TEST(JsonHeader, what_json_cannot_hold_is_refused_and_not_put) {
  const std::unique_ptr<Store> store = MakeInMemoryStore();
  const std::vector<Json> values = {
      std::numeric_limits<double>::quiet_NaN(),
      {{"deep", {1, std::numeric_limits<double>::infinity()}}},
      Json::binary({1, 2}),
      {{"text", "\xFF"}},
      Json(Json::value_t::discarded),
  };
  for (const Json& value : values) {
    EXPECT_EQ(PutJson(*store, {"a"}, "k", value).error().code(), StatusCode::kInvalidValue);
  }
  EXPECT_EQ(GetJson(*store, {"a"}, "k").value(), std::nullopt);
}

TEST(JsonHeader, what_nlohmann_cannot_hold_is_an_error_and_stays_stored) {
  const std::unique_ptr<Store> store = MakeInMemoryStore();
  for (const char* text : {R"("\ud800")", "1e999"}) {
    ASSERT_TRUE(store->Put({"a"}, "k", text).ok());
    EXPECT_EQ(GetJson(*store, {"a"}, "k").error().code(), StatusCode::kInvalidValue);
    EXPECT_EQ(store->Get({"a"}, "k").value()->value, text);
  }
}

TEST(JsonHeader, errors_of_the_store_pass_through) {
  const std::unique_ptr<Store> store = MakeInMemoryStore();
  EXPECT_EQ(PutJson(*store, {"a.b"}, "k", 1).error().code(), StatusCode::kInvalidNamespace);
  EXPECT_EQ(GetJson(*store, {""}, "k").error().code(), StatusCode::kInvalidNamespace);
}

TEST(JsonHeader, blobs_of_type_json_are_values) {
  const Json value = {"hello", 1};
  const Blob blob = JsonBlob(value).value();
  EXPECT_EQ(blob.type, "json");
  EXPECT_EQ(ParseBlob(blob).value(), value);
  EXPECT_EQ(ParseBlob({"bytes", blob.bytes}).error().code(), StatusCode::kInvalidValue);
  EXPECT_EQ(ParseBlob({"json", {'{'}}).error().code(), StatusCode::kInvalidValue);
}

}  // namespace
}  // namespace keepsake
