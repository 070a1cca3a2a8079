// All that is to be known of an operation, in one row: its tag, its payload and its answer
// (by the types of its handler), and what it does to a database.
#ifndef KEEPSAKE_ENGINE_OPERATION_TABLE_H_
#define KEEPSAKE_ENGINE_OPERATION_TABLE_H_

#include <cstdint>
#include <span>

#include "engine/audit_trail.h"
#include "engine/engine_state.h"
#include "keepsake/audit.h"
#include "keepsake/operation.h"
#include "wire/frame.h"
#include "wire/layout.h"

namespace keepsake {

enum Trait : std::uint8_t {
  kReads = 0,
  // May change rows: the answer to a remembered request is kept with them.
  kWrites = 1,
  // Changes the engine, or the file as a whole: the next owner has to do it again,
  // whatever was answered.
  kBeyondRows = 2,
  // Ends or replaces what a transaction stands on.
  kAlone = 4,
  // kUnsupported in memory.
  kNeedsFile = 8,
  // Of the whole memory: kAccessDenied in a scope.
  kWhole = 16,
  // Nothing is remembered of its rows: it may be undone with others, and done again.
  kRepeatable = 32,
};

struct OperationRow {
  wire::Tag tag;
  std::uint8_t traits;
  // Decodes the payload, has it handled, and writes the answer. Null for the operations
  // that are one Store::Batch() together, which have `decode`.
  void (*answer)(EngineState& engine, ByteView payload, wire::ResponseWriter& response);
  Result<Operation> (*decode)(ByteView payload) = nullptr;
  AuditedAs audited{};

  constexpr OperationRow As(Audited operation, Place where, Changed count = Changed::kOne) const {
    OperationRow row = *this;
    row.audited = {operation, where, count};
    return row;
  }
  // A read.
  constexpr OperationRow At(Place where) const { return As(Audited::kRecall, where); }
  bool Has(int trait) const { return (traits & trait) != 0; }
  bool IsBatched() const { return decode != nullptr; }
};

// By tag. wire::Tag::kOpen has no row.
std::span<const OperationRow> Operations();
// Null if there is none.
const OperationRow* FindOperation(std::uint8_t tag);

// One result of a batch.
void RespondWith(const OperationResult& result, wire::ResponseWriter& response);

}  // namespace keepsake

#endif  // KEEPSAKE_ENGINE_OPERATION_TABLE_H_
