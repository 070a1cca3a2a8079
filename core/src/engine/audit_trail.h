// AuditTrail is what a request leaves in the audit log: an entry for each kind of operation at
// each place, so that a batch is a few of them. It reads what it needs from the frame.
// Not thread-safe.
#ifndef KEEPSAKE_ENGINE_AUDIT_TRAIL_H_
#define KEEPSAKE_ENGINE_AUDIT_TRAIL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keepsake/audit.h"
#include "keepsake/bytes.h"
#include "keepsake/erasure.h"
#include "keepsake/namespace.h"
#include "keepsake/scope.h"
#include "keepsake/status.h"
#include "wire/frame.h"
#include "wire/layout.h"

namespace keepsake {

// Where in its payload an operation says what it is about.
enum class Place : std::uint8_t {
  kNowhere,
  kNamespace,   // the first field
  kThread,      // the first field
  kSecondText,  // a thread
  kThirdText,
};

// How many it changed: one, or what the first or second number of its answer says.
enum class Changed : std::uint8_t { kOne, kFirst, kSecond };

// What the audit log says of an operation: of a kRecall that succeeds, nothing.
struct AuditedAs {
  Audited operation = Audited::kRecall;
  Place place = Place::kNowhere;
  Changed changed = Changed::kOne;
};

// Of those that only say what would be, or end something unfinished.
bool IsDry(const wire::OperationView& operation);
// What an operation says that it is about, if that is a name.
struct NamedPlace {
  std::optional<Namespace> ns;
  std::optional<std::string> thread_id;
};
NamedPlace PlaceIn(const wire::OperationView& operation, Place place);
// Whether the code says that a rule refused it, of which an entry tells.
bool IsRefusal(StatusCode code);

class AuditTrail {
 public:
  // Borrowed.
  explicit AuditTrail(AuditLog& log) : log_(log) {}

  // Of a request and of where it is at home, null for the whole memory: both are borrowed until
  // the next one. Of one that changes nothing, only what is refused is noted.
  Status Begin(const wire::Request& request, const Scope* scope, bool writes_rows,
               bool changes_others);
  // Whether what is written to rows leaves entries: then they belong into its transaction.
  bool notes_rows() const { return writes_rows_ && is_on_; }
  // Nothing of it was done yet, or it was undone.
  void Restart() {
    entries_.clear();
    renamed_.clear();
  }
  bool empty() const { return entries_.empty(); }
  // Whether Write() leaves something.
  Result<bool> WillWrite();

  // After an operation, whose result is one of a response.
  void Note(const wire::OperationView& operation, const AuditedAs& audited, ByteView result);
  // An erasure that was done.
  void Note(const Erased& erased);
  Status Write();

 private:
  void Add(AuditEntry entry);

  AuditLog& log_;
  const wire::Request* request_ = nullptr;
  const Scope* scope_ = nullptr;
  bool writes_rows_ = false;
  bool changes_ = false;
  bool is_on_ = false;  // or not known yet
  std::vector<AuditEntry> entries_;
  std::vector<wire::RenameThread> renamed_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_ENGINE_AUDIT_TRAIL_H_
