// Replica keeps a memory in step with others by a log of requests, which all of them carry out in
// its order (sync/README.md). It keeps what is carried out here first, until that is in the log;
// and where the log has something else at that place, it makes the memory what it was before,
// carries out what the log has, and then its own again.
//
// That goes by the file: as long as something waits that was carried out, nothing is moved from
// SQLite's log into it, so that it is what the memory was before. Once it must be moved, as
// when the file is closed, the file can't go back, and needs an image of the memory from elsewhere.
// Not thread-safe.
#ifndef KEEPSAKE_ENGINE_REPLICA_H_
#define KEEPSAKE_ENGINE_REPLICA_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine_state.h"
#include "keepsake/bytes.h"
#include "keepsake/function_ref.h"
#include "keepsake/operation.h"
#include "keepsake/status.h"
#include "sql/sqlite_database.h"
#include "store/replicated.h"
#include "sync/outbox.h"
#include "wire/frame.h"
#include "wire/layout.h"

namespace keepsake {

class Replica final : public Replicated {
 public:
  // What became of a request that was carried out again.
  struct Outcome {
    bool changed = false;  // something succeeded that writes
    bool noted = false;    // it left entries in the audit log
    Status failure;        // of the first operation that failed
  };

  class Requests {
   public:
    // Carries out a request that was made earlier, within a transaction: nothing is kept of its
    // answer. Fails, and the transaction with it, for a reason that is this device's alone, or if
    // the request can't be understood: then what it did elsewhere is not known.
    virtual Result<Outcome> CarryOut(ByteView request) = 0;
    // Whether it names something of what is erased. What it holds is not looked at.
    virtual bool IsAbout(ByteView request, const Erasure& erasure) const = 0;

   protected:
    ~Requests() = default;
  };

  // All borrowed. REQUIRES: the database is a file, or in memory.
  Replica(EngineState& state, sql::SqliteDatabase& database, Requests& requests)
      : state_(state), database_(database), outbox_(database), requests_(requests) {}
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // REQUIRES: called once, before all else.
  Status Start();

  bool syncs() const { return is_on_; }
  // Also of a memory that only follows the log.
  bool is_on() const override { return is_on_ || marks_only_; }
  std::int64_t mark() const override { return mark_; }
  Status TtlsRestarted(std::span<const ItemRef> items) override;
  // Of what was set aside. What waits stays until it is in the log.
  Status Forget(const Erasure& erasure) override;
  // Whether a request that forgot waits, and with it what it may have been about.
  Result<bool> HoldsForgotten();

  // ---- around each request

  // Before it is carried out: what waits to be carried out again comes first, unless the request
  // needs nothing of it.
  Status Prepare(bool needs_rows);
  // Borrowed until End(). What is carried out again does not go into the outbox by the TTLs that it
  // restarts.
  void Begin(ByteView frame, const wire::Request& request, bool is_again);
  void End() { request_ = nullptr; }
  bool has_restarted_ttls() const { return has_restarted_ttls_; }
  // Within the transaction of what the request changed.
  Status Log(Bytes request, sync::RequestKind kind);
  // The transaction is over.
  void Ended();

  // ---- before something moves SQLite's log

  Status Flush();
  // The file is made what the memory is if nothing waits. Else it can't go back any more.
  Status LetLogMove();
  // The same, but it stays as it is if something waits.
  void MoveLogIfNothingWaits();

  // ---- operations

  Result<std::optional<sync::State>> State();
  Status StartSync(const wire::StartSync& start);
  Status StopSync();
  Result<std::vector<sync::OutboxEntry>> ReadOutbox(const wire::ReadOutbox& read);
  // That of the last record again does nothing.
  Status ConfirmOutbox(const wire::ConfirmOutbox& confirm);
  // If it fails, records were carried out up to one of them, or none were: the same again goes on.
  Result<sync::CaughtUp> CatchUp(const sync::CatchUp& catch_up);
  Result<std::vector<sync::SetAside>> ListSetAside();
  Status DropSetAside(const wire::DropSetAside& drop);

 private:
  Result<sync::Head> ReadHead();
  Status InTransaction(FunctionRef<Status()> body);
  void Hold(bool wanted);
  // Tries to make the file what the memory is. REQUIRES: nothing waits that was carried out.
  void MakeBase();
  // The same if nothing waits. Answers whether something does.
  Result<bool> Settle();
  Status GoBack(sync::Head& head);
  Status GoBackTo(const sync::CatchUp& catch_up, sync::Head& head);
  Status AfterGoingBack(sync::Head& head);
  // What is in the log already of what is to be carried out again.
  Status CarryOutConfirmed(sync::Head& head);
  Status CarryOutRecord(const sync::LogRecord& record, sync::Head& head);
  // Those that are not carried out yet, or are not in the image.
  static Result<std::span<const sync::LogRecord>> Following(const sync::CatchUp& catch_up,
                                                            const sync::Head& head);
  // The requests that wait, if they are those of a record, all in order: then it is our own.
  Result<std::vector<sync::OutboxRow>> OwnIn(const sync::LogRecord& record, const sync::Head& head);
  Status CarryOutWaiting(std::vector<sync::FailedRequest>* failed);
  Status CarryOutAgain(const sync::OutboxRow& row, std::vector<sync::FailedRequest>& failed);
  Status Confirm(std::uint64_t number, ByteView digest, std::uint64_t up_to, sync::Head& head);
  // Its rows are deleted, and bytes of what was forgotten with them.
  Status DeleteUpTo(std::uint64_t sequence);
  Status BeginAnew(sync::Head& head);

  EngineState& state_;
  sql::SqliteDatabase& database_;
  sync::Outbox outbox_;
  Requests& requests_;
  bool is_on_ = false;
  bool marks_only_ = false;
  bool is_behind_ = false;
  bool is_held_ = false;
  // Whether the file without its log is what the memory was when nothing waited, so that it can go
  // back. So it is whenever something was carried out that waits, and the log is held.
  bool has_base_ = false;
  bool was_logged_ = false;
  bool lets_go_ = false;

  const wire::Request* request_ = nullptr;
  bool is_again_ = false;
  bool has_restarted_ttls_ = false;
  std::int64_t mark_ = 0;
};

}  // namespace keepsake

#endif  // KEEPSAKE_ENGINE_REPLICA_H_
