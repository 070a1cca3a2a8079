// How much items are like one of them: by the words that tell most of it, weighed as BM25 weighs
// those of a question. The words come from the item's record, the others have them from the index:
// what it costs does not grow with how long the other texts are.
#ifndef KEEPSAKE_TEXT_LIKENESS_H_
#define KEEPSAKE_TEXT_LIKENESS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "keepsake/bytes.h"
#include "text/bm25.h"
#include "text/text_record.h"
#include "text/text_view.h"

namespace keepsake::search {

class Likeness {
 public:
  // Of so many words of an item.
  static constexpr std::size_t kTerms = 50;

  // Borrows all of it.
  Likeness(const TextView& texts, const FieldWeights& weights, const Norm& norm)
      : texts_(texts), weights_(weights), norm_(norm) {}

  // The item whose record it is. Another one before is forgotten.
  void Choose(ByteView record);
  // Of each of these items, about 0…1: 1 if it has the same words as often.
  std::vector<double> Of(std::span<const std::uint32_t> items) const;

 private:
  struct Term {
    std::string token;
    double idf;
    double weight;
  };

  const TextView& texts_;
  const FieldWeights& weights_;
  const Norm& norm_;
  std::vector<Term> terms_;  // at most kTerms
  double whole_ = 0;         // what the chosen item itself has of them
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_LIKENESS_H_
