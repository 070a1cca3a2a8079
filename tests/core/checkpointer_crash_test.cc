// The machine stops after any byte that a prune or a compaction writes: what is
// found afterwards is the history as it was before, or as it is after.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checkpointer_contract.h"
#include "file_vfs_test_files.h"

namespace keepsake::testing {
namespace {

using sql::Database;
using sql::FileVfs;
using sql::MemoryFiles;

using History = std::vector<CheckpointTuple>;

struct Opened {
  std::unique_ptr<FileVfs> vfs;
  std::unique_ptr<Database> database;
  std::unique_ptr<Checkpointer> saver;

  History All() const { return saver->List({}).value(); }
};

Opened OpenOn(MemoryFiles& files, const std::string& name) {
  Opened opened;
  opened.vfs = FileVfs::Register(name, files.Host()).value();
  opened.database = sql::OpenDatabase({.path = "crash", .vfs = name}).value();
  opened.saver = MakeSqliteSaver(*opened.database).value();
  return opened;
}

// Two threads which share content, one of them with a subgraph.
void Fill(Checkpointer& saver) {
  std::string text = "[";
  for (int i = 100; i < 200; ++i) {
    for (int j = 0; j < 300; ++j) text += std::to_string(i * j * 7919) + ",";
    const std::string id = std::to_string(i);
    At next = At("t", "", id).Parent(i == 100 ? "" : std::to_string(i - 1));
    ASSERT_TRUE(saver.Put(next.New("messages", id, text + "]")).ok());
    ASSERT_TRUE(saver.Put(At("t", "sub:1", id).New("other", id, text.substr(i * 10))).ok());
    ASSERT_TRUE(saver.PutWrites({"t", "", id}, std::vector{Write("w", 0, "a", id)}).ok());
  }
  ASSERT_TRUE(saver.ForkThread("t", "150", "fork").ok());
}

std::string IntegrityOf(Database& database) {
  std::string verdict;
  const Status s = database.Run("PRAGMA integrity_check", {},
                                [&](const sql::Row& row) { verdict = row.Text(0); });
  return s.ok() ? verdict : s.message();
}

// Lets `act` write `room` bytes, then stops the machine. → whether it was done
bool ActAndCrash(MemoryFiles& files, std::int64_t room, const std::function<Status(Opened&)>& act) {
  Opened opened = OpenOn(files, "crash-writer");
  files.room = room;
  const bool done = act(opened).ok();
  files.room = 0;  // closing writes nothing either
  return done;
}

void CrashAnywhere(const MemoryFiles& filled, std::int64_t step,
                   const std::function<Status(Opened&)>& act) {
  MemoryFiles finished = filled.CopyOfBytes();
  MemoryFiles untouched = filled.CopyOfBytes();
  const History before = OpenOn(untouched, "before").All();
  Opened whole = OpenOn(finished, "whole");
  ASSERT_TRUE(act(whole).ok());
  const History after = whole.All();
  bool done = false;
  for (std::int64_t room = 0; !done; room += step) {
    SCOPED_TRACE("after " + std::to_string(room) + " bytes");
    MemoryFiles files = filled.CopyOfBytes();
    done = ActAndCrash(files, room, act);
    MemoryFiles image = files.CopyOfBytes();
    Opened recovered = OpenOn(image, "recovered");
    ASSERT_EQ(IntegrityOf(*recovered.database), "ok");
    const History found = recovered.All();
    ASSERT_TRUE(found == after || (!done && found == before));
  }
}

class CheckpointerCrash : public ::testing::Test {
 protected:
  void SetUp() override {
    Opened opened = OpenOn(filled_, "crash-filler");
    Fill(*opened.saver);
  }

  MemoryFiles filled_{"crash"};
};

TEST_F(CheckpointerCrash, a_prune_is_done_or_not_at_all) {
  CrashAnywhere(filled_, 9'001, [](Opened& opened) -> Status {
    const auto pruned = opened.saver->Prune({.thread_ids = {{"t"}}, .keep_last = 2});
    return pruned ? Status() : pruned.error();
  });
}

TEST_F(CheckpointerCrash, a_compaction_loses_nothing) {
  {
    Opened opened = OpenOn(filled_, "crash-pruner");
    ASSERT_TRUE(opened.saver->DeleteThread("t").ok());
  }
  const std::size_t size = filled_.database().bytes.size();
  CrashAnywhere(filled_, 50'001, [](Opened& opened) { return opened.database->Flush(); });
  {
    Opened opened = OpenOn(filled_, "crash-flusher");
    ASSERT_TRUE(opened.database->Flush().ok());
  }
  EXPECT_LT(filled_.database().bytes.size(), size * 3 / 4) << "the file gets its space back";
}

}  // namespace
}  // namespace keepsake::testing
