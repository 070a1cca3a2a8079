// MemorySaver and SqliteSaver are two programs with one meaning: whatever is
// asked of both, they answer alike. And nothing is stored that no checkpoint
// refers to.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "checkpoint/channel_refs.h"
#include "checkpointer_contract.h"

namespace keepsake::testing {
namespace {

class Differential {
 public:
  explicit Differential(std::uint32_t seed) : random_(seed) {}

  void Step() {
    switch (Below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
        return Put();
      case 6:
      case 7:
      case 8:
      case 9:
        return PutWrites();
      case 10:
      case 11:
        return GetTuple();
      case 12:
      case 13:
        return List();
      case 14:
      case 15:
        return History();
      case 16:
        return Copy();
      case 17:
        return DeleteForRuns();
      case 18:
        return Prune();
      default:
        return Below(3) == 0 ? DeleteThread() : Writes();
    }
  }

  void CompareEverything() {
    const auto memory = memory_.saver().List({});
    const auto sqlite = sqlite_.saver().List({});
    ASSERT_TRUE(memory && sqlite);
    ASSERT_EQ(*memory, *sqlite);
    ASSERT_EQ(*memory_.saver().Stats(), *sqlite_.saver().Stats());
    CheckBlobsAreThoseReferredTo();
  }

 private:
  // Each of these does one thing to both savers and compares the answers.
  void Put() {
    const NewCheckpoint next = RandomCheckpoint();
    ExpectSame(memory_.saver().Put(next), sqlite_.saver().Put(next));
  }

  void PutWrites() {
    std::vector<PendingWrite> writes;
    for (std::size_t i = Below(4); i > 0; --i) {
      writes.push_back(Write(Pick({"a", "b", "\uFFFF", "\U00010000"}),
                             static_cast<std::int32_t>(Below(6)) - 3, Channel(),
                             std::to_string(++counter_), Pick({"", "~1", "~2"})));
    }
    const CheckpointKey key = Key();
    ExpectSame(memory_.saver().PutWrites(key, writes), sqlite_.saver().PutWrites(key, writes));
  }

  void GetTuple() {
    CheckpointKey key = Key();
    if (Below(2) == 0) key.checkpoint_id.clear();
    ExpectSame(memory_.saver().GetTuple(key), sqlite_.saver().GetTuple(key));
  }

  void Writes() {
    const CheckpointKey key = Key();
    const std::string channel = Below(2) == 0 ? "" : Channel();
    ExpectSame(memory_.saver().Writes(key, channel), sqlite_.saver().Writes(key, channel));
  }

  void List() {
    ListCheckpoints list;
    if (Below(2) == 0) list.thread_id = Thread();
    if (Below(2) == 0) list.checkpoint_ns = Ns();
    if (Below(6) == 0) list.checkpoint_id = Id();
    if (Below(4) == 0) list.before = Id();
    if (Below(4) == 0) list.after = Id();
    if (Below(3) == 0) list.cursor = Key();
    if (Below(3) == 0) list.filter = "{\"run_id\":\"" + Run() + "\"}";
    if (Below(2) == 0) list.limit = static_cast<std::uint32_t>(Below(5));
    ExpectSame(memory_.saver().List(list), sqlite_.saver().List(list));
  }

  void History() {
    CheckpointKey key = Key();
    if (Below(2) == 0) key.checkpoint_id.clear();
    const std::vector<std::string> channels = {Channel(), Channel(), "none"};
    ExpectSame(memory_.saver().GetDeltaChannelHistory(key, channels),
               sqlite_.saver().GetDeltaChannelHistory(key, channels));
  }

  void Copy() {
    const std::string source = Thread();
    const std::string target = Thread();
    ExpectSame(memory_.saver().CopyThread(source, target),
               sqlite_.saver().CopyThread(source, target));
  }

  void DeleteForRuns() {
    const std::vector<std::string> runs = {Run()};
    ExpectSame(memory_.saver().DeleteForRuns(runs), sqlite_.saver().DeleteForRuns(runs));
  }

  void Prune() {
    const std::vector<std::string> threads = {Thread(), Thread()};
    const auto strategy = Below(4) == 0 ? PruneStrategy::kDelete : PruneStrategy::kKeepLatest;
    ExpectSame(memory_.saver().Prune(threads, strategy), sqlite_.saver().Prune(threads, strategy));
  }

  void DeleteThread() {
    const std::string thread = Thread();
    ExpectSame(memory_.saver().DeleteThread(thread), sqlite_.saver().DeleteThread(thread));
  }

  NewCheckpoint RandomCheckpoint() {
    At next = At(Thread(), Ns(), Id());
    next.Parent(Below(8) == 0 ? "" : Id()).Metadata("{\"run_id\":\"" + Run() + "\"}");
    std::set<std::string> channels;
    for (std::size_t i = Below(4); i > 0; --i) channels.insert(Channel());
    for (const std::string& channel : channels) {
      const std::string version = std::to_string(Below(4));
      switch (Below(5)) {
        case 0:
        case 1:
          next.New(channel, version, std::to_string(++counter_));
          break;
        case 2:
          next.NewWithoutValue(channel, version);
          break;
        default:
          next.Unchanged(channel, version);
          break;
      }
    }
    return next;
  }

  static void ExpectSame(const Status& memory, const Status& sqlite) {
    ASSERT_EQ(memory.code(), sqlite.code()) << memory.message() << " / " << sqlite.message();
    ASSERT_EQ(memory.message(), sqlite.message());
  }

  template <typename T>
  static void ExpectSame(const Result<T>& memory, const Result<T>& sqlite) {
    ExpectSame(memory ? Status() : memory.error(), sqlite ? Status() : sqlite.error());
    if (memory && sqlite) {
      ASSERT_EQ(*memory, *sqlite);
    }
  }

  void CheckBlobsAreThoseReferredTo() {
    std::set<std::int64_t> referred;
    std::set<std::int64_t> stored;
    sql::Database& database = sqlite_.database();
    ASSERT_TRUE(database
                    .Run("SELECT channels FROM checkpoints", {},
                         [&](const sql::Row& row) {
                           const auto refs = checkpoint::DecodeChannelRefs(row.Blob(0));
                           EXPECT_TRUE(refs.has_value());
                           for (const auto& ref : refs.value()) referred.insert(ref.blob_id);
                           return refs.has_value();
                         })
                    .ok());
    ASSERT_TRUE(database
                    .Run("SELECT blob_id FROM checkpoint_blobs", {},
                         [&](const sql::Row& row) {
                           stored.insert(row.Int(0));
                           return true;
                         })
                    .ok());
    referred.erase(checkpoint::kNoBlob);
    ASSERT_EQ(stored, referred);
  }

  std::size_t Below(std::size_t bound) { return random_() % bound; }
  std::string Pick(std::initializer_list<const char*> choices) {
    return *(choices.begin() + Below(choices.size()));
  }
  std::string Thread() { return Pick({"t1", "t2", "t3"}); }
  std::string Ns() { return Pick({"", "child:1"}); }
  std::string Id() { return Pick({"1", "2", "3", "4", "5", "6", "\uFFFF", "\U00010000"}); }
  std::string Channel() { return Pick({"a", "b", "c", "__pregel_tasks"}); }
  std::string Run() { return Pick({"r1", "r2", "r3"}); }
  CheckpointKey Key() { return {Thread(), Ns(), Id()}; }

  MemorySaverBackend memory_;
  SqliteSaverBackend sqlite_;
  std::mt19937 random_;
  int counter_ = 0;
};

TEST(CheckpointerDifferential, both_savers_answer_random_calls_alike) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Differential differential(seed);
    for (int step = 0; step < 300; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      differential.Step();
      if (step % 10 == 9) differential.CompareEverything();
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace keepsake::testing
