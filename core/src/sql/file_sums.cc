#include "sql/file_sums.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "sql/file_layer.h"
#include "sql/file_pages.h"
#include "sql/file_seal.h"

namespace keepsake::sql {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
// Places in the header of page 1.
constexpr std::size_t kPageSizeAt = 16, kReservedAt = 20, kCountersAt = 24, kApplicationIdAt = 68;
constexpr std::size_t kHeaderBytes = 100;
constexpr int kSmallestPage = 512;

std::uint32_t BigEndianAt(const std::uint8_t* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return std::byteswap(word);
}

// REQUIRES: kHeaderBytes at least.
bool IsOurs(const std::uint8_t* header) {
  return std::memcmp(header, kMagic.data(), kMagic.size()) == 0 &&
         BigEndianAt(header + kApplicationIdAt) == kApplicationId;
}

std::uint64_t SumOf(ByteView content, std::uint32_t number) {
  if (number != 1) return HashOf(content, number);
  return HashOf(content.subspan(kCountersAt), HashOf(content.first(kPageSizeAt), number));
}

ByteView ContentOf(ByteView page) { return page.first(page.size() - kSumBytes); }

// A file of SQLite's for a database. The original's lies behind it.
struct alignas(sqlite3_int64) SummedFile {
  sqlite3_file base;
  std::uint32_t page_size;
  bool has_sums;
  bool verifies;
  bool allows_blank;
  bool keeps_clean;
  std::uint32_t reserved;
  std::uint32_t damaged_page;

  sqlite3_file* original() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
static_assert(sizeof(SummedFile) % alignof(sqlite3_int64) == 0);

SummedFile& Of(sqlite3_file* slot) { return *reinterpret_cast<SummedFile*>(slot); }
sqlite3_file* OriginalOf(sqlite3_file* slot) { return Of(slot).original(); }

// SQLite writes the largest size, 65536, as 1.
std::uint32_t PageSizeIn(const std::uint8_t* header) {
  const std::uint32_t stored = BigEndianAt(header + kPageSizeAt) >> 16;
  return stored == 1 ? 65536 : stored;
}

void NoteHeader(SummedFile& file, const std::uint8_t* header) {
  file.has_sums = IsOurs(header);
  file.page_size = PageSizeIn(header);
  file.reserved = header[kReservedAt];
}

bool IsPage(const SummedFile& file, int size, sqlite3_int64 offset) {
  return file.has_sums && static_cast<std::uint32_t>(size) == file.page_size && offset % size == 0;
}

std::uint32_t NumberOf(int size, sqlite3_int64 offset) {
  return static_cast<std::uint32_t>(offset / size) + 1;
}

int Close(sqlite3_file* slot) {
  sqlite3_file* original = OriginalOf(slot);
  slot->pMethods = nullptr;
  return original->pMethods->xClose(original);
}

int Read(sqlite3_file* slot, void* into, int size, sqlite3_int64 offset) {
  SummedFile& file = Of(slot);
  const int result_code = file.original()->pMethods->xRead(file.original(), into, size, offset);
  if (result_code == SQLITE_IOERR_DATA) file.damaged_page = NumberOf(size, offset);
  if (result_code != SQLITE_OK) return result_code;
  const ByteView page(static_cast<const std::uint8_t*>(into), static_cast<std::size_t>(size));
  if (offset == 0 && size >= kSmallestPage) NoteHeader(file, page.data());
  if (!file.verifies || !IsPage(file, size, offset)) return SQLITE_OK;
  const std::uint32_t number = NumberOf(size, offset);
  const bool has_room = number != 1 || HasRoomForSum(page[kReservedAt]);
  if (has_room && HasSum(page, number)) return SQLITE_OK;
  if (file.allows_blank && std::ranges::all_of(page, [](auto byte) { return byte == 0; })) {
    return SQLITE_OK;
  }
  file.damaged_page = number;
  return SQLITE_IOERR_DATA;
}

// SQLite says nothing about a page's reserved bytes, so that they may be set where they lie.
int Write(sqlite3_file* slot, const void* from, int size, sqlite3_int64 offset) {
  SummedFile& file = Of(slot);
  auto* bytes = static_cast<std::uint8_t*>(const_cast<void*>(from));
  if (offset == 0 && size >= kSmallestPage) NoteHeader(file, bytes);
  if (IsPage(file, size, offset)) {
    const std::span<std::uint8_t> page(bytes, static_cast<std::size_t>(size));
    if (file.keeps_clean) {
      ClearUnused(page.first(page.size() - file.reserved), NumberOf(size, offset));
    }
    PutSum(page, NumberOf(size, offset));
  }
  return file.original()->pMethods->xWrite(file.original(), from, size, offset);
}

// Calls the original's method of the same name.
template <auto kMethod, typename... Args>
int Pass(sqlite3_file* slot, Args... args) {
  sqlite3_file* original = OriginalOf(slot);
  return (original->pMethods->*kMethod)(original, args...);
}

void Barrier(sqlite3_file* slot) { OriginalOf(slot)->pMethods->xShmBarrier(OriginalOf(slot)); }

// Version 1 has no shared memory, version 2 none that is mapped.
constexpr sqlite3_io_methods MethodsOf(int version) {
  using Methods = sqlite3_io_methods;
  return {
      .iVersion = version,
      .xClose = Close,
      .xRead = Read,
      .xWrite = Write,
      .xTruncate = Pass<&Methods::xTruncate, sqlite3_int64>,
      .xSync = Pass<&Methods::xSync, int>,
      .xFileSize = Pass<&Methods::xFileSize, sqlite3_int64*>,
      .xLock = Pass<&Methods::xLock, int>,
      .xUnlock = Pass<&Methods::xUnlock, int>,
      .xCheckReservedLock = Pass<&Methods::xCheckReservedLock, int*>,
      .xFileControl = Pass<&Methods::xFileControl, int, void*>,
      .xSectorSize = [](sqlite3_file* slot) { return Pass<&Methods::xSectorSize>(slot); },
      .xDeviceCharacteristics =
          [](sqlite3_file* slot) { return Pass<&Methods::xDeviceCharacteristics>(slot); },
      .xShmMap = Pass<&Methods::xShmMap, int, int, int, void volatile**>,
      .xShmLock = Pass<&Methods::xShmLock, int, int, int>,
      .xShmBarrier = Barrier,
      .xShmUnmap = Pass<&Methods::xShmUnmap, int>,
      .xFetch = nullptr,
      .xUnfetch = nullptr,
  };
}
constexpr sqlite3_io_methods kMethods[] = {MethodsOf(1), MethodsOf(2)};

int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* slot, int flags, int* out_flags) {
  sqlite3_vfs* original = FileLayer::Of(vfs).original;
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) {
    return original->xOpen(original, name, slot, flags, out_flags);
  }
  slot->pMethods = nullptr;
  SummedFile& file = Of(slot);
  file.has_sums = false;
  file.verifies = false;
  file.page_size = 0;
  file.allows_blank = false;
  file.keeps_clean = false;
  file.reserved = 0;
  file.damaged_page = 0;
  sqlite3_file* inner = file.original();
  const int result_code = original->xOpen(original, name, inner, flags, out_flags);
  if (result_code != SQLITE_OK) {
    if (inner->pMethods != nullptr) inner->pMethods->xClose(inner);
    return result_code;
  }
  // Page 1 may be read from the log first.
  std::array<std::uint8_t, kHeaderBytes> header;
  const int read = inner->pMethods->xRead(inner, header.data(), kHeaderBytes, 0);
  if (read == SQLITE_OK) NoteHeader(file, header.data());
  slot->pMethods = &kMethods[inner->pMethods->iVersion >= 2 ? 1 : 0];
  return SQLITE_OK;
}

// The file of the main database; null for one in memory or of another VFS.
SummedFile* SummedFileOf(sqlite3* connection) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return file == nullptr || file->pMethods == nullptr || file->pMethods->xRead != Read ? nullptr
                                                                                       : &Of(file);
}

}  // namespace

bool HasRoomForSum(std::uint32_t reserved) {
  return reserved == kSumBytes || reserved == kSealBytes;
}

bool IsLockPage(std::uint32_t number, std::size_t page_size) {
  constexpr std::uint32_t kLockByte = 0x4000'0000;
  return number == kLockByte / page_size + 1;
}

bool HasSum(ByteView page, std::uint32_t number) {
  const ByteView content = ContentOf(page);
  return WordAt(page.data() + content.size()) == SumOf(content, number);
}

void PutSum(std::span<std::uint8_t> page, std::uint32_t number) {
  const ByteView content = ContentOf(page);
  const std::uint64_t sum = SumOf(content, number);
  std::memcpy(page.data() + content.size(), &sum, sizeof(sum));
}

void PutSums(std::span<std::uint8_t> image) {
  if (image.size() < kHeaderBytes || !IsOurs(image.data())) return;
  if (!HasRoomForSum(image[kReservedAt])) return;
  const std::size_t size = PageSizeIn(image.data());
  for (std::size_t at = 0; at + size <= image.size(); at += size) {
    PutSum(image.subspan(at, size), static_cast<std::uint32_t>(at / size) + 1);
  }
}

struct FileSums::Impl : FileLayer {};

FileSums::FileSums(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

FileSums::~FileSums() = default;

const char* FileSums::name() const { return impl_->name.c_str(); }

Result<std::unique_ptr<FileSums>> FileSums::Over(const std::string& vfs) {
  auto impl = std::make_unique<Impl>();
  Status status = impl->PlaceOver(vfs, sizeof(SummedFile));
  if (!status.ok()) return std::unexpected(std::move(status));
  impl->vfs.xOpen = Open;
  status = impl->Register("sums");
  if (!status.ok()) return std::unexpected(std::move(status));
  return std::unique_ptr<FileSums>(new FileSums(std::move(impl)));
}

void FileSums::Verify(sqlite3* connection, bool wanted) {
  if (SummedFile* file = SummedFileOf(connection)) file->verifies = wanted;
}

Status FileSums::MakeRoom(sqlite3* connection, std::uint32_t bytes) {
  int wanted = static_cast<int>(bytes);
  const int result_code =
      sqlite3_file_control(connection, "main", SQLITE_FCNTL_RESERVE_BYTES, &wanted);
  if (result_code == SQLITE_OK) return Status();
  return Status(StatusCode::kInternal, "no room for checksums of pages");
}

std::uint32_t FileSums::DamagedPage(sqlite3* connection) {
  const SummedFile* file = SummedFileOf(connection);
  return file == nullptr ? 0 : file->damaged_page;
}

void FileSums::AllowBlankPages(sqlite3* connection, bool allowed) {
  if (SummedFile* file = SummedFileOf(connection)) file->allows_blank = allowed;
}

void FileSums::KeepClean(sqlite3* connection, bool wanted) {
  if (SummedFile* file = SummedFileOf(connection)) file->keeps_clean = wanted;
}

int FileSums::ReadRaw(sqlite3* connection, std::span<std::uint8_t> into, std::uint64_t offset) {
  SummedFile* file = SummedFileOf(connection);
  if (file == nullptr) return SQLITE_IOERR_READ;
  return file->original()->pMethods->xRead(file->original(), into.data(),
                                           static_cast<int>(into.size()),
                                           static_cast<sqlite3_int64>(offset));
}

int FileSums::WritePage(sqlite3* connection, std::span<std::uint8_t> page, std::uint32_t number) {
  SummedFile* file = SummedFileOf(connection);
  if (file == nullptr) return SQLITE_IOERR_WRITE;
  PutSum(page, number);
  return file->original()->pMethods->xWrite(
      file->original(), page.data(), static_cast<int>(page.size()),
      static_cast<sqlite3_int64>(number - 1) * static_cast<sqlite3_int64>(page.size()));
}

}  // namespace keepsake::sql
