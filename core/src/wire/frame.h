// Frames: a header, and operations or their results. README.md has the grammar.
#ifndef KEEPSAKE_WIRE_FRAME_H_
#define KEEPSAKE_WIRE_FRAME_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/status.h"
#include "wire/layout.h"
#include "wire/writer.h"

namespace keepsake::wire {

// Raised only when a frame of the old layout would be misread.
inline constexpr std::uint8_t kVersion = 1;

// Persistent, never renumber.
enum class FrameKind : std::uint8_t {
  kExecute = 1,
  kOpen = 2,    // exactly one operation, kOpen
  kFailed = 3,  // responses only: the one result stands for every operation
};

// Bits of a request's flags. Persistent, never renumber, never reuse.
enum class RequestFlag : std::uint16_t {
  kRemember = 1,  // kExecute only: the header is followed by `acknowledged`
  kScoped = 2,    // kExecute only: then by the length and the bytes of `levels`
  kActor = 4,     // kExecute only: then by `actor` and `node_id`
};

// The last moment that a JavaScript Date can hold.
inline constexpr std::int64_t kMaxNowMs = 8'640'000'000'000'000;

// The only length in a request that is not one of its own bytes.
inline constexpr std::uint32_t kMaxExportPiece = 16 * 1024 * 1024;

// Of an actor, and of a node_id.
inline constexpr std::size_t kMaxActorBytes = 1024;

// The last client_id and sequence of a frame that is to be remembered.
inline constexpr std::uint64_t kMaxRemembered = std::uint64_t{1} << 53;

template <>
struct EnumRange<FrameKind> {
  static constexpr int kFirst = 1, kLast = 3;
};

struct RequestHeader {
  std::uint8_t version = kVersion;
  FrameKind kind = FrameKind::kExecute;
  std::uint16_t flags = 0;  // of RequestFlag
  std::uint64_t client_id = 0;
  std::uint64_t sequence = 0;
  std::int64_t now_ms = 0;  // 0…kMaxNowMs
};
auto Fields(Is<RequestHeader> auto& x) {
  return std::tie(x.version, x.kind, x.flags, x.client_id, x.sequence, x.now_ms);
}

struct ResponseHeader {
  std::uint8_t version = kVersion;
  FrameKind kind = FrameKind::kExecute;
  std::uint16_t flags = 0;
  std::uint64_t sequence = 0;  // the request's
};
auto Fields(Is<ResponseHeader> auto& x) { return std::tie(x.version, x.kind, x.flags, x.sequence); }

// A tag byte, a length and that many bytes.
struct OperationView {
  std::uint8_t tag = 0;  // any byte: an unknown one fails at its position only
  ByteView payload;
};
auto Fields(Is<OperationView> auto& x) { return std::tie(x.tag, x.payload); }

struct Request {
  RequestHeader header;
  // With RequestFlag::kRemember: the client has the answers up to this sequence,
  // which comes before the request's own.
  std::optional<std::uint64_t> acknowledged;
  // With RequestFlag::kScoped: a list of ScopeLevel, where the operations are at home, the
  // outermost first. A view into the frame.
  ByteView levels;
  // With RequestFlag::kActor: who asks, and from which node of a graph; "" if that is not said.
  std::string actor{};
  std::string node_id{};
  std::size_t operations_at = 0;          // where in the frame their list begins
  std::vector<OperationView> operations;  // views into the frame
};

// kMalformedFrame unless `frame` is a well-formed frame of this kind, in so far
// as can be told without looking into payloads.
Result<Request> ParseRequest(ByteView frame, FrameKind kind);
// The sequence of a frame that may be malformed: 0 if it is too short for one.
std::uint64_t SequenceOf(ByteView frame);

// Of a result, before its answer or its message: code and length.
inline constexpr std::size_t kResultHeaderBytes = sizeof(StatusCode) + sizeof(std::uint32_t);

// Writes a response result by result.
class ResponseWriter {
 public:
  // `out` is borrowed; what it holds is replaced.
  ResponseWriter(Bytes& out, FrameKind kind, std::uint64_t sequence, std::uint32_t results);

  template <typename T>
  void Answer(const T& answer) {
    ReserveForLarge();
    writer_.Put(StatusCode::kOk);
    const std::size_t begin = writer_.BeginLength();
    writer_.Put(answer);
    End(begin);
  }
  void Fail(const Status& status);
  std::uint32_t failures() const { return failures_; }
  std::size_t size() const { return writer_.size(); }
  // What was written from there on. Valid until more is.
  ByteView From(std::size_t begin) const { return writer_.From(begin); }

 private:
  // AnswerRoom has found it.
  void ReserveForLarge();
  // A result of 4 GiB or more has no length; it becomes kTooLarge.
  void End(std::size_t begin);

  Writer writer_;
  std::size_t reserved_ = 0;  // of what was taken of AnswerRoom
  std::uint32_t failures_ = 0;
};

// Replaces `out` by a response that gives every operation this status.
void WriteFailure(Bytes& out, std::uint64_t sequence, const Status& status);

}  // namespace keepsake::wire

#endif  // KEEPSAKE_WIRE_FRAME_H_
