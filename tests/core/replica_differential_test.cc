// Devices that write at random, follow one log at random and die at random come to the same: to
// what a device comes to that only follows the log. KEEPSAKE_REPLICA_ROUNDS makes it longer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../fuzz/operation_generator.h"
#include "replica_device.h"
#include "temporary_file.h"

namespace keepsake::replica {
namespace {

constexpr std::uint32_t kSeed = 20'261'201;
constexpr int kRounds = 3;
constexpr int kStepsOfRound = 160;
// Of all that is compared.
constexpr std::int64_t kLater = kNow + 50'000;

// All that can be asked of a memory, but for what is made of it.
class Portrait {
 public:
  explicit Portrait(Device& device) : device_(device) {
    SearchOp all{.ns_prefix = {}, .filter = "", .query = ""};
    all.limit = 10'000;
    all.refresh_ttl = false;
    all.include_superseded = all.include_quarantined = true;
    Add("items", Tag::kSearch, all);
    Add("namespaces", Tag::kListNamespaces, ListNamespacesOp{.limit = 10'000});
    Add("history rules", Tag::kHistoryRules, wire::Nothing{});
    Add("holds", Tag::kListHolds, wire::Nothing{});
    Add("audit rule", Tag::kAuditRule, wire::Nothing{});
    Add("audit log", Tag::kAuditLog, AuditQuery{.limit = 100'000});
    Add("threads", Tag::kListThreads, ListThreads{});
    Add("tuples", Tag::kListCheckpoints, ListCheckpoints{});
    Add("bytes of threads", Tag::kCheckpointerStats, wire::Nothing{});
    for (const char* label : {"a", "b", "ab"}) {
      for (const char* key : {"k1", "k2", "K1", "chat", "ttl"}) {
        Add(std::string("history of ") + label + " " + key, Tag::kHistory,
            wire::History{{{label}, key}, 10'000});
        Add(std::string("what was ") + label + " " + key, Tag::kGetAsOf,
            wire::GetAsOf{{{label}, key}, kNow + 1'000});
      }
    }
    for (int i = 0; i < 40; ++i) AddErasure("e" + std::to_string(i));
  }

  void ExpectSameAs(const Portrait& other) const {
    ASSERT_EQ(parts_.size(), other.parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      EXPECT_EQ(parts_[i].second, other.parts_[i].second) << parts_[i].first;
    }
  }

 private:
  template <typename Payload>
  void Add(const std::string& name, Tag tag, const Payload& payload) {
    const Answers answers = device_.Run(tag, payload, kLater);
    parts_.emplace_back(name, Bytes(answers.bytes().begin() + 12, answers.bytes().end()));
  }
  // Where bytes of it are left is of each device.
  void AddErasure(const std::string& id) {
    const auto record = device_.Run(Tag::kFindErasure, wire::FindErasure{id}, kLater)
                            .As<std::optional<ErasureRecord>>();
    parts_.emplace_back("erasure " + id, record ? wire::Encode(record->erased) : Bytes());
  }

  Device& device_;
  std::vector<std::pair<std::string, Bytes>> parts_;
};

Bytes AnyBytes(std::mt19937& random, std::size_t count) {
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

// What writes on a device, and how it follows the log.
class Actor {
 public:
  Actor(std::string name, std::uint32_t seed, DeviceOptions options)
      : name_(name),
        device_(std::make_unique<Device>(name, std::move(options))),
        random_(seed),
        bytes_(AnyBytes(random_, 1 << 16)),
        source_(bytes_),
        generator_(source_, true) {
    generator_.Frame();  // which configures
    device_->StartSync();
  }

  Device& device() { return *device_; }

  void Step(Log& log) {
    const std::uint32_t choice = Below(100);
    if (choice < 46) {
      Maybe([&] { Write(); });
    } else if (choice < 64) {
      Maybe([&] {
        if (Below(2) == 0) CatchUp(log);
        device_->Push(log, Below(3) == 0 ? 1 : 4'000, Below(6) != 0);
      });
    } else if (choice < 78) {
      Maybe([&] { CatchUp(log); });
    } else if (choice < 83) {
      device_->Reopen();
    } else if (choice < 86) {
      device_->Kill();
    } else if (choice < 90) {
      device_->Do(Tag::kFlush, wire::Nothing{});
    } else {
      Read();
    }
  }

  // `other` has all of the log, and nothing else.
  void Sync(Log& log, Device& other) {
    if (device_->CatchUp(log).code() == StatusCode::kConflictingOptions) {
      const TemporaryFile file("replica-differential");
      const Bytes image = other.Export();
      std::ofstream(file.path(), std::ios::binary)
          .write(reinterpret_cast<const char*>(image.data()),
                 static_cast<std::streamsize>(image.size()));
      const sync::CatchUp catch_up{log.After(device_->State().number), file.path(),
                                   other.State().number, other.State().digest};
      device_->Do(Tag::kCatchUp, catch_up);
    }
    device_->Sync(log);
    EXPECT_EQ(device_->State().waiting, 0U) << name_;
  }

 private:
  std::uint32_t Below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_()) % bound; }
  template <typename T>
  T Of(std::initializer_list<T> choices) {
    return *(choices.begin() + Below(static_cast<std::uint32_t>(choices.size())));
  }

  // Seldom the machine dies in the middle.
  void Maybe(const std::function<void()>& body) {
    if (Below(12) != 0) return body();
    std::optional<sql::MemoryFiles> image;
    int left = static_cast<int>(Below(12));
    device_->files().after_write = [&] {
      if (left-- == 0) image = device_->files().CopyOfBytes();
    };
    body();
    device_->files().after_write = nullptr;
    if (image) device_->Become(*std::move(image));
  }

  void CatchUp(Log& log) {
    const Answers answers = device_->CatchUp(log, 1 + Below(5));
    const bool needs_image = answers.code() == StatusCode::kConflictingOptions;
    EXPECT_TRUE(answers.code() == StatusCode::kOk || (needs_image && device_->State().needs_image))
        << name_ << ": " << answers.message();
  }

  void Write() {
    now_ms_ += Below(400);
    switch (Below(12)) {
      case 0:
        return Put();
      case 1:
        return Chat();
      case 2:
        return UndoOne();
      case 3:
        return Govern();
      case 4:
        return InScope();
      case 5:
        return Evict();
      default:
        device_->Execute(generator_.Frame());
    }
  }

  RequestBuilder Frame() {
    RequestBuilder frame = device_->Frame(now_ms_);
    if (Below(2) == 0) frame.By(name_, "node");
    return frame;
  }

  void Put() {
    PutOp put{.ns = {Of<const char*>({"a", "b"})},
              .key = "ttl",
              .value = std::to_string(Below(100)),
              .index = {},
              .ttl_ms = Of<std::int64_t>({100, 5'000, 100'000}),
              .vectors = {}};
    device_->Execute(Frame().Add(Tag::kPut, put).Add(Tag::kGet, GetOp{{"a"}, "ttl"}));
  }

  // A list that grows, of which only what is new is sent.
  void Chat() {
    const std::string thread = Of<const char*>({"chat-1", "chat-2"});
    const auto newest = device_->Run(Tag::kGetTuple, CheckpointKey{thread, "", ""}, now_ms_)
                            .As<std::optional<CheckpointTuple>>();
    const bool goes_on = newest && thread_ == thread && newest->key.checkpoint_id == checkpoint_;
    NewCheckpoint next{.key = {thread, "", "1ef-" + std::to_string(now_ms_) + name_},
                       .parent_checkpoint_id = newest ? newest->key.checkpoint_id : "",
                       .checkpoint = golden_blob("{}"),
                       .metadata = golden_blob("{}"),
                       .channel_versions = {{"m", std::to_string(now_ms_)}},
                       .new_versions = {"m"},
                       .values = {}};
    const std::string added(200 + Below(300), 'x');
    NewValue value{.channel = "m", .version = std::to_string(now_ms_), .value = golden_blob(added)};
    value.delta.stamp = random_();
    if (goes_on) value.delta = {value.delta.stamp, stamp_, length_, 0};
    next.values.push_back(value);
    const Answers answers = device_->Execute(Frame().Add(Tag::kPutCheckpoint, next));
    if (answers.code() != StatusCode::kOk) return;
    length_ = added.size() + (goes_on ? length_ : 0);
    thread_ = thread;
    checkpoint_ = next.key.checkpoint_id;
    stamp_ = value.delta.stamp;
  }
  static Blob golden_blob(const std::string& text) {
    return {"json", Bytes(text.begin(), text.end())};
  }

  void UndoOne() {
    const ItemRef item{{Of<const char*>({"a", "b", "ab"})}, Of<const char*>({"k1", "k2", "K1"})};
    const Answers answers = device_->Run(Tag::kHistory, wire::History{item, 5}, now_ms_);
    if (answers.code() != StatusCode::kOk) return;
    const auto versions = answers.As<std::vector<Version>>();
    if (!versions.empty() && versions[0].operation != 0) known_ = versions[0].operation;
    device_->Execute(Frame().Add(Tag::kUndo, Undo{known_, Below(3) == 0}));
  }

  void Govern() {
    const std::string id = "e" + std::to_string(Below(40));
    Erasure erasure{.id = id, .digest = "d", .namespaces = {}, .filter = "", .threads = {}};
    switch (Below(9)) {
      case 0:
        erasure.namespaces = {{"b", "a"}};
        device_->Execute(Frame().Add(Tag::kForget, erasure));
        break;
      case 1:
        erasure.threads = {"t1"};
        erasure.filter = "{\"n\":1}";
        erasure.namespaces = {{"ab"}};
        device_->Execute(Frame().Add(Tag::kForget, erasure));
        break;
      case 2:
        device_->Execute(Frame().Add(Tag::kHold, Hold{{"b"}, name_, 0}));
        break;
      case 3:
        device_->Execute(Frame().Add(Tag::kRelease, wire::OneNamespace{{"b"}}));
        break;
      case 4:
        device_->Execute(Frame().Add(Tag::kSweepExpired, wire::SweepExpired{2}));
        break;
      case 5:
        device_->Execute(Frame().Add(Tag::kKeepAudit,
                                     wire::KeepAudit{AuditRule{Of<std::uint32_t>({20, 1'000})}}));
        break;
      case 6:
        device_->Execute(Frame().Add(Tag::kPrune, RetentionRules{.keep_last = 1 + Below(3)}));
        break;
      case 7:
        device_->Execute(Frame().Add(Tag::kPrune, RetentionRules{.max_bytes = 1'500}));
        break;
      default:
        device_->Execute(Frame().Add(
            Tag::kKeepHistory,
            HistoryRule{
                .ns = {Of<const char*>({"a", "b"})},
                .max_versions = 1 + Below(6),
                .max_age_ms = Below(2) == 0 ? std::optional<std::int64_t>(20'000) : std::nullopt}));
    }
  }

  void InScope() {
    Policy policy;
    switch (Below(4)) {
      case 0:
        policy.max_entries = 3;
        break;
      case 1:
        policy.max_bytes = 600;
        break;
      case 2:
        policy.readable = {{{"x"}}};
        policy.read_only = Below(2) == 0;
        break;
      default:
        policy.default_ttl_ms = 3'000;
        policy.origins = {{Origin::kWeb, Trust::kQuarantine, 1}};
    }
    const std::vector<ScopeLevel> levels = {{{Of<const char*>({"a", "ab"})}, policy}};
    PutOp put{.ns = {"x"},
              .key = Of<const char*>({"k1", "k2", "k3", "k4"}),
              .value = "\"" + std::string(Below(200), 'v') + "\"",
              .index = {},
              .vectors = {}};
    if (Below(2) == 0) put.provenance = Provenance{Origin::kWeb, "s", false};
    device_->Execute(
        Frame()
            .Within(levels)
            .Add(Tag::kPut, put)
            .Add(Tag::kGet, GetOp{{"y"}, "k1"})
            .Add(Tag::kPutWrites,
                 wire::PutWrites{{"t", "", "c"}, {{"task", 0, "m", golden_blob("1"), ""}}}));
  }

  void Evict() {
    const auto judged =
        device_->Run(Tag::kJudgeItems, JudgeItems{.ns_prefix = {}, .limit = 4}, now_ms_)
            .As<std::vector<JudgedItem>>();
    if (judged.empty()) return;
    const JudgedItem& one = judged[Below(static_cast<std::uint32_t>(judged.size()))];
    device_->Execute(
        Frame().Add(Tag::kEvictItems,
                    EvictItems{one.item.ns, {{one.item.key, one.updated_at_ms, one.fingerprint}}}));
  }

  // Makes what is made of rows, as one device does and another doesn't.
  void Read() {
    SearchOp search{.ns_prefix = {}, .filter = "{\"n\":1}", .query = "paris"};
    search.mode = Of({SearchMode::kText, SearchMode::kAuto});
    search.refresh_ttl = Below(2) == 0;
    device_->Run(Tag::kSearch, search, now_ms_);
    device_->Run(Tag::kListThreads, ListThreads{}, now_ms_);
    device_->Do(Tag::kImproveIndex, IndexStep{.vectors = 5, .is_wanted = true});
    if (Below(4) == 0) device_->Run(Tag::kScrub, wire::Scrub{1'000});
  }

  std::string name_;
  std::unique_ptr<Device> device_;
  std::mt19937 random_;
  Bytes bytes_;
  fuzz::ByteSource source_;
  fuzz::OperationGenerator generator_;
  std::int64_t now_ms_ = kNow;
  std::int64_t known_ = 1;
  std::string thread_, checkpoint_;
  std::uint64_t stamp_ = 0, length_ = 0;
};

int Rounds() {
  const char* rounds = std::getenv("KEEPSAKE_REPLICA_ROUNDS");
  return rounds == nullptr ? kRounds : std::atoi(rounds);
}

TEST(ReplicaDifferential, devices_that_follow_one_log_come_to_the_same) {
  const IndexConfig index{.dims = 3, .fields = {"$"}};
  const Bytes keys = sql::EncodeKeys(std::vector<sql::FileKey>{{.key = Bytes(32, 7), .salt = {}}});
  for (int round = 0; round < Rounds(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::uint32_t seed = kSeed + static_cast<std::uint32_t>(round) * 16;
    Log log;
    Actor ada("ada", seed + 1, {.index = index});
    Actor bob("bob", seed + 2, {.index = index, .keys = keys});
    Actor eve("eve", seed + 3, {.index = index, .durability = sql::Durability::kStrict});
    Device follower("follower", {.index = index});
    follower.StartSync();
    std::mt19937 random(seed);
    for (int step = 0; step < kStepsOfRound; ++step) {
      for (Actor* actor : {&ada, &bob, &eve}) actor->Step(log);
      if (random() % 20 == 0) follower.Sync(log);
      if (testing::Test::HasFailure()) FAIL() << "step " << step;
    }
    for (int i = 0; i < 2; ++i) {
      for (Actor* actor : {&ada, &bob, &eve}) {
        follower.Sync(log);
        actor->Sync(log, follower);
      }
    }
    follower.Sync(log);
    const Portrait expected(follower);
    for (Actor* actor : {&ada, &bob, &eve}) {
      SCOPED_TRACE(actor == &ada ? "ada" : actor == &bob ? "bob" : "eve");
      Portrait(actor->device()).ExpectSameAs(expected);
      const auto check = actor->device()
                             .Run(Tag::kCheckPages, wire::CheckPages{1, 100'000, false})
                             .As<sql::PageCheck>();
      EXPECT_EQ(check.problem, "");
      EXPECT_TRUE(check.damaged.empty());
    }
    EXPECT_GT(log.newest(), 10U);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace keepsake::replica
