// A TextIndex finds the items that hold a word. What was put lately is in memory (fresh), all else
// in segments, which are written once, and merged as they become many. It answers the same however
// items came to be in segments, and nothing is read but what a question asks for.
//
// Who keeps it writes what it wants to be written: pages, and its state. Until then a page stays in
// memory, where it does as well.
#ifndef KEEPSAKE_TEXT_TEXT_INDEX_H_
#define KEEPSAKE_TEXT_TEXT_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/status.h"
#include "keepsake/text_config.h"
#include "text/segment_pages.h"
#include "text/text_segment.h"
#include "text/text_view.h"

namespace keepsake::search {

class TextIndex {
 public:
  // Borrowed; nullptr if all stays in memory.
  explicit TextIndex(PageSource* pages = nullptr) : pages_(pages) {}

  void Clear();
  // Says which fields have weight. To be called before texts are put.
  void Use(const TextConfig& config) { weights_ = WeightsOf(config); }

  // Replaces what there is of the item. `record` is one of text_record.h.
  void Put(std::int64_t id, std::string_view encoded_ns, Bytes record);
  // The same. REQUIRES: the index has nothing of the item.
  void Add(std::int64_t id, std::string_view encoded_ns, Bytes record);
  void Remove(std::int64_t id);

  // What there is below a prefix. Valid until something is put, removed or merged.
  Result<const TextView*> View(std::string_view encoded_prefix);

  // Whether so much is fresh that it is to be flushed.
  bool IsFull() const;
  // Makes a segment of what is fresh, and goes on with merging as far as is usual at once.
  Status Flush();
  // Goes on with merging. Says whether there is more to do.
  Result<bool> Merge();
  // Makes segments anew that hold something which was removed. Nothing of it is left in them.
  Status Purge();

  // What is in segments. Restore() says false if it is damaged.
  Bytes State() const;
  bool Restore(ByteView state);
  // Pages and segments that are to be written and deleted before State() is true.
  const std::map<PageNumber, Bytes>& unwritten() const { return pages_.unwritten(); }
  std::span<const std::uint32_t> dropped() const { return dropped_; }
  void NoteWritten();
  // Of items that are in no segment yet.
  std::vector<std::int64_t> FreshIds() const;
  // Whether State() is another than was last written.
  bool IsToBeWritten() const { return is_changed_ || !unwritten().empty(); }

 private:
  struct Fresh {
    std::string encoded_ns;
    Bytes record;
  };
  struct Kept {
    std::unique_ptr<TextView> view;
    std::uint64_t version;  // of the index, of which it is
    std::size_t removed;    // of removals_, those that it knows
  };

  struct Merging {
    std::unique_ptr<SegmentMerge> merge;
    std::uint32_t number, cleaned;  // of the segment that it makes
  };

  Status OpenSegments();
  SegmentInfo WriteFresh(SegmentPages& pages, std::uint32_t number) const;
  bool IsLive(const SegmentInfo& segment, std::int64_t id) const;
  // The newest segments that are to be one; 0 if none are. Those that are being merged are not
  // among them.
  std::size_t CountToMerge() const;
  Status BeginMerge(std::size_t first, std::size_t count);
  void EndMerge();
  void DropPages(std::uint32_t segment);
  void DropMarks();
  // The segments, with what is fresh in one without a number.
  Result<std::vector<const TextSegment*>> Segments();
  Status BringUpToDate(Kept& kept);

  SegmentPages pages_;
  std::vector<SegmentInfo> segments_;                       // the oldest first
  std::vector<std::unique_ptr<const TextSegment>> opened_;  // nullptr for one that is to be opened
  std::uint32_t step_ = 0;                                  // one more with each flush
  std::uint32_t next_segment_ = 1;
  std::int64_t last_id_ = 0;  // the greatest in a segment
  // When an item was removed that may be in a segment: it is gone from those whose newest step is
  // not later.
  std::unordered_map<std::int64_t, std::uint32_t> removed_;
  FieldWeights weights_ = WeightsOf({});
  std::map<std::int64_t, Fresh> fresh_;
  std::size_t fresh_bytes_ = 0;
  SegmentPages fresh_pages_{nullptr};
  std::unique_ptr<const TextSegment> fresh_segment_;  // of what is fresh, for a view
  // Each is of newer and fewer segments than the one before, which waits for it: while a large
  // merge goes on, small segments do not pile up.
  std::vector<Merging> merges_;
  std::vector<std::uint32_t> dropped_;
  bool is_changed_ = false;
  std::uint64_t version_ = 1;  // one more with each change
  std::list<Kept> views_;      // the last one first
  // Ids that were removed since the oldest view was brought up to date, in their order.
  std::vector<std::int64_t> removals_;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_INDEX_H_
