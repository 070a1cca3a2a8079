// A TextSegment finds the documents that hold a word: an inverted index that is written once. Its
// documents, which are the texts of items, stand by namespace, group and position, so that those of
// a namespace, and neighbours in it, follow each other.
//
//   segment := docs sketches (postings | block)* footer
//   doc     := id:zigzag length:varint flags:u8 speaker:varint kinds:varint [group:u64]
//              [position:varint | position:u64]      in blocks of kBlockDocs; id less the one
//              before
//   sketch  := count:varint hash:varint*             in the same blocks; hashes less the one before
//   entry   := (docs * 2 + is_within):varint (postings | offset:varint length:varint skip*)
//   skip    := doc:varint length:varint              of each kChunkDocs documents, if there are
//   more posting := (doc * 4 + kind):varint …             doc less the one before, see
//   text_segment.cc
//
// Three word tables (word_table.h) have an entry for each word: namespaces (first:varint
// docs:varint), tokens (entry), and words as they are written (token:text entry) if their token is
// another.
#ifndef KEEPSAKE_TEXT_TEXT_SEGMENT_H_
#define KEEPSAKE_TEXT_TEXT_SEGMENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/function_ref.h"
#include "keepsake/status.h"
#include "text/segment_pages.h"
#include "text/word_table.h"

namespace keepsake::search {

// The text of an item.
struct TextDoc {
  std::int64_t id = 0;
  std::uint32_t length = 0;   // words
  std::uint8_t flags = 0;     // as RecordReader's
  std::uint32_t speaker = 0;  // number of who speaks, 0 for nobody
  std::uint64_t group = 0;    // hash of its group, 0 for none
  double position = 0;
};

// How often a token stands in a place (text_record.h) of a document. Those of a document follow
// each other, by place.
struct Posting {
  std::uint32_t doc;
  std::uint32_t place;
  std::uint32_t count;
};

// Some of the hashes of the tokens that a document has with a weight, ascending: enough to say how
// much two documents share. A hash is below kSketchHashes.
inline constexpr std::uint32_t kSketchHashes = 1024;
using Sketch = std::span<const std::uint16_t>;
void AppendSketch(Sketch sketch, Bytes& out);

// How a segment stands in the list of them.
struct SegmentInfo {
  std::uint32_t number = 0;
  std::uint32_t newest = 0;   // what was removed at this step or later is still in it
  std::uint32_t cleaned = 0;  // what was removed at this step or before is not
  std::uint32_t docs = 0;
  std::uint64_t footer = 0;  // where it begins
  std::uint64_t size = 0;
};

// Documents from `first` to before `end`.
struct DocRange {
  std::uint32_t first = 0, end = 0;

  bool empty() const { return first == end; }
  std::uint32_t size() const { return end - first; }
};

class TextSegment {
 public:
  // Borrows the pages.
  static Result<std::unique_ptr<const TextSegment>> Open(SegmentPages& pages,
                                                         const SegmentInfo& info);

  const SegmentInfo& info() const { return info_; }
  // By number; the first is nobody's.
  const std::vector<std::string>& speakers() const { return speakers_; }
  const WordTable& tokens() const { return tokens_; }
  const WordTable& written() const { return written_; }

  // All documents of namespaces that begin so: they follow each other.
  Result<DocRange> DocsBelow(std::string_view encoded_prefix) const;

  // Goes through the namespaces that begin so, in order.
  class NamespaceCursor {
   public:
    NamespaceCursor(const TextSegment& segment, std::string_view encoded_prefix)
        : docs_in_all_(segment.info_.docs),
          prefix_(encoded_prefix),
          words_(segment.namespaces_, encoded_prefix) {}
    // False at the end, or after a mistake.
    bool Next();
    const std::string& encoded() const { return words_.word(); }
    DocRange docs() const { return docs_; }
    const Status& status() const { return status_; }

   private:
    std::uint32_t docs_in_all_;
    std::string prefix_;
    WordTable::Cursor words_;
    DocRange docs_;
    Status status_;
  };

  // Reads documents one after the other, or leaves some out.
  class DocCursor {
   public:
    explicit DocCursor(const TextSegment& segment) : segment_(&segment) {}
    // REQUIRES: it stands behind the one before. After a mistake it has nothing.
    const TextDoc& Read(std::uint32_t number);
    const Status& status() const { return status_; }

   private:
    const TextSegment* segment_;
    std::uint32_t next_ = 0;
    std::uint32_t block_ = 0xFFFF'FFFF;
    Bytes bytes_;
    ByteReader reader_{ByteView()};
    TextDoc doc_;
    Status status_;
  };

  // Valid until another one is read.
  Result<Sketch> ReadSketch(std::uint32_t doc) const;
  // The sketches of all, encoded, and where each ends.
  Status ReadSketches(Bytes& out, std::vector<std::size_t>& ends) const;
  // How many documents an entry has, of all.
  static std::uint64_t CountOf(ByteView entry) { return ByteReader(entry).Varint() >> 1; }
  // Appends the postings of an entry that are of these documents.
  Status ReadPostings(ByteView entry, DocRange docs, std::vector<Posting>& out) const;

 private:
  TextSegment(SegmentPages& pages, const SegmentInfo& info) : pages_(&pages), info_(info) {}
  Status ReadFooter();

  SegmentPages* pages_;
  SegmentInfo info_;
  std::vector<std::uint64_t> doc_blocks_, sketch_blocks_;  // where they begin, and end
  std::vector<std::string> speakers_;
  WordTable namespaces_, tokens_, written_;
  // The block of sketches that was read last: many of one are asked for.
  mutable std::uint32_t sketch_block_ = 0xFFFF'FFFF;
  mutable std::vector<std::uint16_t> hashes_;
  mutable std::vector<std::size_t> sketch_ends_;  // in hashes_
};

// Writes a segment: documents first, then tokens, then words as they are written.
class SegmentBuilder {
 public:
  // Borrows the pages.
  SegmentBuilder(SegmentPages& pages, std::uint32_t number) : out_(pages, number) {
    info_.number = number;
  }

  // In their order, all of a namespace together.
  void AddDoc(std::string_view encoded_ns, const TextDoc& doc, ByteView encoded_sketch);
  // In ascending order. The postings by document.
  void AddToken(std::string_view token, std::span<const Posting> postings);
  void AddWritten(std::string_view word, std::string_view token, std::span<const Posting> postings);
  // `speakers` as TextSegment has them.
  SegmentInfo Finish(std::span<const std::string> speakers);
  std::uint64_t size() const { return out_.size(); }

 private:
  void EndDocs();
  void EndBlock();
  void EndNamespace();
  void AddEntry(std::string_view word, std::span<const Posting> postings, WordTableWriter& table);

  SegmentWriter out_;
  SegmentInfo info_;
  bool has_docs_ = false;  // all of them
  std::string ns_;
  std::uint32_t first_of_ns_ = 0;
  TextDoc last_;
  Bytes docs_, sketches_;
  std::vector<std::uint64_t> doc_blocks_, sketch_blocks_;
  WordTableWriter namespaces_, tokens_, written_;
  Bytes entry_, postings_;
};

// Makes one segment of several, without documents that were removed, in portions.
class SegmentMerge {
 public:
  // Borrows the inputs.
  SegmentMerge(SegmentPages& pages, std::vector<const TextSegment*> inputs, std::uint32_t number);

  // `is_live` says whether a document of an input is to stay.
  Status Begin(FunctionRef<bool(const SegmentInfo& input, std::int64_t id)> is_live);
  // Goes on until about so many bytes are read and written. Says whether that was all.
  Result<bool> Step(std::uint64_t bytes);
  // When it is done. Its steps are those of the inputs.
  const SegmentInfo& info() const { return info_; }
  std::span<const TextSegment* const> inputs() const { return inputs_; }

 private:
  static constexpr std::uint32_t kGone = 0xFFFF'FFFF;

  // Goes on with the words of tables; `is_written`: of words as they are written.
  Result<bool> MergeWords(bool is_written, std::uint64_t end);
  Status MapPostings(std::size_t input, ByteView entry);
  void SortPostings();

  std::vector<const TextSegment*> inputs_;
  SegmentBuilder builder_;
  std::vector<std::vector<std::uint32_t>> new_docs_;  // by input and document
  std::vector<std::string> speakers_ = {""};
  std::vector<WordTable::Cursor> cursors_;
  std::vector<bool> has_word_;
  bool has_tokens_ = false;
  std::uint64_t read_ = 0;
  std::vector<Posting> some_, postings_;
  SegmentInfo info_;
};

// Whether one stands before another of the same namespace.
template <typename Doc>
bool IsBefore(const Doc& a, const Doc& b) {
  if (a.group != b.group) return a.group < b.group;
  if (a.position != b.position) return a.position < b.position;
  return a.id < b.id;
}

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_SEGMENT_H_
