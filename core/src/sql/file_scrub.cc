#include "sql/file_scrub.h"

#include <algorithm>
#include <string_view>

#include "sql/file_pages.h"
#include "sql/file_sums.h"

namespace keepsake::sql {
namespace {

constexpr std::string_view kReadPage = "SELECT data FROM sqlite_dbpage WHERE pgno = ?";
constexpr std::string_view kWritePage = "INSERT INTO sqlite_dbpage(pgno, data) VALUES(?, ?)";
constexpr std::size_t kReservedAt = 20, kFirstFreeAt = 32;
// With more pages, the first byte of a page's number could be what a page of a tree begins with.
constexpr std::uint32_t kMostPages = std::uint32_t{kInnerIndex} << 24;
constexpr std::size_t kPointerBytes = 4, kTrunkHeader = 8;

Status Malformed() {
  return {StatusCode::kCorrupt, "the list of free pages is damaged: salvage() what is there"};
}

}  // namespace

Result<std::uint32_t> FileScrub::Clear(std::uint32_t first, std::uint32_t count) {
  if (Status status = ReadHeader(); !status.ok()) return std::unexpected(std::move(status));
  if (page_count_ >= kMostPages) {
    return Error(StatusCode::kTooLarge, "pages are scrubbed in files below 128 GB only");
  }
  first_ = std::min(first, page_count_);
  kinds_.assign(std::min<std::size_t>(count, page_count_ - first_ + 1), Kind::kOther);
  Status status = FindFreePages();
  const auto end = first_ + static_cast<std::uint32_t>(kinds_.size());
  for (std::uint32_t number = first_; status.ok() && number < end; ++number) {
    status = ClearPage(number);
  }
  if (!status.ok()) return std::unexpected(std::move(status));
  return end > page_count_ ? 0 : end;
}

Status FileScrub::ReadHeader() {
  Status status =
      database_.Run("SELECT page_count FROM pragma_page_count", {},
                    [&](const Row& row) { page_count_ = static_cast<std::uint32_t>(row.Int(0)); });
  if (status.ok()) status = Read(1);
  if (!status.ok()) return status;
  reserved_ = page_[kReservedAt];
  first_free_ = Big32(page_.data() + kFirstFreeAt);
  return Status();
}

// Trunks hold the numbers of the others, a thousand each. They are few.
Status FileScrub::FindFreePages() {
  const auto note = [&](std::uint32_t number, Kind kind) {
    if (number - first_ < kinds_.size()) kinds_[number - first_] = kind;
  };
  std::uint32_t trunk = first_free_;
  for (std::uint32_t i = 0; trunk != 0; ++i) {
    if (trunk > page_count_ || i > page_count_) return Malformed();
    if (Status status = Read(trunk); !status.ok()) return status;
    note(trunk, Kind::kTrunk);
    const std::size_t leaves = Big32(page_.data() + 4);
    if (leaves > (usable() - kTrunkHeader) / 4) return Malformed();
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      note(Big32(page_.data() + kTrunkHeader + 4 * leaf), Kind::kFree);
    }
    trunk = Big32(page_.data());
  }
  return Status();
}

Status FileScrub::ClearPage(std::uint32_t number) {
  if (IsLockPage(number, page_.size())) return Status();
  const Kind kind = kinds_[number - first_];
  // One that was freed before it was ever written has no checksum.
  FileSums::AllowBlankPages(connection_, kind == Kind::kFree);
  Status status = Read(number);
  FileSums::AllowBlankPages(connection_, false);
  if (!status.ok()) return status;
  if (kind == Kind::kFree) return ClearFrom(number, 0);
  if (kind == Kind::kTrunk) {
    return ClearFrom(number, kTrunkHeader + 4 * std::size_t{Big32(page_.data() + 4)});
  }
  struct Chain {
    std::uint32_t first;
    std::uint64_t bytes;
  };
  std::vector<Chain> chains;
  const std::span<std::uint8_t> content(page_.data(), usable());
  const bool changed = ClearUnused(content, number);
  ForEachCell(content, number, [&](const PageCell& cell) {
    if (cell.elsewhere > 0) chains.push_back({cell.overflow, cell.elsewhere});
  });
  if (changed) status = Write(number);
  for (const Chain& chain : chains) {
    if (status.ok()) status = ClearEnd(chain.first, chain.bytes);
  }
  return status;
}

// Behind the last bytes of a row. Where the chain is not what it should be, nothing is changed.
Status FileScrub::ClearEnd(std::uint32_t overflow, std::uint64_t bytes) {
  const std::uint64_t in_each = usable() - kPointerBytes;
  for (;;) {
    if (overflow < 2 || overflow > page_count_) return Status();
    if (Status status = Read(overflow); !status.ok()) return status;
    const std::uint32_t next = Big32(page_.data());
    if (bytes <= in_each) {
      if (next != 0) return Status();
      return ClearFrom(overflow, kPointerBytes + static_cast<std::size_t>(bytes));
    }
    bytes -= in_each;
    overflow = next;
  }
}

Status FileScrub::Read(std::uint32_t number) {
  return database_.Run(kReadPage, {std::int64_t{number}}, [&](const Row& row) {
    const ByteView bytes = row.Blob(0);
    page_.assign(bytes.begin(), bytes.end());
  });
}

Status FileScrub::Write(std::uint32_t number) {
  return database_.Run(kWritePage, {std::int64_t{number}, ByteView(page_)});
}

Status FileScrub::ClearFrom(std::uint32_t number, std::size_t begin) {
  const auto from = page_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto to = page_.begin() + static_cast<std::ptrdiff_t>(usable());
  if (std::all_of(from, to, [](std::uint8_t byte) { return byte == 0; })) return Status();
  std::fill(from, to, std::uint8_t{0});
  return Write(number);
}

}  // namespace keepsake::sql
