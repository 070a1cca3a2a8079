// Rows from one database to another, piece by piece, while others write.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "keepsake/database.h"
#include "transfer/piece.h"
#include "transfer/row_export.h"
#include "transfer/row_import.h"
#include "transfer/tables.h"

namespace keepsake::transfer {
namespace {

using sql::Param;
using sql::Row;

constexpr std::int64_t kNow = 1'700'000'000'000;
constexpr std::int64_t kDayMs = 24 * 60 * 60 * 1000;
constexpr std::string_view kId = "export-1";

// Everything of a row as one text.
using Rows = std::map<std::string, std::vector<std::string>>;

class TransferTest : public testing::Test {
 protected:
  TransferTest() : source_(Open()), target_(Open()) {}

  static std::unique_ptr<sql::Database> Open() {
    auto database = sql::OpenDatabase({.path = ":memory:"});
    EXPECT_TRUE(database.has_value());
    return std::move(*database);
  }

  static void Run(sql::Database& database, std::string_view sql,
                  std::initializer_list<Param> params = {}) {
    const Status status = database.Run(sql, params);
    ASSERT_TRUE(status.ok()) << sql << ": " << status.message();
  }

  static std::int64_t Number(sql::Database& database, std::string_view sql) {
    std::int64_t number = -1;
    EXPECT_TRUE(database.Run(sql, {}, [&](const Row& row) { number = row.Int(0); }).ok());
    return number;
  }

  static Rows Dump(sql::Database& database) {
    Rows rows;
    for (const Table& table : Tables()) {
      auto& of_table = rows[std::string(table.name)];
      const Status status = database.Run(SelectAll(table), {}, [&](const Row& row) {
        std::string text;
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
          const int at = static_cast<int>(i);
          const ByteView blob = row.Blob(at);
          text += row.IsNull(at)                ? "NULL"
                  : table.columns[i].is_integer ? std::to_string(row.Int(at))
                                                : std::string(blob.begin(), blob.end());
          text += '|';
        }
        if (!text.starts_with("transfer_")) of_table.push_back(text);
      });
      EXPECT_TRUE(status.ok()) << status.message();
    }
    return rows;
  }

  static void PutItem(sql::Database& database, std::int64_t id, std::string_view value) {
    const std::string key = "key " + std::to_string(id);
    Run(database,
        "INSERT OR REPLACE INTO store_kv(item_id, ns, key, value, created_at, updated_at, ttl,"
        " expires_at, origin, source) VALUES(?, 'ns', ?, ?, 1, 2, 0, ?, 19, 's')",
        {id, std::string_view(key), value, id % 2 == 0 ? Param(std::monostate()) : Param(id)});
  }

  // Rows in every table, some megabytes.
  static void Fill(sql::Database& database, int items = 400) {
    const std::string value(10'000, 'v');
    for (int i = 1; i <= items; ++i) PutItem(database, i, value);
    const Bytes blob(4000, 7);
    for (std::int64_t i = 1; i <= 200; ++i) {
      Run(database, "INSERT INTO content VALUES(?, ?, ?)", {i << 18, i, ByteView(blob)});
      Run(database, "INSERT INTO store_vectors VALUES(?, ?, 'text', ?)",
          {i, i, ByteView(blob).first(64)});
      const std::string name = "id-" + std::to_string(i % 7) + std::to_string(i);
      Run(database, "INSERT INTO checkpoints VALUES(?, ?, ?)",
          {i % 5, std::string_view(name), ByteView(blob).first(100)});
      Run(database, "INSERT INTO writes VALUES(?, ?, ?, 1, ?)",
          {i % 5, std::string_view(name), std::string_view(name), ByteView(blob).first(50)});
    }
    Run(database,
        "INSERT INTO thread_namespaces(ns_id, thread_id, checkpoint_ns) VALUES(1, 'thread', ''), "
        "(2, 'other', 'sub')");
    Run(database, "INSERT INTO log_users VALUES(1024, 1), (1024, 2)");
    Run(database, "INSERT INTO vector_pending VALUES(3, 'text'), (3, 'title')");
    Run(database, "INSERT INTO vector_chunks VALUES(0, -1, x'01')");
    Run(database, "INSERT INTO meta VALUES('index_dims', '16')");
  }

  Result<Bytes> Next(RowExport& rows, const Bytes* before) {
    if (before == nullptr) return rows.Read(kId, 0, {}, kNow);
    const auto piece = ParsePiece(*before);
    return rows.Read(kId, piece->number + 1, piece->cursor, kNow);
  }

  // All pieces; `between` runs after each.
  std::vector<Bytes> ExportAll(const std::function<void()>& between = [] {}) {
    RowExport rows(*source_);
    std::vector<Bytes> pieces;
    do {
      auto piece = Next(rows, pieces.empty() ? nullptr : &pieces.back());
      EXPECT_TRUE(piece.has_value()) << piece.error().message();
      if (!piece) return {};
      pieces.push_back(std::move(*piece));
      if (!ParsePiece(pieces.back())->is_last) between();
    } while (!ParsePiece(pieces.back())->is_last);
    return pieces;
  }

  std::unique_ptr<sql::Database> source_;
  std::unique_ptr<sql::Database> target_;
};

TEST_F(TransferTest, every_table_travels_or_is_known_to_be_made_anew) {
  std::set<std::string> known = {"answers",      "field_changes", "field_columns",
                                 "graph_chunks", "text_changes",  "text_pages"};
  std::set<std::uint8_t> numbers;
  for (const Table& table : Tables()) {
    known.emplace(table.name);
    EXPECT_TRUE(numbers.insert(table.number).second);
  }
  const Status status =
      source_->Run("SELECT name FROM sqlite_master WHERE type = 'table'", {}, [&](const Row& row) {
        EXPECT_TRUE(known.contains(std::string(row.Text(0)))) << row.Text(0);
      });
  ASSERT_TRUE(status.ok());
}

// In the order of their table, as a salvage finds them in its rows.
TEST_F(TransferTest, every_column_of_a_table_travels_or_is_known_to_be_made_anew) {
  const std::set<std::string> made_anew = {"thread_namespaces.newest", "thread_namespaces.listed"};
  for (const Table& table : Tables()) {
    const std::string name(table.name);
    std::size_t i = 0;
    const Status status =
        source_->Run("SELECT name FROM pragma_table_info('" + name + "')", {}, [&](const Row& row) {
          const std::string column(row.Text(0));
          if (i < table.columns.size()) {
            EXPECT_EQ(table.columns[i].name, column) << name;
          } else {
            EXPECT_TRUE(made_anew.contains(name + "." + column)) << name << "." << column;
          }
          ++i;
        });
    ASSERT_TRUE(status.ok());
    EXPECT_GE(i, table.columns.size()) << name;
  }
}

// A column that comes later says `since` which layout, and raises kLayout.
TEST_F(TransferTest, the_columns_of_a_layout_stay_as_they_are) {
  std::map<int, int> columns;
  for (const Table& table : Tables()) {
    std::uint8_t since = 1;
    for (const Column& column : table.columns) {
      EXPECT_GE(column.since, since) << table.name << ": what is new stands at the end";
      since = column.since;
      ++columns[since];
    }
  }
  EXPECT_EQ(columns.rbegin()->first, int{kLayout});
  EXPECT_EQ(columns[1], 90);
}

TEST_F(TransferTest, what_arrives_is_what_was_sent_and_takes_the_place_of_everything) {
  Fill(*source_);
  PutItem(*target_, 7, "of the target");
  Run(*target_, "INSERT INTO text_pages VALUES(7, x'')");
  Run(*target_, "INSERT INTO meta VALUES('text_index', 'x')");
  Run(*target_, "INSERT INTO answers VALUES(1, '', 1, 1, x'')");
  const std::vector<Bytes> pieces = ExportAll();
  ASSERT_GT(pieces.size(), 5u);
  RowImport rows(*target_);
  for (std::size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(rows.Put(pieces[i]).value(), i + 1);
  EXPECT_EQ(Dump(*target_)["store_kv"].size(), 1u);
  EXPECT_TRUE(rows.Commit(kId).value());
  EXPECT_EQ(Dump(*target_), Dump(*source_));
  EXPECT_EQ(Number(*target_, "SELECT count(*) FROM text_pages"), 0);
  EXPECT_EQ(Number(*target_, "SELECT count(*) FROM answers"), 0);
  EXPECT_EQ(Number(*target_, "SELECT count(*) FROM meta WHERE name = 'text_index'"), 0);
  // Of an older file: all 64 bits of a checksum, of which the lowest 53 travel.
  EXPECT_EQ(Number(*target_, "SELECT checksum FROM vector_chunks"), (std::int64_t{1} << 53) - 1);
  // The answer was lost, and it is asked again.
  EXPECT_FALSE(rows.Commit(kId).value());
  EXPECT_FALSE(rows.State()->has_value());
}

TEST_F(TransferTest, what_is_written_meanwhile_arrives_too) {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    source_ = Open();
    target_ = Open();
    Fill(*source_);
    std::mt19937 random(seed);
    const auto any = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)) + 1;
    };
    const std::vector<Bytes> pieces = ExportAll([&] {
      for (int i = 0; i < 20; ++i) {
        switch (any(8)) {
          case 1:
            PutItem(*source_, any(600), "written meanwhile");
            break;
          case 2:
            Run(*source_, "DELETE FROM store_kv WHERE item_id = ?", {any(600)});
            break;
          case 3:
            Run(*source_, "UPDATE OR REPLACE store_vectors SET vector_id = ? WHERE vector_id = ?",
                {any(300) + 1000, any(200)});
            break;
          case 4:
            Run(*source_, "DELETE FROM content WHERE chunk = ?", {any(200) << 18});
            break;
          case 5:
            Run(*source_, "INSERT OR REPLACE INTO checkpoints VALUES(?, 'id-11', x'01')", {any(5)});
            break;
          case 6:
            Run(*source_, "INSERT OR IGNORE INTO log_users VALUES(?, ?)", {any(9), any(9)});
            break;
          case 7:
            // A key that another item had.
            Run(*source_, "DELETE FROM store_kv WHERE item_id = ?", {any(300)});
            Run(*source_,
                "INSERT OR IGNORE INTO store_kv(item_id, ns, key, value, created_at, updated_at,"
                " ttl) SELECT max(item_id) + 1, 'ns', 'key ' || ?, 'new', 1, 2, 0 FROM store_kv",
                {any(300)});
            break;
          default:
            Run(*source_,
                "UPDATE thread_namespaces SET thread_id = 'renamed ' || ? WHERE ns_id = ?",
                {any(5), any(2)});
        }
      }
    });
    RowImport rows(*target_);
    for (const Bytes& piece : pieces) ASSERT_TRUE(rows.Put(piece).has_value());
    ASSERT_TRUE(rows.Commit(kId).value());
    EXPECT_EQ(Dump(*target_), Dump(*source_)) << "seed " << seed;
  }
}

TEST_F(TransferTest, a_piece_that_was_lost_is_read_again_from_where_it_began) {
  Fill(*source_);
  RowExport rows(*source_);
  const Result<Bytes> first = Next(rows, nullptr);
  const Result<Bytes> second = Next(rows, &*first);
  // By another process.
  RowExport later(*source_);
  EXPECT_EQ(Next(later, &*first).value(), second.value());
}

TEST_F(TransferTest, pieces_that_come_twice_or_too_early_do_no_harm) {
  Fill(*source_);
  const std::vector<Bytes> pieces = ExportAll();
  RowImport rows(*target_);
  EXPECT_EQ(rows.Put(pieces[1]).error().code(), StatusCode::kNotFound);
  EXPECT_EQ(rows.Put(pieces[0]).value(), 1u);
  EXPECT_EQ(rows.Put(pieces[0]).value(), 1u);
  EXPECT_EQ(rows.Put(pieces[2]).error().code(), StatusCode::kNotFound);
  EXPECT_EQ(rows.Commit(kId).error().code(), StatusCode::kNotFound);
  // Another process goes on.
  RowImport later(*target_);
  const auto state = later.State();
  ASSERT_TRUE(state.has_value() && state->has_value());
  EXPECT_EQ((*state)->next, 1u);
  EXPECT_EQ((*state)->export_id, kId);
  EXPECT_FALSE((*state)->is_complete);
  const Result<Bytes> second = RowExport(*source_).Read(kId, 1, (*state)->cursor, kNow);
  EXPECT_EQ(second.value(), pieces[1]);
  for (const Bytes& piece : pieces) ASSERT_TRUE(later.Put(piece).has_value());
  ASSERT_TRUE(later.Commit(kId).value());
  EXPECT_EQ(Dump(*target_), Dump(*source_));
}

TEST_F(TransferTest, no_changed_bit_of_a_piece_is_taken) {
  PutItem(*source_, 1, "value");
  const std::vector<Bytes> pieces = ExportAll();
  ASSERT_EQ(pieces.size(), 1u);
  RowImport rows(*target_);
  for (std::size_t bit = 0; bit < pieces[0].size() * 8; ++bit) {
    Bytes damaged = pieces[0];
    damaged[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    const auto kept = rows.Put(damaged);
    ASSERT_FALSE(kept.has_value()) << "bit " << bit;
    const StatusCode code = kept.error().code();
    EXPECT_TRUE(code == StatusCode::kCorrupt || code == StatusCode::kForeignFile ||
                code == StatusCode::kNewerSchema);
  }
  for (std::size_t size = 0; size < pieces[0].size(); ++size) {
    EXPECT_FALSE(rows.Put(ByteView(pieces[0]).first(size)).has_value());
  }
  EXPECT_FALSE(rows.State()->has_value());
}

// With a sound checksum: whoever made it did not mean well.
TEST_F(TransferTest, rows_of_no_table_undo_the_whole_import) {
  PutItem(*target_, 1, "stays");
  const Rows before = Dump(*target_);
  std::mt19937 random(1);
  PutItem(*source_, 2, "from the source");
  PieceWriter writer;
  for (const Table& table : Tables()) {
    ASSERT_TRUE(
        source_->Run(SelectAll(table), {}, [&](const Row& row) { writer.AddRow(table, row); })
            .ok());
  }
  const Bytes sound = writer.Finish(kId, 0, {}, true);
  const auto rows_of = [](const Bytes& piece) {
    const auto view = ParsePiece(piece);
    return Bytes(view->rows.begin(), view->rows.end());
  };
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    Bytes rows = rows_of(sound);
    rows[random() % rows.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
    target_ = Open();
    PutItem(*target_, 1, "stays");
    const Status status =
        target_->InTransaction([&] { return ApplyRows({.rows = rows}, *target_); });
    if (status.ok()) continue;
    ++refused;
    EXPECT_EQ(Dump(*target_), before);
  }
  EXPECT_GT(refused, 10);
}

TEST_F(TransferTest, a_row_that_its_table_refuses_is_damage) {
  PutItem(*source_, 1, "without a time to live");
  const auto items = std::ranges::find(Tables(), "store_kv", &Table::name);
  std::string columns;
  for (const Column& column : items->columns) {
    columns += (columns.empty() ? "" : ", ");
    columns += column.name == "ttl" ? "NULL" : column.name;
  }
  PieceWriter writer;
  ASSERT_TRUE(source_
                  ->Run("SELECT " + columns + " FROM store_kv", {},
                        [&](const Row& row) { writer.AddRow(*items, row); })
                  .ok());
  RowImport rows(*target_);
  ASSERT_TRUE(rows.Put(writer.Finish(kId, 0, {}, true)).has_value());
  EXPECT_EQ(rows.Commit(kId).error().code(), StatusCode::kCorrupt);
}

TEST_F(TransferTest, an_export_that_ended_notes_nothing_and_is_not_gone_on_with) {
  Fill(*source_);
  RowExport rows(*source_);
  const Result<Bytes> first = Next(rows, nullptr);
  EXPECT_TRUE(rows.End("another").ok());
  ASSERT_TRUE(Next(rows, &*first).has_value());
  EXPECT_TRUE(rows.End(kId).ok());
  EXPECT_EQ(Next(rows, &*first).error().code(), StatusCode::kNotFound);
  EXPECT_EQ(Number(*source_, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'"), 0);
  EXPECT_EQ(Number(*source_, "SELECT count(*) FROM transfer_changes"), 0);
  EXPECT_EQ(Number(*source_, "SELECT count(*) FROM meta WHERE name LIKE 'transfer%'"), 0);
  EXPECT_TRUE(rows.End(kId).ok());
}

TEST_F(TransferTest, an_export_that_nobody_came_back_for_ends_after_a_day) {
  RowExport rows(*source_);
  ASSERT_TRUE(rows.Read(kId, 0, {}, kNow).has_value());
  ASSERT_TRUE(rows.EndAbandoned(kNow + kDayMs - 1).ok());
  EXPECT_GT(Number(*source_, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'"), 0);
  ASSERT_TRUE(rows.EndAbandoned(kNow + kDayMs).ok());
  EXPECT_EQ(Number(*source_, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'"), 0);
}

TEST_F(TransferTest, another_export_takes_the_place_of_what_waits) {
  Fill(*source_);
  const std::vector<Bytes> pieces = ExportAll();
  RowImport rows(*target_);
  ASSERT_TRUE(rows.Put(pieces[0]).has_value());
  RowExport again(*source_);
  const auto other = again.Read("export-2", 0, {}, kNow);
  ASSERT_EQ(rows.Put(*other).value(), 1u);
  EXPECT_EQ((*rows.State())->export_id, "export-2");
  EXPECT_EQ(rows.Put(pieces[1]).error().code(), StatusCode::kNotFound);
  ASSERT_TRUE(rows.Discard().ok());
  EXPECT_FALSE(rows.State()->has_value());
}

TEST_F(TransferTest, a_piece_of_a_later_layout_is_refused_as_newer) {
  Bytes piece = ExportAll()[0];
  piece[4] = kLayout + 1;
  EXPECT_EQ(RowImport(*target_).Put(piece).error().code(), StatusCode::kNewerSchema);
}

TEST_F(TransferTest, a_piece_of_an_earlier_layout_gives_its_rows_without_later_columns) {
  static constexpr Column kHolds[] = {{.name = "ns"},
                                      {.name = "reason"},
                                      {.name = "since_ms", .is_integer = true},
                                      {.name = "color", .since = kLayout + 1}};
  static constexpr Table kNext[] = {{12, "holds", kHolds, 1}};
  Run(*source_, "INSERT INTO holds(ns, reason, since_ms) VALUES('a', 'of before', 1)");
  const auto holds = std::ranges::find(Tables(), kNext[0].number, &Table::number);
  PieceWriter before;
  ASSERT_TRUE(
      source_->Run(SelectAll(*holds), {}, [&](const Row& row) { before.AddRow(*holds, row); })
          .ok());
  const Bytes earlier = before.Finish(kId, 0, {}, true);
  for (sql::Database* database : {source_.get(), target_.get()}) {
    Run(*database, "ALTER TABLE holds ADD COLUMN color TEXT NOT NULL DEFAULT 'red'");
  }
  Run(*source_, "UPDATE holds SET ns = 'b', color = 'blue'");
  PieceWriter writer;
  ASSERT_TRUE(
      source_->Run(SelectAll(kNext[0]), {}, [&](const Row& row) { writer.AddRow(kNext[0], row); })
          .ok());
  const Bytes later = writer.Finish(kId, 0, {}, true);
  PieceView views[] = {*ParsePiece(earlier), *ParsePiece(later)};
  EXPECT_EQ(views[0].layout, kLayout);
  views[1].layout = kLayout + 1;
  for (const PieceView& view : views) {
    const Status status = ApplyRows(view, *target_, kNext);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(Number(*target_, "SELECT count(*) FROM holds WHERE ns = 'a' AND color = 'red'"), 1);
  EXPECT_EQ(Number(*target_, "SELECT count(*) FROM holds WHERE ns = 'b' AND color = 'blue'"), 1);
}

TEST_F(TransferTest, a_piece_without_a_layout_is_damaged) {
  Bytes piece = ExportAll()[0];
  piece[4] = 0;
  EXPECT_EQ(RowImport(*target_).Put(piece).error().code(), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace keepsake::transfer
