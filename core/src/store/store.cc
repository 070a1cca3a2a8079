#include "keepsake/store.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "base/heap_sort.h"
#include "json/filter.h"
#include "store/checked_batch.h"
#include "store/history.h"
#include "store/item_search.h"
#include "store/item_table.h"
#include "store/item_writes.h"
#include "store/namespace_listing.h"
#include "store/past_store.h"
#include "store/prefix_set.h"

namespace keepsake {
namespace {

// The answer to a batch of one.
template <typename T>
Result<T> Only(Result<std::vector<OperationResult>> results) {
  if (!results) return std::unexpected(std::move(results.error()));
  return std::get<T>(std::move(results->front()));
}

// Without those that lie within others, so that no item is below two.
Result<PrefixSet> Outermost(std::span<const Namespace> prefixes) {
  constexpr NamespaceRules kAnyPrefix = {.allow_empty = true, .allow_reserved_root = true};
  PrefixSet outermost;
  for (const Namespace& prefix : prefixes) {
    Status status = ValidateNamespace(prefix, kAnyPrefix);
    if (!status.ok()) return std::unexpected(std::move(status));
    outermost.Add(EncodeNamespace(prefix));
  }
  return outermost;
}

// The put that would make an item what it was before this version.
Result<PutOp> PutThatWrites(const StoredVersion& version) {
  Result<Namespace> ns = DecodeNamespace(version.name.encoded_ns);
  if (!ns) return std::unexpected(ns.error());
  PutOp put{.ns = *std::move(ns), .key = version.name.key};
  if (!version.before) return put;
  put.value = version.before->value;
  put.ttl_ms = version.before->ttl_ms;
  put.provenance = version.before->provenance;
  return put;
}

// The same search without what keeps hits from its page.
SearchOp WithAllHits(const SearchOp& search) {
  SearchOp all = search;
  all.offset = 0;
  all.limit = std::numeric_limits<std::uint32_t>::max();
  all.refresh_ttl = false;
  all.ranking = search.ranking.value_or(Ranking());
  all.ranking->min_score.reset();
  all.ranking->diversity = 0;  // it compares each hit with each
  all.ranking->explain = true;
  all.ranking->snippet_length = 0;
  return all;
}

// Why an item below the prefix is none of all hits.
Result<Absence> WhyNoHit(const SearchOp& search, const Item& item, std::int64_t now_ms) {
  const Result<json::Filter> filter = json::Filter::Parse(search.filter);
  if (!filter) return std::unexpected(filter.error());
  if (!filter->Matches(item.value)) return Absence::kFiltered;
  const bool is_hidden = item.provenance && item.provenance->is_quarantined;
  if (is_hidden && !search.include_quarantined) return Absence::kQuarantined;
  const bool holds = search.include_superseded || !item.validity ||
                     item.validity->Holds(search.as_of_ms.value_or(now_ms));
  return holds ? Absence::kNoMatch : Absence::kNotValid;
}

Status StatusOf(const Result<std::vector<OperationResult>>& results) {
  return results ? Status() : results.error();
}

}  // namespace

Result<std::vector<OperationResult>> Store::Batch(std::span<const Operation> operations) {
  std::vector<Operation> embedded;
  if (options_.embedder != nullptr) {
    Result<std::vector<Operation>> result = Embed(operations);
    if (!result) return std::unexpected(std::move(result.error()));
    embedded = std::move(*result);
    operations = embedded;
  }
  const Result<CheckedBatch> batch = CheckBatch(operations, options_, QueryVectors::kMustBeThere);
  if (!batch) return std::unexpected(batch.error());
  return Apply(*batch);
}

Result<std::vector<OperationResult>> Store::Apply(const CheckedBatch& batch) {
  ItemTable& table = items();
  std::vector<OperationResult> results(batch.size);
  ItemIds refreshed;
  for (const CheckedGet& get : batch.gets) {
    Result<std::optional<FoundItem>> found = table.ReadItem(get, batch.now_ms);
    if (!found) return std::unexpected(std::move(found.error()));
    std::optional<Item> item;
    if (*found) {
      if (get.refresh_ttl && (*found)->has_ttl) refreshed.push_back((*found)->id);
      item = std::move((*found)->item);
    }
    results[get.position] = std::move(item);
  }
  for (const CheckedSearch& search : batch.searches) {
    auto hits = SearchItems(table, search, options_, refreshed);
    if (!hits) return std::unexpected(std::move(hits.error()));
    results[search.position] = std::move(*hits);
  }
  for (const CheckedListNamespaces& list : batch.lists) {
    NamespaceListing listing(*list.op);
    Status status = table.ReadNamespaces(listing.EncodedPrefix(), batch.now_ms,
                                         [&](const Namespace& ns) { return listing.Offer(ns); });
    if (!status.ok()) return std::unexpected(std::move(status));
    results[list.position] = listing.Take();
  }
  // Nothing may write between these reads and the writes: the store has one thread.
  if (batch.puts.empty() && refreshed.empty()) return results;
  if (Status status = WriteBatch(table, batch, refreshed); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  return results;
}

Result<std::optional<Item>> Store::Get(Namespace ns, std::string key) {
  const Operation operation = GetOp{.ns = std::move(ns), .key = std::move(key)};
  return Only<std::optional<Item>>(Batch({&operation, 1}));
}

Status Store::Put(Namespace ns, std::string key, std::string value) {
  if (Status status = ValidateNamespace(ns); !status.ok()) return status;
  const Operation operation =
      PutOp{.ns = std::move(ns), .key = std::move(key), .value = std::move(value)};
  return StatusOf(Batch({&operation, 1}));
}

Status Store::Delete(Namespace ns, std::string key) {
  const Operation operation = PutOp{.ns = std::move(ns), .key = std::move(key)};
  return StatusOf(Batch({&operation, 1}));
}

Result<std::vector<SearchItem>> Store::Search(SearchOp search) {
  const Operation operation = std::move(search);
  return Only<std::vector<SearchItem>>(Batch({&operation, 1}));
}

Result<std::vector<Namespace>> Store::ListNamespaces(ListNamespacesOp list) {
  const Operation operation = std::move(list);
  return Only<std::vector<Namespace>>(Batch({&operation, 1}));
}

Result<std::vector<std::string>> Store::List(const Namespace& ns) {
  if (Status status = CheckExactNamespace(ns); !status.ok()) return std::unexpected(status);
  return items().ReadKeys(EncodeNamespace(ns), options_.clock->NowMs());
}

Result<StoreUsage> Store::Measure(const Namespace& ns, bool below) {
  if (Status status = CheckExactNamespace(ns); !status.ok()) return std::unexpected(status);
  return items().Measure(EncodeNamespace(ns), below, options_.clock->NowMs());
}

Result<std::uint64_t> Store::ClearNamespace(const Namespace& ns) {
  if (Status status = CheckExactNamespace(ns); !status.ok()) return std::unexpected(status);
  return DeleteNamespace(items(), EncodeNamespace(ns), options_.clock->NowMs());
}

Result<ErasedItems> Store::Erase(std::span<const Namespace> prefixes, const std::string& filter,
                                 const ProvenanceFilter& from, bool dry_run,
                                 FunctionRef<bool(const PutOp&)> may_put_back) {
  const Result<json::Filter> parsed = json::Filter::Parse(filter);
  if (!parsed) return std::unexpected(parsed.error());
  const Wanted wanted{*parsed, from};
  const std::int64_t now_ms = options_.clock->NowMs();
  ErasedItems erased;
  ErasedVersions versions;
  ItemErasure erasure;
  std::vector<ItemName> names;
  const Result<PrefixSet> outermost = Outermost(prefixes);
  if (!outermost) return std::unexpected(outermost.error());
  const Result<bool> has_superseded = items().HasSuperseded();
  if (!has_superseded) return std::unexpected(has_superseded.error());
  for (const std::string& encoded_prefix : *outermost) {
    Status status = items().ReadBelow(encoded_prefix, nullptr, [&](const ItemTrace& item) {
      if (!wanted.Matches(item.value, item.provenance)) return true;
      erasure.ids.push_back(item.id);
      if (*has_superseded) erasure.marks.push_back(MarkOf(item.encoded_ns, item.key));
      if (!from.empty()) names.push_back({std::string(item.encoded_ns), std::string(item.key)});
      ++erased.items;
      erased.vectors += item.vectors;
      erased.bytes += item.key.size() + item.value.size();
      return true;
    });
    if (status.ok()) status = CollectVersions(items(), encoded_prefix, wanted, versions);
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  for (const ItemName& name : names) {
    auto before = FindBefore(items(), name, from, now_ms);
    if (!before) return std::unexpected(std::move(before.error()));
    if (!*before) continue;
    const Result<PutOp> put = PutThatWrites(**before);
    if (!put) return std::unexpected(put.error());
    if (may_put_back == nullptr || may_put_back(*put)) {
      erasure.put_back.push_back(**std::move(before));
    }
  }
  if (!from.empty()) {
    std::ranges::move(versions.gone, std::back_inserter(names));
    auto reopened = FindReopened(items(), names, *outermost, now_ms);
    if (!reopened) return std::unexpected(std::move(reopened.error()));
    erasure.reopened = *std::move(reopened);
  }
  erased.restored = erasure.put_back.size() + erasure.reopened.size();
  erased.versions = versions.ids.size();
  erased.bytes += versions.bytes;
  if (dry_run) return erased;
  erasure.versions = std::move(versions.ids);
  Status status = EraseItems(items(), std::move(erasure), DimsOf(options_), now_ms);
  if (!status.ok()) return std::unexpected(std::move(status));
  return erased;
}

Result<WhyNot> Store::ExplainAbsence(const SearchOp& search, const ItemRef& item) {
  SearchOp all = WithAllHits(search);
  const Operation operations[] = {GetOp{.ns = item.ns, .key = item.key, .refresh_ttl = false}, all};
  const Result<std::vector<OperationResult>> results = Batch(operations);
  if (!results) return std::unexpected(results.error());
  const auto& found = std::get<std::optional<Item>>((*results)[0]);
  const auto& hits = std::get<std::vector<SearchItem>>((*results)[1]);

  if (!found) return WhyNot{.absence = Absence::kNoItem};
  if (!EncodeNamespace(item.ns).starts_with(EncodeNamespace(search.ns_prefix))) {
    return WhyNot{.absence = Absence::kOutside};
  }
  const auto is_item = [&](const SearchItem& hit) {
    return hit.item.key == item.key && hit.item.ns == item.ns;
  };
  const auto hit = std::ranges::find_if(hits, is_item);
  if (hit == hits.end()) {
    const Result<Absence> absence = WhyNoHit(search, *found, options_.clock->NowMs());
    if (!absence) return std::unexpected(absence.error());
    return WhyNot{.absence = *absence};
  }
  const auto rank = static_cast<std::uint64_t>(hit - hits.begin());
  const std::uint64_t end = std::uint64_t{search.offset} + search.limit;
  WhyNot why{.rank = rank, .score = hit->score, .parts = hit->parts};
  if (end > 0 && !hits.empty()) {
    why.last_score =
        hits[static_cast<std::size_t>(std::min<std::uint64_t>(end, hits.size())) - 1].score;
  }
  if (rank < search.offset || rank >= end) why.absence = Absence::kNotOnPage;
  const std::optional<double> min_score = search.ranking ? search.ranking->min_score : std::nullopt;
  if (min_score && (!hit->score || *hit->score < *min_score)) {
    // Whether a threshold applies is the search's to say: a listing knows none.
    all.ranking->min_score = min_score;
    const Result<std::vector<SearchItem>> above = Search(all);
    if (!above) return std::unexpected(above.error());
    if (std::ranges::none_of(*above, is_item)) why.absence = Absence::kBelowMinScore;
  }
  return why;
}

namespace {

Status CheckRule(const HistoryRule& rule) {
  constexpr NamespaceRules kAnyPrefix = {.allow_empty = true, .allow_reserved_root = true};
  if (Status status = ValidateNamespace(rule.ns, kAnyPrefix); !status.ok()) return status;
  if (rule.max_versions < 1 || rule.max_versions > HistoryRule::kMostVersions) {
    return {StatusCode::kInvalidArgument, "max_versions of a history must be between 1 and " +
                                              std::to_string(HistoryRule::kMostVersions) + ": " +
                                              std::to_string(rule.max_versions)};
  }
  if (rule.max_age_ms && (*rule.max_age_ms <= 0 || *rule.max_age_ms > Validity::kMostMs)) {
    return {StatusCode::kInvalidArgument,
            "max_age of a history must be more than 0 ms: " + std::to_string(*rule.max_age_ms)};
  }
  return {};
}

}  // namespace

Status Store::KeepHistory(const HistoryRule& rule) {
  if (Status status = CheckRule(rule); !status.ok()) return status;
  const auto rules = items().history().Rules();
  if (!rules) return rules.error();
  const std::int64_t now_ms = options_.clock->NowMs();
  HistoryRule kept = rule;
  kept.since_ms = now_ms;
  // What was kept by this rule, or by one that it lies in, is known still, as far back as that
  // let it.
  if (const HistoryRule* known = (*rules)->Find(EncodeNamespace(rule.ns))) {
    kept.since_ms = std::max(known->since_ms, HorizonOf(*known, now_ms));
  }
  return items().history().PutRule(kept);
}

Status Store::DropHistory(const Namespace& ns) {
  constexpr NamespaceRules kAnyPrefix = {.allow_empty = true, .allow_reserved_root = true};
  if (Status status = ValidateNamespace(ns, kAnyPrefix); !status.ok()) return status;
  return items().history().DropRule(EncodeNamespace(ns));
}

Result<std::vector<HistoryRule>> Store::ListHistoryRules() {
  const auto rules = items().history().Rules();
  if (!rules) return std::unexpected(rules.error());
  std::vector<HistoryRule> listed;
  for (const auto& row : (*rules)->rows()) listed.push_back(row.rule);
  std::ranges::reverse(listed);
  return listed;
}

Result<std::vector<Version>> Store::History(const ItemRef& item, std::uint32_t limit) {
  if (Status status = CheckExactNamespace(item.ns); !status.ok()) return std::unexpected(status);
  return ReadHistory(items(), item, limit, options_.clock->NowMs());
}

Result<std::optional<Item>> Store::GetAsOf(const GetOp& get, std::int64_t at_ms) {
  if (Status status = CheckExactNamespace(get.ns); !status.ok()) return std::unexpected(status);
  const auto found = ReadItemAsOf(items(), {get.ns, get.key}, at_ms, options_.clock->NowMs());
  if (!found) return std::unexpected(found.error());
  if (!*found) return std::nullopt;
  return ItemOf({get.ns, get.key}, (*found)->state);
}

Result<std::vector<SearchItem>> Store::SearchAsOf(const SearchOp& search, std::int64_t at_ms) {
  const std::int64_t now_ms = options_.clock->NowMs();
  const ManualClock then(std::min(at_ms, now_ms));
  StoreOptions options = options_;
  options.clock = &then;
  const Operation operation = search;
  // What is wrong with it is said before anything is read.
  const auto checked = CheckBatch({&operation, 1}, options, QueryVectors::kMustBeThere);
  if (!checked) return std::unexpected(checked.error());
  const std::string prefix = EncodeNamespace(search.ns_prefix);
  auto found = ReadItemsAsOf(items(), prefix, at_ms, now_ms);
  if (!found) return std::unexpected(std::move(found.error()));
  if (search.near && !EncodeNamespace(search.near->ns).starts_with(prefix)) {
    auto near = ReadItemAsOf(items(), *search.near, at_ms, now_ms);
    if (!near) return std::unexpected(std::move(near.error()));
    if (*near) found->push_back(**std::move(near));
  }
  options.embedder = nullptr;
  const std::unique_ptr<Store> past = MakePastStore(std::move(options), *std::move(found));
  Result<std::vector<SearchItem>> hits = past->Search(search);
  if (!hits) return hits;
  for (SearchItem& hit : *hits) hit.plan.clear();
  return hits;
}

Result<std::vector<Namespace>> Store::ListNamespacesAsOf(const ListNamespacesOp& list,
                                                         std::int64_t at_ms) {
  const Operation operation = list;
  const auto checked = CheckBatch({&operation, 1}, options_, QueryVectors::kMayComeLater);
  if (!checked) return std::unexpected(checked.error());
  NamespaceListing listing(list);
  auto found = ReadItemsAsOf(items(), listing.EncodedPrefix(), at_ms, options_.clock->NowMs());
  if (!found) return std::unexpected(std::move(found.error()));
  std::vector<std::string> names;
  for (StoredItem& item : *found) names.push_back(std::move(item.name.encoded_ns));
  HeapSort(names, std::less());
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  for (const std::string& name : names) {
    const Result<Namespace> ns = DecodeNamespace(name);
    if (!ns) return std::unexpected(ns.error());
    const Result<bool> wants_more = listing.Offer(*ns);
    if (!wants_more) return std::unexpected(wants_more.error());
    if (!*wants_more) break;
  }
  return listing.Take();
}

Result<std::vector<PutOp>> Store::ReadUndo(const Undo& undo, Concerned concerned) {
  const auto versions = keepsake::ReadUndo(items(), undo, concerned, options_.clock->NowMs());
  if (!versions) return std::unexpected(versions.error());
  std::vector<PutOp> puts;
  for (const StoredVersion& version : *versions) {
    Result<PutOp> put = PutThatWrites(version);
    if (!put) return std::unexpected(put.error());
    puts.push_back(*std::move(put));
  }
  return puts;
}

Result<Undone> Store::UndoOperation(const Undo& undo, Concerned concerned) {
  const std::int64_t now_ms = options_.clock->NowMs();
  auto versions = keepsake::ReadUndo(items(), undo, concerned, now_ms);
  if (!versions) return std::unexpected(versions.error());
  const std::size_t count = versions->size();
  const Result<std::int64_t> operation =
      PutBack(items(), *std::move(versions), DimsOf(options_), now_ms);
  if (!operation) return std::unexpected(operation.error());
  return Undone{.operation = *operation, .items = count};
}

Result<std::uint64_t> Store::EmbedPending(std::span<const ItemVectors> items) {
  for (const ItemVectors& item : items) {
    if (Status status = CheckVectors(item.vectors, options_); !status.ok()) {
      return std::unexpected(std::move(status));
    }
  }
  return WritePending(items);
}

Status Store::Configure(const std::optional<IndexConfig>& index,
                        const std::optional<TextConfig>& text) {
  if (index && options_.index && *index != *options_.index) {
    return {StatusCode::kConflictingOptions,
            "it is open with another index: give the same, or none"};
  }
  if (text && text_configured_ && *text != options_.text) {
    return {StatusCode::kConflictingOptions,
            "it is open with another text: give the same, or none"};
  }
  StoreOptions configured = options_;
  if (index) configured.index = index;
  if (text) configured.text = *text;
  if (Status status = CheckOptions(configured); !status.ok()) return status;
  if (index && !options_.index) {
    if (Status status = CheckIndex(*index); !status.ok()) return status;
  }
  options_ = std::move(configured);
  text_configured_ = text_configured_ || text.has_value();
  return {};
}

}  // namespace keepsake
