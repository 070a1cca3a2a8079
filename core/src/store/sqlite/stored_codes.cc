#include "store/sqlite/stored_codes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/heap_sort.h"
#include "store/sqlite/id_list.h"
#include "store/sqlite/read_int.h"
#include "store/sqlite/vector_chunk.h"
#include "vectors/code_scan.h"
#include "vectors/cosine.h"

namespace keepsake {
namespace {

using search::Candidate;
using search::Slot;
using sql::Row;

constexpr std::string_view kReadChunks =
    "SELECT first_id, checksum & 9007199254740991, codes FROM vector_chunks ORDER BY first_id";
constexpr std::string_view kAnyBetween =
    "SELECT EXISTS (SELECT 1 FROM store_vectors WHERE vector_id >= ? AND vector_id < ?)";
// CROSS: the list is walked, not the table.
constexpr std::string_view kReadVectors =
    "SELECT v.item_id, v.vector"
    " FROM json_each(?) c CROSS JOIN store_vectors v ON v.vector_id = c.value";
constexpr std::string_view kReadTail =
    "SELECT v.item_id, v.vector, i.ns"
    " FROM store_vectors v CROSS JOIN store_kv i ON i.item_id = v.item_id"
    " WHERE v.vector_id >= ? LIMIT ?";

// More than two chunks' worth are in none of a file whose chunks are being made.
constexpr std::int64_t kMostInTail = 2048;
// A list has room for vectors that are gone, and for items that have several.
constexpr std::size_t kListed = 8, kListedMore = 64;

class CodeSearch {
 public:
  CodeSearch(sql::Database& database, std::span<const float> query, std::string_view encoded_prefix,
             std::size_t wanted)
      : database_(database),
        encoded_prefix_(encoded_prefix),
        wanted_(wanted),
        query_(query),
        quantizer_(search::CodeKind::kInt8, query.size()),
        layout_(query.size()),
        coded_(Encode(query)),
        vector_(query.size()),
        list_(kListed * wanted + kListedMore) {}

  // False where the index has to be read.
  Result<bool> Run() {
    Result<bool> done = ScanChunks();
    if (done && *done) done = ScoreTail();
    if (done && *done) done = ScoreBest();
    return done;
  }

  NearItems Take() {
    HeapSort(scored_, [](const NearItem& a, const NearItem& b) { return a.score > b.score; });
    // An item counts by its best vector.
    std::unordered_set<std::uint64_t> seen;
    std::erase_if(scored_, [&](const NearItem& item) {
      return !seen.insert(static_cast<std::uint64_t>(item.id)).second;
    });
    return {.items = std::move(scored_), .bound = bound_, .vectors = vectors_};
  }

 private:
  using Gap = std::pair<std::int64_t, std::int64_t>;  // slots from, and before

  search::CodedQuery Encode(std::span<const float> query) const {
    std::vector<std::int16_t> code;
    const search::CodeScale scale = quantizer_.EncodeQuery(query, true, &code);
    return {.code = std::move(code),
            .signs = {},
            .scale = scale,
            .error = search::DotError(scale, query.size())};
  }

  Result<bool> ScanChunks() {
    std::vector<Gap> gaps;
    bool can_tell = true;
    Status status = database_.Run(kReadChunks, {}, [&](const Row& row) {
      const std::int64_t first = row.Int(0);
      const ByteView bytes = row.Blob(2);
      can_tell = IsSoundChunk(layout_, vector_.size(), first, row.Int(1), bytes) &&
                 ScanChunk(static_cast<Slot>(first), VectorChunk(layout_, bytes));
      if (first > sealed_to_) gaps.emplace_back(sealed_to_, first);
      sealed_to_ = first + layout_.slots();
      return can_tell;
    });
    if (!status.ok()) return std::unexpected(std::move(status));
    return can_tell ? AreEmpty(gaps) : false;
  }

  bool ScanChunk(Slot first, const VectorChunk& chunk) {
    const std::vector<std::string_view> namespaces = chunk.Namespaces();
    if (namespaces.empty()) return false;
    std::vector<bool> is_wanted(namespaces.size() + 1);  // none of the slots without a vector
    for (std::size_t i = 0; i < namespaces.size(); ++i) {
      is_wanted[i + 1] = namespaces[i].starts_with(encoded_prefix_);
    }
    search::CodeScan scan(quantizer_, search::Metric::kCosine, coded_, list_);
    for (std::size_t place = 0; place < static_cast<std::size_t>(layout_.slots()); ++place) {
      if (!is_wanted[chunk.NamespaceAt(place)]) continue;
      ++vectors_;
      scan.Add(first + place, chunk.ScaleAt(place), chunk.CodeAt(place).data());
    }
    scan.Flush();
    return true;
  }

  // A chunk whose vectors are all gone is gone, too.
  Result<bool> AreEmpty(const std::vector<Gap>& gaps) {
    for (const auto& [from, before] : gaps) {
      const Result<std::int64_t> any = ReadInt(database_, kAnyBetween, {from, before});
      if (!any) return std::unexpected(any.error());
      if (*any != 0) return false;
    }
    return true;
  }

  Result<bool> ScoreTail() {
    bool can_tell = true;
    std::int64_t count = 0;
    Status status = database_.Run(kReadTail, {sealed_to_, kMostInTail + 1}, [&](const Row& row) {
      can_tell = ++count <= kMostInTail;
      if (can_tell && row.Text(2).starts_with(encoded_prefix_)) {
        ++vectors_;
        can_tell = Score(row.Int(0), row.Blob(1));
      }
      return can_tell;
    });
    if (!status.ok()) return std::unexpected(std::move(status));
    return can_tell;
  }

  // Reads rows of the list until none of the rest can be among the best.
  Result<bool> ScoreBest() {
    bound_ = list_.rest_bound();
    std::vector<Candidate> candidates = list_.Take();
    HeapSort(candidates, [](const Candidate& a, const Candidate& b) { return a.bound > b.bound; });
    std::size_t portion = wanted_ + wanted_ / 2 + 4;
    for (std::size_t at = 0; at < candidates.size(); portion *= 2) {
      const std::size_t end = std::min(at + portion, candidates.size());
      Result<bool> scored = ScoreRows(std::span(candidates).subspan(at, end - at));
      if (!scored || !*scored) return scored;
      at = end;
      if (at < candidates.size() && HasAbove(candidates[at].bound)) {
        bound_ = candidates[at].bound;
        return true;
      }
    }
    return HasAbove(bound_);
  }

  // False if a row is not what it should be: who reads the index says what it is.
  Result<bool> ScoreRows(std::span<const Candidate> candidates) {
    std::vector<Slot> slots;
    for (const Candidate& candidate : candidates) slots.push_back(candidate.slot);
    const std::string list = IdList(slots);
    bool is_sound = true;
    Status status = database_.Run(kReadVectors, {std::string_view(list)}, [&](const Row& row) {
      is_sound = Score(row.Int(0), row.Blob(1));
      return is_sound;
    });
    if (!status.ok()) return std::unexpected(std::move(status));
    return is_sound;
  }

  bool Score(std::int64_t item_id, ByteView bytes) {
    if (bytes.size() != vector_.size() * sizeof(float)) return false;
    std::memcpy(vector_.data(), bytes.data(), bytes.size());  // a blob may lie anywhere
    scored_.push_back({item_id, query_.Score(vector_)});
    return true;
  }

  bool HasAbove(float bound) const {
    std::unordered_set<std::uint64_t> above;
    for (const NearItem& item : scored_) {
      if (item.score > bound) above.insert(static_cast<std::uint64_t>(item.id));
    }
    return above.size() >= wanted_;
  }

  sql::Database& database_;
  std::string_view encoded_prefix_;
  std::size_t wanted_;
  search::CosineQuery query_;
  search::Quantizer quantizer_;
  VectorChunk::Layout layout_;
  search::CodedQuery coded_;
  std::vector<float> vector_;  // that is being scored
  search::Shortlist list_;
  std::int64_t sealed_to_ = 0;  // slots from here on are in no chunk
  std::size_t vectors_ = 0;
  std::vector<NearItem> scored_;  // an item for each of its vectors
  float bound_ = 0;
};

}  // namespace

Result<std::optional<NearItems>> FindInCodes(sql::Database& database, std::span<const float> query,
                                             std::string_view encoded_prefix, std::size_t wanted) {
  CodeSearch search(database, query, encoded_prefix, wanted);
  const Result<bool> done = search.Run();
  if (!done) return std::unexpected(done.error());
  if (!*done) return std::nullopt;
  return search.Take();
}

}  // namespace keepsake
