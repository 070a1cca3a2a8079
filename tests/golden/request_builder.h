// Makes request frames, as a host would, and takes responses apart.
#ifndef KEEPSAKE_TESTS_GOLDEN_REQUEST_BUILDER_H_
#define KEEPSAKE_TESTS_GOLDEN_REQUEST_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/status.h"
#include "wire/frame.h"
#include "wire/layout.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace keepsake::wire {

template <typename T>
Bytes Encode(const T& value) {
  Bytes bytes;
  Writer(bytes).Put(value);
  return bytes;
}

class RequestBuilder {
 public:
  explicit RequestBuilder(RequestHeader header = {}) : header_(header) {}

  template <typename Payload>
  RequestBuilder& Add(Tag tag, const Payload& payload) {
    return AddRaw(std::to_underlying(tag), Encode(payload));
  }
  RequestBuilder& AddRaw(std::uint8_t tag, Bytes payload) {
    payloads_.push_back(std::move(payload));
    tags_.push_back(tag);
    return *this;
  }

  RequestBuilder& Remember(std::uint64_t acknowledged) {
    header_.flags |= std::to_underlying(RequestFlag::kRemember);
    acknowledged_ = acknowledged;
    return *this;
  }

  RequestBuilder& Within(const std::vector<ScopeLevel>& levels) {
    header_.flags |= std::to_underlying(RequestFlag::kScoped);
    levels_ = Encode(levels);
    return *this;
  }

  RequestBuilder& By(std::string actor, std::string node_id) {
    header_.flags |= std::to_underlying(RequestFlag::kActor);
    actor_ = {std::move(actor), std::move(node_id)};
    return *this;
  }

  Bytes Build() const {
    Bytes frame = Encode(header_);
    if (acknowledged_) Writer(frame).Put(*acknowledged_);
    if (levels_) Writer(frame).Put(ByteView(*levels_));
    if (actor_) Writer(frame).Put(actor_->first);
    if (actor_) Writer(frame).Put(actor_->second);
    std::vector<OperationView> views;
    for (std::size_t i = 0; i < tags_.size(); ++i) views.push_back({tags_[i], payloads_[i]});
    Writer(frame).Put(views);
    return frame;
  }

 private:
  RequestHeader header_;
  std::optional<std::uint64_t> acknowledged_;
  std::optional<Bytes> levels_;
  std::optional<std::pair<std::string, std::string>> actor_;
  std::vector<std::uint8_t> tags_;
  std::vector<Bytes> payloads_;
};

struct ResultView {
  StatusCode code = StatusCode::kOk;
  ByteView body;

  std::string message() const { return std::string(body.begin(), body.end()); }
};
auto Fields(Is<ResultView> auto& x) { return std::tie(x.code, x.body); }

struct Response {
  ResponseHeader header;
  std::vector<ResultView> results;  // views into the frame
};
auto Fields(Is<Response> auto& x) { return std::tie(x.header, x.results); }

inline Result<Response> ParseResponse(ByteView frame) { return Decode<Response>(frame); }

}  // namespace keepsake::wire

#endif  // KEEPSAKE_TESTS_GOLDEN_REQUEST_BUILDER_H_
