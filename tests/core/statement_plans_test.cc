// How SQLite runs each statement of the core. Nobody runs ANALYZE in our databases, so that plans
// follow from the schema alone. All statements are literals: they are taken from the sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sql/migrations.h"
#include "transfer/tables.h"

namespace keepsake {
namespace {

using testing::IsEmpty;

// Statements that read a whole table or a whole namespace, and why they may. A statement is
// named by how it begins.
struct Allowed {
  std::string_view why;
  std::vector<std::string_view> statements;
};

const Allowed kAllowed[] = {
    {"takes the first row, by an index or any",
     {"SELECT entry_id, at_ms FROM audit_log ORDER BY entry_id LIMIT 1",
      "SELECT entry_id FROM audit_log ORDER BY entry_id DESC LIMIT 1", "SELECT 1 FROM meta LIMIT 1",
      "SELECT 1 FROM version_vectors LIMIT 1", "SELECT 1 FROM store_vectors LIMIT 1",
      "SELECT EXISTS (SELECT 1 FROM store_vectors), EXISTS (SELECT 1 FROM vector_pending)",
      "SELECT 1 FROM store_kv UNION ALL SELECT 1 FROM thread_namespaces LIMIT 1",
      "SELECT id FROM transfer_pieces ORDER BY id DESC LIMIT 1"}},
    {"steps from the oldest row to the first that stays, and deletes what lies before it",
     {"DELETE FROM audit_log WHERE entry_id < (SELECT entry_id FROM audit_log WHERE at_ms >= ?"}},
    {"walks rows in the order that is asked for, as far as its limit",
     {"SELECT count(*) FROM (SELECT 1 FROM store_kv WHERE ns >= ? AND ns < ? LIMIT ?)",
      "SELECT p.item_id, p.path, i.value FROM vector_pending p"}},
    {"steps over namespaces, one row of each",
     {"WITH RECURSIVE found(ns) AS (  SELECT min(ns) FROM store_kv"}},
    {"reads a table of a few rows: rules, holds, names of settings, answers nobody has heard yet,"
     " chunks of a thousand vectors, threads that changed since they were listed",
     {"SELECT ns, reason, since_ms FROM holds ORDER BY ns", "DELETE FROM holds WHERE ns = ?",
      "SELECT ns, max_versions, max_age, since_ms FROM history_rules",
      "DELETE FROM history_rules WHERE ns = ?", "DELETE FROM answers WHERE answered_at_ms < ?",
      "SELECT client_id, sequence, place FROM answers WHERE length(response) > ?",
      "DELETE FROM answers WHERE place <> '' AND instr(place, ?) = 1",
      "DELETE FROM vector_chunks WHERE first_id % ? <> 0",
      "SELECT first_id, checksum & 9007199254740991, codes FROM vector_chunks",
      "UPDATE thread_namespaces AS n SET (listed, newest) =",
      "UPDATE thread_namespaces SET listed = 0 WHERE listed = 1 AND thread_id IN (SELECT thread_id"
      " FROM thread_namespaces WHERE listed = 0)"}},
    {"reads the one row of how far a memory has followed its log, what was set aside, which is all"
     " that is asked for, or this device's answers, to have them again after going back",
     {"SELECT log_id, number, digest, confirmed, applied, is_behind",
      "DELETE FROM sync_state WHERE",
      "INSERT INTO sync_outbox(sequence, at_ms, kind, request) SELECT",
      "SELECT count(*) FROM sync_set_aside", "SELECT sequence, at_ms, code, message, request FROM",
      "SELECT client_id, place, sequence, answered_at_ms, response FROM answers"}},
    {"is asked for what all items there hold, or are",
     {"SELECT item_id, updated_at, value, key FROM store_kv WHERE ns >= ? AND ns < ?",
      "SELECT i.item_id, i.updated_at, v.vector FROM store_kv i LEFT JOIN store_vectors v",
      "SELECT item_id FROM store_kv WHERE ns >= ? AND ns < ? AND (expires_at IS NULL",
      "SELECT key FROM store_kv WHERE ns = ? AND (expires_at IS NULL OR expires_at > ?)",
      "SELECT count(*), COALESCE(sum(length(CAST(ns AS BLOB)) + length(CAST(key AS BLOB))",
      "SELECT item_id, ns, key, value, updated_at, expires_at, (SELECT count(*) FROM store_vectors "
      "v",
      "SELECT item_id, ns, key, value, created_at, updated_at, ttl, expires_at, valid_from, "
      " valid_until, superseded_by, origin, source FROM store_kv WHERE ns >= ? AND ns < ?",
      "SELECT item_id, ns, key, expires_at FROM store_kv WHERE ns = ? ORDER BY key",
      "SELECT version_id, ns FROM store_versions WHERE ns >= ? AND ns < ?",
      "SELECT version_id, operation_id, is_last, change, actor, ns, key, number, from_ms, at_ms, "
      " value, created_at, updated_at, ttl, expires_at, valid_from, valid_until, superseded_by, "
      " origin, source FROM store_versions WHERE ns >= ? AND ns < ? AND at_ms > ?",
      "SELECT version_id, ns, key, value, origin, source FROM store_versions WHERE ns >= ? AND ns "
      "< ?"}},
    {"reads texts below a prefix once, on from where the portion before it ended",
     {"SELECT item_id, ns, key, value FROM store_kv WHERE (ns, key) >= (?, ?) AND ns < ?"}},
    {"reads the items that changed since their texts were analysed",
     {"SELECT c.item_id, i.ns FROM text_changes c LEFT JOIN store_kv i"}},
    {"loads an index into memory, once for each that is opened",
     {"SELECT count(*) FROM store_vectors WHERE +vector_id <= ?",
      "SELECT item_id FROM store_kv i WHERE NOT EXISTS (SELECT 1 FROM store_vectors v",
      "SELECT ns, item_id FROM store_kv ORDER BY ns, key",
      "SELECT item_id, vector_id FROM store_vectors ORDER BY item_id, path",
      "SELECT item_id, value FROM store_kv ORDER BY item_id"}},
    {"counts all there is, when somebody asks for statistics",
     {"SELECT (SELECT COUNT(DISTINCT thread_id) FROM thread_namespaces),",
      "SELECT count(*), count(DISTINCT ns) FROM store_kv",
      "SELECT count(*) FROM store_vectors v JOIN store_kv i"}},
    {"lists the threads of a scope, or checkpoints of several threads",
     {"SELECT DISTINCT thread_id FROM thread_namespaces",
      "SELECT l.ns_id, thread_id, checkpoint_ns, l.checkpoint_id, checkpoint FROM (SELECT ns_id,"
      " thread_id, checkpoint_ns, checkpoint_id FROM thread_namespaces CROSS JOIN checkpoints USING"
      " (ns_id) WHERE thread_id >= ?",
      "SELECT ns_id, checkpoint_id, checkpoint FROM thread_namespaces CROSS JOIN checkpoints USING"
      " (ns_id) WHERE thread_id >= ?",
      "SELECT thread_id, newest FROM thread_namespaces INDEXED BY thread_namespaces_key",
      "SELECT thread_id, newest FROM (SELECT n.thread_id, CASE WHEN n.listed = 1"}},
    {"measures the threads of a scope that has a quota",
     {"SELECT COALESCE(SUM(LENGTH(CAST(n.thread_id AS BLOB))",
      "SELECT DISTINCT u.log FROM thread_namespaces n"}},
    {"counts what waits for a vector, for each portion that is embedded",
     {"SELECT count(DISTINCT item_id) FROM vector_pending"}},
    {"is done once, when an index gets other fields, another model, or none",
     {"INSERT OR IGNORE INTO vector_pending(item_id, path) SELECT item_id, CASE path",
      "INSERT INTO vector_pending(item_id, path) SELECT item_id, '' FROM store_kv",
      "DELETE FROM vector_pending WHERE path = '{}'"}},
    {"is of an erasure, where something was superseded",
     {"UPDATE store_kv SET superseded_by = NULL",
      "SELECT ns, key FROM store_kv WHERE superseded_by IN (SELECT value FROM json_each(?))"}},
    {"names a thread anew in the audit log, when it is renamed",
     {"UPDATE audit_log SET thread_id"}},
    {"gives a thread a small number again, when one was copied or deleted",
     {"UPDATE thread_namespaces SET ns_id = (SELECT MIN(before) + 1"}},
    {"salvages or imports a whole file",
     {"SELECT s.name, s.rootpage, s.type = 'index' OR l.wr FROM sqlite_schema AS s",
      "UPDATE history_rules SET since_ms = ?3", "DELETE FROM store_vectors WHERE item_id NOT IN",
      "DELETE FROM vector_pending WHERE item_id NOT IN",
      "DELETE FROM version_vectors WHERE version_id NOT IN",
      "DELETE FROM checkpoints WHERE ns_id NOT IN", "DELETE FROM writes WHERE ns_id NOT IN",
      "SELECT thread_id, checkpoint_ns, checkpoint_id, ns_id FROM checkpoints JOIN",
      "DELETE FROM thread_namespaces WHERE ns_id NOT IN",
      "SELECT (SELECT count(*) FROM store_kv), (SELECT count(*) FROM store_vectors)",
      "DELETE FROM meta WHERE name IN ('text_index', 'field_columns') OR name LIKE 'transfer%'"}},
};

// Where the quoted text that begins at `start` ends: the place of its closing quote, or the end of
// a source that does not close it.
std::size_t EndOfQuoted(const std::string& source, std::size_t start) {
  std::size_t i = start + 1;
  while (i < source.size() && source[i] != source[start]) i += source[i] == '\\' ? 2 : 1;
  return std::min(i, source.size());
}

// The literals of a source, those that follow each other joined. REQUIRES: no raw strings with
// quotes in them begin a statement.
std::vector<std::string> LiteralsOf(const std::string& source) {
  std::vector<std::string> literals;
  bool continues = false;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    const bool separates_digits =
        c == '\'' && i > 0 && std::isxdigit(static_cast<unsigned char>(source[i - 1])) != 0;
    if (source.compare(i, 2, "//") == 0) {
      i = std::min(source.find('\n', i), source.size());
    } else if (c == '\'' && !separates_digits) {
      i = EndOfQuoted(source, i);
      continues = false;
    } else if (c == '"') {
      if (!continues) literals.emplace_back();
      const std::size_t end = EndOfQuoted(source, i);
      while (++i < end) {
        if (source[i] == '\\') ++i;
        literals.back() += source[i];
      }
      continues = true;
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      continues = false;
    }
  }
  return literals;
}

bool IsStatement(const std::string& text) {
  constexpr std::string_view kVerbs[] = {"SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "};
  const bool begins_so =
      std::ranges::any_of(kVerbs, [&](std::string_view verb) { return text.starts_with(verb); });
  // The parts of statements that are put together (transfer/tables.h) are short.
  return begins_so && !text.ends_with(' ') && std::ranges::count(text, ' ') > 2;
}

std::set<std::string> StatementsOfSources() {
  std::set<std::string> statements;
  const auto core = std::filesystem::path(KEEPSAKE_TESTS_DIR) / "../core/src";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(core)) {
    // What is read there are files of others.
    if (entry.path().extension() != ".cc" || entry.path().parent_path().filename() == "import") {
      continue;
    }
    std::ifstream file(entry.path());
    const std::string source{std::istreambuf_iterator<char>(file), {}};
    for (std::string& text : LiteralsOf(source)) {
      if (IsStatement(text)) statements.insert(std::move(text));
    }
  }
  return statements;
}

class StatementPlansTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(sqlite3_open(":memory:", &database_), SQLITE_OK);
    for (const sql::SchemaVersion& version : sql::kSchema) {
      for (const sql::SchemaStatement& statement : version) Run(std::string(statement.sql));
    }
    Run("CREATE TABLE transfer_changes(seq INTEGER PRIMARY KEY, number INTEGER NOT NULL,"
        " k1 ANY, k2 ANY, k3 ANY)");
    Run("CREATE TABLE transfer_pieces(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)");
  }
  void TearDown() override { sqlite3_close(database_); }

  void Run(const std::string& sql) {
    ASSERT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  }

  // The steps of the plan.
  std::vector<std::string> PlanOf(const std::string& sql) {
    std::vector<std::string> steps;
    sqlite3_stmt* statement = nullptr;
    const std::string explained = "EXPLAIN QUERY PLAN " + sql;
    EXPECT_EQ(sqlite3_prepare_v2(database_, explained.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << sql << "\n"
        << sqlite3_errmsg(database_);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      steps.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 3)));
    }
    sqlite3_finalize(statement);
    return steps;
  }

  // Those that read a table of ours to its end, or all of a namespace or of a range of them.
  std::vector<std::string> WholeReads(const std::string& sql) {
    static const std::regex kIsWhole(R"(^SCAN (?!CONSTANT|\(|.*VIRTUAL TABLE|.*sqlite_)|)"
                                     R"(\((ns=\?|ns>\? AND ns<\?|\(?ns,key\)>.*|ns>.*|)"
                                     R"(thread_id>\? AND thread_id<\?|thread_id>\?)\)$)"
                                     R"(|AUTOMATIC)");
    std::vector<std::string> whole;
    std::set<std::string> made;  // rows of a step before, by their name
    for (std::string& step : PlanOf(sql)) {
      for (const std::string_view word : {"CO-ROUTINE ", "MATERIALIZE "}) {
        if (step.starts_with(word)) made.insert("SCAN " + step.substr(word.size()));
      }
      if (std::regex_search(step, kIsWhole) && !made.contains(step)) {
        whole.push_back(std::move(step));
      }
    }
    return whole;
  }

  sqlite3* database_ = nullptr;
};

TEST_F(StatementPlansTest, none_reads_a_whole_table_or_namespace_without_a_reason) {
  std::map<std::string_view, bool> allowed;
  for (const Allowed& some : kAllowed) {
    for (const std::string_view statement : some.statements) allowed[statement] = false;
  }
  const std::set<std::string> statements = StatementsOfSources();
  EXPECT_GT(statements.size(), 200U);
  for (const std::string& sql : statements) {
    const std::vector<std::string> whole = WholeReads(sql);
    if (whole.empty()) continue;
    bool has_reason = false;
    for (auto& [beginning, is_used] : allowed) {
      if (!sql.starts_with(beginning)) continue;
      has_reason = is_used = true;
    }
    EXPECT_TRUE(has_reason) << sql << "\n" << testing::PrintToString(whole);
  }
  for (const auto& [beginning, is_used] : allowed) {
    EXPECT_TRUE(is_used) << "reads nothing whole, or is no more: " << beginning;
  }
}

TEST_F(StatementPlansTest, a_transfer_goes_on_where_it_was_and_finds_rows_by_their_keys) {
  for (const transfer::Table& table : transfer::Tables()) {
    for (const std::string& sql : {transfer::SelectOne(table), transfer::DeleteOne(table)}) {
      for (const std::string& step : PlanOf(sql)) EXPECT_TRUE(step.starts_with("SEARCH")) << sql;
    }
    for (const std::string& sql : {transfer::SelectAll(table), transfer::SelectBehind(table)}) {
      for (const std::string& step : PlanOf(sql)) EXPECT_FALSE(step.contains("TEMP")) << sql;
    }
    for (const std::string& step : PlanOf(transfer::SelectBehind(table))) {
      EXPECT_TRUE(step.starts_with("SEARCH")) << transfer::SelectBehind(table);
    }
  }
}

// Guards the test itself.
TEST_F(StatementPlansTest, whole_reads_are_seen) {
  for (const char* sql : {"SELECT value FROM store_kv", "SELECT key FROM store_kv WHERE ns = ?",
                          "DELETE FROM store_kv WHERE updated_at < ?",
                          "SELECT item_id, value FROM store_kv WHERE item_id IN (SELECT value FROM"
                          " json_each(?)) AND ns = ?"}) {
    EXPECT_THAT(WholeReads(sql), testing::Not(IsEmpty())) << sql;
  }
  EXPECT_THAT(WholeReads("SELECT value FROM store_kv WHERE ns = ? AND key = ?"), IsEmpty());
}

}  // namespace
}  // namespace keepsake
