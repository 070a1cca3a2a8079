// A TextView is what an index holds below a prefix, as a search sees it: the items that are there,
// and in which of them a word stands. It answers the same whatever segments the items are in, and
// whether it was made at once or brought up to date.
//
// A read that fails answers nothing, and status() says why: who asked looks at the end.
#ifndef KEEPSAKE_TEXT_TEXT_VIEW_H_
#define KEEPSAKE_TEXT_TEXT_VIEW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keepsake/function_ref.h"
#include "keepsake/status.h"
#include "keepsake/text_config.h"
#include "text/text_record.h"
#include "text/text_segment.h"

namespace keepsake::search {

// A word in a block of an item, counted by the weights of its fields.
struct Held {
  std::uint32_t item;  // its place in items()
  std::uint32_t block;
  double count;
};

class TextView {
 public:
  // There is one for each item, so it is small.
  struct Item {
    std::int64_t id;
    std::uint64_t group;  // hash of its group, 0 for none
    double position;
    std::uint32_t ns;      // its place in namespaces()
    std::uint32_t length;  // words
    std::uint32_t first_block;
    std::uint32_t speaker;  // its place in speakers(), 0 for nobody
    std::uint32_t doc;      // in the segment of its part
    std::uint16_t part;
    std::uint8_t flags;  // as RecordReader's

    // At least 1.
    std::uint32_t blocks() const {
      return length <= kBlockWords ? 1 : (length + kBlockWords - 1) / kBlockWords;
    }
  };
  struct NamespaceItems {
    std::string encoded;
    std::uint32_t first = 0, end = 0;  // items
    std::uint32_t spoken = 0;
    bool has_groups = false;
    mutable std::optional<double> coherence;  // once it was asked for

    std::uint32_t size() const { return end - first; }
    // Whether somebody speaks in most items.
    bool IsTalk() const { return 2 * spoken > size(); }
  };
  // Says whether the document of an item is still in a segment.
  using IsLive = FunctionRef<bool(const SegmentInfo& segment, std::int64_t id)>;
  explicit TextView(std::string encoded_prefix) : prefix_(std::move(encoded_prefix)) {}

  // Borrows the segments, and takes from them what it has not read before. Those without a number
  // are read again. `removed` are the ids, ascending, that may be in the others no longer. After a
  // mistake the view is of no use.
  Status Update(std::span<const TextSegment* const> segments, std::span<const std::int64_t> removed,
                IsLive is_live);

  const std::string& prefix() const { return prefix_; }

  // Namespace by namespace; in each by group, by position, then as they were first put.
  const std::vector<Item>& items() const { return items_; }
  const std::vector<NamespaceItems>& namespaces() const { return namespaces_; }
  const std::vector<std::string>& speakers() const { return speakers_; }
  std::uint64_t length() const { return length_; }  // of all together
  double squared_lengths() const { return squared_lengths_; }
  std::size_t blocks() const { return blocks_; }
  std::size_t bytes() const;

  // Where a token stands, by item and block: in fields without weight, too, with a count of 0.
  std::vector<Held> Find(std::string_view token, const FieldWeights& weights) const;
  bool Holds(std::string_view token) const;
  // How many items hold a token, in fields without weight, too.
  std::size_t CountHolders(std::string_view token) const;
  // What a visit makes of a word.
  struct Choice {
    Choice(bool asked, std::size_t bytes = 0)  // NOLINT: most choices are a bool
        : is_asked(asked), skipped(bytes) {}
    bool is_asked;
    std::size_t skipped;  // so many bytes of the word begin no other that is asked for, if not 0
  };
  // Gives the tokens that begin so and that an item holds. One may be given several times.
  // `choose` chooses among them.
  void VisitTokens(std::string_view beginning, FunctionRef<Choice(std::string_view token)> choose,
                   FunctionRef<void(std::string_view token)> visit) const;
  // The same of words as they are written, each with its token; of tokens, too.
  void VisitWords(std::string_view beginning, FunctionRef<Choice(std::string_view word)> choose,
                  FunctionRef<void(std::string_view word, std::string_view token)> visit) const;
  // The places of these items; items().size() for one that is not there.
  std::vector<std::size_t> PlacesOf(std::span<const std::int64_t> ids) const;
  // Valid until another one is asked for.
  Sketch SketchOf(std::size_t item) const;
  // How much more often neighbours of a namespace share words than items that stand apart: in
  // standard errors of chance.
  double Coherence(std::size_t ns) const;

  const Status& status() const { return status_; }

 private:
  static constexpr std::uint32_t kNowhere = 0xFFFF'FFFF;

  // What a segment has below the prefix.
  struct Part {
    const TextSegment* segment;
    std::uint32_t number;  // of the segment
    DocRange docs;
    std::vector<std::uint32_t> items;  // by document
    bool is_whole = false;             // all documents of the segment are items
  };
  // Brings a view up to date.
  class Filling;

  void AddHeld(const Part& part, ByteView entry, const FieldWeights& weights,
               std::vector<Held>& held) const;
  bool IsHeld(const Part& part, ByteView entry) const;
  void ReadPostings(const Part& part, ByteView entry) const;
  std::size_t ItemsForCoherence() const;
  void Note(Status status) const;

  std::string prefix_;
  std::vector<Part> parts_;
  std::vector<Item> items_;
  std::vector<NamespaceItems> namespaces_;
  std::vector<std::string> speakers_ = {""};
  std::uint64_t length_ = 0;
  double squared_lengths_ = 0;
  std::size_t blocks_ = 0;
  mutable std::vector<Posting> postings_;  // that are being read
  mutable Status status_;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_VIEW_H_
