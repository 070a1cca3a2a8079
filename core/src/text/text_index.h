// TextIndex finds the items that hold a word: an inverted index in memory, a shelf for each
// namespace. A store fills a shelf from its records (text_record.h) when it is first searched,
// and keeps it as items are put and deleted.
#ifndef KEEPSAKE_TEXT_TEXT_INDEX_H_
#define KEEPSAKE_TEXT_TEXT_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/function_ref.h"
#include "keepsake/text_config.h"
#include "text/word_mark.h"

namespace keepsake::search {

// The texts of one namespace. An item is named by its slot, 0…size() - 1.
class TextShelf {
 public:
  struct Item {
    std::int64_t id = 0;  // 0: it was removed
    std::uint32_t length = 0;
    std::uint8_t flags = 0;     // as RecordReader's
    std::uint16_t speaker = 0;  // number of who speaks, 0 for nobody
    std::uint32_t group = 0;    // number of its group, 0 for none
    std::uint32_t blocks = 0;   // at least 1
    std::uint32_t first_block = 0;
    double position = 0;
  };
  // A token in a block of an item, counted by the weights of its fields. Sorted by slot.
  struct Posting {
    std::uint32_t slot;
    std::uint32_t block;
    float weight;
  };
  using Postings = std::vector<Posting>;
  using Tokens = std::map<std::string, Postings, std::less<>>;
  using Written = std::map<std::string, std::string, std::less<>>;
  // The words of a map in a row, with what tells most of them apart: to walk over all of them
  // takes a tenth of the time.
  template <typename Entry>
  struct Listed {
    const Entry* entry;
    WordMark mark;
  };

  // Replaces what there is of the item. `record` is one of text_record.h.
  void Put(std::int64_t id, ByteView record, const TextConfig& config);
  void Remove(std::int64_t id);

  std::size_t size() const { return items_.size(); }  // removed ones included
  std::size_t live() const { return slots_.size(); }
  std::uint64_t length() const { return length_; }  // of all together
  double squared_lengths() const { return squared_lengths_; }
  std::size_t blocks() const { return blocks_; }
  const Item& item(std::size_t slot) const { return items_[slot]; }
  const Tokens& tokens() const { return tokens_; }
  // Words as they are written, with their stems.
  const Written& written() const { return written_; }
  // The same, in no order.
  const std::vector<Listed<Tokens::value_type>>& all_tokens() const { return all_tokens_; }
  const std::vector<Listed<Written::value_type>>& all_written() const { return all_written_; }
  // Their names: number 0 is nobody's.
  const std::vector<std::string>& speakers() const { return speakers_; }
  // nullptr if no item holds the token.
  const Postings* Find(std::string_view token) const;
  bool HasGroups() const { return groups_.size() > 1; }  // or had
  // The slot of an item, or size().
  std::size_t SlotOf(std::int64_t id) const;
  // Whether somebody speaks in most items.
  bool IsTalk() const { return 2 * spoken_ > live(); }
  // Whether neighbours belong together: they share words more often than items do that stand
  // apart, beyond chance. As far as is known of few items, they do not.
  bool IsCoherent() const;
  // Slots that are not removed: group by group, by position, then as they were first put.
  const std::vector<std::uint32_t>& Sequence() const;
  // The place in it of each slot; kNowhere if it was removed.
  static constexpr std::uint32_t kNowhere = 0xFFFF'FFFF;
  const std::vector<std::uint32_t>& Places() const;

 private:
  void DropRemoved();
  void ListWords();
  void JudgeCoherence() const;
  void MakeSequence() const;
  std::uint32_t NumberOf(std::string_view name, std::vector<std::string>& names,
                         std::map<std::string, std::uint32_t, std::less<>>& numbers);

  std::vector<Item> items_;
  // A hash table would be made anew as it grows, which holds everybody up.
  std::map<std::int64_t, std::uint32_t> slots_;
  Tokens tokens_;
  Written written_;
  std::vector<Listed<Tokens::value_type>> all_tokens_;
  std::vector<Listed<Written::value_type>> all_written_;
  std::size_t postings_ = 0;
  std::vector<std::string> speakers_ = {""}, groups_ = {""};
  std::map<std::string, std::uint32_t, std::less<>> speaker_numbers_, group_numbers_;
  std::uint64_t length_ = 0;
  double squared_lengths_ = 0;
  std::size_t blocks_ = 0;
  std::size_t spoken_ = 0;
  mutable std::vector<std::uint32_t> sequence_, places_;
  mutable bool is_in_sequence_ = true;
  mutable std::size_t judged_at_ = 0;  // how many items IsCoherent() knows of
  mutable bool is_coherent_ = false;
};

class TextIndex {
 public:
  void Clear() { shelves_.clear(), ns_of_.clear(), words_ = 0; }

  void Put(std::int64_t id, std::string_view encoded_ns, ByteView record, const TextConfig& config);
  bool Holds(std::int64_t id) const { return ns_of_.contains(id); }
  // Of whatever namespace.
  void Remove(std::int64_t id);
  std::uint64_t words() const { return words_; }  // of all items together
  // Those that begin so, in order.
  std::vector<const TextShelf*> Below(std::string_view encoded_prefix) const;

 private:
  using Shelves = std::map<std::string, TextShelf, std::less<>>;

  Shelves shelves_;
  std::map<std::int64_t, TextShelf*> ns_of_;
  std::uint64_t words_ = 0;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_INDEX_H_
