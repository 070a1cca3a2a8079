#include "keepsake/in_memory_store.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/heap_sort.h"
#include "base/order.h"
#include "store/checked_batch.h"
#include "store/embedding.h"
#include "store/item_table.h"
#include "store/item_writes.h"
#include "store/memory/memory_history.h"
#include "store/past_store.h"
#include "store/prefix_set.h"
#include "store/text_work.h"
#include "text/text_index.h"
#include "text/text_record.h"
#include "text/text_room.h"
#include "text/text_search.h"
#include "vectors/cosine.h"
#include "vectors/field_columns.h"
#include "vectors/vector_index.h"

namespace keepsake {
namespace {

struct Bucket;

struct Record {
  std::int64_t id = 0;
  Bucket* bucket = nullptr;
  const std::string* key = nullptr;
  std::string value;
  std::int64_t created_at_ms = 0;
  std::int64_t updated_at_ms = 0;
  std::int64_t ttl_ms = PutOp::kNoTtl;
  std::int64_t expires_at_ms = kNeverExpires;
  Validity validity{};
  std::int64_t successor = 0;                    // as FactMarks has it
  std::unique_ptr<const Provenance> provenance;  // null for most
  std::vector<float> vectors;                    // one after the other, each of the index's length
  std::vector<search::Slot> slots;               // of the vectors, in the same order
  bool is_analysed = false;                      // its text
  // In UnreadTexts, if it is there.
  bool is_unread = false;
  Record* unread_before = nullptr;
  Record* unread_behind = nullptr;

  bool IsVisible(std::int64_t now_ms) const { return expires_at_ms > now_ms; }
  bool IsLetThrough(const ValidityRange& range) const {
    return range.Lets(validity, provenance && provenance->is_quarantined);
  }
  std::string_view source() const { return provenance ? provenance->source : std::string_view(); }
  std::optional<Provenance> TellProvenance() const {
    return provenance ? std::optional(*provenance) : std::nullopt;
  }
  void SetProvenance(const std::optional<Provenance>& from) {
    const bool is_none = !from || *from == Provenance();
    provenance = is_none ? nullptr : std::make_unique<const Provenance>(*from);
  }
};

// Records whose texts were not analysed yet, by id. They are linked, so that a put pays next to
// nothing for a search that may never come, and the first search need not look for them.
class UnreadTexts {
 public:
  bool empty() const { return first_ == nullptr; }

  Record* First() {
    if (!is_sorted_) Sort();
    return first_;
  }

  void Add(Record& record) {
    if (record.is_unread) return;
    is_sorted_ = last_ == nullptr || (is_sorted_ && last_->id < record.id);
    record.is_unread = true;
    record.unread_before = last_;
    (last_ == nullptr ? first_ : last_->unread_behind) = &record;
    last_ = &record;
  }

  void Remove(Record& record) {
    if (!record.is_unread) return;
    Record *before = record.unread_before, *behind = record.unread_behind;
    (before == nullptr ? first_ : before->unread_behind) = behind;
    (behind == nullptr ? last_ : behind->unread_before) = before;
    record.is_unread = false;
    record.unread_before = record.unread_behind = nullptr;
  }

 private:
  // Items that were put again, which are seldom many.
  void Sort() {
    std::vector<Record*> records;
    while (first_ != nullptr) {
      records.push_back(first_);
      Remove(*first_);
    }
    HeapSort(records, [](const Record* a, const Record* b) { return a->id < b->id; });
    is_sorted_ = true;
    for (Record* record : records) Add(*record);
  }

  Record* first_ = nullptr;
  Record* last_ = nullptr;
  bool is_sorted_ = true;
};

// The records of one namespace. Never empty: it goes with its last record.
struct Bucket {
  std::string encoded_ns;
  Namespace ns;
  std::map<std::string, Record, std::less<>> records;
  std::size_t unindexed = 0;  // records without a vector
  UnreadTexts unread;

  bool IsVisible(std::int64_t now_ms) const {
    return std::ranges::any_of(
        records, [now_ms](const auto& entry) { return entry.second.IsVisible(now_ms); });
  }
};

FoundItem Found(const Record& record) {
  return {.id = record.id,
          .has_ttl = record.ttl_ms != PutOp::kNoTtl,
          .item = {.ns = record.bucket->ns,
                   .key = *record.key,
                   .value = record.value,
                   .created_at_ms = record.created_at_ms,
                   .updated_at_ms = record.updated_at_ms,
                   .validity = record.validity == Validity() ? std::nullopt
                                                             : std::optional(record.validity),
                   .provenance = record.TellProvenance()},
          .successor = record.successor};
}

Status TakeRoom(const Record& record) {
  return TakeRoomOfItem(record.bucket->encoded_ns, *record.key, record.value, record.source());
}

bool IsWanted(const Record& record, const CheckedSearch& search) {
  return record.IsVisible(search.now_ms) && record.IsLetThrough(search.validity) &&
         Wants(search, record.id, *record.key, record.value);
}

// Rows are at hand: coding the query costs what reading so many does.
constexpr std::size_t kFewRows = 32;
// The same of a filter's columns.
constexpr std::size_t kFewItems = 512;

double BestScore(const search::CosineQuery& query, std::span<const float> vectors,
                 std::size_t dims) {
  double best = -1;
  for (; !vectors.empty(); vectors = vectors.subspan(dims)) {
    best = std::max(best, query.Score(vectors.first(dims)));
  }
  return best;
}

// An item that waits for vectors: see PathsToAwait().
struct Waiting {
  Record* record = nullptr;
  std::vector<std::string> paths;

  std::uint32_t fingerprint() const { return FingerprintOf(record->value, paths); }
};

class MemoryTextSource final : public search::TextSource {
 public:
  MemoryTextSource(const std::unordered_map<std::int64_t, Record*>& records,
                   const CheckedSearch& search, const search::TextQuery& query,
                   const TextConfig& config)
      : records_(records), search_(search), query_(query), config_(config) {}

  Result<std::vector<bool>> Wanted(std::span<const std::int64_t> ids, std::size_t enough) override {
    std::vector<bool> wanted;
    for (const std::int64_t id : ids) {
      if (enough == 0) break;
      const Record& record = *records_.at(id);
      wanted.push_back(record.IsVisible(search_.now_ms) && id != search_.excluded_id &&
                       record.IsLetThrough(search_.validity) &&
                       search_.filter.Matches(record.value) &&
                       search::HoldsPhrases(query_, record.value, config_));
      if (wanted.back()) --enough;
    }
    return wanted;
  }

  Status RecordOf(std::int64_t id, FunctionRef<void(ByteView)> use) override {
    use(search::MakeTextRecord(records_.at(id)->value, config_, search::kTellingBytes));
    return {};
  }

  Status VectorsOf(std::span<const std::int64_t> ids,
                   FunctionRef<void(std::int64_t, std::span<const float>)> use) override {
    const std::size_t dims = search_.query_vector.size();
    for (const std::int64_t id : ids) {
      const std::span<const float> vectors = records_.at(id)->vectors;
      if (vectors.size() >= dims) use(id, vectors.first(dims));
    }
    return {};
  }

 private:
  const std::unordered_map<std::int64_t, Record*>& records_;
  const CheckedSearch& search_;
  const search::TextQuery& query_;
  const TextConfig& config_;
};

class InMemoryStore final : public Store, private ItemTable {
 public:
  explicit InMemoryStore(StoreOptions options) : Store(std::move(options)) {}

  Result<std::uint64_t> SweepExpired(std::uint32_t max_items) override {
    return keepsake::SweepExpired(*this, max_items, options().clock->NowMs());
  }
  Result<StoreStats> Stats() override;
  Result<PendingEmbeddings> ReadPending(std::uint32_t limit) override;
  Result<IndexProgress> ImproveIndex(const IndexStep& step) override;

  // Of a store of the past.
  void Take(StoredItem item) {
    FitVectors(item.state, DimsOf(options()));
    (void)PutState(item.name, item.state);
  }

 protected:
  ItemTable& items() override { return *this; }
  Status CheckIndex(const IndexConfig& index) override;
  Result<std::uint64_t> WritePending(std::span<const ItemVectors> items) override;

 private:
  Result<std::optional<FoundItem>> ReadItem(const CheckedGet& get, std::int64_t now_ms) override;
  Result<ItemAndVectors> ReadVectors(const ItemRef& item, std::int64_t now_ms) override;
  Result<std::vector<FoundItem>> ReadHits(const ItemHits& hits, KeptItems kept) override;
  Result<std::vector<std::string>> ReadKeys(std::string_view encoded_ns,
                                            std::int64_t now_ms) override;
  Result<StoreUsage> Measure(std::string_view encoded_ns, bool below, std::int64_t now_ms) override;
  Status ReadNamespaces(std::string_view encoded_prefix, std::int64_t now_ms,
                        Visitor<const Namespace&> offer) override;
  Result<bool> HasSuperseded() override { return has_superseded_; }
  Result<ItemHits> RankAll(const CheckedSearch& search) override;
  Result<IndexUse> UseIndex(const CheckedSearch& search) override;
  Status ScoreCandidates(std::span<const std::uint64_t> ids, const CheckedSearch& search,
                         const search::CosineQuery& query, ScoredHits<RankedItem>& ranking,
                         KeptItems& kept) override;
  Result<bool> AddUnindexed(const CheckedSearch& search, Page& page) override;
  Result<std::vector<search::TextHit>> RankByText(const CheckedSearch& search, std::size_t most,
                                                  const search::Meaning& meaning,
                                                  search::TextPlan& plan) override;
  Result<std::vector<ExpiringItem>> ReadNamespace(std::string_view encoded_ns) override;
  Result<std::vector<ExpiringItem>> ReadExpired(std::uint32_t max_items,
                                                std::int64_t now_ms) override;
  Status ReadBelow(std::string_view encoded_prefix, const ItemName* after,
                   Visitor<const ItemTrace&> offer) override;
  Result<std::vector<ItemName>> SupersededBy(std::span<const std::int64_t> marks) override;
  Result<std::int64_t> InOperation(FunctionRef<Status()> body, bool is_single) override;
  Result<bool> WriteAlone(const CheckedPut&, std::int64_t) override { return false; }
  Status RestartTtls(std::span<const std::int64_t> ids, std::int64_t now_ms) override;
  Status PutItem(const CheckedPut& put, std::int64_t now_ms) override;
  Status PutState(const ItemName& name, const ItemState& state) override;
  Status DeleteItem(std::string_view encoded_ns, std::string_view key) override;
  Status DeleteItems(std::span<const std::int64_t> ids) override;
  Status Supersede(const CheckedPut& put, std::int64_t now_ms) override;
  Status Reopen(const ReopenedItem& item) override;
  Status ForgetSuccessors(std::span<const std::int64_t> marks) override;
  Status ForgetDerived() override;
  HistoryTable& history() override { return history_; }
  Result<std::optional<ItemState>> ReadState(const ItemName& name) override;
  Status ReadStates(std::string_view encoded_prefix,
                    Visitor<const ItemName&, const ItemState&> offer) override;

  using Buckets = std::map<std::string, Bucket, std::less<>>;

  Record* Find(std::string_view encoded_ns, std::string_view key);
  // From that of `after` on, if it is not null.
  std::ranges::subrange<Buckets::iterator> BucketsBelow(std::string_view encoded_prefix,
                                                        const ItemName* after = nullptr);
  // What a filter leaves, as far as the columns of its fields tell; nullopt for all: of vectors,
  // and of items, whose ids are the slots.
  std::optional<search::SlotSet> Select(const json::Filter& filter);
  std::optional<search::SlotSet> SelectItems(const CheckedSearch& search);

  // Texts are analysed by the first search by text that covers them, in portions.
  Status AnalyseTexts(std::string_view encoded_prefix, TextWork& work);
  void MakeTextsAnew();
  // What was put where searches were.
  Status AnalyseNewTexts(TextWork& work);
  void SetValue(Record& record, const std::string& value);
  Record& FindOrCreate(std::string_view encoded_ns, std::string_view key);
  ItemState StateOf(const Record& record);
  void ForgetText(Record& record);
  void AwaitAnalysis(Record& record);
  void Erase(Record& record);
  void SetExpiry(Record& record, std::int64_t expires_at_ms);
  // `awaited`: as PathsToAwait().
  void SetVectors(Record& record, std::span<const FieldVector> vectors,
                  std::vector<std::string> awaited);
  void DropVectors(Record& record);
  void EmptySparseChunks();

  MemoryHistory history_{*this};
  std::unique_ptr<search::VectorIndex> index_;  // from the first vector on
  search::FieldColumns columns_;                // of what is in index_
  search::FieldColumns fields_;                 // of items, by their ids
  search::Slot next_slot_ = 0;
  bool has_superseded_ = false;  // or had
  Buckets buckets_;
  std::set<std::pair<std::int64_t, Record*>> expiries_;  // of records that expire
  std::int64_t last_id_ = 0;  // the greatest there is, as SQLite numbers rows
  std::unordered_map<std::int64_t, Record*> records_by_id_;
  std::map<std::int64_t, Waiting> pending_;  // by id
  search::TextIndex text_;
  std::map<std::string_view, Bucket*> unread_;  // those with unread texts, by namespace
  PrefixSet searched_;                          // by text
  std::string text_made_for_;                   // a fingerprint; "" until the first search by text
};

Record* InMemoryStore::Find(std::string_view encoded_ns, std::string_view key) {
  const auto bucket = buckets_.find(encoded_ns);
  if (bucket == buckets_.end()) return nullptr;
  const auto record = bucket->second.records.find(key);
  return record == bucket->second.records.end() ? nullptr : &record->second;
}

std::ranges::subrange<InMemoryStore::Buckets::iterator> InMemoryStore::BucketsBelow(
    std::string_view encoded_prefix, const ItemName* after) {
  const bool is_behind = after != nullptr && encoded_prefix <= after->encoded_ns;
  const auto begin = buckets_.lower_bound(is_behind ? after->encoded_ns : encoded_prefix);
  if (encoded_prefix.empty()) return {begin, buckets_.end()};
  std::string end(encoded_prefix);
  ++end.back();  // no label's end any more, but greater than all that begins with it
  return {begin, buckets_.lower_bound(end)};
}

Result<ItemHits> InMemoryStore::RankAll(const CheckedSearch& search) {
  Page page(search.offset, search.limit);
  const search::CosineQuery query(search.query_vector);
  const std::optional<search::SlotSet> among = SelectItems(search);
  for (const auto& [encoded_ns, bucket] : BucketsBelow(search.encoded_prefix)) {
    for (const auto& [key, record] : bucket.records) {
      if (among && !among->Has(static_cast<search::Slot>(record.id))) continue;
      if (!IsWanted(record, search)) continue;
      if (search.by_vector && !record.vectors.empty()) {
        page.PushScored(record.id, BestScore(query, record.vectors, options().index->dims));
      } else {
        page.PushUnscored(record.id, record.updated_at_ms);
      }
    }
  }
  return page.Take();
}

Result<IndexUse> InMemoryStore::UseIndex(const CheckedSearch& search) {
  IndexUse use{.index = index_.get(), .among = std::nullopt, .few_rows = kFewRows};
  if (use.index != nullptr) use.among = Select(search.filter);
  return use;
}

Status InMemoryStore::ScoreCandidates(std::span<const std::uint64_t> ids,
                                      const CheckedSearch& search, const search::CosineQuery& query,
                                      ScoredHits<RankedItem>& ranking, KeptItems&) {
  for (const std::uint64_t id : ids) {
    const Record& record = *records_by_id_.at(static_cast<std::int64_t>(id));
    if (!IsWanted(record, search)) continue;
    ranking.Push(BestScore(query, record.vectors, options().index->dims),
                 {record.id, record.bucket->encoded_ns, *record.key});
  }
  return {};
}

std::optional<search::SlotSet> InMemoryStore::Select(const json::Filter& filter) {
  if (filter.empty()) return std::nullopt;
  if (columns_.Begin(filter)) {
    for (const auto& [id, record] : records_by_id_) {
      for (const search::Slot slot : record->slots) columns_.Fill(slot, record->value);
    }
    columns_.EndFill();
  }
  return columns_.Select(filter);
}

std::optional<search::SlotSet> InMemoryStore::SelectItems(const CheckedSearch& search) {
  if (search.filter.empty()) return std::nullopt;
  std::size_t items = 0;
  for (const auto& [encoded_ns, bucket] : BucketsBelow(search.encoded_prefix)) {
    items += bucket.records.size();
    if (items >= kFewItems) break;
  }
  if (items < kFewItems) return std::nullopt;
  if (fields_.Begin(search.filter)) {
    for (const auto& [id, record] : records_by_id_) {
      fields_.Fill(static_cast<search::Slot>(id), record->value);
    }
    fields_.EndFill();
  }
  return fields_.Select(search.filter);
}

Result<bool> InMemoryStore::AddUnindexed(const CheckedSearch& search, Page& page) {
  for (const auto& [encoded_ns, bucket] : BucketsBelow(search.encoded_prefix)) {
    if (bucket.unindexed == 0) continue;
    for (const auto& [key, record] : bucket.records) {
      if (record.vectors.empty() && IsWanted(record, search)) {
        page.PushUnscored(record.id, record.updated_at_ms);
      }
    }
  }
  return true;
}

Result<std::vector<search::TextHit>> InMemoryStore::RankByText(const CheckedSearch& search,
                                                               std::size_t most,
                                                               const search::Meaning& meaning,
                                                               search::TextPlan& plan) {
  TextWork work(text_left());
  if (Status status = AnalyseTexts(search.encoded_prefix, work); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  if (work.IsMostlyDone()) return std::unexpected(TextWork::NotDone());
  const TextConfig& config = options().text;
  const search::TextQuery query =
      search::ParseTextQuery(search.query, config.language, search.now_ms);
  const auto texts = text_.View(search.encoded_prefix);
  if (!texts) return std::unexpected(texts.error());
  MemoryTextSource source(records_by_id_, search, query, config);
  return search::SearchText(**texts, query, config, source, most, plan, meaning);
}

Result<std::optional<FoundItem>> InMemoryStore::ReadItem(const CheckedGet& get,
                                                         std::int64_t now_ms) {
  const Record* record = Find(get.encoded_ns, get.key);
  if (record == nullptr || !record->IsVisible(now_ms)) return std::nullopt;
  if (Status status = TakeRoom(*record); !status.ok()) return std::unexpected(std::move(status));
  return Found(*record);
}

Result<ItemAndVectors> InMemoryStore::ReadVectors(const ItemRef& item, std::int64_t now_ms) {
  const Record* record = Find(EncodeNamespace(item.ns), item.key);
  if (record == nullptr || !record->IsVisible(now_ms)) return ItemAndVectors();
  return ItemAndVectors{record->id, record->vectors};
}

Result<std::vector<FoundItem>> InMemoryStore::ReadHits(const ItemHits& hits, KeptItems) {
  std::vector<FoundItem> items;
  items.reserve(hits.size());
  for (const auto& hit : hits) {
    const Record& record = *records_by_id_.at(hit.id);
    if (Status status = TakeRoom(record); !status.ok()) return std::unexpected(std::move(status));
    items.push_back(Found(record));
  }
  return items;
}

void InMemoryStore::MakeTextsAnew() {
  std::string wanted = search::FingerprintOf(options().text);
  if (text_made_for_ == wanted) return;
  if (!text_made_for_.empty()) {
    text_.Clear();
    for (const auto& [id, record] : records_by_id_) {
      record->is_analysed = false;
      AwaitAnalysis(*record);
    }
  }
  text_.Use(options().text);
  text_made_for_ = std::move(wanted);
}

Status InMemoryStore::AnalyseTexts(std::string_view encoded_prefix, TextWork& work) {
  MakeTextsAnew();
  searched_.Add(std::string(encoded_prefix));
  search::TextRoom room;
  auto next = unread_.lower_bound(encoded_prefix);
  while (next != unread_.end() && next->first.starts_with(encoded_prefix)) {
    Bucket& bucket = *next->second;
    Record& record = *bucket.unread.First();
    if (!work.Analyse(record.value)) return TextWork::NotDone();
    if (Status status = room.TakeValue(record.value); !status.ok()) return status;
    record.is_analysed = true;
    text_.Add(record.id, bucket.encoded_ns, search::MakeTextRecord(record.value, options().text));
    if (text_.IsFull()) {
      if (Status status = text_.Flush(); !status.ok()) return status;
    }
    bucket.unread.Remove(record);
    if (bucket.unread.empty()) next = unread_.erase(next);
  }
  return {};
}

Status InMemoryStore::AnalyseNewTexts(TextWork& work) {
  if (text_made_for_.empty()) return {};
  for (const std::string& prefix : searched_) {
    if (Status status = AnalyseTexts(prefix, work); !status.ok()) return status;
  }
  const Result<bool> has_more = text_.Merge();
  if (!has_more) return has_more.error();
  return *has_more ? TextWork::NotDone() : Status();
}

Status InMemoryStore::ReadNamespaces(std::string_view encoded_prefix, std::int64_t now_ms,
                                     Visitor<const Namespace&> offer) {
  Status failure;
  for (const auto& [encoded_ns, bucket] : BucketsBelow(encoded_prefix)) {
    if (bucket.IsVisible(now_ms) && !offer.GoesOn(failure, bucket.ns)) break;
  }
  return failure;
}

Result<std::int64_t> InMemoryStore::InOperation(FunctionRef<Status()> body, bool) {
  history_.Begin(actor());
  Status status = body();
  if (!status.ok()) return std::unexpected(std::move(status));
  return history_.End();
}

Status InMemoryStore::RestartTtls(std::span<const std::int64_t> ids, std::int64_t now_ms) {
  for (const std::int64_t id : ids) {
    Record& record = *records_by_id_.at(id);
    SetExpiry(record, ExpiryOf(record.ttl_ms, now_ms));
  }
  return {};
}

// Vectors lie in the order of their paths, which are not kept.
ItemState InMemoryStore::StateOf(const Record& record) {
  ItemState state{.value = record.value,
                  .created_at_ms = record.created_at_ms,
                  .updated_at_ms = record.updated_at_ms,
                  .ttl_ms = record.ttl_ms,
                  .expires_at_ms = record.expires_at_ms,
                  .validity = record.validity,
                  .successor = record.successor,
                  .provenance = record.TellProvenance()};
  constexpr std::size_t kFirstPath = 1'000'000;
  const std::size_t dims = record.slots.empty() ? 0 : record.vectors.size() / record.slots.size();
  for (std::size_t i = 0; i < record.slots.size(); ++i) {
    const auto begin = record.vectors.begin() + static_cast<std::ptrdiff_t>(i * dims);
    state.vectors.push_back(
        {std::to_string(kFirstPath + i), {begin, begin + static_cast<std::ptrdiff_t>(dims)}});
  }
  if (const auto waiting = pending_.find(record.id); waiting != pending_.end()) {
    state.awaited = waiting->second.paths;
  }
  return state;
}

Result<std::optional<ItemState>> InMemoryStore::ReadState(const ItemName& name) {
  const Record* record = Find(name.encoded_ns, name.key);
  if (record == nullptr) return std::nullopt;
  return StateOf(*record);
}

Status InMemoryStore::ReadStates(std::string_view encoded_prefix,
                                 Visitor<const ItemName&, const ItemState&> offer) {
  Status failure;
  for (const auto& [encoded_ns, bucket] : BucketsBelow(encoded_prefix)) {
    for (const auto& [key, record] : bucket.records) {
      if (!offer.GoesOn(failure, {encoded_ns, key}, StateOf(record))) return failure;
    }
  }
  return failure;
}

Status InMemoryStore::PutState(const ItemName& name, const ItemState& state) {
  Record& record = FindOrCreate(name.encoded_ns, name.key);
  SetValue(record, state.value);
  record.created_at_ms = state.created_at_ms;
  record.updated_at_ms = state.updated_at_ms;
  record.ttl_ms = state.ttl_ms;
  SetExpiry(record, state.expires_at_ms);
  record.validity = state.validity;
  record.successor = state.successor;
  record.SetProvenance(state.provenance);
  has_superseded_ = has_superseded_ || state.successor != 0;
  SetVectors(record, state.vectors, state.awaited);
  return {};
}

Status InMemoryStore::PutItem(const CheckedPut& put, std::int64_t now_ms) {
  Record& record = FindOrCreate(put.encoded_ns, put.op->key);
  // No JSON is empty text. An expired item is as good as gone.
  const bool is_new = record.value.empty() || !record.IsVisible(now_ms);
  SetValue(record, *put.op->value);
  if (is_new) record.created_at_ms = now_ms;
  // A clock may have been set back.
  record.updated_at_ms = std::max(now_ms, record.created_at_ms);
  record.ttl_ms = put.ttl_ms;
  SetExpiry(record, ExpiryOf(put.ttl_ms, now_ms));
  record.validity = put.validity;
  record.successor = 0;
  record.SetProvenance(put.op->provenance);
  const IndexConfig* index = options().index ? &*options().index : nullptr;
  SetVectors(record, put.op->vectors, PathsToAwait(*put.op, index, index != nullptr));
  return {};
}

Status InMemoryStore::DeleteItem(std::string_view encoded_ns, std::string_view key) {
  if (Record* record = Find(encoded_ns, key)) Erase(*record);
  return {};
}

Status InMemoryStore::DeleteItems(std::span<const std::int64_t> ids) {
  for (const std::int64_t id : ids) Erase(*records_by_id_.at(id));
  return {};
}

void InMemoryStore::SetValue(Record& record, const std::string& value) {
  if (!record.value.empty()) fields_.Remove(static_cast<search::Slot>(record.id));
  record.value = value;
  fields_.Add(static_cast<search::Slot>(record.id), record.value);
  ForgetText(record);
  AwaitAnalysis(record);
}

Status InMemoryStore::Supersede(const CheckedPut& put, std::int64_t now_ms) {
  Record* record = Find(put.superseded_ns, put.op->supersedes->key);
  if (record == nullptr || !record->IsVisible(now_ms)) return {};
  record->validity = EndedAt(record->validity, *put.validity.from_ms);
  record->successor = MarkOf(put.encoded_ns, put.op->key);
  has_superseded_ = true;
  return {};
}

void InMemoryStore::SetVectors(Record& record, std::span<const FieldVector> vectors,
                               std::vector<std::string> awaited) {
  pending_.erase(record.id);
  if (!awaited.empty()) pending_[record.id] = {&record, std::move(awaited)};
  DropVectors(record);
  if (vectors.empty()) return;
  --record.bucket->unindexed;
  if (index_ == nullptr) index_ = std::make_unique<search::VectorIndex>(options().index->dims);
  // By path, as a database has them: sums over them are the same bits.
  for (const std::size_t i : OrderOf(vectors.size(), [&](std::size_t a, std::size_t b) {
         return vectors[a].path < vectors[b].path;
       })) {
    const std::vector<float>& values = vectors[i].values;
    record.vectors.insert(record.vectors.end(), values.begin(), values.end());
    record.slots.push_back(next_slot_);
    columns_.Add(next_slot_, record.value);
    index_->Add(next_slot_++, static_cast<std::uint64_t>(record.id), record.bucket->encoded_ns,
                values);
    if (next_slot_ % search::FlatIndex::kChunkSlots == 0) EmptySparseChunks();
  }
}

void InMemoryStore::DropVectors(Record& record) {
  if (record.slots.empty()) return;
  ++record.bucket->unindexed;
  for (const search::Slot slot : record.slots) {
    columns_.Remove(slot);
    index_->Remove(slot);
  }
  record.slots.clear();
  record.vectors.clear();
}

void InMemoryStore::EmptySparseChunks() {
  constexpr int kChunksAtOnce = 2;  // so that emptying keeps up with chunks that are begun
  const search::FlatIndex& codes = index_->codes();
  for (int i = 0; i < kChunksAtOnce; ++i) {
    const std::optional<std::size_t> sparsest = codes.SparsestChunk({});
    if (!sparsest) return;
    for (const search::Slot slot : codes.SlotsIn(*sparsest)) {
      Record* record = records_by_id_.at(static_cast<std::int64_t>(codes.OwnerOf(slot).item));
      std::ranges::replace(record->slots, slot, next_slot_);
      columns_.Move(slot, next_slot_);
      index_->Move(slot, next_slot_++);
    }
  }
}

Record& InMemoryStore::FindOrCreate(std::string_view encoded_ns, std::string_view key) {
  const auto [bucket_entry, is_new_bucket] = buckets_.try_emplace(std::string(encoded_ns));
  Bucket& bucket = bucket_entry->second;
  if (is_new_bucket) {
    bucket.encoded_ns = encoded_ns;
    bucket.ns = DecodeNamespace(encoded_ns).value_or(Namespace());  // it was encoded here
  }
  const auto [entry, is_new_record] = bucket.records.try_emplace(std::string(key));
  if (is_new_record) {
    ++bucket.unindexed;
    entry->second.bucket = &bucket;
    entry->second.key = &entry->first;
    entry->second.id = ++last_id_;
    records_by_id_[last_id_] = &entry->second;
  }
  return entry->second;
}

void InMemoryStore::ForgetText(Record& record) {
  if (!record.is_analysed) return;
  text_.Remove(record.id);
  record.is_analysed = false;
}

void InMemoryStore::AwaitAnalysis(Record& record) {
  Bucket& bucket = *record.bucket;
  if (bucket.unread.empty()) unread_.emplace(bucket.encoded_ns, &bucket);
  bucket.unread.Add(record);
}

void InMemoryStore::Erase(Record& record) {
  SetExpiry(record, kNeverExpires);
  DropVectors(record);
  --record.bucket->unindexed;
  fields_.Remove(static_cast<search::Slot>(record.id));
  ForgetText(record);
  record.bucket->unread.Remove(record);
  if (record.bucket->unread.empty()) unread_.erase(record.bucket->encoded_ns);
  pending_.erase(record.id);
  records_by_id_.erase(record.id);
  while (last_id_ > 0 && !records_by_id_.contains(last_id_)) --last_id_;
  const auto bucket = buckets_.find(record.bucket->encoded_ns);
  bucket->second.records.erase(bucket->second.records.find(*record.key));
  if (bucket->second.records.empty()) buckets_.erase(bucket);
}

void InMemoryStore::SetExpiry(Record& record, std::int64_t expires_at_ms) {
  if (record.expires_at_ms == expires_at_ms) return;
  if (record.expires_at_ms != kNeverExpires) expiries_.erase({record.expires_at_ms, &record});
  if (expires_at_ms != kNeverExpires) expiries_.insert({expires_at_ms, &record});
  record.expires_at_ms = expires_at_ms;
}

Result<std::vector<std::string>> InMemoryStore::ReadKeys(std::string_view encoded_ns,
                                                         std::int64_t now_ms) {
  std::vector<std::string> keys;
  const auto bucket = buckets_.find(encoded_ns);
  if (bucket == buckets_.end()) return keys;
  for (const auto& [key, record] : bucket->second.records) {
    if (!record.IsVisible(now_ms)) continue;
    if (Status status = TakeRoomOfItem({}, key, {}); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    keys.push_back(key);
  }
  return keys;
}

Result<StoreUsage> InMemoryStore::Measure(std::string_view encoded_ns, bool below,
                                          std::int64_t now_ms) {
  StoreUsage usage;
  for (const auto& [ns, bucket] : BucketsBelow(encoded_ns)) {
    if (!below && ns != encoded_ns) break;
    for (const auto& [key, record] : bucket.records) {
      if (!record.IsVisible(now_ms)) continue;
      ++usage.items;
      usage.bytes += ns.size() + key.size() + record.value.size() + record.source().size();
    }
  }
  return usage;
}

Status InMemoryStore::ReadBelow(std::string_view encoded_prefix, const ItemName* after,
                                Visitor<const ItemTrace&> offer) {
  Status failure;
  for (const auto& [encoded_ns, bucket] : BucketsBelow(encoded_prefix, after)) {
    const bool is_begun = after != nullptr && after->encoded_ns == encoded_ns;
    const auto& records = bucket.records;
    auto entry = is_begun ? records.upper_bound(after->key) : records.begin();
    for (; entry != records.end(); ++entry) {
      const Record& record = entry->second;
      const ItemTrace trace{.id = record.id,
                            .encoded_ns = encoded_ns,
                            .key = entry->first,
                            .value = record.value,
                            .updated_at_ms = record.updated_at_ms,
                            .expires_at_ms = record.expires_at_ms,
                            .vectors = record.slots.size(),
                            .provenance = record.TellProvenance()};
      if (!offer.GoesOn(failure, trace)) return failure;
    }
  }
  return failure;
}

Result<std::vector<ItemName>> InMemoryStore::SupersededBy(std::span<const std::int64_t> marks) {
  std::vector<ItemName> names;
  for (const auto& [encoded_ns, bucket] : buckets_) {
    for (const auto& [key, record] : bucket.records) {
      if (std::ranges::binary_search(marks, record.successor)) names.push_back({encoded_ns, key});
    }
  }
  return names;
}

Status InMemoryStore::ForgetSuccessors(std::span<const std::int64_t> marks) {
  for (auto& [id, record] : records_by_id_) {
    if (std::ranges::binary_search(marks, record->successor)) record->successor = 0;
  }
  return {};
}

Status InMemoryStore::Reopen(const ReopenedItem& item) {
  Record& record = *Find(item.name.encoded_ns, item.name.key);
  record.validity.until_ms = item.until_ms;
  record.successor = item.successor;
  return {};
}

Status InMemoryStore::ForgetDerived() {
  fields_.Clear();
  return text_.Purge();
}

Result<std::vector<ExpiringItem>> InMemoryStore::ReadNamespace(std::string_view encoded_ns) {
  std::vector<ExpiringItem> items;
  const auto bucket = buckets_.find(encoded_ns);
  if (bucket == buckets_.end()) return items;
  for (const auto& [key, record] : bucket->second.records) {
    items.push_back({record.id, {bucket->first, key}, record.expires_at_ms});
  }
  return items;
}

Result<std::vector<ExpiringItem>> InMemoryStore::ReadExpired(std::uint32_t max_items,
                                                             std::int64_t now_ms) {
  std::vector<ExpiringItem> items;
  for (const auto& [expires_at_ms, record] : expiries_) {
    if (items.size() == max_items || expires_at_ms > now_ms) break;
    items.push_back({record->id, {record->bucket->encoded_ns, *record->key}, expires_at_ms});
  }
  return items;
}

Result<IndexProgress> InMemoryStore::ImproveIndex(const IndexStep& step) {
  std::optional<std::size_t> left = TextWork::kWhenIdle;
  TextWork work(left);
  // Where there is no room for texts, their next search says so.
  bool has_more = AnalyseNewTexts(work).code() == StatusCode::kIndexing;
  if (index_ == nullptr) return IndexProgress{.is_done = !has_more};
  has_more = index_->ImproveGraph(step.vectors, step.is_wanted) || has_more;
  return IndexProgress{
      .vectors = index_->codes().size(), .in_graph = index_->in_graph(), .is_done = !has_more};
}

Status InMemoryStore::CheckIndex(const IndexConfig&) {
  for (const auto& [id, record] : records_by_id_) {
    pending_.try_emplace(id, Waiting{record, {std::string(kIndexFields)}});
  }
  std::erase_if(pending_, [](const auto& entry) {
    const std::vector<std::string>& paths = entry.second.paths;
    return paths.size() == 1 && paths.front() == kNoTextPath;
  });
  return {};
}

Result<PendingEmbeddings> InMemoryStore::ReadPending(std::uint32_t limit) {
  PendingEmbeddings pending;
  if (!options().index) return pending;
  pending.left = pending_.size();
  for (const auto& [id, waiting] : pending_) {
    if (pending.items.size() == limit) break;
    PathTexts texts = TextsAwaited(waiting.record->value, waiting.paths, options().index->fields);
    pending.items.push_back(
        {id, waiting.fingerprint(), std::move(texts.paths), std::move(texts.texts)});
  }
  return pending;
}

Result<std::uint64_t> InMemoryStore::WritePending(std::span<const ItemVectors> items) {
  std::uint64_t written = 0;
  for (const ItemVectors& item : items) {
    const auto entry = pending_.find(item.id);
    if (entry == pending_.end()) continue;
    if (entry->second.fingerprint() != item.fingerprint) continue;
    SetVectors(*entry->second.record, item.vectors, {});
    ++written;
  }
  return written;
}

Result<StoreStats> InMemoryStore::Stats() {
  const std::int64_t now_ms = options().clock->NowMs();
  StoreStats stats;
  for (const auto& [encoded_ns, bucket] : buckets_) {
    std::uint64_t items = 0;
    for (const auto& [key, record] : bucket.records) {
      if (!record.IsVisible(now_ms)) continue;
      ++items;
      if (!record.vectors.empty()) stats.vectors += record.vectors.size() / options().index->dims;
    }
    stats.items += items;
    if (items > 0) ++stats.namespaces;
  }
  if (options().index) stats.pending = pending_.size();
  if (index_ != nullptr) stats.in_graph = index_->in_graph();
  return stats;
}

}  // namespace

std::unique_ptr<Store> MakeInMemoryStore(StoreOptions options) {
  return std::make_unique<InMemoryStore>(std::move(options));
}

std::unique_ptr<Store> MakePastStore(StoreOptions options, std::vector<StoredItem> items) {
  auto store = std::make_unique<InMemoryStore>(std::move(options));
  for (StoredItem& item : items) store->Take(std::move(item));
  return store;
}

}  // namespace keepsake
