// TextCheck tells whether the tables of a SqliteTextIndex still hold what was written to
// them: whether a bit flipped where they are kept.
//
//   store_text        a record ends with a checksum of its row, 8 bytes, little-endian
//   store_text_index  text_scope has the number and the sum of all postings, for namespace ""
//   text_scope        else its counts are multiples of kCountFactor, and so are
//   text_pending      its ids of kIdFactor; no single bit that flips leaves them so
//
// Persistent. It goes over all of them once after opening, a part with each search, so that
// none takes long; an index of some hundred items is checked by the first one. Where the host
// looks after what it stores, nothing is gone over.
#ifndef KEEPSAKE_STORE_SQLITE_TEXT_CHECK_H_
#define KEEPSAKE_STORE_SQLITE_TEXT_CHECK_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake {

inline constexpr std::int64_t kCountFactor = 32771, kIdFactor = 1021;

// A row of store_text.
struct TextRow {
  std::int64_t item_id;
  std::string_view ns;
  std::string_view group;  // "" for none
  double position;
  std::int64_t length;
  ByteView record;  // with the checksum, once it is Sealed()
};

// Its record with the checksum.
Bytes Sealed(const TextRow& row);
bool IsSound(const TextRow& row);

// What FTS5 finds an item by: tokens as it has them.
struct PostingSum {
  std::int64_t count = 0, sum = 0;

  void Add(std::string_view token, std::int64_t item_id);
};

class TextCheck {
 public:
  // `database` is borrowed.
  explicit TextCheck(sql::Database& database);

  // Nothing is left to check: all of it was made just now.
  void Pass() { phase_ = Phase::kDone; }
  bool is_done() const { return phase_ == Phase::kDone; }

  // Checks some more; kCorrupt if something is damaged.
  Status Step();
  // To be told of the tokens of each item that is put (sign 1) or removed (-1).
  void Note(std::int64_t item_id, std::span<const std::string> tokens, std::int64_t sign);

 private:
  enum class Phase : std::uint8_t { kCounts, kRows, kPostings, kDone };

  Status CheckCounts();
  Status CheckRows();
  Status CheckPostings();
  Status AddPostingsOf(std::string_view token);
  Status CompareSums();

  sql::Database& database_;
  Phase phase_ = Phase::kCounts;
  std::int64_t budget_ = 0;  // of this step
  std::int64_t next_budget_;
  std::int64_t last_row_ = 0;
  std::string last_token_;  // up to which postings_ counts
  PostingSum postings_;
  bool has_changed_ = false;  // since the postings were begun
  bool is_second_try_ = false;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_TEXT_CHECK_H_
