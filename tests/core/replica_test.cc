// Replica: what waits in the outbox, and how a memory follows the log.
#include "engine/replica.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replica_device.h"
#include "sample_operations.h"
#include "temporary_file.h"

namespace keepsake::replica {
namespace {

using sample::Checkpoint;
using sample::Get;
using sample::Put;
using testing::HasSubstr;

constexpr StatusCode kOk = StatusCode::kOk;

std::optional<std::string> ValueOf(Device& device, const std::string& key) {
  const auto item = device.Run(Tag::kGet, Get(key)).As<std::optional<Item>>();
  return item ? std::optional(item->value) : std::nullopt;
}

// The tags of the operations of each request that waits.
std::vector<std::vector<Tag>> Waiting(Device& device) {
  std::vector<std::vector<Tag>> tags;
  for (const sync::OutboxEntry& entry : device.Outbox()) {
    const auto request = wire::ParseRequest(entry.request, wire::FrameKind::kExecute);
    EXPECT_TRUE(request);
    auto& of_request = tags.emplace_back();
    for (const wire::OperationView& view : request->operations) {
      of_request.push_back(static_cast<Tag>(view.tag));
    }
  }
  return tags;
}

using Tags = std::vector<std::vector<Tag>>;

// A page of the file as it is without its log, somewhere.
bool IsInFile(Device& device, const std::string& text) {
  const auto& bytes = device.files().database().bytes;
  return std::ranges::search(bytes, text).begin() != bytes.end();
}

void Write(const TemporaryFile& file, const Bytes& bytes) {
  std::ofstream(file.path(), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

PutOp PutWithTtl(const std::string& key, std::int64_t ttl_ms) {
  PutOp put = Put(key);
  put.ttl_ms = ttl_ms;
  return put;
}

HistoryRule KeepAll() { return {.ns = {}, .max_versions = 100}; }

std::vector<Version> HistoryOf(Device& device, const std::string& key) {
  return device.Run(Tag::kHistory, wire::History{{{"a"}, key}, 100}).As<std::vector<Version>>();
}

Erasure Forgetting(Namespace ns, std::string id = "e1") {
  return {.id = std::move(id),
          .digest = "",
          .namespaces = {std::move(ns)},
          .filter = "",
          .threads = {}};
}

std::vector<ScopeLevel> Level(Policy policy, Namespace place = {"a"}) {
  return {{std::move(place), std::move(policy)}};
}

TEST(Replica, a_memory_that_does_not_sync_has_no_state_and_no_outbox) {
  Device device("a");
  EXPECT_EQ(device.Run(Tag::kSyncState).As<std::optional<sync::State>>().has_value(), false);
  for (const Answers& answers : {device.Run(Tag::kReadOutbox, wire::ReadOutbox{}),
                                 device.Run(Tag::kCatchUp, sync::CatchUp{}),
                                 device.Run(Tag::kConfirmOutbox, wire::ConfirmOutbox{})}) {
    EXPECT_EQ(answers.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(answers.message(), HasSubstr("startSync()"));
  }
}

TEST(Replica, what_succeeds_and_changes_something_waits_and_nothing_else) {
  Device device("a");
  device.Do(Tag::kPut, Put("before"));
  device.StartSync();
  device.Do(Tag::kPut, Put("k"));
  device.Do(Tag::kGet, Get("k"));
  device.Do(Tag::kPutCheckpoint, Checkpoint("t"));
  EXPECT_EQ(device.Run(Tag::kPut, Put("k", "no JSON")).code(), StatusCode::kInvalidValue);
  device.Do(Tag::kClearNamespace, wire::OneNamespace{{"nothing"}});
  device.Do(Tag::kSweepExpired, wire::SweepExpired{100});
  device.Do(
      Tag::kPrune,
      RetentionRules{.thread_ids = {{"t"}}, .dry_run = true, .strategy = PruneStrategy::kByRules});
  device.Do(Tag::kFlush, wire::Nothing{});
  device.Do(Tag::kImproveIndex, IndexStep{.vectors = 10, .is_wanted = true});
  device.Do(Tag::kForget, Forgetting({"a"}));
  EXPECT_EQ(Waiting(device), (Tags{{Tag::kPut}, {Tag::kPutCheckpoint}, {Tag::kForget}}));
  const sync::State state = device.State();
  EXPECT_EQ(state.waiting, 3U);
  EXPECT_GT(state.waiting_bytes, 100U);
  EXPECT_EQ(state.waiting_since_ms, kNow);
}

TEST(Replica, a_request_waits_as_it_came_unless_something_of_it_was_read_or_failed) {
  Device device("a");
  device.StartSync();
  const Bytes frame = device.Frame()
                          .By("ada", "node")
                          .Within(Level({}))
                          .Add(Tag::kPut, Put("k"))
                          .Add(Tag::kPutCheckpoint, Checkpoint("t"))
                          .Build();
  device.Execute(frame);
  device.Execute(device.Frame()
                     .Add(Tag::kSearch, SearchOp{.ns_prefix = {}, .filter = "", .query = "x"})
                     .Add(Tag::kPutCheckpoint, Checkpoint("t2"))
                     .Add(Tag::kDeleteThread, wire::DeleteThread{""})
                     .Add(Tag::kPut, Put("k2"))
                     .Add(Tag::kGetTuple, CheckpointKey{"t", "", ""}));
  ASSERT_EQ(device.Outbox().size(), 2U);
  EXPECT_EQ(device.Outbox()[0].request, frame);
  // A batch runs where its first operation stands.
  EXPECT_EQ(Waiting(device)[1], (std::vector<Tag>{Tag::kPut, Tag::kPutCheckpoint}));
}

TEST(Replica, a_read_that_restarts_a_ttl_waits_as_gets_of_those_items) {
  Device device("a"), other("b");
  Log log;
  device.StartSync();
  other.StartSync();
  device.Do(Tag::kPut, PutWithTtl("k", 10'000));
  device.Do(Tag::kPut, Put("k2"));
  device.Sync(log);
  const RequestBuilder search =
      device.Frame(kNow + 9'000)
          .Within(Level({}))
          .Add(Tag::kSearch, SearchOp{.ns_prefix = {}, .filter = "", .query = ""});
  device.Execute(search);
  ASSERT_EQ(Waiting(device), (Tags{{Tag::kGet}}));
  device.Do(Tag::kGet, Get("k2"), kNow + 9'000);
  EXPECT_EQ(Waiting(device).size(), 1U);
  device.Sync(log);
  other.Sync(log);
  EXPECT_TRUE(
      other.Run(Tag::kGet, GetOp{{"a"}, "k", false}, kNow + 18'000).As<std::optional<Item>>());
  EXPECT_FALSE(
      other.Run(Tag::kGet, GetOp{{"a"}, "k", false}, kNow + 19'000).As<std::optional<Item>>());
  // Also beside a put in the same batch.
  other.Execute(other.Frame(kNow + 15'000).Add(Tag::kGet, Get("k")).Add(Tag::kPut, Put("k3")));
  EXPECT_EQ(Waiting(other), (Tags{{Tag::kGet}, {Tag::kPut}}));
}

TEST(Replica, what_is_confirmed_waits_no_more_and_is_in_the_file) {
  Device device("a");
  device.StartSync();
  device.Do(Tag::kPut, Put("first", "\"one that is here\""));
  device.Do(Tag::kPut, Put("second"));
  EXPECT_FALSE(IsInFile(device, "one that is here"));
  const auto entries = device.Outbox();
  ASSERT_EQ(entries.size(), 2U);
  const auto confirm = [&](std::uint64_t number, std::uint64_t up_to) {
    return device.Run(Tag::kConfirmOutbox,
                      wire::ConfirmOutbox{number, Log::DigestOf(number), up_to});
  };
  EXPECT_EQ(confirm(2, entries[0].sequence).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(confirm(2, entries[0].sequence).message(), HasSubstr("after 0"));
  EXPECT_EQ(confirm(1, entries[1].sequence + 1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(confirm(1, entries[0].sequence).code(), kOk);
  EXPECT_EQ(device.State().waiting, 1U);
  EXPECT_FALSE(IsInFile(device, "one that is here"));
  EXPECT_EQ(confirm(2, entries[1].sequence).code(), kOk);
  // Nobody may have heard of it.
  EXPECT_EQ(confirm(2, entries[1].sequence).code(), kOk);
  EXPECT_EQ(device.State().waiting, 0U);
  EXPECT_EQ(device.State().number, 2U);
  EXPECT_EQ(device.State().digest, Log::DigestOf(2));
  EXPECT_TRUE(IsInFile(device, "one that is here"));
  EXPECT_TRUE(device.files().log().bytes.empty());
}

TEST(Replica, as_many_requests_are_read_as_fit_but_one_at_least) {
  Device device("a");
  device.StartSync();
  for (const char* key : {"k1", "k2", "k3"}) device.Do(Tag::kPut, Put(key));
  const auto all = device.Outbox();
  EXPECT_EQ(device.Outbox(1).size(), 1U);
  EXPECT_EQ(device.Outbox(2 * all[0].request.size()).size(), 2U);
  const auto after = device.Run(Tag::kReadOutbox, wire::ReadOutbox{all[1].sequence, 1})
                         .As<std::vector<sync::OutboxEntry>>();
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].sequence, all[2].sequence);
}

TEST(Replica, what_waits_is_carried_out_again_upon_what_others_did) {
  Device ada("a"), bob("b");
  Log log;
  ada.StartSync();
  bob.StartSync();
  ada.Do(Tag::kPut, Put("k", "\"ada\""));
  ada.Do(Tag::kPut, Put("ada"));
  bob.Do(Tag::kPut, Put("k", "\"bob\""));
  bob.Do(Tag::kPut, Put("bob"));
  ASSERT_TRUE(ada.Push(log));
  EXPECT_FALSE(bob.Push(log));
  EXPECT_EQ(bob.CatchUp(log).As<sync::CaughtUp>().applied, 1U);
  EXPECT_EQ(ValueOf(bob, "k"), "\"bob\"");
  EXPECT_EQ(ValueOf(bob, "ada"), "1");
  EXPECT_EQ(bob.State().waiting, 2U);
  ASSERT_TRUE(bob.Push(log));
  ada.Sync(log);
  EXPECT_EQ(ValueOf(ada, "k"), "\"bob\"");
  EXPECT_EQ(ValueOf(ada, "bob"), "1");
}

TEST(Replica, records_must_follow_each_other_and_be_those_that_were_carried_out) {
  Device ada("a"), bob("b");
  Log log;
  ada.StartSync();
  bob.StartSync();
  for (const char* key : {"k1", "k2", "k3"}) {
    ada.Do(Tag::kPut, Put(key));
    ASSERT_TRUE(ada.Push(log));
  }
  const auto catch_up = [&](std::vector<sync::LogRecord> records) {
    return bob.Run(Tag::kCatchUp, sync::CatchUp{std::move(records), "", 0, {}});
  };
  EXPECT_THAT(catch_up({log.records[1]}).message(), HasSubstr("after 0 comes 2"));
  EXPECT_EQ(catch_up({log.records[0], log.records[2]}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(bob.State().number, 0U);
  EXPECT_EQ(catch_up({log.records[0], log.records[1]}).code(), kOk);
  EXPECT_EQ(catch_up(log.records).code(), kOk);
  EXPECT_EQ(bob.State().number, 3U);
  sync::LogRecord other = log.records[2];
  other.digest = {1};
  EXPECT_THAT(catch_up({other}).message(), HasSubstr("another one"));
}

TEST(Replica, a_record_of_a_newer_program_is_named_and_nothing_of_it_is_done) {
  Device device("a");
  Log log;
  device.StartSync();
  log.Append({device.Frame().Add(Tag::kPut, Put("k")).Build()});
  log.Append(
      {device.Frame().Add(Tag::kPut, Put("k2")).Build(), device.Frame().AddRaw(250, {}).Build()});
  const Answers answers = device.CatchUp(log);
  EXPECT_EQ(answers.code(), StatusCode::kNewerSchema);
  EXPECT_THAT(answers.message(), HasSubstr("record 2"));
  EXPECT_EQ(device.State().number, 1U);
  EXPECT_EQ(ValueOf(device, "k"), "1");
  EXPECT_EQ(ValueOf(device, "k2"), std::nullopt);
  Log odd;
  odd.records = {log.records[0]};
  odd.Append({device.Frame().Add(Tag::kFlush, wire::Nothing{}).Build()});
  EXPECT_EQ(device.CatchUp(odd).code(), StatusCode::kInvalidOperation);
}

TEST(Replica, a_request_that_is_refused_now_is_set_aside_and_holds_up_nothing) {
  Device ada("a"), bob("b");
  Log log;
  ada.StartSync();
  bob.StartSync();
  const Policy policy{.max_entries = 2};
  const auto put = [&](Device& device, const char* key) {
    return device.Execute(device.Frame().Within(Level(policy, {"s"})).Add(Tag::kPut, Put(key)));
  };
  EXPECT_EQ(put(ada, "k1").code(), kOk);
  EXPECT_EQ(put(bob, "k2").code(), kOk);
  EXPECT_EQ(put(bob, "k3").code(), kOk);
  bob.Do(Tag::kPut, Put("k4"));
  ASSERT_TRUE(ada.Push(log));
  const auto failed = bob.CatchUp(log).As<sync::CaughtUp>().failed;
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].code, StatusCode::kQuotaExceeded);
  EXPECT_EQ(ValueOf(bob, "k4"), "1");
  EXPECT_EQ(bob.State().waiting, 2U);
  EXPECT_EQ(bob.State().set_aside, 1U);
  const auto aside = bob.Run(Tag::kListSetAside).As<std::vector<sync::SetAside>>();
  ASSERT_EQ(aside.size(), 1U);
  EXPECT_EQ(aside[0].sequence, failed[0].sequence);
  EXPECT_THAT(aside[0].message, HasSubstr("exceeds max 2"));
  ASSERT_TRUE(bob.Push(log));
  ada.Sync(log);
  // It can be tried again.
  EXPECT_EQ(bob.Execute(aside[0].request).code(), StatusCode::kQuotaExceeded);
  bob.Do(Tag::kDropSetAside, wire::DropSetAside{{aside[0].sequence}});
  EXPECT_EQ(bob.State().set_aside, 0U);
}

TEST(Replica, our_own_record_is_known_when_nobody_heard_that_it_was_put) {
  Device ada("a"), bob("b");
  Log log;
  ada.StartSync();
  bob.StartSync();
  ada.Do(Tag::kPut, Put("k1", "1"));
  ada.Do(Tag::kKeepHistory, KeepAll());
  ASSERT_TRUE(ada.Push(log, 1 << 30, false));
  ada.Do(Tag::kPut, Put("k1", "2"));
  bob.Sync(log);
  bob.Do(Tag::kPut, Put("k2", "3"));
  ASSERT_TRUE(bob.Push(log));
  ada.Sync(log);
  bob.Sync(log);
  EXPECT_EQ(HistoryOf(ada, "k1").size(), 2U);
  EXPECT_EQ(HistoryOf(bob, "k1").size(), 2U);
  EXPECT_EQ(log.newest(), 3U);
}

TEST(Replica, an_undo_finds_what_others_have_moved) {
  Device ada("a"), bob("b");
  Log log;
  ada.StartSync();
  bob.StartSync();
  ada.Do(Tag::kKeepHistory, KeepAll());
  ada.Sync(log);
  bob.Sync(log);
  ada.Do(Tag::kPut, Put("ada", "1"));
  ASSERT_TRUE(ada.Push(log));
  bob.Do(Tag::kPut, Put("bob", "1"), kNow + 1);
  bob.Do(Tag::kPut, Put("bob", "2"), kNow + 2);
  const std::int64_t operation = HistoryOf(bob, "bob")[0].operation;
  bob.Do(Tag::kUndo, Undo{operation, false}, kNow + 3);
  EXPECT_EQ(ValueOf(bob, "bob"), "1");
  bob.Do(Tag::kPut, Put("other", "1"), kNow + 4);
  const std::int64_t of_other = HistoryOf(bob, "other")[0].operation;
  bob.Sync(log);
  ada.Sync(log);
  for (Device* device : {&ada, &bob}) {
    EXPECT_EQ(ValueOf(*device, "bob"), "1");
    EXPECT_EQ(HistoryOf(*device, "bob").size(), 3U);
    EXPECT_EQ(HistoryOf(*device, "bob")[0].operation, HistoryOf(ada, "bob")[0].operation);
  }
  EXPECT_EQ(bob.State().set_aside, 0U);
  // Whoever kept the number that it had undoes the same; what has that number now stays.
  EXPECT_NE(HistoryOf(bob, "other")[0].operation, of_other);
  bob.Do(Tag::kUndo, Undo{of_other, false}, kNow + 5);
  EXPECT_EQ(ValueOf(bob, "other"), std::nullopt);
  EXPECT_EQ(ValueOf(bob, "ada"), "1");
}

TEST(Replica, an_answer_is_kept_when_the_memory_goes_back) {
  Device ada("a"), bob("b");
  Log log;
  ada.StartSync();
  bob.StartSync();
  bob.Do(Tag::kPut, Put("k"));
  const RequestBuilder clear =
      bob.Frame().Remember(0).Add(Tag::kClearNamespace, wire::OneNamespace{{"a"}});
  const Bytes answer = bob.Execute(clear).bytes();
  ada.Do(Tag::kPut, Put("k2"));
  ASSERT_TRUE(ada.Push(log));
  bob.Sync(log);
  EXPECT_EQ(ValueOf(bob, "k2"), std::nullopt);
  EXPECT_EQ(bob.Execute(clear).bytes(), answer);
  EXPECT_EQ(bob.State().waiting, 0U);
}

TEST(Replica, refusals_are_in_the_audit_log_of_each_device) {
  Device ada("a"), bob("b");
  Log log;
  ada.StartSync();
  bob.StartSync();
  ada.Do(Tag::kKeepAudit, wire::KeepAudit{AuditRule{}});
  ada.Sync(log);
  bob.Sync(log);
  const auto within = [](Device& device) {
    return device.Frame().Within(Level({.readable = {{{"open"}}}, .read_only = true}));
  };
  EXPECT_EQ(ada.Execute(within(ada).Add(Tag::kGet, Get("k"))).code(), StatusCode::kAccessDenied);
  EXPECT_EQ(bob.Execute(within(bob).Add(Tag::kPut, Put("k"))).code(), StatusCode::kAccessDenied);
  EXPECT_EQ(bob.Execute(within(bob).Add(Tag::kStoreStats, wire::Nothing{})).code(),
            StatusCode::kAccessDenied);
  bob.Do(Tag::kPut, Put("k"));
  ada.Sync(log);
  bob.Sync(log);
  ada.Sync(log);
  const Answers of_ada = ada.Run(Tag::kAuditLog, AuditQuery{});
  EXPECT_EQ(of_ada.As<std::vector<AuditEntry>>().size(), 4U);
  EXPECT_EQ(of_ada.As<std::vector<AuditEntry>>(),
            bob.Run(Tag::kAuditLog, AuditQuery{}).As<std::vector<AuditEntry>>());
}

TEST(Replica, what_replaces_a_memory_as_a_whole_is_refused) {
  Device device("a");
  device.StartSync();
  const auto expect_refused = [](const Answers& answers) {
    EXPECT_EQ(answers.code(), StatusCode::kUnsupported);
    EXPECT_THAT(answers.message(), HasSubstr("the memory syncs"));
  };
  expect_refused(device.Run(Tag::kImportFrom, sql::OpenOptions{.path = "x", .vfs = ""}));
  expect_refused(device.Run(Tag::kSalvage, sql::OpenOptions{.path = "x", .vfs = ""}));
  expect_refused(device.Run(Tag::kPutRows, wire::PutRows{}));
  expect_refused(device.Run(Tag::kFinishImport, wire::FinishImport{"e", true}));
  device.Do(Tag::kFinishImport, wire::FinishImport{"e", false});
  device.Do(Tag::kStopSync, wire::Nothing{});
  EXPECT_NE(device.Run(Tag::kImportFrom, sql::OpenOptions{.path = "x", .vfs = ""}).code(),
            StatusCode::kUnsupported);
}

TEST(Replica, it_begins_once_and_ends) {
  Device device("a");
  device.Do(Tag::kPut, Put("k"));
  device.StartSync(7);
  device.StartSync(7);
  EXPECT_EQ(device.State().number, 7U);
  EXPECT_EQ(device.Run(Tag::kStartSync, wire::StartSync{"another", 0, {}}).code(),
            StatusCode::kConflictingOptions);
  EXPECT_EQ(device.Run(Tag::kStartSync, wire::StartSync{"", 0, {}}).code(),
            StatusCode::kInvalidArgument);
  device.Do(Tag::kPut, Put("k2"));
  device.Reopen();
  EXPECT_EQ(device.State().waiting, 1U);
  device.Do(Tag::kStopSync, wire::Nothing{});
  device.Do(Tag::kStopSync, wire::Nothing{});
  EXPECT_FALSE(device.Run(Tag::kSyncState).As<std::optional<sync::State>>());
  EXPECT_EQ(ValueOf(device, "k2"), "1");
  EXPECT_TRUE(device.files().log().bytes.empty());
  device.StartSync();
  EXPECT_EQ(device.State().waiting, 0U);
}

TEST(Replica, an_engine_without_a_file_does_not_sync) {
  Engine engine;
  engine.Open(RequestBuilder({.kind = wire::FrameKind::kOpen})
                  .Add(Tag::kOpen, wire::Open{sql::OpenOptions{.path = ":memory:", .vfs = ""}})
                  .Build());
  const Answers answers(engine.Execute(RequestBuilder({.now_ms = kNow})
                                           .Add(Tag::kStartSync, wire::StartSync{"log", 0, {}})
                                           .Build()));
  EXPECT_EQ(answers.code(), StatusCode::kUnsupported);
}

TEST(Replica, what_waits_is_there_after_the_process_died) {
  Device ada("a"), bob("b");
  Log log;
  ada.StartSync();
  bob.StartSync();
  for (int i = 0; i < 50; ++i) bob.Do(Tag::kPut, Put("k" + std::to_string(i)));
  bob.Kill();
  EXPECT_EQ(bob.State().waiting, 50U);
  ada.Do(Tag::kPut, Put("ada"));
  ASSERT_TRUE(ada.Push(log));
  bob.Sync(log);
  bob.Reopen();
  EXPECT_EQ(bob.State().waiting, 0U);
  EXPECT_EQ(ValueOf(bob, "ada"), "1");
  EXPECT_EQ(ValueOf(bob, "k49"), "1");
}

// Two devices that both have something, as far as one of them is to catch up.
struct Torn {
  Device ada, bob;
  Log log;

  explicit Torn(DeviceOptions options = {}) : ada("a"), bob("b", std::move(options)) {
    ada.StartSync();
    bob.StartSync();
    ada.Do(Tag::kKeepHistory, KeepAll());
    ada.Sync(log);
    bob.Sync(log);
    for (int i = 0; i < 3; ++i) {
      ada.Do(Tag::kPut, Put("k", std::to_string(i)), kNow + i);
      ada.Push(log);
    }
    for (int i = 0; i < 3; ++i) bob.Do(Tag::kPut, Put("k", std::to_string(10 + i)), kNow + i);
    bob.Do(Tag::kPutCheckpoint, Checkpoint("t"));
  }
  void ExpectDone() {
    bob.Sync(log);
    ada.Sync(log);
    EXPECT_EQ(bob.State().waiting, 0U);
    EXPECT_EQ(bob.State().set_aside, 0U);
    const auto history = HistoryOf(bob, "k");
    EXPECT_EQ(history.size(), 6U);
    for (std::size_t i = 0; i < history.size(); ++i) {
      EXPECT_EQ(history[i].operation, HistoryOf(ada, "k")[i].operation);
      EXPECT_EQ(history[i].item->value, HistoryOf(ada, "k")[i].item->value);
    }
    EXPECT_EQ(
        bob.Run(Tag::kCheckPages, wire::CheckPages{1, 1'000, false}).As<sql::PageCheck>().problem,
        "");
  }
};

TEST(Replica, catching_up_may_be_cut_off_at_any_write) {
  for (const bool is_sealed : {false, true}) {
    DeviceOptions options;
    if (is_sealed) {
      options.keys = sql::EncodeKeys(std::vector<sql::FileKey>{{.key = Bytes(32, 7), .salt = {}}});
    }
    for (int at = 1;; ++at) {
      Torn torn(options);
      std::optional<sql::MemoryFiles> image;
      int writes = 0;
      torn.bob.files().after_write = [&] {
        if (++writes == at) image = torn.bob.files().CopyOfBytes();
      };
      ASSERT_EQ(torn.bob.CatchUp(torn.log).code(), kOk);
      torn.bob.files().after_write = nullptr;
      if (image) torn.bob.Become(*std::move(image));
      torn.ExpectDone();
      if (testing::Test::HasFailure()) FAIL() << "at write " << at << (is_sealed ? ", sealed" : "");
      if (writes < at) break;
    }
  }
}

TEST(Replica, a_disk_that_is_full_while_it_catches_up_loses_nothing) {
  for (std::int64_t room = 0;; room += 6'000) {
    Torn torn;
    torn.bob.files().room = room;
    const bool had_room = torn.bob.CatchUp(torn.log).code() == kOk;
    torn.bob.files().room.reset();
    torn.ExpectDone();
    if (testing::Test::HasFailure()) FAIL() << "with room for " << room;
    if (had_room) break;
  }
}

TEST(Replica, a_scrub_lets_the_file_go_and_an_image_brings_it_back) {
  const TemporaryFile file("replica-image");
  for (const bool is_sealed : {false, true}) {
    DeviceOptions options;
    if (is_sealed) {
      options.keys = sql::EncodeKeys(std::vector<sql::FileKey>{{.key = Bytes(32, 7), .salt = {}}});
    }
    Device ada("a"), bob("b", options);
    Log log;
    ada.StartSync();
    bob.StartSync();
    ada.Do(Tag::kPut, Put("secret"));
    ada.Sync(log);
    bob.Sync(log);
    bob.Do(Tag::kForget, Forgetting({"a"}));
    EXPECT_FALSE(bob.State().needs_image);
    while (bob.Run(Tag::kScrub, wire::Scrub{1'000}).As<Scrubbed>() == Scrubbed::kPending) {
    }
    EXPECT_TRUE(bob.State().needs_image);
    bob.Do(Tag::kPut, Put("k"));
    ada.Do(Tag::kPut, Put("ada", "2"));
    ASSERT_TRUE(ada.Push(log));
    const Bytes image = ada.Export();
    Write(file, image);
    const std::uint64_t number = log.newest();
    ada.Do(Tag::kPut, Put("ada", "3"));
    ASSERT_TRUE(ada.Push(log));
    bob.Reopen();
    const Answers refused = bob.CatchUp(log);
    EXPECT_EQ(refused.code(), StatusCode::kConflictingOptions);
    EXPECT_THAT(refused.message(), HasSubstr("image"));
    EXPECT_EQ(bob.State().waiting, 2U);
    const auto caught_up = bob.Run(Tag::kCatchUp, sync::CatchUp{log.After(number), file.path(),
                                                                number, Log::DigestOf(number)})
                               .As<sync::CaughtUp>();
    EXPECT_EQ(caught_up.applied, log.newest());
    EXPECT_EQ(bob.State().log_id, "log");
    EXPECT_FALSE(bob.State().needs_image);
    EXPECT_EQ(ValueOf(bob, "secret"), std::nullopt);
    EXPECT_EQ(ValueOf(bob, "ada"), std::nullopt);
    EXPECT_EQ(ValueOf(bob, "k"), "1");
    EXPECT_EQ(bob.State().waiting, 2U);
    bob.Sync(log);
    ada.Sync(log);
    EXPECT_EQ(ValueOf(ada, "k"), "1");
    EXPECT_EQ(ValueOf(ada, "ada"), std::nullopt);
    bob.Do(Tag::kPut, Put("k2"));
    EXPECT_FALSE(bob.State().needs_image);
  }
}

TEST(Replica, what_needs_an_image_is_well_again_when_all_is_confirmed) {
  Device device("a");
  Log log;
  device.StartSync();
  device.Do(Tag::kPut, Put("k"));
  EXPECT_EQ(device.Run(Tag::kCheckPages, wire::CheckPages{1, 1'000, false}).code(), kOk);
  EXPECT_TRUE(device.State().needs_image);
  device.Kill();
  EXPECT_TRUE(device.State().needs_image);
  ASSERT_TRUE(device.Push(log));
  EXPECT_FALSE(device.State().needs_image);
  device.Do(Tag::kPut, Put("k", "2"));
  log.Append({device.Frame().Add(Tag::kPut, Put("k", "3")).Build()});
  device.Sync(log);
  EXPECT_EQ(ValueOf(device, "k"), "2");
}

TEST(Replica, what_was_forgotten_is_gone_from_the_outbox_when_it_is_confirmed) {
  Device device("a");
  Log log;
  device.StartSync();
  device.Do(Tag::kPut, Put("k", "\"what nobody may know\""));
  device.Do(Tag::kForget, Forgetting({"a"}));
  const auto scrub = [&] {
    while (device.Run(Tag::kScrub, wire::Scrub{1'000}).As<Scrubbed>() == Scrubbed::kPending) {
    }
    return device.Run(Tag::kFindErasure, wire::FindErasure{"e1"})
        .As<std::optional<ErasureRecord>>()
        ->scrubbed;
  };
  // It is in the request, which nobody else has.
  EXPECT_EQ(scrub(), Scrubbed::kPending);
  ASSERT_TRUE(device.Push(log));
  EXPECT_EQ(scrub(), Scrubbed::kPages);
  device.Do(Tag::kFlush, wire::Nothing{});
  EXPECT_FALSE(IsInFile(device, "what nobody may know"));
  EXPECT_TRUE(device.files().log().bytes.empty());
}

TEST(Replica, what_was_set_aside_is_forgotten_by_its_place) {
  Device device("a");
  Log log;
  device.StartSync();
  for (const char* key : {"source", "source-2"}) device.Do(Tag::kPutCheckpoint, Checkpoint(key));
  device.Sync(log);
  device.Do(Tag::kCopyThread, wire::CopyThread{"source", "copy"});
  device.Do(Tag::kCopyThread, wire::CopyThread{"source-2", "copy-2"});
  log.Append({device.Frame().Add(Tag::kDeleteThread, wire::DeleteThread{"source"}).Build(),
              device.Frame().Add(Tag::kDeleteThread, wire::DeleteThread{"source-2"}).Build()});
  device.Sync(log);
  EXPECT_EQ(device.State().set_aside, 2U);
  Erasure erasure = Forgetting({"elsewhere"});
  erasure.threads = {"copy"};
  device.Do(Tag::kForget, erasure);
  EXPECT_EQ(device.State().set_aside, 1U);
  erasure = Forgetting({"elsewhere"}, "e2");
  erasure.thread_prefix = "";
  device.Do(Tag::kForget, erasure);
  EXPECT_EQ(device.State().set_aside, 0U);
}

TEST(Replica, an_export_has_what_waits_and_does_not_sync_where_it_is_imported) {
  Device device("a"), other("b");
  Log log;
  device.StartSync();
  device.Do(Tag::kPut, Put("k"));
  device.Sync(log);
  device.Do(Tag::kPut, Put("k2"));
  const TemporaryFile file("replica-export");
  Write(file, device.Export());
  EXPECT_FALSE(device.State().needs_image);
  other.Do(Tag::kImportFrom, sql::OpenOptions{.path = file.path(), .vfs = ""});
  EXPECT_EQ(ValueOf(other, "k2"), "1");
  EXPECT_FALSE(other.Run(Tag::kSyncState).As<std::optional<sync::State>>());
  other.Do(Tag::kPut, Put("k3"));
  other.Reopen();
  EXPECT_EQ(ValueOf(other, "k3"), "1");
  EXPECT_TRUE(other.files().log().bytes.empty());
}

TEST(Replica, while_the_file_is_exported_it_stays_and_records_wait) {
  Device device("a");
  Log log;
  device.StartSync();
  device.Do(Tag::kPut, Put("k"));
  device.Sync(log);
  EXPECT_EQ(device.Run(Tag::kBeginExport).code(), kOk);
  device.Do(Tag::kPut, Put("k2"));
  ASSERT_TRUE(device.Push(log));
  log.Append({device.Frame().Add(Tag::kPut, Put("k3")).Build()});
  EXPECT_EQ(device.CatchUp(log).code(), StatusCode::kBusy);
  device.Do(Tag::kPut, Put("k4"));
  EXPECT_EQ(device.Run(Tag::kEndExport).code(), kOk);
  device.Sync(log);
  for (const char* key : {"k", "k2", "k3", "k4"}) EXPECT_EQ(ValueOf(device, key), "1");
}

TEST(Replica, a_long_log_is_moved_although_something_waits) {
  Device device("a");
  Log log;
  device.StartSync();
  const std::string large = "\"" + std::string(1 << 20, 'x') + "\"";
  for (int i = 0; i < 10; ++i) {
    device.Do(Tag::kPut, Put("k" + std::to_string(i), large));
    device.Do(Tag::kPut, Put("k"));
    ASSERT_TRUE(device.Push(log, large.size()));
    EXPECT_GT(device.State().waiting, 0U);
  }
  EXPECT_LT(device.files().log().bytes.size(), std::size_t{20} << 20);
  EXPECT_GT(device.files().database().bytes.size(), std::size_t{4} << 20);
  EXPECT_FALSE(device.State().needs_image);
  log.Append({device.Frame().Add(Tag::kPut, Put("other")).Build()});
  device.Sync(log);
  EXPECT_EQ(ValueOf(device, "k9"), large);
  EXPECT_EQ(ValueOf(device, "other"), "1");
}

TEST(Replica, a_log_that_is_too_long_is_let_go) {
  Device device("a");
  device.StartSync();
  for (const char letter : {'a', 'b', 'c', 'd', 'e'}) {
    device.Do(Tag::kPut, Put("k", "\"" + std::string(8 << 20, letter) + "\""));
  }
  EXPECT_TRUE(device.State().needs_image);
  device.Do(Tag::kFlush, wire::Nothing{});
  EXPECT_TRUE(device.files().log().bytes.empty());
  EXPECT_EQ(device.State().waiting, 5U);
}

TEST(Replica, a_device_without_the_index_awaits_vectors_of_what_others_put) {
  Device ada("a", {.index = IndexConfig{.dims = 2, .fields = {"$"}}}), bob("b");
  Log log;
  ada.StartSync();
  bob.StartSync();
  PutOp put = Put("k", "\"text\"");
  put.vectors = {{"$", {1, 0}}};
  ada.Do(Tag::kPut, put);
  ada.Sync(log);
  bob.Sync(log);
  EXPECT_EQ(ValueOf(bob, "k"), "\"text\"");
  bob.Do(Tag::kConfigureStore,
         wire::ConfigureStore{IndexConfig{.dims = 3, .fields = {"$"}}, std::nullopt});
  EXPECT_EQ(bob.Run(Tag::kStoreStats).As<StoreStats>().pending, 1U);
  EXPECT_EQ(ada.Run(Tag::kStoreStats).As<StoreStats>().vectors, 1U);
}

TEST(Replica, what_writes_does_not_share_a_frame_with_what_is_of_the_device) {
  Device device("a");
  device.StartSync();
  const Answers answers = device.Execute(
      device.Frame().Add(Tag::kConfigureStore, wire::ConfigureStore{}).Add(Tag::kPut, Put("k")));
  EXPECT_EQ(answers.code(), StatusCode::kInvalidOperation);
  EXPECT_EQ(ValueOf(device, "k"), std::nullopt);
}

TEST(Replica, a_key_that_is_changed_is_of_one_device_and_not_in_the_audit_log) {
  DeviceOptions options;
  options.keys = sql::EncodeKeys(std::vector<sql::FileKey>{{.key = Bytes(32, 7), .salt = {}}});
  Device device("a", options);
  device.StartSync();
  device.Do(Tag::kKeepAudit, wire::KeepAudit{AuditRule{}});
  device.Do(Tag::kChangeKey, wire::ChangeKey{sql::EncodeKeys(
                                 std::vector<sql::FileKey>{{.key = Bytes(32, 8), .salt = {}}})});
  EXPECT_EQ(Waiting(device), (Tags{{Tag::kKeepAudit}}));
  EXPECT_TRUE(device.Run(Tag::kAuditLog, AuditQuery{}).As<std::vector<AuditEntry>>().empty());
}

}  // namespace
}  // namespace keepsake::replica
