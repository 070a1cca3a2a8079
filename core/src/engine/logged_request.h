// What goes into the outbox of a request: the operations that changed something, in their order,
// without what they only read. So nothing of it depends on what a device has beside the memory's
// rows: on an index, on how much it may read at a time, or on an operation that failed for want of
// room.
#ifndef KEEPSAKE_ENGINE_LOGGED_REQUEST_H_
#define KEEPSAKE_ENGINE_LOGGED_REQUEST_H_

#include <span>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/operation.h"
#include "wire/frame.h"

namespace keepsake {

// The same request with other operations.
Bytes WithOperations(ByteView frame, const wire::Request& request,
                     const std::vector<wire::OperationView>& operations);

// A request of gets that restart the TTLs of these items, when `header` says. It is of the whole
// memory: not everything that a search finds in a scope has a name there.
Bytes RestartingGets(const wire::RequestHeader& header, std::span<const ItemRef> items);

}  // namespace keepsake

#endif  // KEEPSAKE_ENGINE_LOGGED_REQUEST_H_
