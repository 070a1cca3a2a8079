// The lean module's database: the SQLite that its host has, reached through
// functions of host_sql.js. An open frame's `path` is the number by which the loader
// knows that host. There are no files, and so nothing to import from.
#include <emscripten/emscripten.h>

#include <charconv>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "import/foreign_file.h"
#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "sql/host_database.h"
#include "transfer/file_salvage.h"

namespace {

using keepsake::Bytes;
using keepsake::ByteView;
using keepsake::Error;
using keepsake::Result;
using keepsake::StatusCode;
using keepsake::sql::HostSql;

// One statement that runs: where its rows go.
struct Call {
  HostSql::TakeRow take_row;
  void* taker;
  Bytes row;
};

// One transaction that runs.
struct Body {
  HostSql::Body run;
  void* argument;
};

std::int32_t IdOf(void* context) {
  return static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(context));
}

}  // namespace

extern "C" {

// Where the linker puts what does not change.
extern const char __global_base;
extern const char __data_end;

// host_sql.js has these. Each of the first two answers a StatusCode. `call` is null if
// there are no rows.
std::uint32_t keepsake_sql_run(std::int32_t host, const char* sql, std::uint32_t sql_size,
                               bool is_literal, const std::uint8_t* params,
                               std::uint32_t params_size, Call* call);
std::uint32_t keepsake_sql_transaction(std::int32_t host, Body* body);
bool keepsake_sql_bills_rows(std::int32_t host);
double keepsake_sql_size(std::int32_t host);
std::uint32_t keepsake_sql_message_size(std::int32_t host);
void keepsake_sql_message(std::int32_t host, char* into);

// Where the host writes the next row, of `size` bytes.
EMSCRIPTEN_KEEPALIVE std::uint8_t* keepsake_sql_row(Call* call, std::uint32_t size) {
  if (call->row.size() < size) call->row.resize(size);
  return call->row.data();
}

// Takes the row that was written; false stops the statement.
EMSCRIPTEN_KEEPALIVE bool keepsake_sql_take(Call* call, std::uint32_t size) {
  return call->take_row(call->taker, ByteView(call->row.data(), size));
}

EMSCRIPTEN_KEEPALIVE bool keepsake_sql_body(Body* body) { return body->run(body->argument); }

}  // extern "C"

namespace {

std::uint16_t Run(void* context, std::string_view sql, ByteView params, HostSql::TakeRow take_row,
                  void* taker) {
  Call call{.take_row = take_row, .taker = taker};
  const bool is_literal = sql.data() >= &__global_base && sql.data() < &__data_end;
  return static_cast<std::uint16_t>(keepsake_sql_run(
      IdOf(context), sql.data(), static_cast<std::uint32_t>(sql.size()), is_literal, params.data(),
      static_cast<std::uint32_t>(params.size()), take_row == nullptr ? nullptr : &call));
}

std::uint16_t Transact(void* context, HostSql::Body run, void* argument) {
  Body body{.run = run, .argument = argument};
  return static_cast<std::uint16_t>(keepsake_sql_transaction(IdOf(context), &body));
}

std::string_view Message(void* context) {
  static std::string message;
  message.resize(keepsake_sql_message_size(IdOf(context)));
  keepsake_sql_message(IdOf(context), message.data());
  return message;
}

HostSql HostOf(std::int32_t id) {
  return HostSql{
      .context = reinterpret_cast<void*>(static_cast<std::intptr_t>(id)),
      .bills_rows = keepsake_sql_bills_rows(id),
      .run = Run,
      .transaction = Transact,
      .size = [](void* context) { return keepsake_sql_size(IdOf(context)); },
      .message = Message,
  };
}

}  // namespace

namespace keepsake::sql {

Result<std::unique_ptr<Database>> OpenDatabase(const OpenOptions& options) {
  std::int32_t id = 0;
  const char* end = options.path.data() + options.path.size();
  const auto [parsed_to, error] = std::from_chars(options.path.data(), end, id);
  if (error != std::errc() || parsed_to != end) {
    return Error(StatusCode::kUnsupported,
                 "this build of keepsake has no files: \"" + options.path + "\"");
  }
  return OpenHostDatabase(HostOf(id));
}

}  // namespace keepsake::sql

namespace keepsake::import {

Result<ForeignTables> ForeignFile::Open(const sql::OpenOptions&, std::unique_ptr<ForeignFile>*) {
  return Error(StatusCode::kUnsupported, "this build of keepsake reads no files of other programs");
}

}  // namespace keepsake::import

namespace keepsake::transfer {

Result<Salvage> SalvageRows(sql::Database&, const sql::OpenOptions&, std::int64_t) {
  return Error(StatusCode::kUnsupported, "this build of keepsake reads no files");
}

Status DropUnreadable(sql::Database&, Checkpointer&, Salvage&) { return Status(); }

}  // namespace keepsake::transfer
