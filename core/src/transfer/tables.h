// The tables whose rows travel, as they stand in a piece (piece.h). What is not
// here is made anew where the rows arrive: the text index by the first search that
// needs it, `answers` not at all, because they tell of another database.
#ifndef KEEPSAKE_TRANSFER_TABLES_H_
#define KEEPSAKE_TRANSFER_TABLES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace keepsake::transfer {

struct Column {
  std::string_view name;
  bool is_integer = false;
  bool is_blob = false;
  std::string_view read_as = name;  // an expression
  std::uint8_t since = 1;           // the layout of pieces (piece.h) that has it first
};

struct Table {
  std::uint8_t number;  // persistent, never renumber, never reuse
  std::string_view name;
  std::span<const Column> columns;  // the first of the table, in its order; new ones at the end
  std::size_t key_columns;          // the first ones; unique, and in the order of an index
};

inline constexpr std::size_t kMaxKeyColumns = 3;

// In the order in which they are sent.
std::span<const Table> Tables();

// Statements of constant texts: every value is bound.
std::string SelectAll(const Table& table);     // in the order of the key
std::string SelectBehind(const Table& table);  // the same, behind a key
std::string SelectOne(const Table& table);
// Of the first `columns`: the others get their default, as those of a row that is older than
// they are.
std::string Put(const Table& table, std::size_t columns);
std::string DeleteOne(const Table& table);
std::string DeleteAll(const Table& table);

}  // namespace keepsake::transfer

#endif  // KEEPSAKE_TRANSFER_TABLES_H_
