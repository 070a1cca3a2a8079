#include "store/sqlite/text_check.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "store/sqlite/vector_chunk.h"

namespace keepsake {
namespace {

using sql::Row;

constexpr std::string_view kDamagedCounts =
    "SELECT EXISTS (SELECT 1 FROM text_scope s WHERE s.ns > '' AND (s.items % 32771 <> 0"
    "  OR s.length % 32771 <> 0 OR s.items < 0 OR (s.items > 0"
    "  AND NOT EXISTS (SELECT 1 FROM store_kv i WHERE i.ns = s.ns))))"
    " OR EXISTS (SELECT 1 FROM text_pending WHERE item_id % 1021 <> 0)";
constexpr std::string_view kRows =
    "SELECT item_id, ns, group_key, position, length, record FROM store_text WHERE item_id > ?"
    " ORDER BY item_id LIMIT 1000";
constexpr std::string_view kTokens =
    "SELECT term FROM store_text_tokens WHERE term > ? ORDER BY term LIMIT 500";
constexpr std::string_view kPostingsOf =
    "SELECT rowid FROM store_text_index WHERE store_text_index MATCH ?";
constexpr std::string_view kSums = "SELECT items, length FROM text_scope WHERE ns = ''";

// Of the first step, which covers some hundred items, and of those behind it, which nobody
// should feel. In postings; a row and a token cost as much as so many.
constexpr std::int64_t kFirstBudget = 12'000, kBudget = 4'000;
constexpr std::int64_t kCostOfRow = 10, kCostOfToken = 50;

ByteView BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Status Damaged() { return {StatusCode::kCorrupt, "text index is damaged"}; }

// Of the record without its checksum.
std::int64_t ChecksumOf(const TextRow& row, ByteView record) {
  const std::int64_t of_record =
      ChunkChecksum(row.item_id, static_cast<std::size_t>(row.length), record);
  const std::int64_t of_ns = ChunkChecksum(of_record, row.ns.size(), BytesOf(row.ns));
  const auto position = std::bit_cast<std::int64_t>(row.position);
  return ChunkChecksum(of_ns ^ position, row.group.size(), BytesOf(row.group));
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
  });
}

}  // namespace

Bytes Sealed(const TextRow& row) {
  Bytes sealed(row.record.begin(), row.record.end());
  const std::int64_t checksum = ChecksumOf(row, row.record);
  sealed.resize(sealed.size() + sizeof(checksum));
  std::memcpy(&sealed[sealed.size() - sizeof(checksum)], &checksum, sizeof(checksum));
  return sealed;
}

bool IsSound(const TextRow& row) {
  std::int64_t checksum = 0;
  if (row.record.size() < sizeof(checksum)) return false;
  const std::size_t size = row.record.size() - sizeof(checksum);
  std::memcpy(&checksum, &row.record[size], sizeof(checksum));
  return checksum == ChecksumOf(row, row.record.first(size));
}

void PostingSum::Add(std::string_view token, std::int64_t item_id) {
  constexpr std::int64_t kMask = (1 << 20) - 1;  // that sums stay far below 2^53
  ++count;
  sum += ChunkChecksum(item_id, token.size(), BytesOf(token)) & kMask;
}

void TextCheck::Note(std::int64_t item_id, std::span<const std::string> tokens, std::int64_t sign) {
  if (phase_ != Phase::kPostings) return;
  PostingSum noted;
  for (const std::string& token : tokens) {
    if (token <= last_token_) noted.Add(token, item_id);
  }
  postings_.count += sign * noted.count;
  postings_.sum += sign * noted.sum;
  has_changed_ = true;
}

TextCheck::TextCheck(sql::Database& database) : database_(database), next_budget_(kFirstBudget) {
  if (database.is_guarded()) Pass();
}

Status TextCheck::Step() {
  Status status;
  budget_ = std::exchange(next_budget_, kBudget);
  while (budget_ > 0 && !is_done() && status.ok()) {
    switch (phase_) {
      case Phase::kCounts:
        status = CheckCounts();
        break;
      case Phase::kRows:
        status = CheckRows();
        break;
      case Phase::kPostings:
        status = CheckPostings();
        break;
      case Phase::kDone:
        break;
    }
  }
  return status;
}

Status TextCheck::CheckCounts() {
  bool is_damaged = false;
  Status status = database_.Run(kDamagedCounts, {}, [&](const Row& row) {
    is_damaged = row.Int(0) != 0;
    return true;
  });
  phase_ = Phase::kRows;
  return is_damaged ? Damaged() : status;
}

Status TextCheck::CheckRows() {
  bool is_damaged = false;
  std::int64_t rows = 0;
  Status status = database_.Run(kRows, {last_row_}, [&](const Row& row) {
    is_damaged = !IsSound({.item_id = row.Int(0),
                           .ns = row.Text(1),
                           .group = row.Text(2),
                           .position = row.Real(3),
                           .length = row.Int(4),
                           .record = row.Blob(5)});
    last_row_ = row.Int(0);
    ++rows;
    return !is_damaged;
  });
  if (rows == 0) phase_ = Phase::kPostings;
  budget_ -= rows * kCostOfRow;
  return is_damaged ? Damaged() : status;
}

// The way that searches take: from a token to its items.
Status TextCheck::CheckPostings() {
  std::vector<std::string> tokens;
  Status status = database_.Run(kTokens, {last_token_}, [&](const Row& row) {
    tokens.emplace_back(row.Text(0));
    return true;
  });
  if (status.ok() && tokens.empty()) return CompareSums();
  for (const std::string& token : tokens) {
    if (status.ok()) status = AddPostingsOf(token);
  }
  return status;
}

Status TextCheck::AddPostingsOf(std::string_view token) {
  if (!IsToken(token)) return Damaged();
  const std::int64_t before = postings_.count;
  const std::string expression = '"' + std::string(token) + '"';
  Status status = database_.Run(kPostingsOf, {expression}, [&](const Row& row) {
    postings_.Add(token, row.Int(0));
    return true;
  });
  budget_ -= kCostOfToken + postings_.count - before;
  last_token_ = token;
  return status;
}

// A transaction that was rolled back has been noted, too: then it is done again.
Status TextCheck::CompareSums() {
  PostingSum written;
  Status status = database_.Run(kSums, {}, [&](const Row& row) {
    written = {.count = row.Int(0), .sum = row.Int(1)};
    return true;
  });
  if (!status.ok()) return status;
  phase_ = Phase::kDone;
  if (written.count == postings_.count && written.sum == postings_.sum) return {};
  if (!has_changed_ || is_second_try_) return Damaged();
  phase_ = Phase::kPostings;
  is_second_try_ = true;
  has_changed_ = false;
  last_token_.clear();
  postings_ = {};
  return {};
}

}  // namespace keepsake
