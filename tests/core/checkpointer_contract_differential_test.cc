// MemorySaver keeps full copies, SqliteSaver shares content between versions,
// forks and threads: whatever is asked of both, they answer alike. So nothing
// that is referred to is ever freed; and after a compaction nothing else is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "checkpoint/content_logs.h"
#include "checkpoint/stored_checkpoints.h"
#include "checkpoint/stored_values.h"
#include "checkpoint/stored_writes.h"
#include "checkpointer_contract.h"

namespace keepsake::testing {
namespace {

class Differential {
 public:
  explicit Differential(std::uint32_t seed) : random_(seed) {}

  void Step() {
    // Two savers over one database, each of which remembers what it put last.
    uses_other_ = Below(4) == 0;
    if (Below(30) == 0) UndoneSteps();
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
        return Below(2) == 0 ? PruneByStrategy() : PruneByRules();
      default:
        break;
    }
    switch (Below(5)) {
      case 0:
        return DeleteThread();
      case 1:
        return Rename();
      case 2:
        return Fork();
      case 3:
        return Threads();
      default:
        return Writes();
    }
  }

  void CompareEverything() {
    const auto memory = memory_.saver().List({});
    const auto sqlite = Stored().List({});
    ASSERT_TRUE(memory && sqlite);
    ASSERT_EQ(*memory, *sqlite);
    ASSERT_EQ(Counts(memory_.saver()), Counts(Stored()));
  }

  // So that a test which never meets a case does not count as one.
  const std::map<StatusCode, int>& puts_by_code() const { return puts_by_code_; }

  void Compact() {
    ASSERT_TRUE(Stored().Prune({}).has_value());
    CheckContentIsWhatIsReferredTo();
  }

 private:
  Checkpointer& Stored() { return uses_other_ ? *other_ : sqlite_.saver(); }

  // Nothing of what happened in a transaction that is undone is there, or remembered.
  void UndoneSteps() {
    const Status undone = sqlite_.database().InTransaction([&]() -> Status {
      for (std::size_t i = Below(5) + 1; i > 0; --i) {
        uses_other_ = Below(4) == 0;
        const NewCheckpoint next = RandomCheckpoint();
        if (Stored().Put(next).ok()) last_ids_[SpaceOf(next.key)] = next.key.checkpoint_id;
        const std::vector<PendingWrite> writes = {Write("a", 0, Channel(), EditedText())};
        EXPECT_TRUE(Stored().PutWrites(Key(), writes).ok());
        if (Below(4) > 0) continue;
        EXPECT_TRUE(Stored().DeleteThread(Thread()).ok());
      }
      return {StatusCode::kInternal, "undone"};
    });
    ASSERT_FALSE(undone.ok());
  }

  static std::string SpaceOf(const CheckpointKey& key) {
    return key.thread_id + "|" + key.checkpoint_ns;
  }

  // Each of these does one thing to both savers and compares the answers.
  void Put() {
    const NewCheckpoint next = RandomCheckpoint();
    const Status answer = memory_.saver().Put(next);
    ExpectSame(answer, Stored().Put(next));
    if (answer.ok()) last_ids_[SpaceOf(next.key)] = next.key.checkpoint_id;
    ++puts_by_code_[answer.code()];
  }

  void PutWrites() {
    std::vector<PendingWrite> writes;
    for (std::size_t i = Below(4); i > 0; --i) {
      writes.push_back(Write(Pick({"a", "b", "\uFFFF", "\U00010000"}),
                             static_cast<std::int32_t>(Below(6)) - 3, Channel(),
                             Below(4) == 0 ? EditedText() : std::to_string(++counter_),
                             Pick({"", "~1", "~2"})));
    }
    const CheckpointKey key = Key();
    ExpectSame(memory_.saver().PutWrites(key, writes), Stored().PutWrites(key, writes));
  }

  void GetTuple() {
    CheckpointKey key = Key();
    if (Below(2) == 0) key.checkpoint_id.clear();
    ExpectSame(memory_.saver().GetTuple(key), Stored().GetTuple(key));
  }

  void Writes() {
    const CheckpointKey key = Key();
    const std::string channel = Below(2) == 0 ? "" : Channel();
    ExpectSame(memory_.saver().Writes(key, channel), Stored().Writes(key, channel));
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
    ExpectSame(memory_.saver().List(list), Stored().List(list));
  }

  void History() {
    CheckpointKey key = Key();
    if (Below(2) == 0) key.checkpoint_id.clear();
    const std::vector<std::string> channels = {Channel(), Channel(), "none"};
    ExpectSame(memory_.saver().GetDeltaChannelHistory(key, channels),
               Stored().GetDeltaChannelHistory(key, channels));
  }

  void Copy() {
    const std::string source = Thread();
    const std::string target = Thread();
    ExpectSame(memory_.saver().CopyThread(source, target), Stored().CopyThread(source, target));
  }

  void DeleteForRuns() {
    const std::vector<std::string> runs = {Run()};
    ExpectSame(memory_.saver().DeleteForRuns(runs), Stored().DeleteForRuns(runs));
  }

  void PruneByStrategy() {
    RetentionRules rules = {.thread_ids = {{Thread(), Thread()}}};
    rules.strategy = Below(4) == 0 ? PruneStrategy::kDelete : PruneStrategy::kKeepLatest;
    ExpectSamePrune(rules);
  }

  void PruneByRules() {
    RetentionRules rules;
    if (Below(3) > 0) rules.thread_ids = {Thread(), Thread()};
    if (Below(2) == 0) rules.keep_last = static_cast<std::uint32_t>(Below(3));
    if (Below(2) == 0) rules.older_than = Id();
    rules.dry_run = Below(3) == 0;
    ExpectSamePrune(rules);
  }

  void ExpectSamePrune(const RetentionRules& rules) {
    const auto memory = memory_.saver().Prune(rules);
    const auto sqlite = Stored().Prune(rules);
    ASSERT_TRUE(memory && sqlite);
    ASSERT_EQ(memory->checkpoints, sqlite->checkpoints);
  }

  void Rename() {
    const std::string source = Thread();
    const std::string target = Thread();
    ExpectSame(memory_.saver().RenameThread(source, target), Stored().RenameThread(source, target));
  }

  void Fork() {
    const std::string source = Thread();
    const std::string id = Id();
    const std::string target = Thread();
    ExpectSame(memory_.saver().ForkThread(source, id, target),
               Stored().ForkThread(source, id, target));
  }

  void Threads() {
    ListThreads list;
    if (Below(2) == 0) list.cursor = ListThreads::Cursor{Id(), Thread()};
    if (Below(2) == 0) list.limit = static_cast<std::uint32_t>(Below(3));
    if (Below(3) == 0) list.filter = "{\"run_id\":\"" + Run() + "\"}";
    auto memory = memory_.saver().Threads(list).value();
    auto sqlite = Stored().Threads(list).value();
    ASSERT_EQ(memory.size(), sqlite.size());
    for (std::size_t i = 0; i < memory.size(); ++i) {
      ASSERT_EQ(memory[i].thread_id, sqlite[i].thread_id);
      ASSERT_EQ(memory[i].newest_checkpoint_id, sqlite[i].newest_checkpoint_id);
      ASSERT_EQ(memory[i].checkpoint, sqlite[i].checkpoint);
      ASSERT_EQ(memory[i].metadata, sqlite[i].metadata);
      ASSERT_EQ(memory[i].checkpoints, sqlite[i].checkpoints);
    }
  }

  void DeleteThread() {
    const std::string thread = Thread();
    ExpectSame(memory_.saver().DeleteThread(thread), Stored().DeleteThread(thread));
  }

  NewCheckpoint RandomCheckpoint() {
    At next = At(Thread(), Ns(), Id());
    next.Metadata("{\"run_id\":\"" + Run() + "\"}");
    const std::string& last = last_ids_[SpaceOf(next.checkpoint().key)];
    next.Parent(Below(2) == 0 ? last : Below(8) == 0 ? "" : Id());
    std::set<std::string> channels;
    for (std::size_t i = Below(4); i > 0; --i) channels.insert(Channel());
    for (const std::string& channel : channels) {
      const std::string version = std::to_string(Below(4));
      switch (Below(5)) {
        case 0:
        case 1:
          next.New(channel, version, EditedText());
          if (Below(2) == 0) MakeDelta(next, next.checkpoint().values.back());
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

  static CheckpointerStats Counts(Checkpointer& saver) {
    CheckpointerStats counts = saver.Stats().value();
    counts.bytes = 0;
    return counts;
  }

  void CheckContentIsWhatIsReferredTo() {
    std::vector<checkpoint::LogRange> ranges;
    checkpoint::StoredValues values(sqlite_.database());
    checkpoint::StoredCheckpoints checkpoints(values.logs());
    ForEach("SELECT checkpoint FROM checkpoints", [&](ByteView row) {
      ranges.push_back(checkpoint::StoredCheckpoints::BaseOf(row));
      const auto record = checkpoints.Decode(row).value();
      const auto channels = record.Channels().value();
      for (const auto& channel : channels) {
        EXPECT_TRUE(values.CollectRanges(channel.value, ranges).ok());
      }
    });
    ForEach("SELECT writes FROM writes", [&](ByteView row) {
      const auto writes = checkpoint::DecodeWrites(row).value();
      for (const auto& write : writes) {
        EXPECT_TRUE(values.CollectRanges(write.value, ranges).ok());
      }
    });
    std::set<std::int64_t> referred;
    for (const auto& range : ranges) {
      if (range.length == 0) continue;
      const std::uint64_t last = (range.offset + range.length - 1) / checkpoint::kChunkBytes;
      for (std::uint64_t i = range.offset / checkpoint::kChunkBytes; i <= last; ++i) {
        referred.insert((range.log << checkpoint::kChunkBits) + static_cast<std::int64_t>(i));
      }
    }
    std::set<std::int64_t> stored;
    ASSERT_TRUE(sqlite_.database()
                    .Run("SELECT chunk FROM content", {},
                         [&](const sql::Row& row) { stored.insert(row.Int(0)); })
                    .ok());
    ASSERT_EQ(stored, referred);
  }

  void ForEach(std::string_view sql, const std::function<void(ByteView)>& body) {
    ASSERT_TRUE(
        sqlite_.database().Run(sql, {}, [&](const sql::Row& row) { body(row.Blob(0)); }).ok());
  }

  // One of the latest texts, with random edits.
  std::string EditedText() {
    std::string text = texts_.empty() ? "" : texts_[Below(texts_.size())];
    for (std::size_t i = Below(3) + 1; i > 0; --i) {
      const std::size_t at = text.empty() || Below(2) == 0 ? text.size() : Below(text.size());
      switch (Below(4)) {
        case 0:
          text.erase(at, Below(2000));
          break;
        case 1:
          text.insert(at, RandomText(Below(30)));
          break;
        default:
          text.insert(at, RandomText(Below(3000)));
          break;
      }
    }
    if (text.size() > 40'000) text.erase(0, 30'000);
    if (Below(20) == 0) text = RandomText(Below(10));
    if (texts_.size() < 6) texts_.emplace_back();
    texts_[Below(texts_.size())] = text;
    return text;
  }

  std::string RandomText(std::size_t size) {
    std::string text(size, ' ');
    for (char& c : text) c = static_cast<char>('a' + Below(26));
    return text;
  }

  // By what is new of it in the parent's value, as a caller who knows that does; or
  // in what a caller takes for the parent's value, who does not know that somebody
  // else replaced, emptied or deleted it.
  void MakeDelta(const NewCheckpoint& next, NewValue& value) {
    const std::string text = Text(value.value);
    value.delta.stamp = StampOf(text);
    if (Below(4) == 0) return;
    const std::string before =
        Below(4) == 0 && !texts_.empty() ? texts_[Below(texts_.size())] : ParentsText(next, value);
    if (before.empty()) return;
    const auto differs = std::ranges::mismatch(before, text);
    const auto prefix = static_cast<std::size_t>(differs.in1 - before.begin());
    std::size_t suffix = 0;
    while (suffix < std::min(before.size(), text.size()) - prefix &&
           before[before.size() - 1 - suffix] == text[text.size() - 1 - suffix]) {
      ++suffix;
    }
    value.delta = {StampOf(text), StampOf(before), prefix, suffix};
    value.value = Json(text.substr(prefix, text.size() - prefix - suffix));
  }

  std::string ParentsText(const NewCheckpoint& next, const NewValue& value) {
    const CheckpointKey parent = {next.key.thread_id, next.key.checkpoint_ns,
                                  next.parent_checkpoint_id};
    if (parent.checkpoint_id.empty()) return "";
    const auto tuple = memory_.saver().GetTuple(parent).value();
    if (!tuple) return "";
    for (const ChannelValue& base : tuple->values) {
      if (base.channel == value.channel) return Text(base.value);
    }
    return "";
  }

  static std::uint64_t StampOf(const std::string& text) {
    return std::hash<std::string>()(text) | 1;
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
  std::unique_ptr<Checkpointer> other_ = MakeSqliteSaver(sqlite_.database()).value();
  bool uses_other_ = false;
  std::map<std::string, std::string> last_ids_;
  std::mt19937 random_;
  int counter_ = 0;
  std::map<StatusCode, int> puts_by_code_;
  std::vector<std::string> texts_;
};

TEST(CheckpointerDifferential, both_savers_answer_random_calls_alike) {
  std::map<StatusCode, int> puts_by_code;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Differential differential(seed);
    for (int step = 0; step < 300; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      differential.Step();
      if (step % 10 == 9) differential.CompareEverything();
      if (step % 50 == 49) differential.Compact();
      if (::testing::Test::HasFailure()) return;
    }
    for (const auto& [code, puts] : differential.puts_by_code()) puts_by_code[code] += puts;
  }
  EXPECT_GT(puts_by_code[StatusCode::kOk], 1000);
  EXPECT_GT(puts_by_code[StatusCode::kNotFound], 100) << "deltas upon another base";
}

}  // namespace
}  // namespace keepsake::testing
