// Ranks items by their text: BM25 over weighted fields, by whole texts and by their best
// passages, and what neighbours, dates and names add to it. A store keeps a TextIndex; all
// else is decided here, once for every store.
#ifndef KEEPSAKE_TEXT_TEXT_SEARCH_H_
#define KEEPSAKE_TEXT_TEXT_SEARCH_H_

#include <array>
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
#include "text/embedder_check.h"
#include "text/text_index.h"
#include "text/text_query.h"

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
  // Gives the record and the first vector of each of these items that has both, in this order.
  virtual Status Embedded(std::span<const std::int64_t> ids, EmbedderCheck& check) = 0;
};

// What vectors say of the same question: the nearest items, the best first.
struct Meaning {
  std::span<const Hit> nearest;  // all with a score
  double weight = 0;             // 0…1; the words have the rest
  bool only_standouts = false;   // see Fusion
};

// What a hit's score is made of, before it is brought to 0…1.
struct TextScore {
  double words = 0;    // BM25 of the item alone
  double context = 0;  // its neighbours
  double cues = 0;     // who speaks, when, how many, what the first hits are like
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
};

// Chosen on many kinds of text at once, by the worst of them: bench/README.md says which,
// and what they are worth on others. A search has these; bench/core/text_fit.cc tries others.
struct TextWeights {
  double saturation = 0.84;  // BM25's k1
  // More of a word's weight, times the logarithm of how often an item has it that has it at all:
  // what texts are about they say again.
  double repeated = 0.1;
  // BM25's b: it grows with how much the lengths of texts differ (standard deviation by mean).
  double length_penalty = 0.5;
  double length_penalty_by_spread = 0.48;
  double passage = 0.2;  // the share of the best passage in a text's score
  double passage_penalty = 0.5;
  // How much of a term in an item 1, 2, … turns away counts: in earlier and in later ones.
  std::array<double, 4> earlier = {0.3, 0.39, 0.05, 0.15};
  std::array<double, 4> later = {0.52, 0.2, 0.1, 0.05};
  double answer = 0.64;   // more, if the item before asks
  double near_by = 0.14;  // of the scores of items near by, which fall with each step by
  double fading = 0.8;
  // An item that holds no word of the question, but for the name of a speaker, stays below the
  // one that lends it most.
  double borrowed = 0.75;
  double asking = 0.9;    // times, for a turn that does little but ask
  double beside = 0.975;  // times, for a turn next to one that has more: it says the same
  double speaker = 3.3;
  double name = 0.1;  // of what the name of who speaks counts where it is said
  double when = 1;
  double how_many = 1.5;
  double of_user = 2.2;     // times, for what the user said, if the question is of the user
  double standing = 2;      // times, for what the user said shall always be so
  double recency = 0.8;     // times one more, for the newest, if a message is answered
  double fresh_items = 14;  // falls by e in so many items
  // An item with the words of the first hits of a message gets this part of the best score more:
  // a kind of pseudo-relevance feedback, by whole items and among hits alone, as in score
  // regularization (Diaz, 2005). likeness.h has its parts.
  double likeness = 1.5;
  double same_day = 7.3;
  double day_after = 5.5;  // falls by e in days_to_forget
  double days_to_forget = 5;
  double same_month = 2;
  double same_year = 0.5;
  double in_span = 2, on_weekday = 1.5;
  // A text that was asked for by when it was, and holds no word of the question.
  double only_when = 0.1;
  // If something is asked for in an order, the first in it gets this part of the best score more
  // (in_order). The order is one of the items that have at least this part of the best score by
  // words (ordered).
  double in_order = 0.6, ordered = 0.6;
  double hinted = 0.3;  // of in_order
  double quoted = 0.5;  // of the best score, for what a question quotes
  // How much of a word counts that the question negates, where no negation stands beside it:
  // if it does in another item, and if it does in none.
  double contradicts = 0.1, unsaid = 0.25;
  // How much of what is near counts in items 1 turn away.
  double near_earlier = 0.5, near_later = 0.4, near_answer = 0.3;
  // Of the best score by words, for an item as near as the nearest are on average.
  double nearness = 0.16;
  // For standouts: the same for each standard deviation above the mean, after so many of them.
  double standing_out = 0.16, not_standing_out = 1;
  // A text of so many words is half as near as a long one.
  double half_told = 5;
  // What an embedder must know of the items (EmbedderCheck) so that its vectors begin to
  // count, and count in full.
  double ignorant = 4, knowing = 6;
  // The same of how far nearness goes with the words' scores, where items are too few to
  // tell.
  double unrelated = 0.15, agreeing = 0.5;
};
inline constexpr TextWeights kTextWeights;

// The `most` best of the items that are wanted and have a score. A meaning adds what is near,
// and what stands beside it. If nothing holds a word of the question there is no hit, whatever
// is near.
Result<std::vector<TextHit>> SearchText(const TextIndex& index, std::string_view encoded_prefix,
                                        const TextQuery& query, const TextConfig& config,
                                        TextSource& source, std::size_t most, TextPlan& plan,
                                        const Meaning& meaning = {},
                                        const TextWeights& weights = kTextWeights);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_SEARCH_H_
