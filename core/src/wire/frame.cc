#include "wire/frame.h"

#include <limits>
#include <utility>

#include "base/answer_room.h"
#include "json/utf8.h"
#include "wire/reader.h"

namespace keepsake::wire {

namespace {

constexpr std::size_t kSequenceOffset = 12;

std::unexpected<Status> Malformed(std::string message) {
  return Error(StatusCode::kMalformedFrame, std::move(message));
}

bool Has(const RequestHeader& header, RequestFlag flag) {
  return (header.flags & std::to_underlying(flag)) != 0;
}

Status CheckHeader(const RequestHeader& header, FrameKind kind) {
  if (header.kind != kind) {
    return Status(StatusCode::kMalformedFrame, "frame is of another kind than the call");
  }
  constexpr int kOfExecute = std::to_underlying(RequestFlag::kRemember) |
                             std::to_underlying(RequestFlag::kScoped) |
                             std::to_underlying(RequestFlag::kActor);
  const int known = kind == FrameKind::kExecute ? kOfExecute : 0;
  if ((header.flags & ~known) != 0) {
    return Status(StatusCode::kMalformedFrame,
                  "frame has flags of no known meaning: " + std::to_string(header.flags));
  }
  if (header.now_ms < 0 || header.now_ms > kMaxNowMs) {
    return Status(StatusCode::kMalformedFrame,
                  "frame's time is out of range: " + std::to_string(header.now_ms));
  }
  return Status();
}

Status CheckRemembered(const RequestHeader& header, std::uint64_t acknowledged) {
  if (header.client_id > kMaxRemembered || header.sequence > kMaxRemembered) {
    return Status(StatusCode::kMalformedFrame,
                  "frame's client_id and sequence must be at most 2^53 to be remembered");
  }
  // Else it would delete the answer that it asks to keep.
  if (acknowledged >= header.sequence) {
    return Status(StatusCode::kMalformedFrame, "frame " + std::to_string(header.sequence) +
                                                   " must not acknowledge itself or a later one: " +
                                                   std::to_string(acknowledged));
  }
  return Status();
}

Status CheckActor(std::string_view actor, std::string_view node_id) {
  for (const std::string_view text : {actor, node_id}) {
    if (text.size() > kMaxActorBytes || !json::IsWellFormedUtf8(text) ||
        text.find('\0') != std::string_view::npos) {
      return Status(StatusCode::kInvalidArgument,
                    "actor and node_id must be well-formed UTF-8 without NUL, of at most " +
                        std::to_string(kMaxActorBytes) + " bytes");
    }
  }
  return Status();
}

}  // namespace

Status Reader::error() const {
  return Status(StatusCode::kMalformedFrame,
                std::string("frame ") + reason_ + ", at byte " + std::to_string(position_));
}

Result<Request> ParseRequest(ByteView frame, FrameKind kind) {
  if (frame.empty()) return Malformed("frame is empty");
  if (frame[0] != kVersion) {
    return Malformed("frame is of version " + std::to_string(frame[0]) + ", this core reads " +
                     std::to_string(kVersion));
  }
  Reader reader(frame);
  Request request;
  if (!reader.Get(request.header)) return std::unexpected(reader.error());
  if (Status status = CheckHeader(request.header, kind); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  if (Has(request.header, RequestFlag::kRemember)) {
    if (!reader.Get(request.acknowledged.emplace())) return std::unexpected(reader.error());
    Status status = CheckRemembered(request.header, *request.acknowledged);
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  if (Has(request.header, RequestFlag::kScoped) && !reader.Get(request.levels)) {
    return std::unexpected(reader.error());
  }
  if (Has(request.header, RequestFlag::kActor)) {
    if (!reader.Get(request.actor) || !reader.Get(request.node_id)) {
      return std::unexpected(reader.error());
    }
    if (Status status = CheckActor(request.actor, request.node_id); !status.ok()) {
      return std::unexpected(std::move(status));
    }
  }
  request.operations_at = frame.size() - reader.remaining();
  if (!reader.Get(request.operations)) return std::unexpected(reader.error());
  if (reader.remaining() > 0) return Malformed("frame goes on after its end");
  return request;
}

std::uint64_t SequenceOf(ByteView frame) {
  std::uint64_t sequence = 0;
  if (frame.size() < kSequenceOffset) return sequence;
  Reader reader(frame.subspan(kSequenceOffset));
  return reader.Get(sequence) ? sequence : 0;
}

ResponseWriter::ResponseWriter(Bytes& out, FrameKind kind, std::uint64_t sequence,
                               std::uint32_t results)
    : writer_(out) {
  writer_.Truncate(0);
  writer_.Put(ResponseHeader{.kind = kind, .sequence = sequence});
  writer_.Put(results);
}

void ResponseWriter::ReserveForLarge() {
  constexpr std::size_t kLarge = std::size_t{1} << 20;
  const std::size_t more = AnswerRoom::taken() - reserved_;
  if (more < kLarge) return;
  reserved_ += more;
  writer_.Reserve(more + more / 8);
}

void ResponseWriter::Fail(const Status& status) {
  ++failures_;
  writer_.Put(status.code());
  writer_.Put(status.message());
}

void ResponseWriter::End(std::size_t begin) {
  if (writer_.size() - begin <= std::numeric_limits<std::uint32_t>::max()) {
    writer_.EndLength(begin);
    return;
  }
  writer_.Truncate(begin - sizeof(StatusCode) - sizeof(std::uint32_t));
  Fail(Status(StatusCode::kTooLarge, "a result must be smaller than 4 GiB"));
}

void WriteFailure(Bytes& out, std::uint64_t sequence, const Status& status) {
  ResponseWriter(out, FrameKind::kFailed, sequence, 1).Fail(status);
}

}  // namespace keepsake::wire
