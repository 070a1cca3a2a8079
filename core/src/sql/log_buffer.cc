#include "sql/log_buffer.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace keepsake::sql {
namespace {

constexpr int kFrameHeaderSize = 24;

bool IsCommitHeader(const void* bytes, int size) {
  if (size != kFrameHeaderSize) return false;
  const auto* header = static_cast<const std::uint8_t*>(bytes);
  return std::any_of(header + 4, header + 8, [](std::uint8_t byte) { return byte != 0; });
}

}  // namespace

LogBuffer::Plan LogBuffer::PlanWrite(int size, std::int64_t offset) {
  if (IsRewrite(offset) || size > kCapacity) return Plan::kPassThrough;
  const bool follows = size_ == 0 || offset_ + size_ == offset;
  if (!follows || size_ + size > kCapacity) return Plan::kDrainFirst;
  if (bytes_ == nullptr) bytes_.reset(new (std::nothrow) std::uint8_t[kCapacity]);
  if (bytes_ == nullptr) return Plan::kPassThrough;
  return CompletesCommit(size) ? Plan::kHoldAndDrain : Plan::kHold;
}

void LogBuffer::Append(const void* bytes, int size, std::int64_t offset) {
  if (size_ == 0) offset_ = offset;
  std::memcpy(bytes_.get() + size_, bytes, static_cast<std::size_t>(size));
  size_ += size;
  Note(bytes, size, offset);
}

void LogBuffer::NotePassedThrough(const void* bytes, int size, std::int64_t offset) {
  Note(bytes, size, offset);
}

bool LogBuffer::Read(void* into, int size, std::int64_t offset) const {
  if (offset < offset_ || offset + size > offset_ + size_) return false;
  std::memcpy(into, bytes_.get() + (offset - offset_), static_cast<std::size_t>(size));
  return true;
}

bool LogBuffer::CompletesCommit(int size) const {
  return page_of_commit_is_next_ && size != kFrameHeaderSize;
}

void LogBuffer::Note(const void* bytes, int size, std::int64_t offset) {
  if (CompletesCommit(size)) {
    in_transaction_ = false;
  } else if (!IsRewrite(offset)) {
    in_transaction_ = true;
  }
  page_of_commit_is_next_ = IsCommitHeader(bytes, size);
  // A header at the very beginning starts the log anew.
  high_water_ = offset == 0 ? size : std::max(high_water_, offset + size);
}

}  // namespace keepsake::sql
