// A segment is a file of bytes that is written once. It lies in pages of equal size, each of which
// ends with a checksum, so that whoever keeps them (a table, memory) need know nothing of it.
#ifndef KEEPSAKE_TEXT_SEGMENT_PAGES_H_
#define KEEPSAKE_TEXT_SEGMENT_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>

#include "keepsake/bytes.h"
#include "keepsake/function_ref.h"
#include "keepsake/status.h"

namespace keepsake::search {

// Pages of all segments, by number: segment << kPageBits | page.
using PageNumber = std::int64_t;
inline constexpr int kPageBits = 24;
// Of a page, without its checksum of eight bytes.
inline constexpr std::size_t kPageBytes = 16 * 1024 - 8;

inline PageNumber PageOf(std::uint32_t segment, std::uint64_t page) {
  return static_cast<PageNumber>(std::uint64_t{segment} << kPageBits | page);
}

// Where pages are read that are not in memory.
class PageSource {
 public:
  // Gives the page, if it is there.
  virtual Status ReadPage(PageNumber number, FunctionRef<void(ByteView)> use) = 0;

 protected:
  ~PageSource() = default;
};

// Reads pages through a cache, and keeps what is not written yet.
class SegmentPages {
 public:
  // Borrowed; nullptr if all pages stay in memory.
  explicit SegmentPages(PageSource* source) : source_(source) {}

  // Appends bytes of a segment. kCorrupt if a page is damaged or missing.
  Status Read(std::uint32_t segment, std::uint64_t offset, std::uint64_t length, Bytes& out);

  // New pages, with their checksums, until they are written.
  void Put(PageNumber number, Bytes page);
  // Of pages and of what is cached.
  void DropSegment(std::uint32_t segment);
  const std::map<PageNumber, Bytes>& unwritten() const { return unwritten_; }
  void NoteWritten();
  void Clear();

 private:
  struct Cached {
    Bytes page;
    std::list<PageNumber>::iterator use;
  };

  Result<ByteView> Page(PageNumber number);
  void Cache(PageNumber number, Bytes page);

  PageSource* source_;
  std::map<PageNumber, Bytes> unwritten_;
  std::unordered_map<PageNumber, Cached> cache_;
  std::list<PageNumber> uses_;  // the last one first
};

// Writes a segment from its beginning to its end.
class SegmentWriter {
 public:
  SegmentWriter(SegmentPages& pages, std::uint32_t segment) : pages_(pages), segment_(segment) {}

  std::uint64_t size() const { return size_; }
  void Append(ByteView bytes);
  // The last page. Nothing may be appended any more.
  void Finish();

 private:
  void EndPage();

  SegmentPages& pages_;
  std::uint32_t segment_;
  std::uint64_t size_ = 0, ended_ = 0;
  Bytes page_;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_SEGMENT_PAGES_H_
