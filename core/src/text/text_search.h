// Ranks items by their text: BM25 over weighted fields, and what their neighbours,
// their group, dates and names add to it. A store says which items hold a term; all
// else is decided here, once for every store.
#ifndef KEEPSAKE_TEXT_TEXT_SEARCH_H_
#define KEEPSAKE_TEXT_TEXT_SEARCH_H_

#include <array>
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
#include "text/text_query.h"

namespace keepsake::search {

// Of the items below the prefix of a search that have text, expired ones included
// as long as they are not swept.
struct TextScope {
  std::uint64_t items = 0;
  std::uint64_t length = 0;  // of all of them together
};

// Borrowed for the duration of a callback.
struct TextItem {
  std::int64_t id;
  std::string_view ns;  // encoded
  std::string_view key;
  std::string_view group;  // "" for none
  double position;
  ByteView record;
  bool is_wanted;  // passes the filter and holds the phrases: may be a hit
};
using TextItemCallback = FunctionRef<void(const TextItem&)>;

// What a store knows of the texts below the prefix of one search. Items that have
// expired are not given.
class TextSource {
 public:
  virtual ~TextSource() = default;

  virtual Result<TextScope> Scope() = 0;
  // How many items hold an alternative of the term, but no more than `most`.
  virtual Result<std::uint64_t> Count(const TextTerm& term, std::uint64_t most) = 0;
  // Items that hold an alternative of one of the terms, once each, the newest first, until
  // `most` of them are wanted ones.
  virtual Status Matching(const std::vector<TextTerm>& terms, std::uint64_t most,
                          const TextItemCallback& add) = 0;
  // All items of a group of one namespace, in any order.
  virtual Status InGroup(std::string_view ns, std::string_view group,
                         const TextItemCallback& add) = 0;
  // Known tokens that begin so, of any namespace; some may belong to no item any more.
  virtual Status Tokens(std::string_view beginning, FunctionRef<void(std::string_view)> add) = 0;
  // Gives the record and the first vector of each of these items that has both, in this order.
  virtual Status Embedded(std::span<const std::int64_t> ids, EmbedderCheck& check) = 0;
};

// What vectors say of the same question: the nearest items, the best first.
struct Meaning {
  std::span<const Hit<std::int64_t>> nearest;  // all with a score
  double weight = 0;                           // 0…1; the words have the rest
};

// What a hit's score is made of, before it is brought to 0…1.
struct TextScore {
  double words = 0;    // BM25 of the item alone
  double context = 0;  // its neighbours and its group
  double cues = 0;     // who speaks, when, how many
  double total = 0;    // of these, or with a Meaning of all
};

struct TextHit {
  std::int64_t id;
  double score;  // 0…1
  TextScore parts;
};

// What was looked at.
struct TextPlan {
  std::uint64_t items = 0;  // with text, below the prefix
  std::uint64_t candidates = 0;
  bool is_capped = false;      // items that hold only common words were left out
  double agreement = 0;        // 0…1: how much of its weight a Meaning has
  bool knows_nothing = false;  // the embedder: the words are left alone
  bool has_phrases = false;    // what does not hold them is no hit, however near
};

// Fitted to turns of long conversations; bench/README.md says to which, and what they are
// worth on others. A search has these; bench/core/text_fit.cc tries others.
struct TextWeights {
  double saturation = 0.5;      // BM25's k1
  double length_penalty = 0.3;  // BM25's b
  // How much of a term in an item 1, 2, … turns away counts: in earlier and in later ones.
  std::array<double, 4> earlier = {0.3, 0.3, 0.05, 0.1};
  std::array<double, 4> later = {0.2, 0.1, 0.0, 0.05};
  double answer = 0.4;  // more, if the item before asks
  double group = 1.5;
  double group_saturation = 1;
  double speaker = 1.6;
  double when = 2;
  double how_many = 1;
  double asking = 0.88;  // of an item that asks: it rarely tells
  double same_day = 4;
  double day_after = 3;  // falls by e in days_to_forget
  double days_to_forget = 5;
  double same_month = 1;
  // What a hit loses that holds nothing of the question, together with its neighbours.
  double coverage = 0.2;
  // How much of what is near counts in items 1 turn away.
  double near_earlier = 0.5, near_later = 0.4, near_answer = 0.3;
  // Of the best score by words, for an item as near as the nearest are on average.
  double nearness = 0.16;
  // What an embedder must know of the items (EmbedderCheck) so that its vectors begin to
  // count, and count in full.
  double ignorant = 4, knowing = 6;
  // The same of how far nearness goes with the words' scores, where items are too few to
  // tell.
  double unrelated = 0.15, agreeing = 0.5;
};
inline constexpr TextWeights kTextWeights;

// So many candidates are read, and as many more of their groups, however many items hold
// a word of the question: a search takes a bounded time. Beyond it, items count that hold
// the rarer words, and then the newest.
inline constexpr std::uint64_t kMaxCandidates = 10'000;

// The wanted items with a score, the best first, then by namespace and key. A meaning adds to
// the items that have been read: what is near, and what stands beside it in its group. If
// nothing holds a word of the question there is no hit, whatever is near.
Result<std::vector<TextHit>> SearchText(TextSource& source, const TextQuery& query,
                                        const TextConfig& config, TextPlan& plan,
                                        const Meaning& meaning = {},
                                        std::uint64_t max_candidates = kMaxCandidates,
                                        const TextWeights& weights = kTextWeights);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_SEARCH_H_
