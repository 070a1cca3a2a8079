#include "sql/file_pages.h"

#include <algorithm>

namespace keepsake::sql {
namespace {

constexpr std::size_t kPointerBytes = 4;
constexpr std::size_t kSmallestCell = 4;

// Of a page of a tree.
struct TreeHeader {
  explicit TreeHeader(ByteView content, std::uint32_t number)
      : begin(number == 1 ? kFileHeaderBytes : 0) {
    type = content[begin];
    is_inner = type == kInnerIndex || type == kInnerTable;
    is_table = type == kInnerTable || type == kLeafTable;
    is_tree = is_inner || type == kLeafIndex || type == kLeafTable;
    pointers = begin + (is_inner ? 12 : 8);
    const std::uint8_t* at = content.data() + begin;
    first_free = Big16(at + 1);
    cells = Big16(at + 3);
    cells_begin = Big16(at + 5) == 0 ? 65536 : Big16(at + 5);
    is_tree = is_tree && pointers_end() <= cells_begin && cells_begin <= content.size();
  }

  std::size_t pointers_end() const { return pointers + 2 * cells; }

  std::size_t begin;
  std::uint8_t type = 0;
  bool is_inner = false, is_table = false, is_tree = false;
  std::size_t pointers = 0, first_free = 0, cells = 0, cells_begin = 0;
};

bool ReadCell(ByteView content, const TreeHeader& header, PageCell* cell) {
  std::size_t at = cell->begin + (header.is_inner ? kPointerBytes : 0);
  const auto size = TakeVarint(content, &at);  // the row id, in an inner page of a table
  if (!size) return false;
  cell->elsewhere = 0;
  if (header.type != kInnerTable) {
    if (header.is_table && !TakeVarint(content, &at)) return false;
    if (*size > kMostPayload) return false;
    const std::uint64_t local = LocalBytes(*size, content.size(), header.is_table);
    cell->elsewhere = *size - local;
    at += static_cast<std::size_t>(local);
    if (cell->elsewhere > 0) {
      if (at + kPointerBytes > content.size()) return false;
      cell->overflow = Big32(content.data() + at);
      at += kPointerBytes;
    }
  }
  cell->end = std::max(at, cell->begin + kSmallestCell);
  return cell->end <= content.size();
}

}  // namespace

std::optional<std::uint64_t> TakeVarint(ByteView bytes, std::size_t* at) {
  std::uint64_t number = 0;
  for (int i = 0; i < 9; ++i) {
    if (*at >= bytes.size()) return std::nullopt;
    const std::uint8_t byte = bytes[(*at)++];
    if (i == 8) return (number << 8) | byte;
    number = (number << 7) | (byte & 0x7F);
    if (byte < 0x80) return number;
  }
  return number;
}

std::uint64_t LocalBytes(std::uint64_t payload, std::uint64_t usable, bool is_table) {
  const std::uint64_t most = is_table ? usable - 35 : (usable - 12) * 64 / 255 - 23;
  if (payload <= most) return payload;
  const std::uint64_t least = (usable - 12) * 32 / 255 - 23;
  const std::uint64_t fitting = least + (payload - least) % (usable - 4);
  return fitting <= most ? fitting : least;
}

bool ForEachCell(ByteView content, std::uint32_t number,
                 FunctionRef<void(const PageCell& cell)> on_cell) {
  const TreeHeader header(content, number);
  if (!header.is_tree) return false;
  PageCell cell;
  for (std::size_t i = 0; i < header.cells; ++i) {
    cell.begin = Big16(content.data() + header.pointers + 2 * i);
    if (cell.begin < header.cells_begin || !ReadCell(content, header, &cell)) return false;
    on_cell(cell);
  }
  return true;
}

bool ClearUnused(std::span<std::uint8_t> content, std::uint32_t number) {
  const TreeHeader header(content, number);
  if (!header.is_tree) return false;
  Bytes used(content.size());
  const auto use = [&](std::size_t begin, std::size_t end) {
    std::fill(used.begin() + static_cast<std::ptrdiff_t>(begin),
              used.begin() + static_cast<std::ptrdiff_t>(end), std::uint8_t{0xFF});
  };
  use(0, header.pointers_end());
  if (!ForEachCell(content, number, [&](const PageCell& each) { use(each.begin, each.end); })) {
    return false;
  }
  // A free block begins with where the next one is, and with its size.
  for (std::size_t block = header.first_free; block != 0;) {
    if (block < header.cells_begin || block + 4 > content.size()) return false;
    use(block, block + 4);
    const std::size_t next = Big16(content.data() + block);
    if (next != 0 && next <= block) return false;
    block = next;
  }
  std::uint8_t changed = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    changed |= static_cast<std::uint8_t>(content[i] & ~used[i]);
    content[i] &= used[i];
  }
  return changed != 0;
}

}  // namespace keepsake::sql
