// How much items are like one of them: by the words that tell most of it, weighed as BM25 weighs
// those of a question. The words come from the item's record, where the others have them from
// the index: what it costs does not grow with how long the other texts are.
#ifndef KEEPSAKE_TEXT_LIKENESS_H_
#define KEEPSAKE_TEXT_LIKENESS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/text_config.h"
#include "text/bm25.h"
#include "text/text_index.h"

namespace keepsake::search {

class Likeness {
 public:
  // Of so many words of an item.
  static constexpr std::size_t kTerms = 50;

  // Borrows all of it.
  Likeness(std::span<const TextShelf* const> shelves, const TextConfig& config, const Norm& norm);

  // The item whose record it is. Another one before is forgotten.
  void Choose(ByteView record);
  struct Place {
    const TextShelf* texts;
    std::uint32_t slot;
  };
  // Of each item, about 0…1: 1 if it has the same words as often. Those of a shelf should follow
  // each other.
  std::vector<double> Of(std::span<const Place> items) const;

 private:
  struct Term {
    std::string token;
    double idf;
    double weight;
  };

  double IdfOf(std::string_view token) const;

  std::span<const TextShelf* const> shelves_;
  const TextConfig& config_;
  const Norm& norm_;
  double blocks_ = 0;        // of all shelves
  std::vector<Term> terms_;  // at most kTerms
  double whole_ = 0;         // what the chosen item itself has of them
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_LIKENESS_H_
