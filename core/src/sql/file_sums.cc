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

namespace keepsake::sql {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
// Places in the header of page 1.
constexpr std::size_t kPageSizeAt = 16, kReservedAt = 20, kCountersAt = 24, kApplicationIdAt = 68;
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kBondEnd = kBondAt + kBondBytes;
// Of a log.
constexpr int kLogHeaderBytes = 32;
constexpr std::size_t kSaltsAt = 16, kSaltBytes = 8;
using Bond = std::array<std::uint8_t, kBondBytes>;
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
  std::uint64_t hash = HashOf(content.first(kPageSizeAt), number);
  hash = HashOf(content.subspan(kCountersAt, kBondAt - kCountersAt), hash);
  return HashOf(content.subspan(kBondEnd), hash);
}

ByteView ContentOf(ByteView page) { return page.first(page.size() - kSumBytes); }

struct Layer;

// A file of SQLite's for a database or its log. The original's lies behind it.
struct alignas(sqlite3_int64) SummedFile {
  sqlite3_file base;
  Layer* layer;
  bool is_written;  // a database: since it was synced
  // Of a database:
  Bond bond;
  std::uint32_t page_size;
  bool has_sums;
  bool verifies;
  bool allows_blank;
  bool keeps_clean;
  std::uint32_t reserved;
  std::uint32_t damaged_page;

  sqlite3_file* original() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

struct Layer : FileLayer {
  SummedFile* database = nullptr;
};

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

bool HasBond(const SummedFile& file) {
  return std::ranges::any_of(file.bond, [](auto byte) { return byte != 0; });
}

int WriteBond(SummedFile& file, const Bond& bond) {
  const int result_code =
      file.original()->pMethods->xWrite(file.original(), bond.data(), kBondBytes, kBondAt);
  if (result_code == SQLITE_OK) file.bond = bond;
  return result_code;
}

bool IsPage(const SummedFile& file, int size, sqlite3_int64 offset) {
  return file.has_sums && static_cast<std::uint32_t>(size) == file.page_size && offset % size == 0;
}

std::uint32_t NumberOf(int size, sqlite3_int64 offset) {
  return static_cast<std::uint32_t>(offset / size) + 1;
}

int Close(sqlite3_file* slot) {
  sqlite3_file* original = OriginalOf(slot);
  if (Of(slot).layer->database == &Of(slot)) Of(slot).layer->database = nullptr;
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
  if (!file.is_written && HasBond(file)) {
    Bond next = file.bond;
    std::uint32_t count;
    std::memcpy(&count, next.data() + 2 * kSaltBytes, sizeof(count));
    ++count;
    std::memcpy(next.data() + 2 * kSaltBytes, &count, sizeof(count));
    if (const int result_code = WriteBond(file, next); result_code != SQLITE_OK) return result_code;
  }
  file.is_written = true;
  if (offset == 0 && size >= kSmallestPage) {
    NoteHeader(file, bytes);
    std::ranges::copy(file.bond, bytes + kBondAt);
  }
  if (IsPage(file, size, offset)) {
    const std::span<std::uint8_t> page(bytes, static_cast<std::size_t>(size));
    if (file.keeps_clean) {
      ClearUnused(page.first(page.size() - file.reserved), NumberOf(size, offset));
    }
    PutSum(page, NumberOf(size, offset));
  }
  return file.original()->pMethods->xWrite(file.original(), from, size, offset);
}

int Sync(sqlite3_file* slot, int flags) {
  Of(slot).is_written = false;
  return OriginalOf(slot)->pMethods->xSync(OriginalOf(slot), flags);
}

int Bind(SummedFile& database, const std::uint8_t* log_header) {
  Bond bond = database.bond;
  for (const std::size_t at : {std::size_t{0}, kSaltBytes}) {
    std::copy_n(log_header + kSaltsAt, kSaltBytes, bond.data() + at);
  }
  if (bond == database.bond) return SQLITE_OK;
  const int result_code = WriteBond(database, bond);
  if (result_code != SQLITE_OK) return result_code;
  sqlite3_file* file = database.original();
  return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
}

// All of the log that was there is in the database by now. It must not come back, not even after a
// power cut that undoes how it was cut off.
int EndLog(sqlite3_file* below) {
  sqlite3_int64 size = 0;
  int result_code = below->pMethods->xFileSize(below, &size);
  if (result_code == SQLITE_OK && size > 0) {
    constexpr std::array<std::uint8_t, kLogHeaderBytes> kNobodys = {};
    result_code = below->pMethods->xWrite(below, kNobodys.data(), kLogHeaderBytes, 0);
  }
  return result_code == SQLITE_OK ? below->pMethods->xSync(below, SQLITE_SYNC_NORMAL) : result_code;
}

int WriteLog(sqlite3_file* slot, const void* from, int size, sqlite3_int64 offset) {
  SummedFile& log = Of(slot);
  sqlite3_file* below = log.original();
  if (log.layer->database != nullptr) {
    std::array<std::uint8_t, kLogHeaderBytes> found = {};
    const auto* header = static_cast<const std::uint8_t*>(from);
    const bool begins = offset == 0 && size == kLogHeaderBytes;
    int result_code = SQLITE_OK;
    if (begins) {
      result_code = EndLog(below);
    } else if (!log.is_written) {
      // Another program's may go on as ours.
      header = found.data();
      result_code = below->pMethods->xRead(below, found.data(), kLogHeaderBytes, 0);
    }
    if (result_code == SQLITE_OK && (begins || !log.is_written)) {
      result_code = Bind(*log.layer->database, header);
    }
    if (result_code != SQLITE_OK) return result_code;
  }
  log.is_written = true;
  return below->pMethods->xWrite(below, from, size, offset);
}

// Calls the original's method of the same name.
template <auto kMethod, typename... Args>
int Pass(sqlite3_file* slot, Args... args) {
  sqlite3_file* original = OriginalOf(slot);
  return (original->pMethods->*kMethod)(original, args...);
}

void Barrier(sqlite3_file* slot) { OriginalOf(slot)->pMethods->xShmBarrier(OriginalOf(slot)); }

// Version 1 has no shared memory, version 2 none that is mapped.
constexpr sqlite3_io_methods MethodsOf(int version, bool is_log = false) {
  using Methods = sqlite3_io_methods;
  return {
      .iVersion = version,
      .xClose = Close,
      .xRead = is_log ? Pass<&Methods::xRead, void*, int, sqlite3_int64> : Read,
      .xWrite = is_log ? WriteLog : Write,
      .xTruncate = Pass<&Methods::xTruncate, sqlite3_int64>,
      .xSync = is_log ? Pass<&Methods::xSync, int> : Sync,
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
constexpr sqlite3_io_methods kLogMethods = MethodsOf(1, true);

int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* slot, int flags, int* out_flags) {
  Layer& layer = static_cast<Layer&>(FileLayer::Of(vfs));
  sqlite3_vfs* original = layer.original;
  const bool is_log = (flags & SQLITE_OPEN_WAL) != 0;
  if (!is_log && (flags & SQLITE_OPEN_MAIN_DB) == 0) {
    return original->xOpen(original, name, slot, flags, out_flags);
  }
  slot->pMethods = nullptr;
  SummedFile& file = Of(slot);
  file.layer = &layer;
  file.bond = {};
  file.is_written = false;
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
  if (is_log) {
    slot->pMethods = &kLogMethods;
    return SQLITE_OK;
  }
  // Page 1 may be read from the log first.
  std::array<std::uint8_t, kHeaderBytes> header;
  const int read = inner->pMethods->xRead(inner, header.data(), kHeaderBytes, 0);
  if (read == SQLITE_OK) {
    NoteHeader(file, header.data());
    std::copy_n(header.begin() + kBondAt, kBondBytes, file.bond.begin());
  }
  layer.database = &file;
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

struct FileSums::Impl : Layer {};

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

bool FileSums::IsBound(sqlite3* connection, ByteView log_header) {
  const SummedFile* file = SummedFileOf(connection);
  if (file == nullptr || (!file->has_sums && !HasBond(*file))) return true;
  const ByteView salts = log_header.subspan(kSaltsAt, kSaltBytes);
  return std::ranges::equal(salts, ByteView(file->bond).first(kSaltBytes)) ||
         std::ranges::equal(salts, ByteView(file->bond).subspan(kSaltBytes, kSaltBytes));
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
