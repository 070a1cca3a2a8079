// One request and one response of each operation, with a value in every field.
// tests/js/golden.test.mjs says the same in TypeScript.
#ifndef KEEPSAKE_TESTS_GOLDEN_GOLDEN_FRAMES_H_
#define KEEPSAKE_TESTS_GOLDEN_GOLDEN_FRAMES_H_

#include <functional>
#include <string>
#include <vector>

#include "request_builder.h"

namespace keepsake::golden {

using wire::Tag;

struct GoldenFrame {
  std::string name;  // of its file
  Bytes request;
  Bytes response;
  // What decoding and encoding again makes of the first payload and answer.
  std::function<Result<Bytes>(ByteView)> reencode_payload;
  std::function<Result<Bytes>(ByteView)> reencode_answer;
};

inline constexpr std::uint64_t kSequence = 0x0000'0102'0304'0506;

inline wire::RequestHeader Header(wire::FrameKind kind = wire::FrameKind::kExecute) {
  return {.version = 1,
          .kind = kind,
          .flags = 0,
          .client_id = 0x0001'0203'0405'0607,
          .sequence = kSequence,
          .now_ms = 1'700'000'000'123};
}

inline Bytes BytesOf(std::string_view text) { return Bytes(text.begin(), text.end()); }

inline Namespace AnyNamespace() { return {"users", "ü1", "記憶"}; }
inline Item AnyItem() {
  return {AnyNamespace(),
          "clé 🗝",
          "{\"text\":\"naïve \\ud83d\",\"n\":1}",
          1'700'000'000'000,
          1'700'000'000'123,
          Validity{-1, 1'800'000'000'000},
          Provenance{Origin::kWeb, "https://example.org/é", true}};
}
inline FieldVector AnyVector() { return {"turns[*].text.3", {0.5F, -1.25F, 3.0F}}; }
inline Blob AnyBlob() { return {"bytes", {0x00, 0xFF, 0x7F, 0x80}}; }
inline Blob JsonBlob(std::string_view json) { return {"json", BytesOf(json)}; }
inline PendingWrite AnyWrite() {
  return {"task-1", -3, "__interrupt__", AnyBlob(), "~__pregel_pull, α"};
}
inline PutOp AnyPut() {
  const Item item = AnyItem();
  return {.ns = item.ns,
          .key = item.key,
          .value = item.value,
          .index = {IndexChoice::Kind::kPaths, {"a.b", "c[-1]"}},
          .ttl_ms = 90'000,
          .vectors = {AnyVector()},
          .validity = item.validity,
          .supersedes = ItemRef{{"users", "ü1"}, "🗝"},
          .provenance = item.provenance};
}

// All of them; encoded anew by each call.
std::vector<GoldenFrame> GoldenFrames();

}  // namespace keepsake::golden

#endif  // KEEPSAKE_TESTS_GOLDEN_GOLDEN_FRAMES_H_
