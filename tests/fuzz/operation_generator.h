// Makes frames of well-formed operations over a small world of labels, keys and
// ids, so that operations meet: some right, some breaking one rule.
#ifndef KEEPSAKE_TESTS_FUZZ_OPERATION_GENERATOR_H_
#define KEEPSAKE_TESTS_FUZZ_OPERATION_GENERATOR_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "../golden/request_builder.h"
#include "byte_source.h"
#include "store/embedding.h"

namespace keepsake::fuzz {

class OperationGenerator {
 public:
  // `has_index`: of a store that has one already, of 3 dimensions.
  explicit OperationGenerator(ByteSource& source, bool has_index = false)
      : source_(source), has_index_(has_index) {}

  // A frame of one to four operations, some time after the last one. The first
  // one often gives the store an index.
  Bytes Frame() {
    now_ms_ += source_.Of<std::int64_t>({1, 0, 500, 1000, 60'000});
    wire::RequestBuilder builder({.sequence = ++sequence_, .now_ms = now_ms_});
    if (sequence_ == 1 && !source_.Chance(3)) {
      const wire::ConfigureStore configure = AnyConfiguration();
      has_index_ = configure.index.has_value();
      return builder.Add(wire::Tag::kConfigureStore, configure).Build();
    }
    if (source_.Chance(2)) builder.Remember(sequence_ - 1 - source_.Below(2) % sequence_);
    const std::size_t count = 1 + source_.Below(4);
    for (std::size_t i = 0; i < count; ++i) Add(builder);
    return builder.Build();
  }

 private:
  static constexpr std::int64_t kStart = 1'700'000'000'000;

  void Add(wire::RequestBuilder& builder) {
    if (source_.Chance(2)) return AddToCheckpointer(builder);
    if (source_.Chance(5)) return AddOfStore(builder);
    AddToBatch(builder);
  }

  void AddToBatch(wire::RequestBuilder& builder) {
    switch (source_.Below(6)) {
      case 0:
        builder.Add(wire::Tag::kGet, GetOp{Labels(), Key(), source_.Chance(2)});
        break;
      case 1:
        builder.Add(wire::Tag::kSearch, AnySearch());
        break;
      case 2:
        builder.Add(wire::Tag::kListNamespaces, AnyListNamespaces());
        break;
      default:
        builder.Add(wire::Tag::kPut, AnyPut());
    }
  }

  void AddOfStore(wire::RequestBuilder& builder) {
    switch (source_.Below(10)) {
      case 8:
      case 9:
        AddOfHistory(builder);
        break;
      case 0:
        builder.Add(wire::Tag::kListKeys, wire::OneNamespace{Labels()});
        break;
      case 1:
        builder.Add(wire::Tag::kClearNamespace, wire::OneNamespace{Labels()});
        break;
      case 2:
        // All or none: which expired items go first is not promised.
        builder.Add(wire::Tag::kSweepExpired,
                    wire::SweepExpired{source_.Of<std::uint32_t>({kMax, 1000, 0})});
        break;
      case 3:
        builder.Add(wire::Tag::kConfigureStore, AnyConfiguration());
        break;
      case 4:
      case 5:
        builder.Add(wire::Tag::kExplainAbsence,
                    wire::ExplainAbsence{AnySearch(), {Labels(), Key()}});
        break;
      case 6:
        AddReembedding(builder);
        break;
      default:
        builder.Add(wire::Tag::kStoreStats, wire::Nothing{});
    }
  }

  void AddOfHistory(wire::RequestBuilder& builder) {
    switch (source_.Below(12)) {
      case 11:
        builder.Add(wire::Tag::kJudgeItems, AnyJudging());
        // As it is, or as it can't be.
        builder.Add(wire::Tag::kEvictItems, EvictItems{Labels(), {{Key(), Time(), 0}}});
        break;
      case 9:
        builder.Add(wire::Tag::kKeepAudit, AnyAudit());
        builder.Add(wire::Tag::kAuditRule, wire::Nothing{});
        break;
      case 10:
        builder.Add(wire::Tag::kAuditLog, AuditQuery{Prefix(), 0, std::nullopt, Limit()});
        break;
      case 0:
        builder.Add(wire::Tag::kKeepHistory, AnyHistoryRule());
        break;
      case 1:
        if (source_.Chance(4)) builder.Add(wire::Tag::kDropHistory, wire::OneNamespace{Prefix()});
        builder.Add(wire::Tag::kHistoryRules, wire::Nothing{});
        break;
      case 2:
      case 3:
        builder.Add(wire::Tag::kHistory, wire::History{{Labels(), Key()}, Limit()});
        break;
      case 4:
        builder.Add(wire::Tag::kGetAsOf, wire::GetAsOf{{Labels(), Key(), true}, Time()});
        break;
      case 5:
        builder.Add(wire::Tag::kSearchAsOf, wire::SearchAsOf{AnySearch(), Time()});
        break;
      case 6:
        builder.Add(wire::Tag::kListNamespacesAsOf,
                    wire::ListNamespacesAsOf{AnyListNamespaces(), Time()});
        break;
      default:
        builder.Add(
            wire::Tag::kUndo,
            Undo{Usually<std::int64_t>({1, 2, 3, 5, 8, 13}, {0, -1, 1'000}), source_.Chance(2)});
    }
  }

  JudgeItems AnyJudging() {
    JudgeItems page{.ns_prefix = Prefix(), .limit = Limit()};
    if (source_.Chance(2)) page.after = ItemRef{Labels(), Key()};
    return page;
  }

  wire::KeepAudit AnyAudit() {
    if (source_.Chance(4)) return {};
    AuditRule rule{.max_entries = Usually<std::uint32_t>({2, 30, 10'000}, {0, kMax})};
    if (source_.Chance(3)) rule.max_age_ms = Usually<std::int64_t>({500, 60'000}, {0, -1});
    return {rule};
  }

  HistoryRule AnyHistoryRule() {
    HistoryRule rule{.ns = Prefix()};
    rule.max_versions = Usually<std::uint32_t>({1, 2, 50}, {0, kMax});
    if (source_.Chance(3)) {
      rule.max_age_ms =
          Usually<std::int64_t>({500, 60'000}, {0, -1, std::numeric_limits<std::int64_t>::max()});
    }
    return rule;
  }

  void AddReembedding(wire::RequestBuilder& builder) {
    if (source_.Chance(2)) {
      builder.Add(wire::Tag::kReadPending, wire::ReadPending{Limit()});
    } else {
      const std::int64_t id = source_.Of<std::int64_t>({1, 2, 0, -1});
      const std::vector<std::string> paths = {source_.Of<const char*>({"", "a"})};
      builder.Add(wire::Tag::kEmbedPending,
                  wire::EmbedPending{{{id, FingerprintOf(Value(), paths), {{"$", Vector()}}}}});
    }
  }

  void AddToCheckpointer(wire::RequestBuilder& builder) {
    switch (source_.Below(16)) {
      case 0:
        builder.Add(wire::Tag::kGetTuple, KeyOrNewest());
        break;
      case 1:
      case 2:
        builder.Add(wire::Tag::kListCheckpoints, AnyListCheckpoints());
        break;
      case 3:
        builder.Add(wire::Tag::kListWrites, wire::ListWrites{AnyCheckpointKey(), Channel()});
        break;
      case 4:
        builder.Add(wire::Tag::kDeltaChannelHistory,
                    wire::GetDeltaChannelHistory{KeyOrNewest(), {Channel(), Channel()}});
        break;
      case 5:
        AddRetention(builder);
        break;
      case 6:
        builder.Add(wire::Tag::kCheckpointerStats, wire::Nothing{});
        break;
      case 7:
      case 8:
      case 9:
      case 10:
        builder.Add(wire::Tag::kPutWrites, wire::PutWrites{AnyCheckpointKey(), Writes()});
        break;
      default:
        builder.Add(wire::Tag::kPutCheckpoint, AnyCheckpoint());
    }
  }

  void AddRetention(wire::RequestBuilder& builder) {
    switch (source_.Below(6)) {
      case 4:
        builder.Add(wire::Tag::kRenameThread, wire::RenameThread{ThreadId(), ThreadId()});
        break;
      case 5:
        builder.Add(wire::Tag::kForkThread,
                    wire::ForkThread{ThreadId(), CheckpointId(), ThreadId()});
        break;
      case 0:
        builder.Add(wire::Tag::kDeleteThread, wire::DeleteThread{ThreadId()});
        break;
      case 1:
        builder.Add(wire::Tag::kCopyThread, wire::CopyThread{ThreadId(), ThreadId()});
        break;
      case 2:
        builder.Add(wire::Tag::kDeleteForRuns, wire::DeleteForRuns{{RunId(), RunId()}});
        break;
      default:
        builder.Add(wire::Tag::kPrune,
                    RetentionRules{.thread_ids = {{ThreadId(), ThreadId()}},
                                   .strategy = source_.Chance(4) ? PruneStrategy::kDelete
                                                                 : PruneStrategy::kKeepLatest});
    }
  }

  PutOp AnyPut() {
    PutOp put{.ns = Labels(), .key = Key(), .value = {}, .index = AnyIndexChoice(), .vectors = {}};
    if (!source_.Chance(6)) put.value = Value();
    put.ttl_ms = Usually<std::int64_t>(
        {PutOp::kDefaultTtl, PutOp::kNoTtl, 1, 1000, 60'000, PutOp::AsDefault(1000)},
        {-7, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()});
    for (const char* path : {"$", "a", "b.0", "b.1"}) {
      if (source_.Chance(3) && MayHaveVectors()) put.vectors.push_back({path, Vector()});
    }
    if (source_.Chance(4)) put.validity = Validity{OptionalTime(), OptionalTime()};
    if (source_.Chance(4)) put.supersedes = ItemRef{Labels(), Key()};
    if (source_.Chance(3)) {
      put.provenance =
          Provenance{AnyOrigin(), source_.Of<std::string>({"", "a", "ab", "b"}), source_.Chance(3)};
    }
    return put;
  }
  Origin AnyOrigin() { return static_cast<Origin>(source_.Below(5)); }
  std::optional<std::int64_t> OptionalTime() {
    if (source_.Chance(2)) return std::nullopt;
    return Time();
  }
  // Near the time of the frames, which meet some of them.
  std::int64_t Time() {
    return Usually<std::int64_t>(
        {kStart, kStart + 500, now_ms_, now_ms_ + 1000, now_ms_ + 60'000, 0, -Validity::kMostMs},
        {Validity::kMostMs + 1, std::numeric_limits<std::int64_t>::min()});
  }
  SearchOp AnySearch() {
    SearchOp search{
        .ns_prefix = Prefix(), .filter = Filter(), .query = Query(), .query_vector = {}};
    search.limit = Limit();
    search.offset = source_.Of<std::uint32_t>({0, 0, 0, 1, 2, kMax});
    search.mode = source_.Of({SearchMode::kAuto, SearchMode::kContains, SearchMode::kVector,
                              SearchMode::kText, SearchMode::kHybrid});
    search.refresh_ttl = source_.Chance(2);
    const bool by_vector = !search.query.empty() && search.mode != SearchMode::kContains &&
                           search.mode != SearchMode::kText;
    if (by_vector && MayHaveVectors()) search.query_vector = Vector();
    search.plan =
        source_.Of({SearchPlan::kAuto, SearchPlan::kExact, SearchPlan::kCodes, SearchPlan::kGraph});
    search.ef_search = source_.Of<std::uint32_t>({0, 0, 1, kMax});
    search.include_superseded = source_.Chance(3);
    search.include_quarantined = source_.Chance(2);
    if (search.include_superseded == IsRare() && source_.Chance(3)) search.as_of_ms = Time();
    if (source_.Chance(3)) search.ranking = AnyRanking();
    if (source_.Chance(6)) SearchNear(search);
    // What costs least is not the same in both backends.
    if (search.ranking && search.ranking->explain) search.plan = SearchPlan::kExact;
    return search;
  }
  // Near an item, or a vector without a text.
  void SearchNear(SearchOp& search) {
    if (!source_.Chance(3)) search.query.clear();
    search.mode = Usually<SearchMode>({SearchMode::kVector, SearchMode::kAuto, SearchMode::kHybrid},
                                      {SearchMode::kText});
    if (source_.Chance(3)) {
      search.query_vector = Vector();
    } else {
      search.query_vector.clear();
      search.near = ItemRef{Labels(), Key()};
    }
  }
  Ranking AnyRanking() {
    Ranking ranking{
        .fusion = source_.Of({Fusion::kWeighted, Fusion::kReciprocalRank, Fusion::kStandout}),
        .vector_weight = Usually<double>({0, 0.3, 1}, {-1, 2}),
        .recency = Usually<double>({0, 0, 0.5}, {-1}),
        .half_life_ms = Usually<std::int64_t>({1000}, {0}),
        .diversity = Usually<double>({0, 0, 0.5}, {2}),
        .explain = source_.Chance(2),
        .snippet_length = source_.Of<std::uint32_t>({0, 8, 1000})};
    if (source_.Chance(3))
      ranking.min_score = Usually<double>({0, 0.2, 0.9}, {std::numeric_limits<double>::infinity()});
    if (source_.Chance(3)) ranking.origins = {{AnyOrigin(), Usually<double>({0.5, 0, 1}, {-1})}};
    if (source_.Chance(3)) ranking.boosts = {{"n", Usually<double>({0.5, -1}, {3})}};
    return ranking;
  }
  ListNamespacesOp AnyListNamespaces() {
    ListNamespacesOp list;
    while (source_.Chance(3)) {
      list.match_conditions.push_back({static_cast<MatchType>(source_.Below(2)), Pattern()});
    }
    if (source_.Chance(2)) list.max_depth = Usually<std::uint32_t>({1, 2, kMax}, {0});
    list.limit = Limit();
    list.offset = source_.Of<std::uint32_t>({0, 0, 1, kMax});
    return list;
  }
  wire::ConfigureStore AnyConfiguration() {
    wire::ConfigureStore configure;
    if (!source_.Chance(4)) {
      configure.index = IndexConfig{Usually<std::uint32_t>({3}, {2, 0, 65536, kMax}),
                                    {Usually<const char*>({"$", "a", "t[*]"}, {"", "a..b"})}};
    }
    if (source_.Chance(2)) configure.text = AnyTextConfig();
    return configure;
  }
  TextConfig AnyTextConfig() {
    TextConfig text{.group = source_.Text({"", "g"}),
                    .position = source_.Text({"", "n"}),
                    .speaker = source_.Text({"", "who"})};
    if (source_.Chance(2)) {
      text.fields = {{"a", Usually<double>({1, 2}, {0, -1})}, {"t[*]", 0.5}};
    }
    text.language = source_.Of({Language::kEnglish, Language::kNone, Language::kGerman});
    return text;
  }
  IndexChoice AnyIndexChoice() {
    IndexChoice choice{static_cast<IndexChoice::Kind>(source_.Below(3)), {}};
    if (choice.kind != IndexChoice::Kind::kPaths && !IsRare()) return choice;
    choice.paths.push_back(
        Usually<const char*>({"$", "a", "t[*]", "t[-1]", "{a,n}", "a.b"}, {"[", ""}));
    return choice;
  }

  NewCheckpoint AnyCheckpoint() {
    NewCheckpoint checkpoint{.key = AnyCheckpointKey(),
                             .parent_checkpoint_id = source_.Chance(4) ? "" : CheckpointId(),
                             .checkpoint = AnyBlob(),
                             .metadata = Metadata(),
                             .channel_versions = {},
                             .new_versions = {},
                             .values = {}};
    for (const char* channel : {"m", "n", "__pregel_tasks", "ä"}) {
      if (source_.Chance(2)) AddChannel(IsRare() ? "m" : channel, checkpoint);
    }
    if (IsRare()) checkpoint.values.push_back({Channel(), "1", AnyBlob()});
    return checkpoint;
  }
  void AddChannel(const std::string& channel, NewCheckpoint& checkpoint) {
    const std::string version = source_.Text({"1", "2", "3", ""});
    checkpoint.channel_versions.push_back({channel, version});
    if (source_.Chance(3)) return;
    checkpoint.new_versions.push_back(channel);
    if (!source_.Chance(4)) checkpoint.values.push_back({channel, version, AnyBlob()});
  }
  ListCheckpoints AnyListCheckpoints() {
    ListCheckpoints list;
    if (!source_.Chance(3)) list.thread_id = ThreadId();
    if (source_.Chance(3)) list.checkpoint_ns = CheckpointNs();
    if (source_.Chance(6)) list.checkpoint_id = CheckpointId();
    if (source_.Chance(6)) list.before = CheckpointId();
    if (source_.Chance(6)) list.after = CheckpointId();
    list.filter = Usually<const char*>({"", "", "", "{}", "{\"step\":1}", "{\"run_id\":\"r1\"}",
                                        "{\"o\":{\"b\":2,\"a\":1}}", "{\"missing\":null}"},
                                       {"[]", "{"});
    if (source_.Chance(6)) list.cursor = AnyCheckpointKey();
    list.limit = Limit();
    return list;
  }
  std::vector<PendingWrite> Writes() {
    std::vector<PendingWrite> writes;
    for (std::size_t i = source_.Below(4); i > 0; --i) {
      writes.push_back({source_.Text({"task1", "task2", "Z"}),
                        source_.Of<std::int32_t>(
                            {0, 1, 2, -1, -3, -4, std::numeric_limits<std::int32_t>::min()}),
                        Channel(), AnyBlob(), source_.Text({"", "~a", "~b, 1", "ä"})});
    }
    return writes;
  }
  CheckpointKey AnyCheckpointKey() {
    return {ThreadId(), CheckpointNs(), IsRare() ? "" : CheckpointId()};
  }
  CheckpointKey KeyOrNewest() {
    CheckpointKey key = AnyCheckpointKey();
    if (source_.Chance(2)) key.checkpoint_id.clear();
    return key;
  }
  Blob AnyBlob() {
    const ByteView bytes = source_.Take(source_.Below(9));
    return {source_.Text({"json", "bytes", ""}), Bytes(bytes.begin(), bytes.end())};
  }
  Blob Metadata() {
    const std::string json = Usually<const char*>(
        {"{\"step\":1,\"run_id\":\"r1\"}", "{\"step\":2,\"run_id\":\"r2\"}",
         "{\"o\":{\"a\":1,\"b\":2}}", "{\"run_id\":[\"r1\"]}", "{\"step\":1.0}"},
        {"[]", "{", ""});
    return {source_.Chance(6) ? "msgpack" : "json", Bytes(json.begin(), json.end())};
  }

  Namespace Labels() {
    if (IsRare()) return {};
    Namespace labels{source_.Text({"a", "b", "ab"})};
    while (source_.Chance(3)) labels.push_back(Label());
    return labels;
  }
  Namespace Prefix() { return source_.Chance(2) ? Namespace{} : Labels(); }
  Namespace Pattern() {
    Namespace pattern = Labels();
    if (source_.Chance(2)) pattern.insert(pattern.begin(), "*");
    return pattern;
  }
  std::string Label() {
    return Usually<const char*>({"a", "ü", "\x1e",
                                 "\x1f"
                                 "0",
                                 "\U0001F5DD", "*"},
                                {"langgraph", "", "a.b", "a:b", "\xed\xa0\xbd", "\xff"});
  }
  std::string Key() {
    return Usually<const char*>({"k1", "k2", "K1", "ü::\x1f"}, {"", "\xc0\x80"});
  }
  std::string Value() {
    return Usually<const char*>(
        {"{\"n\":1,\"a\":\"x\"}", "{\"n\":2,\"a\":\"y\"}", "{\"n\":2.0}",
         "{\"n\":\"2\",\"t\":[\"p\",\"q\"]}", "{\"o\":{\"a\":[1,2],\"b\":null}}",
         "{\"a\":\"\\ud83d\"}", "{\"n\":12345678901234567890}", "\"text\"", "[1,2,3]", "null",
         "{\"a\":1,\"a\":2}",
         "{\"a\":\"Did Ann go to Paris?\",\"g\":\"s\",\"n\":1,\"who\":\"Bob\"}",
         "{\"a\":\"Yes, on 8 May 2023, with 3 friends\",\"g\":\"s\",\"n\":2,\"who\":\"Ann\"}",
         "{\"a\":\"Paris was lovely, yes\",\"g\":\"s\",\"n\":3,\"who\":\"Ann\"}",
         "{\"a\":\"我在巴黎\",\"g\":\"t\",\"n\":-1.5,\"t\":[\"paris paris\"]}"},
        {"{\"n\":1e400}", "{", "NaN", "", "\"\xff\""});
  }
  std::string Filter() {
    return Usually<const char*>(
        {"", "", "", "", "{}", "{\"n\":1}", "{\"n\":{\"$gt\":1}}",
         "{\"n\":{\"$in\":[1,\"2\"]},\"a\":{\"$ne\":\"x\"}}", "{\"n\":{\"$nin\":[2]}}",
         "{\"o\":{\"b\":null,\"a\":[1,2]}}", "{\"a\":{\"$lte\":\"x\"}}",
         "{\"n\":{\"$lt\":2,\"$gte\":1}}", "{\"a\":null}"},
        {"{\"n\":{\"$like\":1}}", "{\"n\":{\"$in\":1}}", "[]", "{"});
  }
  std::string Query() {
    return source_.Text({"", "", "x", "N", "%", "k1", "\xed\xa0\xbd", "When did Ann go to Paris?",
                         "\"to paris\"", "par*", "pariss", "May 2023", "巴黎", "how many friends"});
  }
  std::vector<float> Vector() {
    std::vector<float> vector(IsRare() ? source_.Below(5) : 3);
    for (float& value : vector) {
      value = Usually<float>(
          {1, 0, -1, 0.5F, 1e30F, 1e-40F},
          {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()});
    }
    return vector;
  }
  std::uint32_t Limit() { return source_.Of<std::uint32_t>({10, 100, kMax, 0, 1, 2}); }

  std::string ThreadId() {
    return Usually<std::string>({"t1", "t2", "ü"}, {"", "\xed\xa0\xbd", std::string("a\0b", 3)});
  }
  std::string CheckpointNs() { return source_.Text({"", "", "child:1"}); }
  std::string CheckpointId() { return source_.Text({"c1", "c2", "c3", "c4", "c5"}); }
  std::string Channel() { return Usually<const char*>({"m", "n", "__pregel_tasks", "ä"}, {""}); }
  std::string RunId() { return source_.Text({"r1", "r2", ""}); }

  // What breaks a rule is rare, because it hides all that is around it.
  bool IsRare() { return source_.Chance(40); }
  template <typename T>
  T Usually(std::initializer_list<T> right, std::initializer_list<T> wrong) {
    return IsRare() ? source_.Of(wrong) : source_.Of(right);
  }
  bool MayHaveVectors() { return has_index_ != IsRare(); }

  static constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();

  ByteSource& source_;
  bool has_index_;
  std::int64_t now_ms_ = kStart;
  std::uint64_t sequence_ = 0;
};

}  // namespace keepsake::fuzz

#endif  // KEEPSAKE_TESTS_FUZZ_OPERATION_GENERATOR_H_
