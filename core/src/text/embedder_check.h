// Whether an embedder knows anything of the items it embedded: the vectors of items that
// share many words must be nearer to each other than those of items that share few.
//
// What a question finds by vector says little of the embedder, what is said of some thousand
// pairs of items says much. How much nearer is counted in standard errors: of vectors that have
// nothing to do with the texts it is normally distributed around 0.
#ifndef KEEPSAKE_TEXT_EMBEDDER_CHECK_H_
#define KEEPSAKE_TEXT_EMBEDDER_CHECK_H_

#include <bitset>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "keepsake/bytes.h"
#include "text/text_segment.h"

namespace keepsake::search {

class EmbedderCheck {
 public:
  // Of so many items, of which 2,016 pairs can be made. More would tell more, and cost a row
  // each.
  static constexpr std::size_t kItems = 64;

  // Copies both. REQUIRES: vectors of one length.
  void Add(Sketch sketch, std::span<const float> vector);

  // None if there are too few items to tell, too few that share a word, or texts that share all
  // as much. Equal vectors are left out: equal texts have them whatever the embedder knows.
  std::optional<double> Knowledge() const;

 private:
  // For each pair of items, how many of the tokens of both they share, 0…255.
  Bytes Likeness() const;

  std::vector<float> vectors_;  // of all items, one after the other
  std::vector<std::bitset<kSketchHashes>> tokens_;
};

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_EMBEDDER_CHECK_H_
