#include "sql/file_seal.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "sql/file_cipher.h"
#include "sql/file_layer.h"
#include "sql/file_sums.h"

namespace keepsake::sql {
namespace {

using PlainBytes = std::span<std::uint8_t>;

constexpr std::string_view kMagic("Keepsake sealed\x01", 16);
constexpr std::size_t kVersionAt = 15;

// Parts of the block and of its slots.
constexpr int kBlockBytes = 4096;
constexpr sqlite3_int64 kBondInBlock = 64;
constexpr std::size_t kSlotsAt[] = {512, 1024};
constexpr std::size_t kKindAt = 4, kIterationsAt = 8, kSaltAt = 12, kNonceAt = 28;
constexpr std::size_t kWrappedAt = kNonceAt + kNonceBytes, kTagAt = kWrappedAt + kCipherKeyBytes;
constexpr std::size_t kSumAt = kTagAt + kTagBytes, kSlotBytes = kSumAt + 8;

// Parts of a page, and of a frame of the log.
constexpr int kPageBytes = 4096;
constexpr std::size_t kContentBytes = kPageBytes - kSealBytes;
constexpr std::size_t kTextBytes = kPageBytes - kNonceBytes - kTagBytes;
constexpr std::size_t kLastBytes = 8;
constexpr int kLogHeader = 32, kFrameHeader = 24, kFrameBytes = kFrameHeader + kPageBytes;
constexpr std::size_t kSaltsAt = 8, kSumOfFrameAt = 16;
static_assert(kContentBytes + kLastBytes + 8 == kTextBytes);

template <typename T>
T Load(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}
template <typename T>
void Store(std::uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof(value));
}

using Slot = std::array<std::uint8_t, kSlotBytes>;
using Page = std::array<std::uint8_t, kPageBytes>;
using Frame = std::array<std::uint8_t, kFrameBytes>;

bool IsWhole(const Slot& slot) {
  return Load<std::uint64_t>(slot.data() + kSumAt) == HashOf(ByteView(slot).first(kSumAt));
}

std::uint32_t SequenceOf(const Slot& slot) { return Load<std::uint32_t>(slot.data()); }

bool IsAllZero(ByteView bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

// What the files of one database share.
struct Vault : FileLayer {
  std::vector<FileKey> keys;  // until one of them has opened it
  Status problem;
  std::array<std::uint8_t, kCipherKeyBytes> key = {};
  std::array<std::uint8_t, 16> session = {};  // the random half of each nonce
  std::uint64_t nonces = 0;
  std::array<Slot, 2> slots = {};  // as they are in the file
  Slot slot = {};                  // what both should be
  bool is_new = false;             // the file has no block yet
  sqlite3_file* database = nullptr;

  ~Vault() { Wipe(key); }

  void Randomize(PlainBytes into) {
    original->xRandomness(original, static_cast<int>(into.size()),
                          reinterpret_cast<char*>(into.data()));
  }
  // Sixteen random bytes for each opening, and a count.
  void PutNonce(std::uint8_t* at) {
    std::memcpy(at, session.data(), session.size());
    Store(at + session.size(), ++nonces);
  }

  int Open(sqlite3_file* file);
  // Whether a slot of it may be opened by a key.
  int CheckBlock(const Page& block, std::int64_t size);
  int UnlockSlots();
  int OpenNew();
  int Refuse(StatusCode code, std::string_view message);
  bool Unlock(const Slot& candidate, const FileKey& by);
  Slot LockedBy(const FileKey& by, std::uint32_t sequence);
  int Prepare();
  int WriteSlot(std::size_t which, const Slot& content);

  void SealPage(const std::uint8_t* plain, std::uint32_t number, Page& into);
  bool UnsealPage(Page& page, std::uint32_t number);
  void SealFrame(Frame& frame, std::uint32_t number, std::uint32_t first);
  bool UnsealFrame(Frame& frame, std::uint32_t number, std::uint32_t* first);
};

ByteView ContextOf(const Slot& slot) { return ByteView(slot).first(kNonceAt); }

Slot Vault::LockedBy(const FileKey& by, std::uint32_t sequence) {
  Slot made = {};
  Store(made.data(), sequence);
  made[kKindAt] = by.kind;
  Store(made.data() + kIterationsAt, by.iterations);
  std::ranges::copy(by.salt, made.begin() + kSaltAt);
  Randomize(PlainBytes(made).subspan(kNonceAt, kNonceBytes));
  std::ranges::copy(key, made.begin() + kWrappedAt);
  Encrypt({by.key.data(), made.data() + kNonceAt, ContextOf(made)},
          PlainBytes(made).subspan(kWrappedAt, kCipherKeyBytes), made.data() + kTagAt);
  Store(made.data() + kSumAt, HashOf(ByteView(made).first(kSumAt)));
  return made;
}

bool Vault::Unlock(const Slot& candidate, const FileKey& by) {
  if (!std::ranges::equal(by.salt, ByteView(candidate).subspan(kSaltAt, by.salt.size()))) {
    return false;
  }
  std::copy_n(candidate.begin() + kWrappedAt, kCipherKeyBytes, key.begin());
  if (Decrypt({by.key.data(), candidate.data() + kNonceAt, ContextOf(candidate)}, key,
              candidate.data() + kTagAt)) {
    slot = candidate;
    return true;
  }
  Wipe(key);
  return false;
}

int Vault::Refuse(StatusCode code, std::string_view message) {
  problem = Status(code, message);
  return SQLITE_CANTOPEN;
}

int Vault::OpenNew() {
  is_new = true;
  Randomize(key);
  slot = LockedBy(keys.front(), 1);
  return SQLITE_OK;
}

int Vault::Open(sqlite3_file* file) {
  problem = Status();
  nonces = 0;
  Randomize(session);
  sqlite3_int64 size = 0;
  int result_code = file->pMethods->xFileSize(file, &size);
  if (result_code != SQLITE_OK) return result_code;
  if (size == 0) return OpenNew();
  Page block = {};
  result_code = file->pMethods->xRead(file, block.data(), kBlockBytes, 0);
  if (result_code != SQLITE_OK && result_code != SQLITE_IOERR_SHORT_READ) return result_code;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(kSlotsAt[i]), kSlotBytes,
                slots[i].begin());
  }
  // A new file whose first write was cut off: see Write().
  if (size <= kBlockBytes + kPageBytes && IsAllZero(block)) return OpenNew();
  result_code = CheckBlock(block, size);
  return result_code == SQLITE_OK ? UnlockSlots() : result_code;
}

int Vault::CheckBlock(const Page& block, std::int64_t size) {
  const bool any_whole = std::ranges::any_of(slots, IsWhole);
  const auto begun = static_cast<std::size_t>(std::min<sqlite3_int64>(size, kVersionAt));
  const bool begins_so = std::memcmp(block.data(), kMagic.data(), begun) == 0;
  if (size < kBlockBytes + kPageBytes && (begins_so || any_whole)) {
    return Refuse(StatusCode::kCorrupt,
                  "the file ends before its first page: put a copy of it in its place");
  }
  if (block[kVersionAt] != static_cast<std::uint8_t>(kMagic[kVersionAt]) && begins_so &&
      !any_whole) {
    return Refuse(StatusCode::kNewerSchema, "the file was encrypted by a newer keepsake");
  }
  if (any_whole) return SQLITE_OK;
  if (!IsSealed(block)) {
    return Refuse(StatusCode::kWrongKey,
                  "the file is not encrypted: open it without a key, and import its export into a "
                  "new one that has a key");
  }
  return Refuse(StatusCode::kCorrupt,
                "the block that holds the file's key is damaged: no key opens it any more");
}

int Vault::UnlockSlots() {
  // The newer one first, in case that two keys were given and both fit.
  const bool is_first_newer = SequenceOf(slots[0]) >= SequenceOf(slots[1]);
  for (const Slot& candidate : {slots[is_first_newer ? 0 : 1], slots[is_first_newer ? 1 : 0]}) {
    for (const FileKey& each : keys) {
      if (IsWhole(candidate) && Unlock(candidate, each)) return SQLITE_OK;
    }
  }
  return Refuse(StatusCode::kWrongKey,
                "the key does not open the file: give the key that it was made with, or that "
                "changeKey() gave it last");
}

int Vault::WriteSlot(std::size_t which, const Slot& content) {
  int result_code = database->pMethods->xWrite(database, content.data(), kSlotBytes,
                                               static_cast<sqlite3_int64>(kSlotsAt[which]));
  if (result_code == SQLITE_OK) {
    result_code = database->pMethods->xSync(database, SQLITE_SYNC_FULL);
  }
  if (result_code == SQLITE_OK) slots[which] = content;
  return result_code;
}

// Before anything else is written but the first page: the block, or what a change of the key left
// when it was cut off.
int Vault::Prepare() {
  if (is_new) {
    Page block = {};
    std::ranges::copy(kMagic, block.begin());
    for (const std::size_t at : kSlotsAt) {
      std::ranges::copy(slot, block.begin() + static_cast<std::ptrdiff_t>(at));
    }
    int result_code = database->pMethods->xWrite(database, block.data(), kBlockBytes, 0);
    if (result_code == SQLITE_OK) {
      result_code = database->pMethods->xSync(database, SQLITE_SYNC_FULL);
    }
    if (result_code != SQLITE_OK) return result_code;
    slots = {slot, slot};
    is_new = false;
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] == slot) continue;
    if (const int result_code = WriteSlot(i, slot); result_code != SQLITE_OK) return result_code;
  }
  return SQLITE_OK;
}

// What a page's tag covers besides its text.
std::array<std::uint8_t, 5> ContextOfPage(std::uint32_t number) {
  std::array<std::uint8_t, 5> context = {'p'};
  Store(context.data() + 1, number);
  return context;
}

std::array<std::uint8_t, 21> ContextOfFrame(const Frame& frame, std::uint32_t number) {
  std::array<std::uint8_t, 21> context = {'l'};
  Store(context.data() + 1, number);
  std::copy_n(frame.begin(), kSumOfFrameAt, context.begin() + 5);
  return context;
}

void Vault::SealPage(const std::uint8_t* plain, std::uint32_t number, Page& into) {
  std::copy_n(plain, kContentBytes, into.begin());
  std::copy_n(plain + kPageBytes - kLastBytes, kLastBytes, into.begin() + kContentBytes);
  std::fill_n(into.begin() + kContentBytes + kLastBytes, 8, std::uint8_t{0});
  PutNonce(into.data() + kTextBytes);
  Encrypt({key.data(), into.data() + kTextBytes, ContextOfPage(number)},
          PlainBytes(into).first(kTextBytes), into.data() + kTextBytes + kNonceBytes);
}

bool Vault::UnsealPage(Page& page, std::uint32_t number) {
  if (!Decrypt({key.data(), page.data() + kTextBytes, ContextOfPage(number)},
               PlainBytes(page).first(kTextBytes), page.data() + kTextBytes + kNonceBytes)) {
    return false;
  }
  std::array<std::uint8_t, kLastBytes> last;
  std::copy_n(page.begin() + kContentBytes, kLastBytes, last.begin());
  std::fill(page.begin() + kContentBytes, page.end(), std::uint8_t{0});
  std::ranges::copy(last, page.end() - kLastBytes);
  return true;
}

// The text of a frame begins 8 bytes before its page, with the checksum in its header.
PlainBytes TextOf(Frame& frame) { return PlainBytes(frame).subspan(kSumOfFrameAt, kTextBytes + 8); }

void Vault::SealFrame(Frame& frame, std::uint32_t number, std::uint32_t first) {
  std::uint8_t* page = frame.data() + kFrameHeader;
  std::memmove(page + kContentBytes, page + kPageBytes - kLastBytes, kLastBytes);
  Store(page + kContentBytes + kLastBytes, std::uint64_t{first});
  PutNonce(page + kTextBytes);
  Encrypt({key.data(), page + kTextBytes, ContextOfFrame(frame, number)}, TextOf(frame),
          page + kTextBytes + kNonceBytes);
}

bool Vault::UnsealFrame(Frame& frame, std::uint32_t number, std::uint32_t* first) {
  std::uint8_t* page = frame.data() + kFrameHeader;
  if (!Decrypt({key.data(), page + kTextBytes, ContextOfFrame(frame, number)}, TextOf(frame),
               page + kTextBytes + kNonceBytes)) {
    return false;
  }
  *first = static_cast<std::uint32_t>(Load<std::uint64_t>(page + kContentBytes + kLastBytes));
  std::array<std::uint8_t, kLastBytes> last;
  std::copy_n(page + kContentBytes, kLastBytes, last.begin());
  std::fill_n(page + kContentBytes, kSealBytes, std::uint8_t{0});
  std::ranges::copy(last, page + kPageBytes - kLastBytes);
  return true;
}

// A file of SQLite's. The original's lies behind it.
struct SealedFile {
  sqlite3_file base;
  Vault* vault;
  // Of the log:
  sqlite3_int64 header_of;  // the frame whose header was written, and its page not yet; 0 for none
  sqlite3_int64 last_read;  // the frame that was read whole just now
  std::uint32_t first;      // the first frame of the transaction
  bool is_committed;        // the frame written last ended one
  bool is_written;          // by us; so it was recovered before
  std::uint8_t header[kFrameHeader];

  sqlite3_file* original() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
static_assert(sizeof(SealedFile) % alignof(sqlite3_int64) == 0);

SealedFile& Of(sqlite3_file* slot) { return *reinterpret_cast<SealedFile*>(slot); }
sqlite3_file* OriginalOf(sqlite3_file* slot) { return Of(slot).original(); }

int ReadBelow(SealedFile& file, void* into, int size, sqlite3_int64 at) {
  return file.original()->pMethods->xRead(file.original(), into, size, at);
}
int WriteBelow(SealedFile& file, const void* from, int size, sqlite3_int64 at) {
  return file.original()->pMethods->xWrite(file.original(), from, size, at);
}

// Reads what lies from `offset` on, unit by unit. `read_unit` fills its buffer with unit n, and
// answers SQLite's result code; `first` is where unit 0 begins.
template <typename Unit, typename ReadUnit>
int ReadUnits(std::uint8_t* into, int size, sqlite3_int64 offset, sqlite3_int64 first,
              ReadUnit read_unit) {
  Unit unit;
  while (size > 0) {
    const sqlite3_int64 number = (offset - first) / static_cast<int>(unit.size());
    const int within = static_cast<int>((offset - first) % static_cast<int>(unit.size()));
    const int result_code = read_unit(number, unit);
    if (result_code != SQLITE_OK) {
      std::memset(into, 0, static_cast<std::size_t>(size));
      return result_code;
    }
    const int count = std::min(size, static_cast<int>(unit.size()) - within);
    std::copy_n(unit.begin() + within, count, into);
    into += count;
    offset += count;
    size -= count;
  }
  return SQLITE_OK;
}

// ---- the database

int ReadPage(SealedFile& file, sqlite3_int64 index, Page& page) {
  if (file.vault->is_new) return SQLITE_IOERR_SHORT_READ;
  const int result_code =
      ReadBelow(file, page.data(), kPageBytes, kBlockBytes + index * kPageBytes);
  if (result_code != SQLITE_OK) return result_code;
  // A page that was freed before it was ever written: who looks at checksums refuses it.
  if (index > 0 && IsAllZero(page)) return SQLITE_OK;
  if (!file.vault->UnsealPage(page, static_cast<std::uint32_t>(index) + 1)) {
    return SQLITE_IOERR_DATA;
  }
  return index > 0 ? SQLITE_OK : ReadBelow(file, page.data() + kBondAt, kBondBytes, kBondInBlock);
}

int Read(sqlite3_file* slot, void* into, int size, sqlite3_int64 offset) {
  SealedFile& file = Of(slot);
  return ReadUnits<Page>(
      static_cast<std::uint8_t*>(into), size, offset, 0,
      [&](sqlite3_int64 index, Page& page) { return ReadPage(file, index, page); });
}

int Write(sqlite3_file* slot, const void* from, int size, sqlite3_int64 offset) {
  SealedFile& file = Of(slot);
  const auto* plain = static_cast<const std::uint8_t*>(from);
  if (size == kBondBytes && offset == kBondAt) {
    const int prepared = file.vault->Prepare();
    return prepared == SQLITE_OK ? WriteBelow(file, plain, size, kBondInBlock) : prepared;
  }
  if (size != kPageBytes || offset % kPageBytes != 0) return SQLITE_IOERR_WRITE;
  // What would be lost.
  if (!IsAllZero(ByteView(plain + kContentBytes, kSealBytes - kLastBytes))) {
    return SQLITE_IOERR_WRITE;
  }
  Vault& vault = *file.vault;
  const bool is_first = vault.is_new;
  int result_code = is_first ? SQLITE_OK : vault.Prepare();
  if (result_code != SQLITE_OK) return result_code;
  Page page;
  vault.SealPage(plain, static_cast<std::uint32_t>(offset / kPageBytes) + 1, page);
  result_code = WriteBelow(file, page.data(), kPageBytes, kBlockBytes + offset);
  if (result_code != SQLITE_OK || !is_first) return result_code;
  // The block comes last: a file that has one and no page was cut off later, and had some.
  result_code = file.original()->pMethods->xSync(file.original(), SQLITE_SYNC_FULL);
  return result_code == SQLITE_OK ? vault.Prepare() : result_code;
}

int Truncate(sqlite3_file* slot, sqlite3_int64 size) {
  if (const int result_code = Of(slot).vault->Prepare(); result_code != SQLITE_OK) {
    return result_code;
  }
  sqlite3_file* original = OriginalOf(slot);
  return original->pMethods->xTruncate(original, kBlockBytes + size);
}

int FileSize(sqlite3_file* slot, sqlite3_int64* size) {
  sqlite3_file* original = OriginalOf(slot);
  const int result_code = original->pMethods->xFileSize(original, size);
  *size = Of(slot).vault->is_new ? 0 : std::max<sqlite3_int64>(*size - kBlockBytes, 0);
  return result_code;
}

int Close(sqlite3_file* slot) {
  sqlite3_file* original = OriginalOf(slot);
  if (Of(slot).vault->database == original) Of(slot).vault->database = nullptr;
  slot->pMethods = nullptr;
  return original->pMethods->xClose(original);
}

// ---- the log

sqlite3_int64 PlaceOf(sqlite3_int64 frame) { return kLogHeader + (frame - 1) * kFrameBytes; }

// Frames count from 1, as SQLite does.
int ReadFrame(SealedFile& file, sqlite3_int64 number, Frame& frame) {
  return ReadBelow(file, frame.data(), kFrameBytes, PlaceOf(number));
}

bool HasSaltsOf(const Frame& frame, const std::uint8_t* log_header) {
  return std::memcmp(frame.data() + kSaltsAt, log_header + 16, 8) == 0;
}

// Whether a transaction was begun after this frame. Then the frame had been written, and is not
// what a crash cut off.
bool IsFollowed(SealedFile& file, sqlite3_int64 number, const std::uint8_t* log_header) {
  sqlite3_int64 size = 0;
  if (file.original()->pMethods->xFileSize(file.original(), &size) != SQLITE_OK) return false;
  Frame frame;
  for (sqlite3_int64 next = number + 1; PlaceOf(next + 1) <= size; ++next) {
    if (ReadFrame(file, next, frame) != SQLITE_OK) return false;
    std::uint32_t first = 0;
    if (!HasSaltsOf(frame, log_header) ||
        !file.vault->UnsealFrame(frame, static_cast<std::uint32_t>(next), &first)) {
      continue;
    }
    if (first > number) return true;
  }
  return false;
}

// SQLite's checksum of the header of a log, the last 8 of its 32 bytes.
bool HasLogSum(const std::uint8_t* header) {
  const auto big = [&](std::size_t at) { return std::byteswap(Load<std::uint32_t>(header + at)); };
  const bool is_big = (big(0) & 1) != 0;
  std::uint32_t first = 0, second = 0;
  for (std::size_t at = 0; at < 24; at += 8) {
    first += (is_big ? big(at) : Load<std::uint32_t>(header + at)) + second;
    second += (is_big ? big(at + 4) : Load<std::uint32_t>(header + at + 4)) + first;
  }
  return big(24) == first && big(28) == second;
}

// The header is plain: what tells that somebody changed it is a frame behind it.
int ReadLogHeader(SealedFile& file, std::uint8_t* into) {
  const int result_code = ReadBelow(file, into, kLogHeader, 0);
  if (result_code != SQLITE_OK || file.is_written || HasLogSum(into)) return result_code;
  Frame frame;
  std::uint32_t first = 0;
  const bool has_frames =
      ReadFrame(file, 1, frame) == SQLITE_OK && file.vault->UnsealFrame(frame, 1, &first);
  return has_frames ? SQLITE_IOERR_DATA : SQLITE_OK;
}

// SQLite reads a frame whole when it recovers a log, and when it writes checksums anew.
int ReadWholeFrame(SealedFile& file, sqlite3_int64 number, Frame& frame) {
  int result_code = ReadFrame(file, number, frame);
  if (result_code != SQLITE_OK) return result_code;
  std::array<std::uint8_t, kLogHeader> log_header;
  if (!file.is_written) {
    result_code = ReadBelow(file, log_header.data(), kLogHeader, 0);
    if (result_code != SQLITE_OK) return result_code;
  }
  std::uint32_t first = 0;
  const bool is_of_log = file.is_written || HasSaltsOf(frame, log_header.data());
  if (is_of_log && file.vault->UnsealFrame(frame, static_cast<std::uint32_t>(number), &first)) {
    return SQLITE_OK;
  }
  if (file.is_written || IsFollowed(file, number, log_header.data())) return SQLITE_IOERR_DATA;
  // With other salts it is none of the log's.
  for (std::size_t i = kSaltsAt; i < kSumOfFrameAt; ++i) {
    frame[i] = static_cast<std::uint8_t>(~log_header[8 + i]);
  }
  return SQLITE_OK;
}

int ReadPartOfFrame(SealedFile& file, sqlite3_int64 number, Frame& frame) {
  const int result_code = ReadFrame(file, number, frame);
  if (result_code != SQLITE_OK) return result_code;
  std::uint32_t first = 0;
  return file.vault->UnsealFrame(frame, static_cast<std::uint32_t>(number), &first)
             ? SQLITE_OK
             : SQLITE_IOERR_DATA;
}

int ReadLog(sqlite3_file* slot, void* into, int size, sqlite3_int64 offset) {
  SealedFile& file = Of(slot);
  file.last_read = 0;
  auto* bytes = static_cast<std::uint8_t*>(into);
  if (offset < kLogHeader) {
    std::array<std::uint8_t, kLogHeader> header;
    const int result_code = ReadLogHeader(file, header.data());
    if (result_code != SQLITE_OK) {
      std::memset(bytes, 0, static_cast<std::size_t>(size));
      return result_code;
    }
    const int count = std::min(size, static_cast<int>(kLogHeader - offset));
    std::copy_n(header.begin() + offset, count, bytes);
    bytes += count;
    offset += count;
    size -= count;
  }
  const bool is_whole = (offset - kLogHeader) % kFrameBytes == 0 && size % kFrameBytes == 0;
  const int result_code =
      ReadUnits<Frame>(bytes, size, offset, kLogHeader, [&](sqlite3_int64 index, Frame& frame) {
        return is_whole ? ReadWholeFrame(file, index + 1, frame)
                        : ReadPartOfFrame(file, index + 1, frame);
      });
  if (is_whole && size == kFrameBytes && result_code == SQLITE_OK) {
    file.last_read = (offset - kLogHeader) / kFrameBytes + 1;
  }
  return result_code;
}

int WriteFrame(SealedFile& file, sqlite3_int64 number, Frame& frame, std::uint32_t first) {
  file.vault->SealFrame(frame, static_cast<std::uint32_t>(number), first);
  const sqlite3_int64 at = PlaceOf(number);
  // In two, as SQLite does: the log's buffer knows a commit by its header.
  const int result_code = WriteBelow(file, frame.data(), kFrameHeader, at);
  if (result_code != SQLITE_OK) return result_code;
  return WriteBelow(file, frame.data() + kFrameHeader, kPageBytes, at + kFrameHeader);
}

// Of a frame that is in the log, SQLite writes the header anew, or the page.
int RewriteFrame(SealedFile& file, sqlite3_int64 number, const std::uint8_t* header,
                 const std::uint8_t* page) {
  Frame frame;
  std::uint32_t first = 0;
  const int result_code = ReadFrame(file, number, frame);
  if (result_code != SQLITE_OK) return result_code;
  if (!file.vault->UnsealFrame(frame, static_cast<std::uint32_t>(number), &first)) {
    return SQLITE_IOERR_DATA;
  }
  if (header != nullptr) std::copy_n(header, kFrameHeader, frame.begin());
  if (page != nullptr) std::copy_n(page, kPageBytes, frame.begin() + kFrameHeader);
  return WriteFrame(file, number, frame, first);
}

int AppendFrame(SealedFile& file, sqlite3_int64 number, const std::uint8_t* page) {
  const auto here = static_cast<std::uint32_t>(number);
  // After a rollback it goes on from an earlier place.
  file.first = file.is_committed ? here : std::min(file.first, here);
  Frame frame;
  std::copy_n(file.header, kFrameHeader, frame.begin());
  std::copy_n(page, kPageBytes, frame.begin() + kFrameHeader);
  file.is_committed = Load<std::uint32_t>(file.header + 4) != 0;
  return WriteFrame(file, number, frame, file.first);
}

int WritePageOfFrame(SealedFile& file, sqlite3_int64 number, const std::uint8_t* page) {
  if (!IsAllZero(ByteView(page + kContentBytes, kSealBytes - kLastBytes))) {
    return SQLITE_IOERR_WRITE;
  }
  if (std::exchange(file.header_of, 0) == number) return AppendFrame(file, number, page);
  return RewriteFrame(file, number, nullptr, page);
}

int WriteLog(sqlite3_file* slot, const void* from, int size, sqlite3_int64 offset) {
  SealedFile& file = Of(slot);
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  if (const int result_code = file.vault->Prepare(); result_code != SQLITE_OK) return result_code;
  const sqlite3_int64 last_read = std::exchange(file.last_read, 0);
  const bool was_written = std::exchange(file.is_written, true);
  if (offset == 0 && size == kLogHeader) {
    file.header_of = 0;
    file.is_committed = true;
    return WriteBelow(file, bytes, size, 0);
  }
  const sqlite3_int64 number = (offset - kLogHeader) / kFrameBytes + 1;
  const sqlite3_int64 within = offset - PlaceOf(number);
  if (within == 0 && size == kFrameHeader) {
    // Nothing but a frame's checksum is written anew right after it was read.
    if (was_written && last_read == number) return RewriteFrame(file, number, bytes, nullptr);
    std::copy_n(bytes, kFrameHeader, file.header);
    file.header_of = number;
    return SQLITE_OK;
  }
  if (within == kFrameHeader && size == kPageBytes) return WritePageOfFrame(file, number, bytes);
  return SQLITE_IOERR_WRITE;
}

// ---- both

// Calls the original's method of the same name.
template <auto kMethod, typename... Args>
int Pass(sqlite3_file* slot, Args... args) {
  sqlite3_file* original = OriginalOf(slot);
  return (original->pMethods->*kMethod)(original, args...);
}

int Control(sqlite3_file* slot, int operation, void* argument) {
  // It is not of our size.
  if (operation == SQLITE_FCNTL_SIZE_HINT) return SQLITE_OK;
  return Pass<&sqlite3_io_methods::xFileControl, int, void*>(slot, operation, argument);
}

// Without shared memory, which would hold nothing secret, and nothing mapped.
constexpr sqlite3_io_methods MethodsOf(bool is_log) {
  using Methods = sqlite3_io_methods;
  return {
      .iVersion = 1,
      .xClose = Close,
      .xRead = is_log ? ReadLog : Read,
      .xWrite = is_log ? WriteLog : Write,
      .xTruncate = is_log ? Pass<&Methods::xTruncate, sqlite3_int64> : Truncate,
      .xSync = Pass<&Methods::xSync, int>,
      .xFileSize = is_log ? Pass<&Methods::xFileSize, sqlite3_int64*> : FileSize,
      .xLock = Pass<&Methods::xLock, int>,
      .xUnlock = Pass<&Methods::xUnlock, int>,
      .xCheckReservedLock = Pass<&Methods::xCheckReservedLock, int*>,
      .xFileControl = Control,
      .xSectorSize = [](sqlite3_file* slot) { return Pass<&Methods::xSectorSize>(slot); },
      .xDeviceCharacteristics =
          [](sqlite3_file* slot) { return Pass<&Methods::xDeviceCharacteristics>(slot); },
      .xShmMap = nullptr,
      .xShmLock = nullptr,
      .xShmBarrier = nullptr,
      .xShmUnmap = nullptr,
      .xFetch = nullptr,
      .xUnfetch = nullptr,
  };
}
constexpr sqlite3_io_methods kMethods[] = {MethodsOf(false), MethodsOf(true)};

Vault& VaultOf(sqlite3_vfs* vfs) { return static_cast<Vault&>(FileLayer::Of(vfs)); }

int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* slot, int flags, int* out_flags) {
  Vault& vault = VaultOf(vfs);
  slot->pMethods = nullptr;
  const bool is_log = (flags & SQLITE_OPEN_WAL) != 0;
  // Whatever else there is would be plain.
  if (!is_log && (flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
  SealedFile& file = Of(slot);
  sqlite3_file* inner = file.original();
  file.vault = &vault;
  file.header_of = 0;
  file.last_read = 0;
  file.first = 0;
  file.is_committed = true;
  file.is_written = false;
  int result_code = vault.original->xOpen(vault.original, name, inner, flags, out_flags);
  if (result_code == SQLITE_OK && !is_log) result_code = vault.Open(inner);
  if (result_code != SQLITE_OK) {
    if (inner->pMethods != nullptr) inner->pMethods->xClose(inner);
    return result_code;
  }
  if (!is_log) vault.database = inner;
  slot->pMethods = &kMethods[is_log ? 1 : 0];
  return SQLITE_OK;
}

int Access(sqlite3_vfs* vfs, const char* name, int flags, int* result) {
  // Somebody else's: what it holds would be written into the file.
  if (std::string_view(name).ends_with("-journal")) {
    *result = 0;
    return SQLITE_OK;
  }
  sqlite3_vfs* original = VaultOf(vfs).original;
  return original->xAccess(original, name, flags, result);
}

constexpr std::size_t kIterationsOfKeyAt = 1, kSaltOfKeyAt = 5, kKeyAt = 21, kBytesOfKey = 53;
static_assert(kKeyAt == kSaltOfKeyAt + FileKey::kSaltBytes &&
              kBytesOfKey == kKeyAt + FileKey::kBytes);

}  // namespace

Bytes EncodeKeys(std::span<const FileKey> keys) {
  Bytes bytes;
  for (const FileKey& each : keys) {
    std::array<std::uint8_t, kBytesOfKey> one = {each.kind};
    Store(one.data() + kIterationsOfKeyAt, each.iterations);
    std::copy_n(each.salt.begin(), std::min(each.salt.size(), FileKey::kSaltBytes),
                one.begin() + kSaltOfKeyAt);
    std::copy_n(each.key.begin(), std::min(each.key.size(), FileKey::kBytes), one.begin() + kKeyAt);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

Result<std::vector<FileKey>> DecodeKeys(ByteView bytes) {
  if (bytes.empty() || bytes.size() % kBytesOfKey != 0) {
    return Error(StatusCode::kInvalidArgument, "a key must be 32 bytes, with how it was derived");
  }
  std::vector<FileKey> keys;
  for (; !bytes.empty(); bytes = bytes.subspan(kBytesOfKey)) {
    const ByteView salt = bytes.subspan(kSaltOfKeyAt, FileKey::kSaltBytes);
    const ByteView key = bytes.subspan(kKeyAt, FileKey::kBytes);
    keys.push_back({.key = Bytes(key.begin(), key.end()),
                    .kind = bytes[0],
                    .iterations = Load<std::uint32_t>(bytes.data() + kIterationsOfKeyAt),
                    .salt = Bytes(salt.begin(), salt.end())});
  }
  return keys;
}

bool IsSealed(ByteView beginning) {
  return beginning.size() >= kMagic.size() &&
         std::memcmp(beginning.data(), kMagic.data(), kMagic.size()) == 0;
}

struct FileSeal::Impl {
  Vault vault;
};

FileSeal::FileSeal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

FileSeal::~FileSeal() {
  for (FileKey& each : impl_->vault.keys) Wipe(each.key);
}

const char* FileSeal::name() const { return impl_->vault.name.c_str(); }

const Status& FileSeal::problem() const { return impl_->vault.problem; }

Result<std::unique_ptr<FileSeal>> FileSeal::Over(const std::string& vfs, ByteView keys) {
  auto impl = std::make_unique<Impl>();
  Vault& vault = impl->vault;
  Status status = vault.PlaceOver(vfs, sizeof(SealedFile));
  if (!status.ok()) return std::unexpected(std::move(status));
  Result<std::vector<FileKey>> decoded = DecodeKeys(keys);
  if (!decoded) return std::unexpected(std::move(decoded.error()));
  vault.keys = *std::move(decoded);
  vault.vfs.xOpen = Open;
  vault.vfs.xAccess = Access;
  status = vault.Register("seal");
  if (!status.ok()) return std::unexpected(std::move(status));
  return std::unique_ptr<FileSeal>(new FileSeal(std::move(impl)));
}

int FileSeal::ChangeKey(const FileKey& key) {
  Vault& vault = impl_->vault;
  if (vault.database == nullptr) return SQLITE_MISUSE;
  int result_code = vault.Prepare();
  if (result_code != SQLITE_OK) return result_code;
  const Slot changed = vault.LockedBy(key, SequenceOf(vault.slot) + 1);
  result_code = vault.WriteSlot(0, changed);
  // If it fails, the other slot is as it was. If it does not, the key is changed. What could not
  // be written of either is written by the next write.
  if (result_code == SQLITE_OK) vault.slot = changed;
  vault.slots[1] = {};
  if (result_code != SQLITE_OK) vault.slots[0] = {};
  (void)vault.Prepare();
  return result_code;
}

}  // namespace keepsake::sql
