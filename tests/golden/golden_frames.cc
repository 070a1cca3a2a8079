#include "golden_frames.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keepsake::golden {
namespace {

using wire::Tag;

template <typename T>
Result<Bytes> Reencode(ByteView bytes) {
  Result<T> value = wire::Decode<T>(bytes);
  if (!value) return std::unexpected(value.error());
  return wire::Encode(*value);
}

template <typename Payload, typename Answer = wire::Nothing>
GoldenFrame Golden(std::string name, Tag tag, const Payload& payload, const Answer& answer = {},
                   wire::FrameKind kind = wire::FrameKind::kExecute) {
  GoldenFrame golden{.name = std::move(name),
                     .request = wire::RequestBuilder(Header(kind)).Add(tag, payload).Build(),
                     .response = {},
                     .reencode_payload = Reencode<Payload>,
                     .reencode_answer = Reencode<Answer>};
  wire::ResponseWriter(golden.response, kind, kSequence, 1).Answer(answer);
  return golden;
}

CheckpointKey AnyKey() { return {"thread-1", "parent:child", "1ef4f797-8335-6428-8001"}; }
CheckpointTuple AnyTuple() {
  return {AnyKey(),
          "1ef4f797-8335-6428-8000",
          JsonBlob("{\"v\":4}"),
          JsonBlob("{\"step\":-1}"),
          {{"messages", "2", AnyBlob()}, {"é", "0.5", JsonBlob("null")}},
          {AnyWrite(), {"task-2", 7, "messages", JsonBlob("[]"), ""}}};
}
// Of a list that grows: [1,1,…]
CheckpointTuple AnyVersion(std::string version, std::size_t elements) {
  std::string list = "[1";
  for (std::size_t i = 1; i < elements; ++i) list += ",1";
  return {AnyKey(), "", {}, {}, {{"messages", std::move(version), JsonBlob(list + "]")}}, {}};
}
sql::OpenOptions AnyOptions() {
  return {"memory.db", sql::Durability::kStrict, "node", true, BytesOf("keys")};
}

SearchOp AnySearch() {
  const Ranking ranking{.min_score = 0.25,
                        .fusion = Fusion::kReciprocalRank,
                        .vector_weight = 0.5,
                        .recency = 0.125,
                        .half_life_ms = 86'400'000,
                        .boosts = {{"importance", -0.5}},
                        .diversity = 0.75,
                        .explain = true,
                        .snippet_length = 160,
                        .origins = {{Origin::kWeb, 0.5}}};
  return {AnyNamespace(),
          "{\"n\":{\"$gte\":1}}",
          "wo ist 🗝?",
          7,
          3,
          SearchMode::kHybrid,
          false,
          {0.25F, -0.5F},
          ranking,
          ItemRef{{"users", "ü1"}, "🗝"},
          SearchPlan::kGraph,
          256,
          1'650'000'000'000,
          true,
          true};
}

std::vector<GoldenFrame> StoreFrames() {
  ListNamespacesOp list{
      {{MatchType::kPrefix, {"users", "*"}}, {MatchType::kSuffix, {"記憶"}}}, 2, 50, 5};
  return {
      Golden("get", Tag::kGet, GetOp{AnyNamespace(), "clé 🗝", false},
             std::optional<Item>(AnyItem())),
      Golden("get_missing", Tag::kGet, GetOp{{"a"}, "", true}, std::optional<Item>()),
      Golden("put", Tag::kPut, AnyPut()),
      Golden("put_delete", Tag::kPut,
             PutOp{.ns = {"a"}, .key = "k", .value = {}, .index = {}, .vectors = {}}),
      Golden("search", Tag::kSearch, AnySearch(),
             std::vector<SearchItem>{{AnyItem(),
                                      -0.625,
                                      {{"words", 2.5}},
                                      Snippet{"wo ist 🗝", {{0, 2}, {7, 11}}},
                                      "words: 3 candidates of 9 items"},
                                     {{{"a"}, "k", "null", 0, -1, Validity{{}, 5}}, std::nullopt}}),
      Golden("list_namespaces", Tag::kListNamespaces, list,
             std::vector<Namespace>{{"users", "ü1"}, {"x"}}),
      Golden("list_keys", Tag::kListKeys, wire::OneNamespace{AnyNamespace()},
             std::vector<std::string>{"", "a", "🗝"}),
      Golden("clear_namespace", Tag::kClearNamespace, wire::OneNamespace{AnyNamespace()},
             std::uint64_t{0x1'0000'0002}),
      Golden("sweep_expired", Tag::kSweepExpired, wire::SweepExpired{1000}, std::uint64_t{3}),
      Golden("configure_store", Tag::kConfigureStore,
             wire::ConfigureStore{
                 IndexConfig{512, {"$", "text"}, "use-lite 🗝", true},
                 TextConfig{{{"text", 2}}, "session", "turn", "speaker", Language::kGerman}}),
      Golden("store_stats", Tag::kStoreStats, wire::Nothing{},
             StoreStats{1, 2, 0x1F'FFFF'FFFF'FFFF, 4, 5}),
      Golden("explain_absence", Tag::kExplainAbsence,
             wire::ExplainAbsence{AnySearch(), {AnyNamespace(), "clé 🗝"}},
             WhyNot{Absence::kNotOnPage, 12, 0.25, 0.5, {{"words", 2.5}}}),
      Golden("read_pending", Tag::kReadPending, wire::ReadPending{64},
             PendingEmbeddings{{{7, 0xfedcba98, {"text"}, {"wo ist 🗝"}}, {9, 1, {}, {}}}, 1000}),
      Golden("improve_index", Tag::kImproveIndex, IndexStep{16, true},
             IndexProgress{100'000, 0x1'0000'0002, false}),
      Golden("embed_pending", Tag::kEmbedPending,
             wire::EmbedPending{{{7, 0xfedcba98, {AnyVector()}}}}, std::uint64_t{1}),
      Golden("keep_history", Tag::kKeepHistory, HistoryRule{AnyNamespace(), 50, 86'400'000, 0}),
      Golden("drop_history", Tag::kDropHistory, wire::OneNamespace{AnyNamespace()}),
      Golden("history_rules", Tag::kHistoryRules, wire::Nothing{},
             std::vector<HistoryRule>{{{}, 1, std::nullopt, 1'700'000'000'000},
                                      {AnyNamespace(), 50, 86'400'000, 1'700'000'000'123}}),
      Golden("history", Tag::kHistory, wire::History{{AnyNamespace(), "clé 🗝"}, 20},
             std::vector<Version>{
                 {0x1'0000'0002, Change::kUndo, 1'700'000'000'123, "ada 🗝", AnyItem()},
                 {7, Change::kDelete, 1'700'000'000'000, "", std::nullopt}}),
      Golden("get_as_of", Tag::kGetAsOf,
             wire::GetAsOf{{AnyNamespace(), "clé 🗝", false}, 1'650'000'000'000},
             std::optional<Item>(AnyItem())),
      Golden("search_as_of", Tag::kSearchAsOf, wire::SearchAsOf{AnySearch(), 1'650'000'000'000},
             std::vector<SearchItem>{{AnyItem(), -0.625}}),
      Golden("list_namespaces_as_of", Tag::kListNamespacesAsOf,
             wire::ListNamespacesAsOf{list, 1'650'000'000'000},
             std::vector<Namespace>{{"users", "ü1"}, {"x"}}),
      Golden("judge_items", Tag::kJudgeItems,
             JudgeItems{{"user", "ada"}, ItemRef{AnyNamespace(), "k é"}, 1'000},
             std::vector<JudgedItem>{{.item = {AnyNamespace(), "k"},
                                      .bytes = 0x1'0000'0001,
                                      .updated_at_ms = 1'700'000'000'123,
                                      .fingerprint = 0xFFFF'FFFE,
                                      .is_pinned = true,
                                      .uses = 3,
                                      .importance = 0.5,
                                      .is_held = true}}),
      Golden("evict_items", Tag::kEvictItems,
             EvictItems{AnyNamespace(), {{"k é", 1'700'000'000'123, 0xFFFF'FFFE}}},
             EvictedItems{1, {"k é"}}),
      Golden("undo", Tag::kUndo, Undo{0x1'0000'0002, true}, Undone{0x1'0000'0003, 2}),
  };
}

NewCheckpoint AnyCheckpoint() {
  const CheckpointTuple tuple = AnyTuple();
  const auto& [channel, version, value] = tuple.values[0];
  return {tuple.key,
          tuple.parent_checkpoint_id,
          tuple.checkpoint,
          tuple.metadata,
          {{"messages", "2"}, {"é", "0.5"}},
          {"messages"},
          {{channel, version, value}}};
}
NewCheckpoint AnyCheckpointWithDelta() {
  NewCheckpoint checkpoint = AnyCheckpoint();
  checkpoint.values[0].delta = {9'007'199'254'740'991, 2, 3, 4};
  return checkpoint;
}

std::vector<GoldenFrame> CheckpointerFrames() {
  const CheckpointTuple tuple = AnyTuple();
  const ListCheckpoints list{"thread-1", "", "id", "before", "after", "{\"step\":1}", AnyKey(), 5};
  return {
      Golden("put_checkpoint", Tag::kPutCheckpoint, AnyCheckpoint()),
      Golden("put_writes", Tag::kPutWrites, wire::PutWrites{AnyKey(), tuple.pending_writes}),
      Golden("get_tuple", Tag::kGetTuple, AnyKey(), std::optional<CheckpointTuple>(tuple)),
      Golden("get_tuple_missing", Tag::kGetTuple, CheckpointKey{"t", "", ""},
             std::optional<CheckpointTuple>()),
      Golden("list_checkpoints", Tag::kListCheckpoints, list,
             wire::Listed({tuple, {{"t", "", "i"}, "", {}, {}, {}, {}}})),
      Golden("list_checkpoints_shared", Tag::kListCheckpoints, ListCheckpoints{},
             wire::Listed({AnyVersion("2", 515), AnyVersion("1", 513)})),
      Golden("list_checkpoints_all", Tag::kListCheckpoints, ListCheckpoints{},
             std::vector<wire::ListedTuple>()),
      Golden("list_writes", Tag::kListWrites, wire::ListWrites{AnyKey(), "messages"},
             tuple.pending_writes),
      Golden("delta_channel_history", Tag::kDeltaChannelHistory,
             wire::GetDeltaChannelHistory{AnyKey(), {"messages", "é"}},
             std::vector<DeltaChannelHistory>{{"messages", AnyBlob(), {AnyWrite()}},
                                              {"é", std::nullopt, {}}}),
      Golden("delete_thread", Tag::kDeleteThread, wire::DeleteThread{"thread-1"}),
      Golden("copy_thread", Tag::kCopyThread, wire::CopyThread{"thread-1", "thread-2"}),
      Golden("delete_for_runs", Tag::kDeleteForRuns, wire::DeleteForRuns{{"run-1", "run-2"}},
             std::uint64_t{4}),
      Golden("prune", Tag::kPrune,
             RetentionRules{.thread_ids = {{"thread-1"}}, .strategy = PruneStrategy::kDelete},
             Pruned{5, 6'000}),
      Golden("checkpointer_stats", Tag::kCheckpointerStats, wire::Nothing{},
             CheckpointerStats{1, 2, 3, 4}),
      Golden("prune_by_rules", Tag::kPrune,
             RetentionRules{{{"thread-1", "thread-2"}}, 5, "1ef4f797", 1'000'000, true},
             Pruned{6, 7'000}),
      Golden("list_threads", Tag::kListThreads,
             ListThreads{ListThreads::Cursor{"1ef4f797", "thread-1"}, 20, R"({"by":"ada"})"},
             std::vector{ThreadInfo{"thread-2", "1ef4f796", AnyTuple().checkpoint,
                                    AnyTuple().metadata, 3, 4'000}}),
      Golden("rename_thread", Tag::kRenameThread, wire::RenameThread{"thread-1", "thread-2"}),
      Golden("put_checkpoint_delta", Tag::kPutCheckpoint, AnyCheckpointWithDelta()),
      Golden("fork_thread", Tag::kForkThread, wire::ForkThread{"thread-1", "1ef4f797", "thread-2"}),
  };
}

std::vector<GoldenFrame> DatabaseFrames() {
  using import::ForeignTable;
  const CheckpointTuple tuple = AnyTuple();
  return {
      Golden("flush", Tag::kFlush, wire::Nothing{}),
      Golden("size", Tag::kSize, wire::Nothing{}, std::uint64_t{1'048'576}),
      Golden("begin_export", Tag::kBeginExport, wire::Nothing{}, std::uint64_t{8192}),
      Golden("read_export", Tag::kReadExport, wire::ReadExport{0x1'0000'1000, 4096},
             BytesOf("SQLite format 3")),
      Golden("end_export", Tag::kEndExport, wire::Nothing{}),
      Golden("import_from", Tag::kImportFrom, AnyOptions()),
      Golden("foreign_open", Tag::kForeignOpen, AnyOptions(),
             import::ForeignTables{{{ForeignTable::kSaverCheckpoints, 10},
                                    {ForeignTable::kSaverWrites, 20},
                                    {ForeignTable::kPythonStore, 30},
                                    {ForeignTable::kPlainStoreKv, 40}},
                                   {{"table store_vectors", "it lacks a column"}}}),
      Golden("foreign_items", Tag::kForeignItems,
             wire::ForeignItems{ForeignTable::kPlainStoreKv, "17", 100},
             import::ForeignPage<import::ForeignItem>{
                 {{AnyItem(), 60'000, 1'700'000'060'000, {AnyVector()}}},
                 {{"row 18", "it is bad"}},
                 "18",
                 false}),
      Golden("foreign_checkpoints", Tag::kForeignCheckpoints, wire::ForeignRows{"", 100},
             import::ForeignPage<import::ForeignCheckpoint>{
                 {{tuple.key, "", tuple.checkpoint, tuple.metadata}}, {}, "1", true}),
      Golden("foreign_writes", Tag::kForeignWrites, wire::ForeignRows{"-1", 100},
             import::ForeignPage<import::ForeignWrite>{{{AnyKey(), AnyWrite()}}, {}, "2", true}),
      Golden("foreign_close", Tag::kForeignClose, wire::Nothing{}),
      Golden("read_rows", Tag::kReadRows, wire::ReadRows{"export-1", 7, BytesOf("\x02\x80")},
             BytesOf("KSPR")),
      Golden("end_rows", Tag::kEndRows, wire::EndRows{"export-1"}),
      Golden("put_rows", Tag::kPutRows, wire::PutRows{BytesOf("KSPR")}, std::uint64_t{8}),
      Golden("finish_import", Tag::kFinishImport, wire::FinishImport{"export-1", true}),
      Golden("limit_vectors", Tag::kLimitVectors, wire::LimitVectors{33'554'432}),
      Golden("forget", Tag::kForget,
             Erasure{"e1",
                     "d1",
                     {{"user", "ada"}},
                     R"({"a":1})",
                     {Origin::kWeb, "https://é/", true},
                     {"t"},
                     "user/ada/",
                     true},
             Erased{1'700'000'000'000, 5, 4, 6, 3, 2, 1'000, 7}),
      Golden("find_erasure", Tag::kFindErasure, wire::FindErasure{"e1"},
             std::optional<ErasureRecord>(
                 {"d1", {1'700'000'000'000, 5, 4, 6, 3, 2, 1'000, 7}, Scrubbed::kByHost})),
      Golden("scrub", Tag::kScrub, wire::Scrub{256}, Scrubbed::kPending),
      Golden("hold", Tag::kHold, Hold{{"user", "ada"}, "case 7", 0}),
      Golden("release", Tag::kRelease, wire::OneNamespace{{"user", "ada"}}),
      Golden("list_holds", Tag::kListHolds, wire::Nothing{},
             std::vector<Hold>{{{"user", "ada"}, "case 7", 1'700'000'000'000}}),
      Golden("check_pages", Tag::kCheckPages, wire::CheckPages{1, 256, true},
             sql::PageCheck{300, {{17, "store_kv"}}, "row 3 missing from index"}),
      Golden("salvage", Tag::kSalvage, AnyOptions(),
             transfer::Salvage{5, 4, 3, 2, {{17, "store_kv"}}, 1, {{{"a"}, "k"}}, 1, {AnyKey()}}),
      Golden("change_key", Tag::kChangeKey, wire::ChangeKey{BytesOf("a key")}),
      Golden("keep_audit", Tag::kKeepAudit, wire::KeepAudit{AuditRule{1'000, 86'400'000, 0}}),
      Golden("drop_audit", Tag::kKeepAudit, wire::KeepAudit{}),
      Golden("audit_rule", Tag::kAuditRule, wire::Nothing{},
             std::optional<AuditRule>({1'000, std::nullopt, 1'700'000'000'000})),
      Golden("audit_log", Tag::kAuditLog, AuditQuery{{"user", "ada"}, 1'650'000'000'000, 9, 20},
             std::vector<AuditEntry>{{.id = 0x1'0000'0002,
                                      .at_ms = 1'700'000'000'123,
                                      .operation = Audited::kStore,
                                      .place = {"user", "ada"},
                                      .ns = AnyNamespace(),
                                      .actor = "ada 🗝",
                                      .node_id = "n",
                                      .code = StatusCode::kQuotaExceeded,
                                      .count = 3},
                                     {.id = 7,
                                      .at_ms = 1'700'000'000'000,
                                      .operation = Audited::kDelete,
                                      .thread_id = "thread-1"}}),
      Golden("sync_state", Tag::kSyncState, wire::Nothing{},
             std::optional<sync::State>({.log_id = "log-1",
                                         .number = 42,
                                         .digest = BytesOf("digest"),
                                         .waiting = 3,
                                         .waiting_bytes = 300,
                                         .waiting_since_ms = 1'700'000'000'000,
                                         .set_aside = 1,
                                         .needs_image = true})),
      Golden("sync_state_none", Tag::kSyncState, wire::Nothing{}, std::optional<sync::State>()),
      Golden("start_sync", Tag::kStartSync, wire::StartSync{"log-1", 42, BytesOf("digest")}),
      Golden("stop_sync", Tag::kStopSync, wire::Nothing{}),
      Golden("read_outbox", Tag::kReadOutbox, wire::ReadOutbox{7, 65'536},
             std::vector<sync::OutboxEntry>{{8, BytesOf("a request")}, {9, BytesOf("another")}}),
      Golden("confirm_outbox", Tag::kConfirmOutbox, wire::ConfirmOutbox{43, BytesOf("digest"), 9}),
      Golden("catch_up", Tag::kCatchUp,
             sync::CatchUp{{{43, BytesOf("digest"), {BytesOf("a request"), BytesOf("another")}}},
                           "image.db",
                           40,
                           BytesOf("of it")},
             sync::CaughtUp{43, {{10, StatusCode::kQuotaExceeded, "too much"}}}),
      Golden("list_set_aside", Tag::kListSetAside, wire::Nothing{},
             std::vector<sync::SetAside>{{10, BytesOf("a request"), 1'700'000'000'000,
                                          StatusCode::kQuotaExceeded, "too much"}}),
      Golden("drop_set_aside", Tag::kDropSetAside, wire::DropSetAside{{10, 12}}),
      Golden("import_state", Tag::kImportState, wire::Nothing{},
             std::optional<transfer::ImportState>({"export-1", 8, BytesOf("\x02\x80"), false})),
      Golden("open", Tag::kOpen, wire::Open{AnyOptions()}, wire::Nothing{}, wire::FrameKind::kOpen),
      Golden("open_in_memory", Tag::kOpen, wire::Open{}, wire::Nothing{}, wire::FrameKind::kOpen),
  };
}

// An answer of each kind to one frame of several operations.
GoldenFrame SeveralOperations() {
  GoldenFrame golden{
      .name = "several_operations",
      .request = wire::RequestBuilder(Header())
                     .Add(Tag::kGet, GetOp{{"a"}, "k", true})
                     .Add(Tag::kDeleteThread, wire::DeleteThread{""})
                     .Add(Tag::kPut, AnyPut())
                     .Build(),
      .response = {},
      .reencode_payload = Reencode<GetOp>,
      .reencode_answer = Reencode<std::optional<Item>>,
  };
  wire::ResponseWriter response(golden.response, wire::FrameKind::kExecute, kSequence, 3);
  response.Answer(std::optional<Item>());
  response.Fail(Status(StatusCode::kThreadIdRequired, "thread_id must not be empty 🗝"));
  response.Answer(wire::Nothing());
  return golden;
}

// A put that may be sent again.
GoldenFrame RememberedPut() {
  GoldenFrame golden = Golden("put_remembered", Tag::kPut, AnyPut());
  golden.request =
      wire::RequestBuilder(Header()).Remember(kSequence - 2).Add(Tag::kPut, AnyPut()).Build();
  return golden;
}

// A put that is at home in two scopes.
GoldenFrame ScopedPut() {
  GoldenFrame golden = Golden("put_scoped", Tag::kPut, AnyPut());
  const Policy policy{.readable = {{{"n"}, {}}},
                      .writable = {{{"n"}}},
                      .read_only = false,
                      .max_entries = 50,
                      .max_entries_per_namespace = 5,
                      .max_value_bytes = 1'000,
                      .max_bytes = 10'000,
                      .default_ttl_ms = 60'000,
                      .max_ttl_ms = 120'000,
                      .origins = {{Origin::kWeb, Trust::kQuarantine}, {Origin::kModel, {}, 0.5}}};
  golden.request = wire::RequestBuilder(Header())
                       .Within({{{"user", "ada"}, policy}, {{"conv", "t"}, {}}})
                       .Add(Tag::kPut, AnyPut())
                       .Build();
  return golden;
}

// A put that says who makes it.
GoldenFrame PutByActor() {
  GoldenFrame golden = Golden("put_by_actor", Tag::kPut, AnyPut());
  golden.request = wire::RequestBuilder(Header())
                       .Within({{{"user", "ada"}, {}}})
                       .By("agent 7 🗝", "node")
                       .Add(Tag::kPut, AnyPut())
                       .Build();
  return golden;
}

// One status for a whole frame, here the commonest in the life of a host.
GoldenFrame FailedFrame() {
  GoldenFrame golden = SeveralOperations();
  golden.name = "failed_frame";
  golden.reencode_answer = nullptr;
  wire::WriteFailure(golden.response, kSequence, Status(StatusCode::kClosed, "closed"));
  return golden;
}

}  // namespace

std::vector<GoldenFrame> GoldenFrames() {
  std::vector<GoldenFrame> all;
  for (auto frames : {StoreFrames(), CheckpointerFrames(), DatabaseFrames()}) {
    all.insert(all.end(), frames.begin(), frames.end());
  }
  all.push_back(SeveralOperations());
  all.push_back(FailedFrame());
  all.push_back(RememberedPut());
  all.push_back(ScopedPut());
  all.push_back(PutByActor());
  return all;
}

}  // namespace keepsake::golden
