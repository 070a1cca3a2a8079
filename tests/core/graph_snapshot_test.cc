// The graph over the vectors of a SqliteStore, and what is saved of it: whatever plan a
// search takes, and whatever was written, saved, reopened, damaged or cut short meanwhile,
// no item is wrong and none is lost.
#include "store/sqlite/graph_snapshot.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "file_vfs_test_files.h"
#include "vector_store_fixture.h"

namespace keepsake {
namespace {

class GraphSnapshotTest : public VectorStoreTest {
 protected:
  // True if there was more to do.
  bool Improve(std::uint32_t vectors, bool is_wanted = true) {
    const auto progress = store_->ImproveIndex({.vectors = vectors, .is_wanted = is_wanted});
    EXPECT_TRUE(progress) << MessageOf(progress);
    return progress && !progress->is_done;
  }
  void Build() {
    while (Improve(500)) {
    }
  }

  std::uint64_t InGraph() {
    const auto stats = store_->Stats();
    EXPECT_TRUE(stats) << MessageOf(stats);
    return stats ? stats->in_graph : 0;
  }

  static std::vector<std::string> Keys(const std::vector<SearchItem>& hits) {
    std::vector<std::string> keys;
    for (const SearchItem& hit : hits) keys.push_back(hit.item.key);
    return keys;
  }

  std::vector<SearchItem> SearchBy(SearchPlan plan, const std::vector<float>& query,
                                   std::uint32_t ef_search = 0) {
    SearchOp search{.query_vector = query};
    search.plan = plan;
    search.ef_search = ef_search;
    search.ranking = Ranking{.explain = true};
    const auto hits = store_->Search(search);
    EXPECT_TRUE(hits) << MessageOf(hits);
    return hits ? *hits : std::vector<SearchItem>();
  }

  // Exact plans find what the model finds. The graph may miss some, counted in `found_` and
  // `wanted_`, but has as many hits, with the scores that their vectors have.
  void ExpectRightAnswers() {
    SearchOp search{.query_vector = vectors_.Next()};
    for (const SearchPlan plan : {SearchPlan::kAuto, SearchPlan::kExact, SearchPlan::kCodes}) {
      search.plan = plan;
      ASSERT_NO_FATAL_FAILURE(ExpectModelsAnswer(search)) << static_cast<int>(plan);
    }
    for (const Namespace& prefix : {Namespace{}, Namespace{"users", "1"}}) {
      search.ns_prefix = prefix;
      search.plan = SearchPlan::kGraph;
      const auto expected = model_.Search(search, "", clock_.NowMs());
      const auto hits = store_->Search(search);
      ASSERT_TRUE(hits) << MessageOf(hits);
      ASSERT_GE(hits->size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const SearchItem& hit = (*hits)[i];
        const auto entry = model_.entries.find({hit.item.ns, hit.item.key});
        ASSERT_NE(entry, model_.entries.end()) << "a ghost: " << hit.item.key;
        double best = -1;
        for (const FieldVector& vector : entry->second.vectors) {
          best = std::max(best, Cosine(search.query_vector, vector.values));
        }
        ASSERT_TRUE(hit.score);
        ASSERT_NEAR(*hit.score, best, 1e-6);
        found_ += best >= expected.back().second - 1e-6;
        ++wanted_;
      }
    }
  }

  double Recall() const { return static_cast<double>(found_) / static_cast<double>(wanted_); }

  std::size_t found_ = 0, wanted_ = 0;
};

// M 16, ef_construction 200, ef_search 128, some 3,000 vectors of 24 dimensions, seed 3.
TEST_F(GraphSnapshotTest, every_plan_is_right_through_changes_expiry_and_reopenings) {
  PutItems(0, 2500);
  for (int step = 0; step < 80; ++step) {
    SCOPED_TRACE(step);
    switch (Below(10)) {
      case 0:
      case 1:
        Reopen();
        break;
      case 2:
        for (int i = 0; i < 60; ++i) DeleteItem(Below(4000));
        break;
      case 3:
        clock_.Advance(300);
        ASSERT_TRUE(store_->SweepExpired(Below(50)));
        break;
      case 4:
      case 5: {
        const std::uint32_t begin = Below(3800);
        PutItems(begin, begin + 150);
        break;
      }
      default:
        // A few steps, so that a reopening finds it built or saved in part.
        for (std::uint32_t i = Below(12); i > 0 && Improve(150); --i) {
        }
        break;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectRightAnswers());
  }
  EXPECT_GE(Recall(), 0.98) << "of " << wanted_;
  Build();
  Reopen();
  EXPECT_GT(InGraph(), 1000U);
  ExpectRightAnswers();
  ExpectSoundChunks();
}

TEST_F(GraphSnapshotTest, a_graph_is_there_again_after_reopening_and_finds_the_same) {
  PutItems(0, 3000);
  const std::vector<float> query = vectors_.Next();
  EXPECT_EQ(SearchBy(SearchPlan::kGraph, query)[0].plan.find("vectors: codes of "), 0U);
  Build();
  const auto before = SearchBy(SearchPlan::kGraph, query, 16);
  EXPECT_EQ(before[0].plan.find("vectors: graph of "), 0U) << before[0].plan;
  const std::uint64_t in_graph = InGraph();
  EXPECT_EQ(in_graph, static_cast<std::uint64_t>(Number("SELECT count(*) FROM store_vectors")));
  Reopen();
  EXPECT_EQ(InGraph(), in_graph) << "before it is read";
  const auto after = SearchBy(SearchPlan::kGraph, query, 16);
  EXPECT_EQ(InGraph(), in_graph);
  EXPECT_EQ(Keys(after), Keys(before));
  EXPECT_EQ(after[0].plan, before[0].plan);
  EXPECT_FALSE(Improve(100)) << "nothing is left to do";
}

TEST_F(GraphSnapshotTest, what_a_snapshot_does_not_cover_is_found_and_taken_in_when_idle) {
  PutItems(0, 2500);
  Build();
  const std::uint64_t covered = InGraph();
  PutItems(5000, 5100);
  Reopen();
  for (int i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(ExpectRightAnswers());
  EXPECT_GE(Recall(), 0.99);
  EXPECT_EQ(InGraph(), covered);
  // So few are taken in, and not worth a snapshot by themselves.
  const std::int64_t rows = Number("SELECT total_changes()");
  while (Improve(100, false)) {
  }
  EXPECT_GT(InGraph(), covered);
  EXPECT_EQ(Number("SELECT total_changes()"), rows);
  Build();
  Reopen();
  EXPECT_GT(InGraph(), covered);
}

TEST_F(GraphSnapshotTest, puts_and_deletions_write_nothing_of_a_graph) {
  PutItems(0, 1500);
  Build();
  const auto sum = [&] { return Number("SELECT sum(checksum % 1000000) FROM graph_chunks"); };
  const std::int64_t before = sum();
  const std::int64_t changes = Number("SELECT total_changes()");
  PutItems(3000, 3001);
  for (std::uint32_t item = 0; item < 10; ++item) DeleteItem(item);
  EXPECT_LE(Number("SELECT total_changes()") - changes, 1 + 2 + 10 * 3);
  EXPECT_EQ(sum(), before);
}

TEST_F(GraphSnapshotTest, saving_goes_by_chunks_and_leaves_one_snapshot) {
  PutItems(0, 3000);
  std::int64_t most = 0;
  for (bool more = true; more;) {
    const std::int64_t changes = Number("SELECT total_changes()");
    more = Improve(500);
    most = std::max(most, Number("SELECT total_changes()") - changes);
  }
  EXPECT_LE(most, 4) << "rows that a step changes";
  EXPECT_EQ(Number("SELECT count(*) FROM graph_chunks WHERE chunk_id % 65536 = 0"), 1);
  EXPECT_LE(Number("SELECT max(length(bytes)) FROM graph_chunks"), 200'000);
  PutItems(4000, 4500);
  Build();
  EXPECT_EQ(Number("SELECT count(*) FROM graph_chunks WHERE chunk_id % 65536 = 0"), 1);
  EXPECT_EQ(Number("SELECT count(DISTINCT chunk_id / 65536) FROM graph_chunks"), 1);
}

TEST_F(GraphSnapshotTest, a_slot_that_a_graph_covers_is_never_given_to_another_vector) {
  PutItems(0, 1500);
  Build();
  const std::int64_t last = Number("SELECT max(vector_id) FROM store_vectors");
  // The last ones, which no sealed chunk has.
  for (std::uint32_t item = 1300; item < 1500; ++item) DeleteItem(item);
  Reopen();
  EXPECT_LT(Number("SELECT max(vector_id) FROM store_vectors"), last);
  PutItems(6000, 6100);
  EXPECT_EQ(Number("SELECT count(*) FROM store_vectors WHERE vector_id > " + std::to_string(last)),
            Number("SELECT count(*) FROM store_vectors v JOIN store_kv i USING(item_id)"
                   " WHERE CAST(i.key AS INTEGER) >= 6000"));
  for (int i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(ExpectRightAnswers());
  EXPECT_GE(Recall(), 0.99);
}

TEST_F(GraphSnapshotTest, a_graph_of_which_a_quarter_is_dead_is_built_anew_and_saved) {
  PutItems(0, 2500);
  Build();
  const std::int64_t snapshot = Number("SELECT max(chunk_id) / 65536 FROM graph_chunks");
  for (std::uint32_t item = 0; item < 900; ++item) DeleteItem(item);
  Reopen();
  for (int i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(ExpectRightAnswers());
  Build();
  EXPECT_GT(Number("SELECT max(chunk_id) / 65536 FROM graph_chunks"), snapshot);
  EXPECT_EQ(InGraph(), static_cast<std::uint64_t>(Number("SELECT count(*) FROM store_vectors")));
  for (int i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(ExpectRightAnswers());
  EXPECT_GE(Recall(), 0.99);
  for (std::uint32_t item = 900; item < 2500; ++item) DeleteItem(item);
  Build();
  EXPECT_EQ(Number("SELECT count(*) FROM graph_chunks"), 0) << "of nothing there is no graph";
  ExpectRightAnswers();
}

TEST_F(GraphSnapshotTest, no_damage_changes_an_answer_and_the_graph_comes_back) {
  PutItems(0, 1100);
  Build();
  for (const char* damage : {
           "UPDATE graph_chunks SET bytes = zeroblob(length(bytes))",
           "UPDATE graph_chunks SET bytes = x'' WHERE chunk_id % 65536 = 2",
           "UPDATE graph_chunks SET checksum = checksum + 1 WHERE chunk_id % 65536 = 0",
           "UPDATE graph_chunks SET checksum = checksum - 1 WHERE chunk_id % 65536 = 2",
           "UPDATE graph_chunks SET chunk_id = chunk_id + 7 WHERE chunk_id % 65536 = 2",
           "UPDATE graph_chunks SET chunk_id = -chunk_id",
           "UPDATE graph_chunks SET chunk_id = chunk_id + 9223372036854000000"
           " WHERE chunk_id % 65536 = 1",
           "DELETE FROM graph_chunks WHERE chunk_id % 65536 = 0",
           "DELETE FROM graph_chunks WHERE chunk_id % 65536 = 1",
           "DELETE FROM graph_chunks",
           "INSERT INTO graph_chunks VALUES(65536 * 100000, 0, x'00')",
           "INSERT INTO graph_chunks SELECT chunk_id + 65536 * 5, checksum, bytes FROM "
           "graph_chunks",
       }) {
    SCOPED_TRACE(damage);
    ASSERT_TRUE(database_->Run(damage).ok());
    Reopen();
    ASSERT_NO_FATAL_FAILURE(ExpectRightAnswers());
    PutItems(100, 110);
    Build();
    ASSERT_NO_FATAL_FAILURE(ExpectRightAnswers());
    Reopen();
    EXPECT_EQ(InGraph(), static_cast<std::uint64_t>(Number("SELECT count(*) FROM store_vectors")));
    EXPECT_EQ(Number("SELECT count(DISTINCT chunk_id / 65536) FROM graph_chunks"), 1);
  }
  EXPECT_GE(Recall(), 0.98);
}

TEST_F(GraphSnapshotTest, bits_that_flip_in_any_table_of_an_index_change_no_answer) {
  PutItems(0, 1100);
  Build();
  struct Column {
    const char *table, *id, *bytes;
  };
  constexpr Column kColumns[] = {{"graph_chunks", "chunk_id", "bytes"},
                                 {"vector_chunks", "first_id", "codes"}};
  for (int round = 0; round < 20; ++round) {
    const Column& column = kColumns[round % 2];
    const std::string table = column.table, id = column.id, bytes = column.bytes;
    const std::int64_t row =
        Number("SELECT " + id + " FROM " + table + " ORDER BY random() LIMIT 1");
    const std::string where = " WHERE " + id + " = " + std::to_string(row);
    const auto size =
        static_cast<std::uint32_t>(Number("SELECT length(" + bytes + ") FROM " + table + where));
    const std::string bit = std::to_string(1U << Below(8));
    std::string damage = "UPDATE OR IGNORE " + table + " SET ";
    if (round % 10 < 6) {
      const std::string at = std::to_string(1 + Below(size));
      Bytes changed;
      ASSERT_TRUE(database_
                      ->Run("SELECT substr(" + bytes + ", " + at + ", 1) FROM " + table + where, {},
                            [&](const sql::Row& found) {
                              changed.assign(found.Blob(0).begin(), found.Blob(0).end());
                            })
                      .ok());
      changed[0] ^= static_cast<std::uint8_t>(1U << Below(8));
      damage += bytes + " = CAST(substr(" + bytes + ", 1, " + at + " - 1) || ? || substr(" + bytes +
                ", " + at + " + 1) AS BLOB)" + where;
      ASSERT_TRUE(database_->Run(damage, {ByteView(changed)}).ok()) << damage;
    } else {
      const std::string name = round % 10 < 8 ? "checksum" : id;
      damage += name + " = (" + name + " | " + bit + ") - (" + name + " & " + bit + ")" + where;
      ASSERT_TRUE(database_->Run(damage).ok()) << damage;
    }
    SCOPED_TRACE(damage);
    Reopen();
    ASSERT_NO_FATAL_FAILURE(ExpectRightAnswers());
    for (std::uint32_t item = 0; item < 4; ++item) PutItems(item, item + 1);
    Build();
    Reopen();
    ASSERT_NO_FATAL_FAILURE(ExpectRightAnswers());
    ASSERT_NO_FATAL_FAILURE(ExpectSoundChunks());
  }
  EXPECT_GE(Recall(), 0.98);
}

TEST_F(GraphSnapshotTest, another_model_has_another_graph) {
  PutItems(0, 1200);
  Build();
  store_.reset();
  auto store =
      MakeSqliteStore(*database_, {.index = IndexConfig{.dims = 3, .replace_vectors = true}});
  ASSERT_TRUE(store) << MessageOf(store);
  EXPECT_EQ(Number("SELECT count(*) FROM graph_chunks"), 0);
  EXPECT_EQ((*store)->Stats()->in_graph, 0U);
}

// After every write to the files, what they then hold is opened elsewhere.
class GraphCrashTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kItems = 1200;

  static std::unique_ptr<Store> OpenStore(sql::Database& database) {
    auto store = MakeSqliteStore(database, {.index = IndexConfig{.dims = kDims}});
    EXPECT_TRUE(store) << MessageOf(store);
    return store ? std::move(*store) : nullptr;
  }

  void Put(Store& store, std::uint32_t begin, std::uint32_t end) {
    std::vector<Operation> puts;
    for (std::uint32_t item = begin; item < end; ++item) {
      vector_of_[item] = vectors_.Next();
      puts.emplace_back(PutOp{.ns = {"n"},
                              .key = std::to_string(item),
                              .value = "1",
                              .vectors = {{"$", vector_of_[item]}}});
    }
    ASSERT_TRUE(store.Batch(puts));
  }

  // That the bytes have `items` items, each found by its own vector by any plan.
  void ExpectAllIn(const sql::MemoryFiles& files, std::size_t items) {
    sql::MemoryFiles image = files.CopyOfBytes();
    auto vfs = sql::FileVfs::Register("graph-image", image.Host());
    ASSERT_TRUE(vfs);
    auto database = sql::OpenDatabase({.path = "graph", .vfs = "graph-image"});
    ASSERT_TRUE(database) << MessageOf(database);
    const std::unique_ptr<Store> store = OpenStore(**database);
    ASSERT_EQ(store->Stats()->items, items);
    ASSERT_EQ(store->Stats()->vectors, items);
    for (int i = 0; i < 6; ++i) {
      const auto item = static_cast<std::uint32_t>(random_() % items);
      SearchOp search{.limit = 1, .query_vector = vector_of_[item]};
      search.plan = i % 3 == 0 ? SearchPlan::kCodes : SearchPlan::kGraph;
      const auto hits = store->Search(search);
      ASSERT_TRUE(hits) << MessageOf(hits);
      ASSERT_EQ(hits->size(), 1U);
      missed_ += (*hits)[0].item.key != std::to_string(item);
      if (i % 3 == 0) {
        ASSERT_EQ((*hits)[0].item.key, std::to_string(item));
      }
    }
    // It goes on from there.
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(store->ImproveIndex({.vectors = 20, .is_wanted = true}));
  }

  std::mt19937 random_{5};
  ClusteredVectors vectors_{kDims, 40, 29};
  std::map<std::uint32_t, std::vector<float>> vector_of_;
  int missed_ = 0;
};

TEST_F(GraphCrashTest, the_bytes_after_any_write_have_every_vector_and_a_graph_or_none) {
  sql::MemoryFiles files("graph");
  auto vfs = sql::FileVfs::Register("graph-writer", files.Host());
  ASSERT_TRUE(vfs);
  auto database = sql::OpenDatabase({.path = "graph", .vfs = "graph-writer"});
  ASSERT_TRUE(database) << MessageOf(database);
  ASSERT_TRUE((*database)->Run("PRAGMA cache_size = 8").ok());
  ASSERT_TRUE((*database)->Run("PRAGMA wal_autocheckpoint = 60").ok());
  const std::unique_ptr<Store> store = OpenStore(**database);
  std::uint32_t items = kItems;
  ASSERT_NO_FATAL_FAILURE(Put(*store, 0, items));
  int images = 0;
  std::size_t acknowledged = items;
  bool in_put = false;
  files.after_write = [&] {
    ++images;
    // A put that is under way is there or not.
    if (!in_put) ExpectAllIn(files, acknowledged);
  };
  for (int round = 0; round < 2; ++round) {
    for (bool more = true; more && !HasFatalFailure();) {
      const auto progress = store->ImproveIndex({.vectors = 400, .is_wanted = true});
      ASSERT_TRUE(progress) << MessageOf(progress);
      more = !progress->is_done;
      // Not for ever: a put at the wrong moments would always find a graph to be written anew.
      if (images % 3 != 0 || items >= kItems + 20 * (round + 1) + 200 * round) continue;
      in_put = true;
      ASSERT_NO_FATAL_FAILURE(Put(*store, items, items + 1));
      in_put = false;
      acknowledged = ++items;
      ASSERT_NO_FATAL_FAILURE(ExpectAllIn(files, acknowledged));
    }
    in_put = true;
    ASSERT_NO_FATAL_FAILURE(Put(*store, items, items + 200));
    in_put = false;
    acknowledged = items += 200;
  }
  EXPECT_GT(images, 15);
  EXPECT_LE(missed_, images / 8) << "by the graph, whose recall is no more than measured";
  files.after_write = nullptr;  // closing writes, too
}

TEST_F(GraphCrashTest, a_step_that_finds_no_room_gives_up_and_a_later_one_begins_anew) {
  sql::MemoryFiles files("graph");
  auto vfs = sql::FileVfs::Register("graph-writer", files.Host());
  ASSERT_TRUE(vfs);
  auto database = sql::OpenDatabase({.path = "graph", .vfs = "graph-writer"});
  ASSERT_TRUE(database) << MessageOf(database);
  const std::unique_ptr<Store> store = OpenStore(**database);
  ASSERT_NO_FATAL_FAILURE(Put(*store, 0, kItems));
  int failures = 0;
  for (const std::int64_t room : {0, 3'000, 9'000, 20'000, 35'000}) {
    files.room = room;
    for (bool more = true; more;) {
      const auto progress = store->ImproveIndex({.vectors = 2000, .is_wanted = true});
      more = progress && !progress->is_done;
      if (!progress) {
        EXPECT_EQ(progress.error().code(), StatusCode::kStorageFull);
        ++failures;
      }
    }
    files.room.reset();
    ASSERT_NO_FATAL_FAILURE(ExpectAllIn(files, kItems));
  }
  EXPECT_GE(failures, 3);
  while (!store->ImproveIndex({.vectors = 2000, .is_wanted = true})->is_done) {
  }
  ExpectAllIn(files, kItems);
  EXPECT_EQ(missed_, 0);
}

}  // namespace
}  // namespace keepsake
