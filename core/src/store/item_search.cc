#include "store/item_search.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "json/utf8.h"
#include "store/final_ranking.h"
#include "store/fusion.h"
#include "store/validity.h"

namespace keepsake {
namespace {

// The part by vector of a search by both: enough hits to be fused with those by text.
CheckedSearch VectorPartOf(const CheckedSearch& search) {
  CheckedSearch part = search;
  part.by_text = false;
  part.ranking.min_score.reset();
  part.offset = 0;
  part.limit = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      HitsToRank(search), search::kVectorHits, std::numeric_limits<std::uint32_t>::max()));
  return part;
}

// A search by vector with a threshold drops the hits that are below it.
void DropBelow(const CheckedSearch& search, ItemHits& hits) {
  if (!search.by_vector || !search.ranking.min_score) return;
  std::erase_if(
      hits, [&](const auto& hit) { return !hit.score || *hit.score < *search.ranking.min_score; });
}

// Hits in their order, with what their table knows of them beside.
struct FoundHits {
  std::vector<SearchItem> items;
  ItemIds with_ttl;              // parallel to items: 0 for one without
  std::vector<FactMarks> marks;  // parallel to items, of a search that includes superseded ones

  void Push(FoundHits& from, std::size_t i) {
    items.push_back(std::move(from.items[i]));
    with_ttl.push_back(from.with_ttl[i]);
    if (!from.marks.empty()) marks.push_back(from.marks[i]);
  }
};

// A hit that came before its successor is worth no more than that one.
void ScoreBehind(const SearchItem& successor, SearchItem& item) {
  if (!item.score || (successor.score && *item.score <= *successor.score)) return;
  if (!item.parts.empty() && successor.score && *item.score > 0) {
    item.parts.push_back({"superseded", *successor.score / *item.score});
  }
  item.score = successor.score;
}

class ItemSearch {
 public:
  ItemSearch(ItemTable& table, const StoreOptions& options, ItemIds& refreshed)
      : table_(table), options_(options), refreshed_(refreshed) {}

  Result<std::vector<SearchItem>> Run(const CheckedSearch& search);

 private:
  Result<FoundHits> Page(const CheckedSearch& search);
  // The page has items that were superseded, too, but none before its successor.
  Result<FoundHits> PageWithSuperseded(const CheckedSearch& search);
  Result<FoundHits> ByNear(const CheckedSearch& search);
  Result<FoundHits> ByText(const CheckedSearch& search);
  Result<FoundHits> ByListingOrVector(const CheckedSearch& search);
  Result<FoundHits> ByVectorAndOrigin(const CheckedSearch& search);
  Result<std::vector<search::FusedHit>> RankByText(const CheckedSearch& search);
  Status AddContaining(const CheckedSearch& search, std::vector<search::FusedHit>& hits);
  Result<ItemHits> Rank(const CheckedSearch& search);
  // None if candidates are not enough to answer.
  Result<std::optional<ItemHits>> RankByIndex(const CheckedSearch& search, const IndexUse& use);
  // The same of what was found without an index: none if too few of it are hits.
  Result<std::optional<ItemHits>> RankNear(const CheckedSearch& search, const NearItems& near);
  Result<FoundHits> Fetch(const CheckedSearch& search, const ItemHits& hits);

  ItemTable& table_;
  const StoreOptions& options_;
  ItemIds& refreshed_;
  search::PlanTaken taken_;
  search::TextPlan text_plan_;
  KeptItems kept_;
};

Result<std::vector<SearchItem>> ItemSearch::Run(const CheckedSearch& search) {
  if (search.limit == 0) return {};
  Result<bool> with_superseded = false;
  if (search.include_superseded) with_superseded = table_.HasSuperseded();
  if (!with_superseded) return std::unexpected(std::move(with_superseded.error()));
  Result<FoundHits> page = *with_superseded ? PageWithSuperseded(search) : Page(search);
  if (!page) return std::unexpected(std::move(page.error()));
  if (search.refresh_ttl) {
    std::ranges::copy_if(page->with_ttl, std::back_inserter(refreshed_),
                         [](std::int64_t id) { return id != 0; });
  }
  return std::move(page->items);
}

Result<FoundHits> ItemSearch::Page(const CheckedSearch& search) {
  if (search.near != nullptr) return ByNear(search);
  return search.by_text ? ByText(search) : ByListingOrVector(search);
}

// Looks on until each successor is found that is a hit, or there are no more hits.
Result<FoundHits> ItemSearch::PageWithSuperseded(const CheckedSearch& search) {
  constexpr std::uint32_t kGrowth = 8, kMost = 1U << 28;
  CheckedSearch wider = search;
  wider.offset = 0;
  wider.limit = std::min(search.offset + search.limit, kMost);
  FoundHits hits;
  std::vector<std::size_t> successors;
  for (;;) {
    Result<FoundHits> found = Page(wider);
    if (!found) return found;
    hits = std::move(*found);
    successors = SuccessorsOf(hits.marks);
    const bool is_all = hits.items.size() < wider.limit || wider.limit == kMost;
    if (is_all || !LacksSuccessor(hits.marks, successors)) break;
    wider.limit = wider.limit < kMost / kGrowth ? wider.limit * kGrowth : kMost;
    wider.ranking.diversity = 0;  // it compares each hit with each
  }
  const std::vector<std::size_t> order = BehindSuccessors(successors);
  for (const std::size_t i : order) {
    if (successors[i] != kNoHit) ScoreBehind(hits.items[successors[i]], hits.items[i]);
  }
  FoundHits page;
  for (std::size_t at = search.offset; at < order.size() && page.items.size() < search.limit;) {
    page.Push(hits, order[at++]);
  }
  return page;
}

Result<FoundHits> ItemSearch::ByNear(const CheckedSearch& search) {
  const Result<ItemAndVectors> near = table_.ReadVectors(*search.near, search.now_ms);
  if (!near) return std::unexpected(near.error());
  if (near->vectors.empty()) {
    return Error(
        StatusCode::kInvalidArgument,
        "near must name an item that has vectors (reembed() makes those that are missing): " +
            json::Quoted(search.near->key));
  }
  const std::vector<float> vector = search::MeanDirection(near->vectors, options_.index->dims);
  CheckedSearch similar = search;
  similar.near = nullptr;
  similar.query_vector = vector;
  similar.excluded_id = near->id;
  return Page(similar);
}

// Origins have weights, which change the order of hits.
Result<FoundHits> ItemSearch::ByVectorAndOrigin(const CheckedSearch& search) {
  CheckedSearch wider = search;
  wider.ranking.origins.clear();
  wider.offset = 0;
  wider.limit = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(HitsToRank(search), std::numeric_limits<std::uint32_t>::max()));
  Result<FoundHits> found = ByListingOrVector(wider);
  if (!found) return found;
  FoundHits page;
  for (const std::size_t i : RankFinally(search, options_.text, {}, found->items)) {
    page.Push(*found, i);
  }
  return page;
}

Result<FoundHits> ItemSearch::ByListingOrVector(const CheckedSearch& search) {
  if (search.by_vector && !search.ranking.origins.empty()) return ByVectorAndOrigin(search);
  Result<ItemHits> hits = Rank(search);
  if (!hits) return std::unexpected(std::move(hits.error()));
  DropBelow(search, *hits);
  Result<FoundHits> found = Fetch(search, *hits);
  if (!found || !search.by_vector || !search.ranking.explain) return found;
  for (SearchItem& item : found->items) item.plan = Describe(taken_);
  return found;
}

Result<FoundHits> ItemSearch::ByText(const CheckedSearch& search) {
  text_plan_ = {};
  Result<std::vector<search::FusedHit>> ranked = RankByText(search);
  if (!ranked) return std::unexpected(std::move(ranked.error()));
  if (ranked->size() > HitsToRank(search)) {
    ranked->resize(static_cast<std::size_t>(HitsToRank(search)));
  }
  ItemHits hits;
  for (const search::FusedHit& hit : *ranked) hits.push_back({hit.id, hit.score});
  Result<FoundHits> found = Fetch(search, hits);
  if (!found) return found;
  std::vector<SearchItem>& items = found->items;
  for (std::size_t i = 0; i < hits.size(); ++i) items[i].parts = std::move((*ranked)[i].parts);
  FoundHits page;
  for (const std::size_t i : RankFinally(search, options_.text, text_plan_.terms, items)) {
    if (search.ranking.explain) {
      items[i].plan = Describe(search, text_plan_);
      if (search.by_vector) items[i].plan += "; " + Describe(taken_);
    }
    page.Push(*found, i);
  }
  return page;
}

Result<std::vector<search::FusedHit>> ItemSearch::RankByText(const CheckedSearch& search) {
  Result<ItemHits> vectors;
  if (search.by_vector) vectors = Rank(VectorPartOf(search));
  if (!vectors) return std::unexpected(std::move(vectors.error()));
  const std::uint64_t most = search.by_vector
                                 ? std::max<std::uint64_t>(HitsToRank(search), search::kVectorHits)
                                 : HitsToRank(search);
  const auto text = table_.RankByText(search, static_cast<std::size_t>(most),
                                      search::MeaningOf(*vectors, search.ranking), text_plan_);
  if (!text) return std::unexpected(text.error());
  if (search.by_vector) return search::Fuse(*text, *vectors, search.ranking, text_plan_);
  std::vector<search::FusedHit> hits = search::FromText(*text);
  if (Status status = AddContaining(search, hits); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  return hits;
}

// What contains the query as one piece is a hit, if only the last: part of a word, or a key.
Status ItemSearch::AddContaining(const CheckedSearch& search, std::vector<search::FusedHit>& hits) {
  if (search.contains.empty() || hits.size() >= HitsToRank(search)) return {};
  CheckedSearch part = search;
  part.by_text = false;
  part.offset = 0;
  part.limit = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(HitsToRank(search), std::numeric_limits<std::uint32_t>::max()));
  const Result<ItemHits> containing = table_.RankAll(part);
  if (!containing) return containing.error();
  for (const auto& hit : *containing) {
    const bool is_known =
        std::ranges::any_of(hits, [&](const auto& known) { return known.id == hit.id; });
    if (!is_known) hits.push_back({.id = hit.id, .score = 0, .parts = {}});
  }
  return {};
}

Result<ItemHits> ItemSearch::Rank(const CheckedSearch& search) {
  if (!search.by_vector) return table_.RankAll(search);
  const Result<IndexUse> use = table_.UseIndex(search);
  if (!use) return std::unexpected(use.error());
  if (use->near) {
    Result<std::optional<ItemHits>> hits = RankNear(search, *use->near);
    if (!hits) return std::unexpected(std::move(hits.error()));
    if (*hits) return *std::move(*hits);
    CheckedSearch thorough = search;
    thorough.plan = SearchPlan::kCodes;
    return Rank(thorough);
  }
  if (use->index != nullptr) {
    Result<std::optional<ItemHits>> hits = RankByIndex(search, *use);
    if (!hits) return std::unexpected(std::move(hits.error()));
    if (*hits) return *std::move(*hits);
    taken_.plan = SearchPlan::kExact;
  }
  return table_.RankAll(search);
}

Result<std::optional<ItemHits>> ItemSearch::RankByIndex(const CheckedSearch& search,
                                                        const IndexUse& use) {
  const std::size_t wanted = std::size_t{search.offset} + search.limit;
  search::VectorSearch candidates = use.index->Search({.vector = search.query_vector,
                                                       .encoded_prefix = search.encoded_prefix,
                                                       .among = use.among ? &*use.among : nullptr,
                                                       .is_filtered = !search.filter.empty(),
                                                       .wanted = wanted,
                                                       .few = use.few_rows,
                                                       .forced = search.plan,
                                                       .ef_search = search.ef_search});
  const search::CosineQuery query(search.query_vector);
  ScoredHits<RankedItem> ranking;
  while (!ranking.IsSettled(wanted, candidates.bound())) {
    const std::span<const std::uint64_t> ids = candidates.Next();
    taken_ = candidates.taken();
    if (ids.empty() && candidates.is_exhausted()) break;
    if (ids.empty()) return std::nullopt;
    Status status = table_.ScoreCandidates(ids, search, query, ranking, kept_);
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  keepsake::Page page(search.offset, search.limit);
  const bool all_scored = ranking.size() < wanted;
  for (const auto& entry : ranking.Take(0, wanted, std::less<RankedItem>())) {
    page.PushScored(entry.id.id, entry.score);
  }
  if (all_scored) {
    const Result<bool> added = table_.AddUnindexed(search, page);
    if (!added) return std::unexpected(added.error());
    if (!*added) return std::nullopt;
  }
  return page.Take();
}

Result<std::optional<ItemHits>> ItemSearch::RankNear(const CheckedSearch& search,
                                                     const NearItems& near) {
  taken_ = {.plan = SearchPlan::kCodes, .vectors = near.vectors, .in_graph = 0, .by_signs = false};
  const std::size_t wanted = std::size_t{search.offset} + search.limit;
  const search::CosineQuery query(search.query_vector);
  ScoredHits<RankedItem> ranking;
  // Most are hits; some are over, or not what the search wants.
  std::size_t portion = wanted + wanted / 4 + 2;
  for (std::size_t at = 0; at < near.items.size();) {
    std::vector<std::uint64_t> ids;
    const std::size_t end = std::min(at + portion, near.items.size());
    for (; at < end; ++at) ids.push_back(static_cast<std::uint64_t>(near.items[at].id));
    Status status = table_.ScoreCandidates(ids, search, query, ranking, kept_);
    if (!status.ok()) return std::unexpected(std::move(status));
    if (at < near.items.size() && ranking.IsSettled(wanted, near.items[at].score)) break;
    portion *= 3;
  }
  if (!ranking.IsSettled(wanted, near.bound)) return std::nullopt;
  keepsake::Page page(search.offset, search.limit);
  for (const auto& entry : ranking.Take(0, wanted, std::less<RankedItem>())) {
    page.PushScored(entry.id.id, entry.score);
  }
  return page.Take();
}

Result<FoundHits> ItemSearch::Fetch(const CheckedSearch& search, const ItemHits& hits) {
  Result<std::vector<FoundItem>> found = table_.ReadHits(hits, std::exchange(kept_, {}));
  if (!found) return std::unexpected(std::move(found.error()));
  FoundHits fetched;
  fetched.items.reserve(hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    FoundItem& item = (*found)[i];
    if (search.include_superseded) {
      fetched.marks.push_back(
          {MarkOf(EncodeNamespace(item.item.ns), item.item.key), item.successor});
    }
    fetched.items.push_back(
        {.item = std::move(item.item), .score = item.id != 0 ? hits[i].score : std::nullopt});
    fetched.with_ttl.push_back(item.has_ttl ? item.id : 0);
  }
  return fetched;
}

}  // namespace

Result<std::vector<SearchItem>> SearchItems(ItemTable& table, const CheckedSearch& search,
                                            const StoreOptions& options, ItemIds& refreshed) {
  return ItemSearch(table, options, refreshed).Run(search);
}

}  // namespace keepsake
