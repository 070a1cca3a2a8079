// A StatementCache keeps prepared statements by their text. A lease returns its
// statement reset; a text whose statement is leased already gets a second one.
#ifndef KEEPSAKE_SQL_STATEMENT_CACHE_H_
#define KEEPSAKE_SQL_STATEMENT_CACHE_H_

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

namespace keepsake::sql {

struct StatementFinalizer {
  void operator()(sqlite3_stmt* statement) const;
};
using StatementPtr = std::unique_ptr<sqlite3_stmt, StatementFinalizer>;

class StatementCache {
 private:
  struct Entry {
    StatementPtr statement;
    bool leased = false;
  };

 public:
  class Lease {
   public:
    Lease() = default;
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    sqlite3_stmt* get() const { return statement_; }

   private:
    friend class StatementCache;
    sqlite3_stmt* statement_ = nullptr;
    Entry* entry_ = nullptr;  // none if the statement is the lease's own
    StatementPtr own_;
  };

  // `connection` is borrowed.
  explicit StatementCache(sqlite3* connection) : connection_(connection) {}

  // Prepares `sql`, which must be one statement, or finds it prepared. Returns a
  // SQLite result code; the connection knows the rest.
  int Borrow(std::string_view sql, Lease* lease);

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  // Most texts are constants: one that lies where it lay is mostly the same.
  struct Seen {
    const char* data = nullptr;
    std::string_view text;  // of the entry
    Entry* entry = nullptr;
  };

  Seen& SeenAt(const char* data);
  int FindOrPrepare(std::string_view sql, Entry** entry);
  int Prepare(std::string_view sql, StatementPtr* statement);
  void MakeRoom();

  sqlite3* connection_;
  // Nodes stay where they are when the table grows, so that leases may point at them.
  std::unordered_map<std::string, Entry, TextHash, std::equal_to<>> entries_;
  std::array<Seen, 64> seen_;
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_STATEMENT_CACHE_H_
