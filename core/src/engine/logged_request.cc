#include "engine/logged_request.h"

#include <utility>

#include "wire/layout.h"
#include "wire/writer.h"

namespace keepsake {

Bytes WithOperations(ByteView frame, const wire::Request& request,
                     const std::vector<wire::OperationView>& operations) {
  const ByteView head = frame.first(request.operations_at);
  Bytes bytes(head.begin(), head.end());
  wire::Writer(bytes).Put(operations);
  return bytes;
}

Bytes RestartingGets(const wire::RequestHeader& header, std::span<const ItemRef> items) {
  std::vector<Bytes> payloads;
  payloads.reserve(items.size());
  std::vector<wire::OperationView> gets;
  for (const ItemRef& item : items) {
    wire::Writer(payloads.emplace_back()).Put(GetOp{.ns = item.ns, .key = item.key});
    gets.push_back({std::to_underlying(wire::Tag::kGet), payloads.back()});
  }
  wire::RequestHeader plain = header;
  plain.flags = 0;
  Bytes request;
  wire::Writer writer(request);
  writer.Put(plain);
  writer.Put(gets);
  return request;
}

}  // namespace keepsake
