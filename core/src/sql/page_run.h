// A PageRun holds bytes of a file that lie in a row: pages that are written one after another,
// so that they take one write, or what was read beyond what was asked for.
#ifndef KEEPSAKE_SQL_PAGE_RUN_H_
#define KEEPSAKE_SQL_PAGE_RUN_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace keepsake::sql {

class PageRun {
 public:
  // 16 pages: the larger part of what a call of the host costs is shared by then.
  static constexpr int kCapacity = 64 * 1024;

  // False if these don't follow, or have no room.
  bool Append(const void* from, int size, std::int64_t offset) {
    if (size_ > 0 && offset != offset_ + size_) return false;
    if (size > kCapacity - size_ || !HasRoom()) return false;
    if (size_ == 0) offset_ = offset;
    std::memcpy(bytes_.get() + size_, from, static_cast<std::size_t>(size));
    size_ += size;
    return true;
  }

  // False unless it has all of them.
  bool Read(void* into, int size, std::int64_t offset) {
    if (offset < offset_ || offset + size > offset_ + size_) return false;
    std::memcpy(into, bytes_.get() + (offset - offset_), static_cast<std::size_t>(size));
    Follow(size, offset);
    return true;
  }

  // How much to read at once of what is read soon behind what was read last; 0 for what is not.
  // Both take note of what is read.
  int RoomNear(int size, std::int64_t offset) {
    const std::int64_t skipped = offset - read_to_;
    Follow(size, offset);
    return skipped >= 0 && skipped <= kCapacity / 4 ? kCapacity : 0;
  }
  // As much again as was read without a gap, so that little is read in vain.
  int RoomBehind(int size, std::int64_t offset) {
    const int read = Follow(size, offset);
    return read < 2 * size ? 0 : read < kCapacity ? read : kCapacity;
  }

  // Holds what `read(bytes)` reads of `room` bytes from `offset` on; it answers how much, or an
  // error below zero.
  template <typename ReadBytes>
  void Begin(std::int64_t offset, int room, ReadBytes read) {
    size_ = 0;
    if (!HasRoom()) return;
    offset_ = offset;
    const int count = read(bytes_.get());
    if (count > 0 && count <= room) size_ = count;
  }

  void Clear() { size_ = 0; }

  const std::uint8_t* bytes() const { return bytes_.get(); }
  int size() const { return size_; }
  std::int64_t offset() const { return offset_; }

 private:
  // How much was read without a gap before this.
  int Follow(int size, std::int64_t offset) {
    if (offset != read_to_) in_a_row_ = 0;
    const int before = in_a_row_;
    read_to_ = offset + size;
    if (in_a_row_ < kCapacity) in_a_row_ += size;
    return before;
  }

  bool HasRoom() {
    if (bytes_ == nullptr) bytes_.reset(new (std::nothrow) std::uint8_t[kCapacity]);
    return bytes_ != nullptr;
  }

  std::unique_ptr<std::uint8_t[]> bytes_;
  int size_ = 0;
  std::int64_t offset_ = 0;
  std::int64_t read_to_ = 0;
  int in_a_row_ = 0;
};

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_PAGE_RUN_H_
