// A Store maps (namespace, key) to a JSON value, and finds values by filter,
// text and vector.
// Batch() sees the store as it was before the call, then applies writes:
// the last write to a key wins, all of them or none.
// Not thread-safe; a Store belongs to one thread (in wasm, one worker).
#ifndef KEEPSAKE_STORE_H_
#define KEEPSAKE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "keepsake/clock.h"
#include "keepsake/embedder.h"
#include "keepsake/eviction.h"
#include "keepsake/function_ref.h"
#include "keepsake/history.h"
#include "keepsake/operation.h"
#include "keepsake/provenance.h"
#include "keepsake/status.h"
#include "keepsake/text_config.h"

namespace keepsake {

// In core/src/store: what Batch() makes of its operations, and what it applies them to.
struct CheckedBatch;
class ItemTable;
class Replicated;

struct IndexConfig {
  std::uint32_t dims = 0;                   // length of every vector, 1…65536
  std::vector<std::string> fields = {"$"};  // default paths; "$" is the whole value
  // Names what makes the vectors, "" for unknown. It is kept with them, and a store that
  // names another one is refused: kModelMismatch, or kDimensionMismatch if dims differ.
  std::string model{};
  // Unless this is set. Then the vectors there are given up, and their items wait to be
  // embedded anew: Store::ReadPending().
  bool replace_vectors = false;

  bool operator==(const IndexConfig& other) const {
    return dims == other.dims && fields == other.fields && model == other.model;
  }
};

struct TtlConfig {  // of all items that say nothing else
  std::int64_t default_ttl_ms = PutOp::kNoTtl;
  bool refresh_on_read = true;

  bool operator==(const TtlConfig&) const = default;
};

struct StoreOptions {
  std::optional<IndexConfig> index;
  TtlConfig ttl;
  TextConfig text;
  Embedder* embedder = nullptr;         // borrowed; needs `index`
  const Clock* clock = &SystemClock();  // borrowed
  Replicated* replicated = nullptr;     // borrowed
};

// A key is well-formed UTF-8 without NUL and may be empty; a value is any JSON.
inline constexpr std::size_t kMaxKeyBytes = 64 * 1024;
inline constexpr std::size_t kMaxValueBytes = 64 * 1024 * 1024;
inline constexpr std::uint32_t kMaxDims = 65536;

// What must be embedded before a batch, for hosts that embed outside: see
// Store::PrepareEmbedding().
struct EmbeddingPlan {
  struct Put {
    std::size_t position;            // of the operation in the batch
    std::vector<std::string> paths;  // of its texts, as FieldVector::path
    std::vector<std::size_t> texts;  // indexes into `texts`, parallel to `paths`
  };
  std::vector<std::string> texts;  // distinct, for EmbedDocuments
  std::vector<Put> puts;
  std::vector<std::string> queries;          // distinct, for EmbedQuery
  std::vector<std::size_t> query_positions;  // operations that want queries[query_of[i]]
  std::vector<std::size_t> query_of;         // parallel to query_positions
};

// Items whose vectors were given up for those of another model, or that were put without any:
// before there was an index, or by a host that doesn't know of it.
struct PendingEmbedding {
  std::int64_t id = 0;
  std::uint32_t fingerprint = 0;   // of the value and of what was chosen of it
  std::vector<std::string> paths;  // of its texts, as FieldVector::path
  std::vector<std::string> texts;  // parallel to `paths`
};
struct PendingEmbeddings {
  std::vector<PendingEmbedding> items;
  std::uint64_t left = 0;  // `items` included
};
struct ItemVectors {
  std::int64_t id = 0;
  std::uint32_t fingerprint = 0;     // as PendingEmbedding has it
  std::vector<FieldVector> vectors;  // of all its paths
};

// Why an item is no hit of a search. Persistent, never renumber.
enum class Absence : std::uint8_t {
  kNone = 0,           // it is a hit
  kNoItem = 1,         // there is none, or it has expired
  kOutside = 2,        // its namespace is not below the prefix
  kFiltered = 3,       // the filter refuses its value
  kNoMatch = 4,        // it holds nothing of the query
  kBelowMinScore = 5,  // Ranking::min_score
  kNotOnPage = 6,      // others come first, or it is before the offset
  kNotValid = 7,       // it does not hold at the time of the search
  kQuarantined = 8,    // as Provenance::is_quarantined says
};
struct WhyNot {
  Absence absence = Absence::kNone;
  std::optional<std::uint64_t> rank;  // 0 for the first, diversity left aside; if it matches
  std::optional<double> score;
  std::optional<double> last_score;  // of the last hit of the page
  std::vector<ScorePart> parts;
};

struct StoreStats {
  std::uint64_t items = 0;
  std::uint64_t namespaces = 0;
  std::uint64_t vectors = 0;
  std::uint64_t pending = 0;   // items that ReadPending() gives
  std::uint64_t in_graph = 0;  // vectors that searches can find by the graph
};

// How much a namespace holds, of what has not expired.
struct StoreUsage {
  std::uint64_t items = 0;
  // Of namespaces, as EncodeNamespace() has them, keys, values and sources.
  std::uint64_t bytes = 0;

  bool operator==(const StoreUsage&) const = default;
};

// What Store::Erase() erased.
struct ErasedItems {
  std::uint64_t items = 0;
  std::uint64_t vectors = 0;
  std::uint64_t versions = 0;
  std::uint64_t bytes = 0;  // of keys and values, versions included
  std::uint64_t restored = 0;
};

// One step of Store::ImproveIndex().
struct IndexStep {
  std::uint32_t vectors = 0;  // that it inserts at most
  // Somebody waits for it: the index is read if it was not yet, few vectors get a graph,
  // too, and what was done is saved in the end, however little it is.
  bool is_wanted = false;
};
struct IndexProgress {  // after a step
  std::uint64_t vectors = 0;
  std::uint64_t in_graph = 0;
  bool is_done = true;
};

class Store {
 public:
  virtual ~Store() = default;

  // One result per operation, in order. An error leaves the store as it was, and
  // names the operation's position if there are several. Embeds with the Embedder
  // if there is one: one EmbedDocuments() and an EmbedQuery() per distinct query.
  Result<std::vector<OperationResult>> Batch(std::span<const Operation> operations);

  // Batches of one. Put() refuses the reserved root "langgraph", which Batch() allows.
  Result<std::optional<Item>> Get(Namespace ns, std::string key);
  Status Put(Namespace ns, std::string key, std::string value);
  Status Delete(Namespace ns, std::string key);
  Result<std::vector<SearchItem>> Search(SearchOp search);
  Result<std::vector<Namespace>> ListNamespaces(ListNamespacesOp list = {});

  // Keys of exactly this namespace, sorted by code point.
  Result<std::vector<std::string>> List(const Namespace& ns);
  // Deletes all items of exactly this namespace; says how many there were.
  Result<std::uint64_t> ClearNamespace(const Namespace& ns);
  // Deletes the items of these namespaces and of all below them, expired ones, too, which the
  // filter lets through and which come from there; `{}` is everything. With `dry_run` it only
  // says what that would be. If it says from where, what had another value of another origin
  // before has it again, as far as history is kept; and what one of them superseded holds again.
  // An earlier value is put back only if `may_put_back` lets it. What was deleted is in free pages
  // still: sql::Database::Scrub().
  Result<ErasedItems> Erase(std::span<const Namespace> prefixes, const std::string& filter,
                            const ProvenanceFilter& from, bool dry_run,
                            FunctionRef<bool(const PutOp&)> may_put_back = nullptr);
  // What an eviction chooses from. `is_held` is left to who knows of holds.
  Result<std::vector<JudgedItem>> Judge(const JudgeItems& page);
  // Which of these items are still as they were judged, by their keys.
  Result<std::vector<std::string>> FindUnchanged(const EvictItems& judged);
  // Deletes expired items, at most `max_items`; says how many. Reads never
  // return expired items, swept or not.
  virtual Result<std::uint64_t> SweepExpired(std::uint32_t max_items) = 0;
  virtual Result<StoreStats> Stats() = 0;
  // Of exactly this namespace, or with all that is below it. Goes through all of it.
  Result<StoreUsage> Measure(const Namespace& ns, bool below);

  // Why the item is no hit of the search. As dear as the search without a limit.
  Result<WhyNot> ExplainAbsence(const SearchOp& search, const ItemRef& item);

  // Keeps what items of this namespace and below it were, from now on; or changes how much.
  Status KeepHistory(const HistoryRule& rule);
  // Keeps it no longer, and drops what was kept.
  Status DropHistory(const Namespace& ns);
  Result<std::vector<HistoryRule>> ListHistoryRules();  // by namespace
  // The versions of an item, the newest first. kNoHistory where none is kept.
  Result<std::vector<Version>> History(const ItemRef& item, std::uint32_t limit);
  // The answers as they would have been at that time, which restart no TTL. kNoHistory for a
  // time that is not known of all that is asked for. A search and a list read all items below
  // their prefix, and a search analyses their texts. It finds by the vectors that items had.
  Result<std::optional<Item>> GetAsOf(const GetOp& get, std::int64_t at_ms);
  Result<std::vector<SearchItem>> SearchAsOf(const SearchOp& search, std::int64_t at_ms);
  Result<std::vector<Namespace>> ListNamespacesAsOf(const ListNamespacesOp& list,
                                                    std::int64_t at_ms);
  // What an operation did to items in these namespaces, and what they were before it: as puts of
  // the values, or deletions. Fails as UndoOperation() does.
  using Concerned = FunctionRef<bool(const Namespace& ns)>;  // null for all
  Result<std::vector<PutOp>> ReadUndo(const Undo& undo, Concerned concerned);
  // Makes items again what they were before an operation: values, times, TTLs, validity and
  // vectors. Others it did not touch, as far as is told: kNotFound for an operation that is none;
  // kNoHistory if a part of it is not kept any more; kChangedSince if something newer changed
  // an item.
  Result<Undone> UndoOperation(const Undo& undo, Concerned concerned = nullptr);
  // Who makes the changes that follow: versions say so.
  void SetActor(std::string actor) { actor_ = std::move(actor); }

  // Up to `limit` of the items that wait for vectors, the oldest first. Searches find them
  // by words meanwhile, and by vector as items that have none.
  virtual Result<PendingEmbeddings> ReadPending(std::uint32_t limit) = 0;
  // Gives items their vectors, unless they were put, deleted or imported anew since
  // ReadPending(). Says how many it gave.
  Result<std::uint64_t> EmbedPending(std::span<const ItemVectors> items);

  // Takes vectors into the graph that searches among very many of them go by, or saves a
  // piece of it; and analyses texts that were put where searches by words were. A host calls
  // it when it is idle, with some 10 vectors (each takes up to half a millisecond), until it
  // is done. Answers don't depend on it, speed does.
  virtual Result<IndexProgress> ImproveIndex(const IndexStep& step) = 0;

  // The texts of `operations` that have no vectors yet and will be stored or asked
  // for: not those of a put that a later one replaces. Empty without an index.
  // Refuses what Batch() would refuse, before anything is spent on embedding.
  Result<EmbeddingPlan> PrepareEmbedding(std::span<const Operation> operations) const;

  // How much text the calls that follow may analyse for searches by words, all together, in
  // bytes: about two megabytes take a second. A search that needs more fails with kIndexing. It
  // goes on when it is asked again after a new limit. nullopt, the default: no limit.
  void LimitTextWork(std::optional<std::size_t> bytes) { text_left_ = bytes; }

  const StoreOptions& options() const { return options_; }
  // Gives a store that has no index or text configuration one.
  // kConflictingOptions if it has another already; the same one again is fine.
  Status Configure(const std::optional<IndexConfig>& index,
                   const std::optional<TextConfig>& text = std::nullopt);

 protected:
  explicit Store(StoreOptions options)
      : options_(std::move(options)), text_configured_(options_.text != TextConfig{}) {}

  virtual ItemTable& items() = 0;
  const std::string& actor() const { return actor_; }
  // Bytes left of LimitTextWork().
  std::optional<std::size_t>& text_left() { return text_left_; }
  // Hook of Configure(): checks dims against what is stored.
  virtual Status CheckIndex(const IndexConfig& index) = 0;
  // Hook of EmbedPending(): vectors fit the index.
  virtual Result<std::uint64_t> WritePending(std::span<const ItemVectors> items) = 0;

 private:
  Result<std::vector<Operation>> Embed(std::span<const Operation> operations);
  // All reads, then all writes or none.
  Result<std::vector<OperationResult>> Apply(const CheckedBatch& batch);

  StoreOptions options_;
  std::string actor_;
  bool text_configured_ = false;
  std::optional<std::size_t> text_left_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_H_
