// The pages of a SQLite file, as https://www.sqlite.org/fileformat2.html has them. A file may
// come from anybody: no number in it is believed before it was compared with the size of what it
// counts.
#ifndef KEEPSAKE_SQL_FILE_PAGES_H_
#define KEEPSAKE_SQL_FILE_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "keepsake/bytes.h"
#include "keepsake/function_ref.h"

namespace keepsake::sql {

inline constexpr std::size_t kFileHeaderBytes = 100;
// What a page of a tree begins with.
inline constexpr std::uint8_t kInnerIndex = 2, kInnerTable = 5, kLeafIndex = 10, kLeafTable = 13;
// SQLite's own limit for a row.
inline constexpr std::uint64_t kMostPayload = 1'000'000'000;

inline std::uint32_t Big16(const std::uint8_t* at) {
  return (std::uint32_t{at[0]} << 8) | std::uint32_t{at[1]};
}
inline std::uint32_t Big32(const std::uint8_t* at) { return (Big16(at) << 16) | Big16(at + 2); }

// SQLite's varint: seven bits a byte, the highest first; a ninth byte has eight.
std::optional<std::uint64_t> TakeVarint(ByteView bytes, std::size_t* at);

// How much of a row stays in a page of a tree, which has so many bytes that are SQLite's.
std::uint64_t LocalBytes(std::uint64_t payload, std::uint64_t usable, bool is_table);

struct PageCell {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint64_t elsewhere = 0;  // bytes of its row in other pages
  std::uint32_t overflow = 0;   // the first of them
};

// `content` is a page without the bytes at its end that are not SQLite's. False if it is no page
// of a tree, or one in which something is amiss.
bool ForEachCell(ByteView content, std::uint32_t number,
                 FunctionRef<void(const PageCell& cell)> on_cell);

// Zeroes what nothing uses: between cells, and in free blocks, whose chain stays. Such bytes are
// never read, so that a page in SQLite's cache and the same one cleared mean the same. True if
// that changed it; not if it is no page of a tree.
bool ClearUnused(std::span<std::uint8_t> content, std::uint32_t number);

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_FILE_PAGES_H_
