// Searches by vector in a store large enough to have its codes scanned: the answers are
// those of the rows, whatever was written, reopened, damaged or cut short meanwhile.
#include "store/sqlite/sqlite_vectors.h"

#include <string>

#include "file_vfs_test_files.h"
#include "forwarding_database.h"
#include "vector_store_fixture.h"

namespace keepsake {
namespace {

class SqliteVectorsTest : public VectorStoreTest {};

TEST_F(SqliteVectorsTest, cap_34_answers_are_those_of_the_rows_through_any_changes_and_reopenings) {
  PutItems(0, 2500);
  for (int step = 0; step < 60; ++step) {
    SCOPED_TRACE(step);
    switch (Below(6)) {
      case 0:
        Reopen();
        break;
      case 1:
        for (int i = 0; i < 40; ++i) DeleteItem(Below(4000));
        break;
      case 2:
        clock_.Advance(300);
        ASSERT_TRUE(store_->SweepExpired(Below(50)));
        break;
      default: {
        const std::uint32_t begin = Below(3800);
        PutItems(begin, begin + 200);
        break;
      }
    }
    ASSERT_NO_FATAL_FAILURE(ExpectModelsAnswers());
  }
  ASSERT_TRUE(store_->ClearNamespace({"users", "1"}));
  std::erase_if(model_.entries,
                [](const auto& entry) { return entry.first.first == Namespace{"users", "1"}; });
  ExpectModelsAnswers();
  ExpectSoundChunks();
  EXPECT_GE(Chunks(), 3);
}

TEST_F(SqliteVectorsTest, equal_vectors_are_ordered_by_namespace_and_key) {
  const std::vector<float> same = vectors_.Next();
  std::vector<Operation> puts;
  for (std::uint32_t item = 0; item < 3000; ++item) {
    PutOp put = MakePut(item);
    put.vectors = {{"$", item % 10 == 0 ? same : vectors_.Next()}};
    put.ttl_ms = PutOp::kNoTtl;
    model_.entries[{put.ns, put.key}] = {"", put.vectors, INT64_MAX};
    puts.emplace_back(put);
  }
  ASSERT_TRUE(store_->Batch(puts));
  ExpectModelsAnswer({.limit = 40, .offset = 3, .query_vector = same});
  ExpectModelsAnswer({.query_vector = std::vector<float>(kDims, 0)});
}

TEST_F(SqliteVectorsTest, items_without_vectors_fill_what_vectors_leave) {
  PutItems(0, 1200);
  std::size_t with_vectors = 0;
  for (const auto& [key, entry] : model_.entries) with_vectors += !entry.vectors.empty();
  const SearchOp search{.limit = 1200, .query_vector = vectors_.Next()};
  ExpectModelsAnswer(search);
  const auto found = store_->Search(search).value();
  EXPECT_EQ(found.size(), 1200U);
  EXPECT_FALSE(found.back().score);
  EXPECT_TRUE(found[with_vectors - 1].score);
}

TEST_F(SqliteVectorsTest, items_without_vectors_that_were_many_are_few_again) {
  PutItems(0, 1300);
  std::vector<Operation> puts;
  for (int i = 0; i < 5000; ++i) {
    puts.emplace_back(PutOp{.ns = {"plain"}, .key = std::to_string(i), .value = "{}"});
  }
  ASSERT_TRUE(store_->Batch(puts));
  const auto plan = [&] {
    return store_
        ->Search(
            {.limit = 1600, .query_vector = vectors_.Next(), .ranking = Ranking{.explain = true}})
        .value()
        .at(0)
        .plan;
  };
  EXPECT_EQ(plan(), "vectors: exact");
  ASSERT_TRUE(store_->ClearNamespace({"plain"}));
  EXPECT_TRUE(plan().starts_with("vectors: codes of ")) << plan();
}

TEST_F(SqliteVectorsTest, searches_of_a_few_items_read_the_index_when_they_have_read_as_much) {
  PutItems(0, 800);
  Reopen();
  const SearchOp search{
      .limit = 10, .query_vector = vectors_.Next(), .ranking = Ranking{.explain = true}};
  int by_rows = 0;
  const auto plan = [&] { return store_->Search(search).value().at(0).plan; };
  while (plan() == "vectors: exact") ASSERT_LT(++by_rows, 10);
  EXPECT_GE(by_rows, 1);
  EXPECT_TRUE(plan().starts_with("vectors: codes of ")) << plan();
  ExpectModelsAnswers();
}

// Counts the rows that are read, and those of the names of all items.
class CountingDatabase final : public testing::ForwardingDatabase {
 public:
  using ForwardingDatabase::ForwardingDatabase, ForwardingDatabase::Run;
  Status Run(std::string_view sql, std::span<const sql::Param> params,
             const sql::RowCallback& on_row) override {
    const bool is_of_names = sql.starts_with("SELECT ns, item_id FROM store_kv");
    return database_.Run(sql, params, [&](const sql::Row& row) {
      ++rows;
      names += is_of_names;
      return on_row(row);
    });
  }
  int rows = 0, names = 0;
};

TEST_F(SqliteVectorsTest, the_first_search_reads_codes_and_rows_of_its_hits) {
  PutItems(0, 4000);
  for (std::uint32_t item = 0; item < 4000; item += 3) DeleteItem(item);  // some codes are dead
  Reopen();
  CountingDatabase counting(*database_);
  auto unread = MakeSqliteStore(counting, {.index = IndexConfig{.dims = kDims}, .clock = &clock_});
  ASSERT_TRUE(unread) << MessageOf(unread);
  std::swap(store_, *unread);
  const SearchOp search{.ns_prefix = {"users", "1"}, .limit = 5, .query_vector = vectors_.Next()};
  for (int i = 0; i < 3; ++i) ExpectModelsAnswer(search);
  EXPECT_EQ(counting.names, 0);
  // What is in no chunk yet is read, too.
  const std::int64_t tail = Number(
      "SELECT count(*) FROM store_vectors WHERE vector_id >="
      " (SELECT max(first_id) + 1024 FROM vector_chunks)");
  EXPECT_LE(counting.rows, 3 * (tail + 150));
  // A put is found, by who has no index to be told.
  PutItems(9000, 9001);
  DeleteItem(1);
  ExpectModelsAnswers();
  while (!store_->ImproveIndex({.vectors = 1000})->is_done) continue;
  EXPECT_GT(counting.names, 0) << "since somebody had searched";
  ExpectModelsAnswers();
  std::swap(store_, *unread);
}

TEST_F(SqliteVectorsTest, a_chunk_has_room_in_every_row_whatever_its_namespaces_are_called) {
  std::vector<Operation> puts;
  for (std::uint32_t item = 0; item < 1500; ++item) {
    PutOp put{.ns = {"users", std::to_string(item) + std::string(2000, 'n')},
              .key = "k",
              .value = "{}",
              .vectors = {{"$", vectors_.Next()}}};
    model_.entries[{put.ns, put.key}] = {"", put.vectors, INT64_MAX};
    puts.emplace_back(std::move(put));
  }
  ASSERT_TRUE(store_->Batch(puts));
  EXPECT_GE(Chunks(), 1);
  EXPECT_LT(Number("SELECT max(length(codes)) FROM vector_chunks"), 2'000'000);
  Reopen();
  ExpectModelsAnswer({.query_vector = vectors_.Next()});
  ExpectSoundChunks();
}

// Whoever makes a file can make its checksums, too.
TEST_F(SqliteVectorsTest, a_chunk_whose_namespaces_are_cut_off_under_a_right_checksum_is_not_read) {
  PutItems(0, 2500);
  const VectorChunk::Layout layout(kDims);
  Bytes codes;
  ASSERT_TRUE(database_
                  ->Run("SELECT codes FROM vector_chunks WHERE first_id = 0", {},
                        [&](const sql::Row& row) {
                          const ByteView bytes = row.Blob(0).first(layout.codes_bytes() + 1);
                          codes.assign(bytes.begin(), bytes.end());
                        })
                  .ok());
  ASSERT_TRUE(database_
                  ->Run("UPDATE vector_chunks SET codes = ?, checksum = ? WHERE first_id = 0",
                        {ByteView(codes), ChunkChecksum(0, kDims, codes)})
                  .ok());
  Reopen();
  ExpectModelsAnswers();
}

TEST_F(SqliteVectorsTest, what_fills_the_list_and_is_no_hit_does_not_hide_others) {
  const std::vector<float> query = vectors_.Next();
  std::vector<Operation> puts;
  for (std::uint32_t item = 0; item < 2500; ++item) {
    PutOp put = MakePut(item);
    put.vectors = {{"$", item % 5 < 2 ? query : vectors_.Next()}};
    put.ttl_ms = item % 5 == 0 ? 10 : PutOp::kNoTtl;
    model_.entries[{put.ns, put.key}] = {"", put.vectors,
                                         item % 5 == 0 ? clock_.NowMs() + 10 : INT64_MAX};
    puts.emplace_back(put);
  }
  ASSERT_TRUE(store_->Batch(puts));
  clock_.Advance(20);
  for (std::uint32_t item = 1; item < 2000; item += 5) DeleteItem(item);
  Reopen();
  ExpectModelsAnswer({.limit = 120, .query_vector = query});
}

TEST_F(SqliteVectorsTest, a_few_items_are_read_by_rows_when_many_others_have_no_vectors) {
  PutItems(0, 1300);
  const std::vector<float> query = vectors_.Next();
  const auto plan = [&](const Namespace& prefix, std::uint32_t limit) {
    const SearchOp search{.ns_prefix = prefix,
                          .limit = limit,
                          .query_vector = query,
                          .ranking = Ranking{.explain = true}};
    return store_->Search(search).value().at(0).plan;
  };
  EXPECT_TRUE(plan({}, 10).starts_with("vectors: codes of "));
  ASSERT_TRUE(store_->ImproveIndex({})) << "which reads the index, since somebody has searched";
  std::vector<Operation> puts{
      PutOp{.ns = {"few"}, .key = "k", .value = "{}", .vectors = {{"$", query}}}};
  for (int i = 0; i < 300; ++i) {
    puts.emplace_back(PutOp{.ns = {"plain"}, .key = std::to_string(i), .value = "{}"});
  }
  ASSERT_TRUE(store_->Batch(puts));
  EXPECT_EQ(plan({"few"}, 10), "vectors: exact");
  EXPECT_EQ(plan({"few"}, 1), "vectors: codes of 1") << "as many as are wanted have vectors";
  EXPECT_TRUE(plan({}, 10).starts_with("vectors: codes of "));
}

TEST_F(SqliteVectorsTest, a_chunk_is_written_once_and_no_put_or_delete_writes_it_again) {
  PutItems(0, 800);
  EXPECT_EQ(Chunks(), 0);
  for (std::uint32_t item = 800; Chunks() == 0; ++item) PutItems(item, item + 1);
  EXPECT_GE(Number("SELECT max(vector_id) FROM store_vectors"), kSlotsPerChunk - 1);
  EXPECT_LE(Number("SELECT max(vector_id) FROM store_vectors"), kSlotsPerChunk);
  const std::int64_t changes = Number("SELECT total_changes()");
  PutItems(5000, 5001);  // a row, its vectors
  for (std::uint32_t item = 0; item < 10; ++item) DeleteItem(item);
  EXPECT_LE(Number("SELECT total_changes()") - changes, 1 + 2 + 10 * 3);
  EXPECT_EQ(Chunks(), 1);
  ExpectSoundChunks();
}

TEST_F(SqliteVectorsTest, chunks_go_when_nothing_of_them_lives) {
  PutItems(0, 3000);
  for (std::uint32_t item = 0; item < 2500; ++item) DeleteItem(item);
  PutItems(10000, 14000);
  const VectorChunk::Layout layout(kDims);
  EXPECT_EQ(Number("SELECT count(*) FROM vector_chunks c WHERE NOT EXISTS (SELECT 1 FROM"
                   " store_vectors WHERE vector_id BETWEEN first_id AND first_id + 1023)"),
            0);
  Reopen();
  ExpectModelsAnswers();
}

TEST_F(SqliteVectorsTest, a_slot_is_not_given_twice_while_a_chunk_has_its_code) {
  for (std::uint32_t item = 0; Chunks() == 0; ++item) PutItems(item, item + 1);
  const std::int64_t last = Number("SELECT max(vector_id) FROM store_vectors");
  for (std::uint32_t item = 0; item < 1100; ++item) DeleteItem(item);
  EXPECT_EQ(model_.entries.size(), 0U);
  Reopen();
  PutItems(0, 1500);
  Reopen();
  EXPECT_GE(last, kSlotsPerChunk - 1);
  ExpectModelsAnswers();
  ExpectSoundChunks();
}

TEST_F(SqliteVectorsTest, no_damage_to_chunks_changes_an_answer_and_the_next_puts_repair_it) {
  PutItems(0, 4000);
  for (const char* damage : {
           "UPDATE vector_chunks SET codes = zeroblob(length(codes))",
           "UPDATE vector_chunks SET codes = x''",
           "UPDATE vector_chunks SET codes = CAST(x'00' || substr(codes, 2) AS BLOB) WHERE "
           "first_id = 1024",
           "UPDATE vector_chunks SET codes ="
           " CAST(substr(codes, 1, 999) || x'5A' || substr(codes, 1001) AS BLOB)",
           "UPDATE vector_chunks SET checksum = checksum + 1",
           "UPDATE vector_chunks SET first_id = first_id + 1",
           "UPDATE vector_chunks SET first_id = first_id + 1024"
           " WHERE first_id = (SELECT max(first_id) FROM vector_chunks)",
           "UPDATE vector_chunks SET first_id = first_id + 1000000000000 WHERE first_id = 2048",
           "DELETE FROM vector_chunks WHERE first_id = 1024",
           "DELETE FROM vector_chunks",
       }) {
    SCOPED_TRACE(damage);
    ASSERT_TRUE(database_->Run(damage).ok());
    Reopen();
    ASSERT_NO_FATAL_FAILURE(ExpectModelsAnswers());
    for (std::uint32_t item = 0; item < 8; ++item) PutItems(item, item + 1);
    ASSERT_NO_FATAL_FAILURE(ExpectModelsAnswers());
    Reopen();
    ASSERT_NO_FATAL_FAILURE(ExpectModelsAnswers());
    ASSERT_NO_FATAL_FAILURE(ExpectSoundChunks());
    EXPECT_GE(Chunks(), 3);
  }
}

TEST_F(SqliteVectorsTest, churn_does_not_fill_memory) {
  PutItems(0, 1500);
  ExpectModelsAnswers();
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t begin = Below(1400);
    PutItems(begin, begin + 100);
  }
  ExpectModelsAnswers();
  // Of 20,000 vectors put there are 1,500; chunks that hold few of them were emptied.
  const std::int64_t span = Number("SELECT count(DISTINCT vector_id / 1024) FROM store_vectors");
  EXPECT_LE(span, 9);
  Reopen();
  ExpectModelsAnswers();
  ExpectSoundChunks();
}

TEST_F(SqliteVectorsTest, a_write_that_fails_leaves_the_index_as_it_was) {
  PutItems(0, 1500);
  ExpectModelsAnswers();
  ASSERT_TRUE(database_
                  ->Run("CREATE TRIGGER refuse BEFORE INSERT ON store_kv WHEN NEW.key = 'bad'"
                        " BEGIN SELECT RAISE(ABORT, 'refused'); END")
                  .ok());
  const std::vector<Operation> operations = {
      DeleteOperation({"users", "0"}, "3"),
      PutOp{.ns = {"users", "1"}, .key = "4", .value = "1", .vectors = {{"$", vectors_.Next()}}},
      PutOperation({"n"}, "bad", "1")};
  EXPECT_FALSE(store_->Batch(operations));
  ExpectModelsAnswers();
  PutItems(1400, 1800);
  ExpectModelsAnswers();
  ExpectSoundChunks();
}

TEST_F(SqliteVectorsTest, a_graph_is_built_step_by_step_and_keeps_the_answers) {
  PutItems(0, 3'000);
  EXPECT_TRUE(store_->ImproveIndex({.vectors = 100})->is_done);  // nothing was searched yet
  const std::vector<float> first = vectors_.Next();
  ExpectModelsAnswer({.query_vector = first});
  while (!store_->ImproveIndex({.vectors = 100})->is_done) {
  }
  EXPECT_EQ(store_->Stats()->in_graph, 0);  // they are too few
  EXPECT_FALSE(store_->ImproveIndex({.vectors = 100, .is_wanted = true})->is_done);
  ExpectModelsAnswer({.query_vector = first});
  while (!store_->ImproveIndex({.vectors = 2000, .is_wanted = true})->is_done) {
  }
  PutItems(30'000, 30'100);
  for (std::uint32_t item = 0; item < 100; ++item) DeleteItem(item);
  std::size_t found = 0;
  for (int i = 0; i < 20; ++i) {
    const SearchOp search{.query_vector = vectors_.Next(), .plan = SearchPlan::kGraph};
    const auto expected = model_.Search(search, "", clock_.NowMs());
    const auto hits = store_->Search(search).value();
    ASSERT_EQ(hits.size(), 10U);
    for (const SearchItem& hit : hits) found += *hit.score >= expected.back().second - 1e-6;
  }
  EXPECT_GE(found, 198U);  // recall@10 ≥ .99
}

// Of so many dimensions a chunk has 32 slots, so that many are written soon.
class VectorCrashTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kManyDims = 16'000;

  static std::unique_ptr<Store> OpenStore(sql::Database& database) {
    auto store = MakeSqliteStore(database, {.index = IndexConfig{.dims = kManyDims}});
    EXPECT_TRUE(store) << MessageOf(store);
    return store ? std::move(*store) : nullptr;
  }

  static std::vector<float> VectorOf(std::uint32_t item) {
    std::vector<float> vector(kManyDims, 0.01F);
    vector[item % kManyDims] = 1;
    return vector;
  }
};

TEST_F(VectorCrashTest, the_bytes_after_any_commit_have_every_vector_and_sound_chunks) {
  sql::MemoryFiles files("vectors");
  auto vfs = sql::FileVfs::Register("vector-writer", files.Host());
  ASSERT_TRUE(vfs);
  auto database = sql::OpenDatabase({.path = "vectors", .vfs = "vector-writer"});
  ASSERT_TRUE(database) << MessageOf(database);
  const std::unique_ptr<Store> store = OpenStore(**database);
  for (std::uint32_t item = 0; item < 70; ++item) {
    const std::vector<Operation> operations = {PutOp{.ns = {"n"},
                                                     .key = std::to_string(item % 40),
                                                     .value = "1",
                                                     .vectors = {{"$", VectorOf(item)}}}};
    ASSERT_TRUE(store->Batch(operations));
    sql::MemoryFiles image = files.CopyOfBytes();
    auto image_vfs = sql::FileVfs::Register("vector-image", image.Host());
    ASSERT_TRUE(image_vfs);
    auto recovered = sql::OpenDatabase({.path = "vectors", .vfs = "vector-image"});
    ASSERT_TRUE(recovered) << MessageOf(recovered);
    SqliteVectors vectors(**recovered);
    const auto index = vectors.Load(kManyDims, false);
    ASSERT_TRUE(index) << MessageOf(index);
    ASSERT_EQ((*index)->codes().size(), std::min(item + 1, 40U));
    search::VectorSearch search = (*index)->Search({.vector = VectorOf(item),
                                                    .encoded_prefix = "",
                                                    .wanted = 1,
                                                    .forced = search::Plan::kCodes});
    const auto items = search.Next();
    ASSERT_FALSE(items.empty());
    EXPECT_EQ(items[0], item % 40 + 1) << item;
  }
  std::int64_t chunks = 0;
  ASSERT_TRUE((*database)
                  ->Run("SELECT count(*) FROM vector_chunks", {},
                        [&](const sql::Row& row) { chunks = row.Int(0); })
                  .ok());
  EXPECT_GE(chunks, 1);
}

}  // namespace
}  // namespace keepsake
