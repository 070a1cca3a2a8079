#include "sql/sqlite_status.h"

#include <sqlite3.h>

#include <string>

#include "sql/file_sums.h"

namespace keepsake::sql {
namespace {

struct Meaning {
  StatusCode code;
  const char* rule;
};

Meaning MeaningOf(int result_code, std::string_view detail) {
  if (result_code == SQLITE_READONLY_DBMOVED) {
    return {StatusCode::kChangedOutside, "another program changed the file while it was open"};
  }
  // Of what an encrypted file holds.
  if (result_code == SQLITE_IOERR_DATA) return {StatusCode::kCorrupt, "file is damaged"};
  // Of its header. SQLite has no number of its own for that.
  if (result_code == SQLITE_ERROR && detail == "unsupported file format") {
    return {StatusCode::kCorrupt, "file is damaged"};
  }
  switch (result_code & 0xff) {
    case SQLITE_FULL:
      return {StatusCode::kStorageFull, "storage is full; nothing was changed"};
    case SQLITE_READONLY:
      return {StatusCode::kReadOnly, "file must be writable"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {StatusCode::kCannotOpen,
              "there is no such file, or it is a folder or not accessible"};
    case SQLITE_NOTADB:
      return {StatusCode::kNotADatabase, "file is not a SQLite database"};
    case SQLITE_CORRUPT:
      return {StatusCode::kCorrupt, "file is damaged"};
    case SQLITE_IOERR:
      return {StatusCode::kIoError, "file could not be read or written"};
    case SQLITE_TOOBIG:
      return {StatusCode::kTooLarge, "text or blob exceeds what SQLite can hold"};
    case SQLITE_NOMEM:
      return {StatusCode::kTooLarge, "memory has no room for it; nothing was changed"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {StatusCode::kBusy, "file is in use by another process"};
    default:
      return {StatusCode::kInternal, "statement failed"};
  }
}

bool SpeaksForItself(int result_code) {
  const int primary = result_code & 0xff;
  return primary == SQLITE_FULL || primary == SQLITE_NOTADB ||
         result_code == SQLITE_READONLY_DBMOVED;
}

}  // namespace

Status SqliteStatus(int result_code, std::string_view path, std::string_view detail) {
  const Meaning meaning = MeaningOf(result_code, detail);
  std::string message = meaning.rule;
  if (!SpeaksForItself(result_code)) {
    message.append(" (").append(detail).append(", SQLite ");
    message.append(std::to_string(result_code)).append(")");
  }
  message.append(": \"").append(path).append("\"");
  return Status(meaning.code, std::move(message));
}

Status DamagedPageStatus(std::uint32_t page, std::string_view path) {
  std::string message = page == 0 ? "the log" : "page " + std::to_string(page);
  message.append(
      " does not match its checksum: the file is damaged, or another program wrote to it;"
      " check() says what the page held, salvage() copies what can still be read: \"");
  return Status(StatusCode::kCorrupt, message.append(path).append("\""));
}

Status LastStatus(sqlite3* connection, std::string_view path) {
  if (sqlite3_extended_errcode(connection) == SQLITE_IOERR_DATA) {
    return DamagedPageStatus(FileSums::DamagedPage(connection), path);
  }
  return SqliteStatus(sqlite3_extended_errcode(connection), path, sqlite3_errmsg(connection));
}

}  // namespace keepsake::sql
