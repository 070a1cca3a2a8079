// A word table is a part of a segment: words in order, each with a few bytes. They stand in blocks,
// in which a word begins as the one before it does, and of each block the first word is kept in
// memory while the segment is open.
#ifndef KEEPSAKE_TEXT_WORD_TABLE_H_
#define KEEPSAKE_TEXT_WORD_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/varint.h"
#include "keepsake/bytes.h"
#include "keepsake/function_ref.h"
#include "keepsake/status.h"
#include "text/segment_pages.h"

namespace keepsake::search {

// Where one is.
struct WordBlock {
  std::string first;
  std::uint64_t offset;
  std::uint64_t length;
};

//   block := (shared:varint rest:text payload:text)*
//   table := count:varint (first:text offset:varint length:varint)*
class WordTableWriter {
 public:
  // In ascending order, each word once.
  void Add(std::string_view word, ByteView payload);
  // Whether enough is gathered for WriteBlocks().
  bool IsLong() const;
  void WriteBlocks(SegmentWriter& out);
  // All blocks that are left.
  void Finish(SegmentWriter& out);
  // Where the blocks are.
  void AppendTable(Bytes& out) const;

 private:
  void EndBlock();

  std::vector<WordBlock> blocks_;
  std::size_t written_ = 0;  // of blocks_; the offsets of others count from the first of them
  Bytes gathered_;           // of blocks that are not written
  Bytes block_;
  std::string first_, last_;
};

class WordTable {
 public:
  WordTable() = default;
  // Borrows the pages. False if the table is damaged.
  bool Open(SegmentPages& pages, std::uint32_t segment, ByteReader& table);

  // The payload of a word.
  Result<std::optional<Bytes>> Find(std::string_view word) const;
  // Words that begin so, in order. `visit` answers how many bytes of a word begin no other that it
  // wants to see, or 0: what it doesn't want is hardly read.
  Status Visit(std::string_view beginning,
               FunctionRef<std::size_t(std::string_view word, ByteView payload)> visit) const;

  // Goes through the words from one on, in order.
  class Cursor {
   public:
    explicit Cursor(const WordTable& table, std::string_view from = "")
        : table_(&table), from_(from), next_(table.BlockOf(from)) {}
    // False at the end, or after a mistake.
    bool Next();
    // Next() leaves out the words that begin with so many bytes of this one. REQUIRES: it has them.
    void Skip(std::size_t bytes) { skipped_ = word_.substr(0, bytes); }
    const Status& status() const { return status_; }
    const std::string& word() const { return word_; }
    ByteView payload() const { return payload_; }

   private:
    bool NextBlock();
    void SkipInBlock();

    const WordTable* table_;
    std::string from_;
    std::size_t next_;     // block
    std::string skipped_;  // words that begin so are left out, if it is not empty
    Bytes block_;
    ByteReader reader_{ByteView()};
    std::string word_;
    ByteView payload_;
    Status status_;
  };

 private:
  // The block in which the word is, if it is there: the first for one that is before all.
  std::size_t BlockOf(std::string_view word) const;
  Status ReadBlock(std::size_t block, Bytes& out) const;

  SegmentPages* pages_ = nullptr;
  std::uint32_t segment_ = 0;
  std::vector<WordBlock> blocks_;
};

// The next entry of a block. False at its end, or if it is damaged.
bool NextInBlock(ByteReader& reader, std::string& word, ByteView& payload);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_WORD_TABLE_H_
