// A LogBuffer holds back appends to a write-ahead log, so that a transaction
// reaches its file in one write. SQLite writes every frame of the log in two:
//   frame := header (24 bytes) page        a commit's last frame has a non-zero
//                                          database size in bytes 4 to 7 of its header
// What is held back is written no later than the commit frame, before SQLite
// learns that the commit was stored.
//
// Only appends are held back: writes at or past the highest byte that the log has
// had since its header was written. After a transaction that outgrew SQLite's
// cache, frames before the commit frame get new checksums AFTER it; such writes
// go straight to the file, or the commit could not be recovered.
#ifndef KEEPSAKE_SQL_LOG_BUFFER_H_
#define KEEPSAKE_SQL_LOG_BUFFER_H_

#include <cstdint>
#include <memory>

namespace keepsake::sql {

class LogBuffer {
 public:
  // Large enough for most transactions; larger ones take several writes.
  static constexpr int kCapacity = 256 * 1024;

  // What to do with a write.
  enum class Plan {
    kHold,          // Append() it
    kHoldAndDrain,  // Append() it, then write out all of held()
    kDrainFirst,    // write out all of held(), then ask again
    kPassThrough,   // write out all of held(), then write it
  };
  Plan PlanWrite(int size, std::int64_t offset);

  // REQUIRES: PlanWrite() said so.
  void Append(const void* bytes, int size, std::int64_t offset);
  // Takes note of a write that was passed through.
  void NotePassedThrough(const void* bytes, int size, std::int64_t offset);

  // Copies what is asked for if all of it is held back; false if none is.
  bool Read(void* into, int size, std::int64_t offset) const;

  const std::uint8_t* held() const { return bytes_.get(); }
  int held_size() const { return size_; }
  std::int64_t held_offset() const { return offset_; }
  // Forgets what is held back: it was written, or can't be.
  void Clear() { size_ = 0; }
  void Truncated(std::int64_t size) { high_water_ = size; }

  // Whether the write at `offset` may be the first of a transaction. A write
  // behind the high-water mark may always be: after a rollback the log goes on
  // from an earlier place.
  bool MayBeginTransaction(std::int64_t offset) const {
    return !in_transaction_ || IsRewrite(offset);
  }

 private:
  bool IsRewrite(std::int64_t offset) const { return offset < high_water_ && offset != 0; }
  bool CompletesCommit(int size) const;
  void Note(const void* bytes, int size, std::int64_t offset);

  std::unique_ptr<std::uint8_t[]> bytes_;
  int size_ = 0;
  std::int64_t offset_ = 0;
  std::int64_t high_water_ = 0;
  bool page_of_commit_is_next_ = false;
  bool in_transaction_ = false;
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_LOG_BUFFER_H_
