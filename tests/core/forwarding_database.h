// ForwardingDatabase hands every call on to another one: a test derives from it, and overrides what
// it looks at.
#ifndef KEEPSAKE_TESTS_CORE_FORWARDING_DATABASE_H_
#define KEEPSAKE_TESTS_CORE_FORWARDING_DATABASE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "keepsake/database.h"

namespace keepsake::testing {

class ForwardingDatabase : public sql::Database {
 public:
  // Borrowed.
  explicit ForwardingDatabase(sql::Database& database) : database_(database) {}

  using sql::Database::Run;
  Status Run(std::string_view sql, std::span<const sql::Param> params,
             const sql::RowCallback& on_row) override {
    return database_.Run(sql, params, on_row);
  }
  Status InTransaction(FunctionRef<Status()> body) override {
    return database_.InTransaction(body);
  }
  Status Flush() override { return database_.Flush(); }
  Result<bool> Scrub(std::uint32_t pages) override { return database_.Scrub(pages); }
  Result<sql::PageCheck> CheckPages(std::uint32_t first, std::uint32_t count,
                                    bool accepts) override {
    return database_.CheckPages(first, count, accepts);
  }
  Result<std::uint64_t> SizeBytes() override { return database_.SizeBytes(); }
  Result<std::uint64_t> BeginExport() override { return database_.BeginExport(); }
  Result<Bytes> ReadExport(std::uint64_t offset, std::uint32_t length) override {
    return database_.ReadExport(offset, length);
  }
  void EndExport() override { database_.EndExport(); }
  Status ImportFrom(const sql::OpenOptions& source) override {
    return database_.ImportFrom(source);
  }

 protected:
  sql::Database& database_;
};

}  // namespace keepsake::testing

#endif  // KEEPSAKE_TESTS_CORE_FORWARDING_DATABASE_H_
