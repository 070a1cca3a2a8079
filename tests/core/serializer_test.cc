#include "keepsake/serializer.h"

#include <gtest/gtest.h>

#include "checkpointer_contract.h"

namespace keepsake::testing {
namespace {

// What a host would inject to encrypt: a tag of its own, and bytes that show
// nothing of the text. The cipher is not the point.
class EncryptingSerializer final : public Serializer {
 public:
  explicit EncryptingSerializer(std::uint8_t key) : key_(key) {}

  Result<Blob> Dumps(std::string_view json) const override {
    auto blob = json_.Dumps(json);
    if (!blob) return blob;
    blob->type = "json+encrypted";
    Flip(blob->bytes);
    return blob;
  }

  Result<std::string> Loads(const Blob& blob) const override {
    if (blob.type != "json+encrypted") {
      return Error(StatusCode::kInvalidValue, "not encrypted: " + blob.type);
    }
    Blob plain = {"json", blob.bytes};
    Flip(plain.bytes);
    return json_.Loads(plain);
  }

 private:
  void Flip(Bytes& bytes) const {
    for (std::uint8_t& byte : bytes) byte ^= key_;
  }

  JsonSerializer json_;
  std::uint8_t key_;
};

TEST(JsonSerializer, cap_74_json_is_kept_byte_by_byte) {
  const JsonSerializer serializer;
  const std::string text = "{\"b\": 1,\n\"a\":\"\xC3\xBC\\ud800\"}";
  const auto blob = serializer.Dumps(text);
  ASSERT_TRUE(blob.has_value());
  EXPECT_EQ(blob->type, "json");
  EXPECT_EQ(serializer.Loads(*blob), text);
}

TEST(JsonSerializer, cap_74_a_blob_of_another_type_is_refused_by_name) {
  const auto loaded = JsonSerializer().Loads(Typed("msgpack", "{}"));
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code(), StatusCode::kInvalidValue);
  EXPECT_NE(loaded.error().message().find("msgpack"), std::string::npos);
}

TEST(Serializer, cap_74_an_injected_serializer_encrypts_what_a_saver_keeps) {
  const EncryptingSerializer injected(0x5A);
  const Serializer& serializer = injected;
  const std::string secret = R"(["my secret"])";
  SqliteSaverBackend backend;
  At next("t", "", "1");
  next.New("messages", "1", *serializer.Dumps(secret));
  next.checkpoint().checkpoint = *serializer.Dumps("{}");
  next.checkpoint().metadata = *serializer.Dumps("{}");
  ASSERT_TRUE(backend.saver().Put(next).ok());

  const auto tuple = backend.saver().GetTuple({"t", "", ""});
  ASSERT_TRUE(tuple && *tuple);
  const Blob& stored = (*tuple)->values.at(0).value;
  EXPECT_EQ(stored.type, "json+encrypted");
  EXPECT_EQ(Text(stored).find("secret"), std::string::npos);
  EXPECT_EQ(serializer.Loads(stored), secret);
  EXPECT_FALSE(JsonSerializer().Loads(stored).has_value());
}

}  // namespace
}  // namespace keepsake::testing
