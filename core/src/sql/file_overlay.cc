#include "sql/file_overlay.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string_view>
#include <utility>

#include "sql/file_pages.h"
#include "sql/file_sums.h"

namespace keepsake::sql {
namespace {

// In the header of page 1: pages have so many bytes, or 1 for 65536; whether there is a log; and
// the number of pages.
constexpr std::size_t kPageSizeAt = 16, kFormatsAt = 18, kPageCountAt = 28;
constexpr std::uint8_t kNoLog = 1;

FileOverlay& Self(void* context) { return *static_cast<FileOverlay*>(context); }

}  // namespace

int FileOverlay::Open() {
  sqlite3_int64 size = 0;
  if (const int failed = file_->pMethods->xFileSize(file_, &size); failed != SQLITE_OK) {
    return failed;
  }
  bytes_ = static_cast<std::uint64_t>(size);
  std::array<std::uint8_t, kFileHeaderBytes> header;
  const int failed = file_->pMethods->xRead(file_, header.data(), kFileHeaderBytes, 0);
  if (failed != SQLITE_OK) return failed;
  page_size_ = Big16(header.data() + kPageSizeAt);
  if (page_size_ == 1) page_size_ = 65536;
  if (page_size_ < 512) return SQLITE_NOTADB;
  first_page_.resize(page_size_);
  if (const int unread = ReadBelow(1, first_page_); unread != SQLITE_OK) return unread;
  // A log would be looked for beside it, and a bond with it be written.
  Bytes plain = first_page_;
  std::fill_n(plain.begin() + kFormatsAt, 2, kNoLog);
  std::fill_n(plain.begin() + kBondAt, kBondBytes, std::uint8_t{0});
  written_[1] = std::move(plain);

  static std::atomic<std::uint32_t> count = 0;
  vfs_name_ = "overlay-" + std::to_string(++count);
  auto vfs = FileVfs::Register(vfs_name_, Host());
  if (!vfs) return SQLITE_NOMEM;
  vfs_ = *std::move(vfs);
  return SQLITE_OK;
}

std::uint32_t FileOverlay::page_count() const {
  return Big32(written_.at(1).data() + kPageCountAt);
}

int FileOverlay::ReadPage(std::uint32_t number, std::span<std::uint8_t> into) {
  const auto written = written_.find(number);
  if (written == written_.end()) return ReadBelow(number, into);
  std::ranges::copy(written->second, into.begin());
  if (number > 1) return SQLITE_OK;
  std::copy_n(first_page_.begin() + kFormatsAt, 2, into.begin() + kFormatsAt);
  std::copy_n(first_page_.begin() + kBondAt, kBondBytes, into.begin() + kBondAt);
  return SQLITE_OK;
}

// Zeros behind its end.
int FileOverlay::ReadBelow(std::uint32_t number, std::span<std::uint8_t> into) {
  const auto offset = static_cast<sqlite3_int64>(std::uint64_t{number - 1} * page_size_);
  const int size = static_cast<int>(page_size_);
  const int result_code = file_->pMethods->xRead(file_, into.data(), size, offset);
  if (result_code == SQLITE_OK || result_code == SQLITE_IOERR_SHORT_READ) return SQLITE_OK;
  return failure_ = result_code;
}

Bytes* FileOverlay::Written(std::uint32_t number) {
  const auto [page, is_new] = written_.try_emplace(number, page_size_);
  if (!is_new || ReadBelow(number, page->second) == SQLITE_OK) return &page->second;
  written_.erase(page);
  return nullptr;
}

int FileOverlay::Read(std::span<std::uint8_t> into, std::uint64_t offset) {
  const std::uint64_t end = std::min<std::uint64_t>(offset + into.size(), bytes_);
  Bytes page(page_size_);
  std::size_t read = 0;
  while (offset < end) {
    const auto number = static_cast<std::uint32_t>(offset / page_size_) + 1;
    const auto within = static_cast<std::size_t>(offset % page_size_);
    const auto written = written_.find(number);
    if (written == written_.end() && ReadBelow(number, page) != SQLITE_OK) return kFileFailed;
    const Bytes& bytes = written == written_.end() ? page : written->second;
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(page_size_ - within, end - offset));
    std::memcpy(into.data() + read, bytes.data() + within, size);
    read += size;
    offset += size;
  }
  return static_cast<int>(read);
}

int FileOverlay::Write(ByteView from, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < from.size()) {
    const auto within = static_cast<std::size_t>(offset % page_size_);
    const std::size_t size = std::min(page_size_ - within, from.size() - done);
    Bytes* page = Written(static_cast<std::uint32_t>(offset / page_size_) + 1);
    if (page == nullptr) return kFileFailed;
    std::memcpy(page->data() + within, from.data() + done, size);
    done += size;
    offset += size;
  }
  bytes_ = std::max(bytes_, offset);
  return static_cast<int>(done);
}

FileHost FileOverlay::Host() {
  return {
      .context = this,
      .lookup = [](void*, const char* name) { return std::string_view(name) == kPath ? 0 : -1; },
      .read =
          [](void* context, int, void* into, int size, double offset) {
            return Self(context).Read(
                {static_cast<std::uint8_t*>(into), static_cast<std::size_t>(size)},
                static_cast<std::uint64_t>(offset));
          },
      .write =
          [](void* context, int, const void* from, int size, double offset) {
            return Self(context).Write(
                {static_cast<const std::uint8_t*>(from), static_cast<std::size_t>(size)},
                static_cast<std::uint64_t>(offset));
          },
      .truncate =
          [](void* context, int, double size) {
            Self(context).bytes_ = static_cast<std::uint64_t>(size);
            return 0;
          },
      .flush = [](void*, int) { return 0; },
      .size = [](void* context, int) { return static_cast<double>(Self(context).bytes_); },
      .check = [](void*, int) { return 0; },
      .random = [](void*, void* into,
                   int size) { std::memset(into, 0, static_cast<std::size_t>(size)); },
      .now_ms = [](void*) { return 0.0; },
  };
}

}  // namespace keepsake::sql
