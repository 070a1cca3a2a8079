#include "engine/session.h"

#include <optional>
#include <utility>

#include "wire/frame.h"
#include "wire/reader.h"

namespace keepsake {
namespace {

Result<wire::Open> ParseOpen(const wire::Request& request) {
  const bool is_open = request.operations.size() == 1 &&
                       request.operations[0].tag == std::to_underlying(wire::Tag::kOpen);
  if (!is_open) {
    return Error(StatusCode::kMalformedFrame, "an open frame must hold the one operation open");
  }
  return wire::Decode<wire::Open>(request.operations[0].payload);
}

Result<std::unique_ptr<Engine>> OpenEngine(ByteView config, Bytes& response) {
  Result<wire::Request> request = wire::ParseRequest(config, wire::FrameKind::kOpen);
  if (!request) return std::unexpected(std::move(request.error()));
  Result<wire::Open> open = ParseOpen(*request);
  if (!open) return std::unexpected(std::move(open.error()));
  return Engine::Open(std::move(open->database), response);
}

}  // namespace

Session::Session() : response_(own_response_) {}
Session::Session(Bytes& response) : response_(response) {}
Session::~Session() = default;

ByteView Session::Open(ByteView config) {
  const std::uint64_t sequence = wire::SequenceOf(config);
  if (engine_ != nullptr) {
    wire::WriteFailure(response_, sequence,
                       Status(StatusCode::kConflictingOptions, "the session is open already"));
    return response_;
  }
  Result<std::unique_ptr<Engine>> engine = OpenEngine(config, response_);
  if (!engine) {
    wire::WriteFailure(response_, sequence, engine.error());
    return response_;
  }
  engine_ = std::move(*engine);
  wire::ResponseWriter(response_, wire::FrameKind::kOpen, sequence, 1).Answer(wire::Nothing());
  return response_;
}

ByteView Session::Execute(ByteView request) {
  if (engine_ != nullptr) return engine_->Execute(request);
  wire::WriteFailure(response_, wire::SequenceOf(request),
                     Status(StatusCode::kClosed, "the session is not open"));
  return response_;
}

void Session::Close() { engine_.reset(); }

}  // namespace keepsake
