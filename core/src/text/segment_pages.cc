#include "text/segment_pages.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/varint.h"

namespace keepsake::search {
namespace {

// 4 MB.
constexpr std::size_t kCachedPages = 256;
constexpr std::size_t kSeal = 8;

Status Damaged() { return {StatusCode::kCorrupt, "a page of the index of texts is damaged"}; }

}  // namespace

Status SegmentPages::Read(std::uint32_t segment, std::uint64_t offset, std::uint64_t length,
                          Bytes& out) {
  while (length > 0) {
    const Result<ByteView> page = Page(PageOf(segment, offset / kPageBytes));
    if (!page) return page.error();
    const std::size_t at = offset % kPageBytes;
    if (at >= page->size()) return Damaged();
    const std::uint64_t some = std::min<std::uint64_t>(length, page->size() - at);
    Append(page->subspan(at, static_cast<std::size_t>(some)), out);
    offset += some;
    length -= some;
  }
  return {};
}

Result<ByteView> SegmentPages::Page(PageNumber number) {
  const auto content = [](const Bytes& page) { return ByteView(page).first(page.size() - kSeal); };
  if (const auto found = unwritten_.find(number); found != unwritten_.end()) {
    return content(found->second);
  }
  if (const auto found = cache_.find(number); found != cache_.end()) {
    uses_.splice(uses_.begin(), uses_, found->second.use);
    return content(found->second.page);
  }
  if (source_ == nullptr) return std::unexpected(Damaged());
  Bytes page;
  Status status =
      source_->ReadPage(number, [&](ByteView bytes) { page.assign(bytes.begin(), bytes.end()); });
  if (!status.ok()) return std::unexpected(std::move(status));
  if (page.size() <= kSeal) return std::unexpected(Damaged());
  const std::uint64_t seal = WordAt(page.data() + page.size() - kSeal);
  if (seal != HashOf(content(page), static_cast<std::uint64_t>(number))) {
    return std::unexpected(Damaged());
  }
  Cache(number, std::move(page));
  return content(cache_.at(number).page);
}

void SegmentPages::Cache(PageNumber number, Bytes page) {
  while (cache_.size() >= kCachedPages) {
    cache_.erase(uses_.back());
    uses_.pop_back();
  }
  uses_.push_front(number);
  cache_[number] = {std::move(page), uses_.begin()};
}

void SegmentPages::Put(PageNumber number, Bytes page) { unwritten_[number] = std::move(page); }

void SegmentPages::DropSegment(std::uint32_t segment) {
  const PageNumber first = PageOf(segment, 0), end = PageOf(segment + 1, 0);
  unwritten_.erase(unwritten_.lower_bound(first), unwritten_.lower_bound(end));
  for (auto use = uses_.begin(); use != uses_.end();) {
    if (*use < first || *use >= end) {
      ++use;
      continue;
    }
    cache_.erase(*use);
    use = uses_.erase(use);
  }
}

void SegmentPages::NoteWritten() {
  for (auto& [number, page] : unwritten_) Cache(number, std::move(page));
  unwritten_.clear();
}

void SegmentPages::Clear() {
  unwritten_.clear();
  cache_.clear();
  uses_.clear();
}

void SegmentWriter::Append(ByteView bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t some = std::min(bytes.size(), kPageBytes - page_.size());
    keepsake::Append(bytes.first(some), page_);
    bytes = bytes.subspan(some);
    if (page_.size() == kPageBytes) EndPage();
  }
}

void SegmentWriter::EndPage() {
  const PageNumber number = PageOf(segment_, ended_++);
  AppendU64(HashOf(page_, static_cast<std::uint64_t>(number)), page_);
  pages_.Put(number, std::exchange(page_, {}));
}

void SegmentWriter::Finish() {
  if (!page_.empty()) EndPage();
}

}  // namespace keepsake::search
