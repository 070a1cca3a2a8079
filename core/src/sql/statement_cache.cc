#include "sql/statement_cache.h"

#include <sqlite3.h>

#include <utility>

namespace keepsake::sql {
namespace {

// More texts than the core has; a bound for callers that make theirs.
constexpr std::size_t kMaxEntries = 256;

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n;") == text.npos; }

}  // namespace

void StatementFinalizer::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

StatementCache::Lease::~Lease() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  if (entry_ != nullptr) entry_->leased = false;
}

int StatementCache::Borrow(std::string_view sql, Lease* lease) {
  auto found = entries_.find(sql);
  if (found != entries_.end() && found->second.leased) {
    const int result_code = Prepare(sql, &lease->own_);
    lease->statement_ = lease->own_.get();
    return result_code;
  }
  if (found == entries_.end()) {
    StatementPtr statement;
    const int result_code = Prepare(sql, &statement);
    if (result_code != SQLITE_OK) return result_code;
    MakeRoom();
    found = entries_.emplace(sql, Entry{.statement = std::move(statement)}).first;
  }
  found->second.leased = true;
  lease->entry_ = &found->second;
  lease->statement_ = found->second.statement.get();
  return SQLITE_OK;
}

int StatementCache::Prepare(std::string_view sql, StatementPtr* statement) {
  sqlite3_stmt* prepared = nullptr;
  const char* tail = nullptr;
  const int result_code = sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()),
                                             SQLITE_PREPARE_PERSISTENT, &prepared, &tail);
  statement->reset(prepared);
  if (result_code != SQLITE_OK) return result_code;
  const std::string_view rest(tail, static_cast<std::size_t>(sql.data() + sql.size() - tail));
  if (prepared != nullptr && IsBlank(rest)) return SQLITE_OK;
  statement->reset();
  return SQLITE_MISUSE;
}

void StatementCache::MakeRoom() {
  if (entries_.size() < kMaxEntries) return;
  std::erase_if(entries_, [](const auto& entry) { return !entry.second.leased; });
}

}  // namespace keepsake::sql
