// Ranks items by their text: BM25 over weighted fields, by whole texts and by their best
// passages, and what neighbours, dates and names add to it.
#ifndef KEEPSAKE_TEXT_TEXT_SEARCH_H_
#define KEEPSAKE_TEXT_TEXT_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/page.h"
#include "keepsake/bytes.h"
#include "keepsake/function_ref.h"
#include "keepsake/status.h"
#include "keepsake/text_config.h"
#include "text/text_query.h"
#include "text/text_view.h"
#include "text/text_weights.h"

namespace keepsake::search {

// What a store tells of the items of one search.
class TextSource {
 public:
  virtual ~TextSource() = default;

  // Of these items, in their order, whether each may be a hit: it has not expired, passes the
  // filter and holds the phrases. Ends with the one that makes `enough`.
  virtual Result<std::vector<bool>> Wanted(std::span<const std::int64_t> ids,
                                           std::size_t enough) = 0;
  // Gives the record of an item (text_record.h), if it has one.
  virtual Status RecordOf(std::int64_t id, FunctionRef<void(ByteView)> use) = 0;
  // Gives the first vector of each of these items that has one.
  virtual Status VectorsOf(
      std::span<const std::int64_t> ids,
      FunctionRef<void(std::int64_t id, std::span<const float> vector)> use) = 0;
};

// What vectors say of the same question: the nearest items, the best first.
struct Meaning {
  std::span<const Hit> nearest;  // all with a score
  double weight = 0;             // 0…1; the words have the rest
};

// What a hit's score is made of, before it is brought to 0…1.
struct TextScore {
  double words = 0;    // BM25 of the item alone
  double context = 0;  // its neighbours
  double cues = 0;     // who speaks, when, what the first hits are like
  double total = 0;    // of these, or with a Meaning of all
};

struct TextHit {
  std::int64_t id;
  // 0…1, to be compared between questions: how much it has of what an answer would have, times
  // how much of the question the best of all hits and its neighbours hold.
  double score;
  TextScore parts;
};

// What was looked at.
struct TextPlan {
  std::uint64_t items = 0;  // with text, below the prefix
  std::uint64_t candidates = 0;
  double agreement = 0;         // 0…1: how much of its weight a Meaning has
  bool knows_nothing = false;   // the embedder: the words are left alone
  std::vector<TextTerm> terms;  // of the question, with the words near to them and their weights
  std::string notes;            // what was made of the question, for people
  bool has_phrases = false;     // what does not hold them is no hit, however near
  double trust = 1;             // times each score: less if the question asks for nothing
};

// The `most` best of the items that are wanted and have a score. A meaning adds what is near,
// and what stands beside it. If nothing holds a word of the question there is no hit, whatever
// is near.
Result<std::vector<TextHit>> SearchText(const TextView& texts, const TextQuery& query,
                                        const TextConfig& config, TextSource& source,
                                        std::size_t most, TextPlan& plan,
                                        const Meaning& meaning = {},
                                        const TextWeights& weights = kTextWeights);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_SEARCH_H_
