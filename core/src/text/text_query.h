// A question as the ranking understands it.
//
//   query := (word | phrase | word "*")*
//   phrase := '"' words '"'          all of them in this order, or no hit; but in what ends
//                                     with a question mark they are words like others
//   word "*"                          any word that begins so
//
// Stop words are dropped, unless there is nothing else.
#ifndef KEEPSAKE_TEXT_TEXT_QUERY_H_
#define KEEPSAKE_TEXT_TEXT_QUERY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/text_config.h"
#include "text/common_words.h"

namespace keepsake::search {

// A token that a term is found by.
struct Alternative {
  std::string token;
  bool is_prefix = false;
  double weight = 1;

  bool Matches(std::string_view other) const {
    return is_prefix ? other.starts_with(token) : other == token;
  }
};

struct TextTerm {
  std::vector<Alternative> alternatives;  // never empty
  std::string written;                    // in small letters; "" if it is no word
  double weight = 1;
  bool may_be_misspelled = false;  // a word, long enough
  bool is_capitalized = false;     // as a name is
  bool asks = false;               // for an answer, which need not hold it: list, describe
  Commonness commonness = Commonness::kRare;
  // Two characters that may be of two words: if nothing holds them they say nothing.
  bool may_be_chance = false;

  // What is asked for, beside others or alone.
  bool SaysSomething() const { return commonness <= Commonness::kCommon && !may_be_chance; }
  // It says nothing of what is asked for.
  bool IsTalk() const {
    return commonness == Commonness::kTalk || commonness == Commonness::kAsking;
  }
};

// Tokens at distances from the first.
struct Phrase {
  struct Word {
    std::string token;
    std::uint32_t distance;
  };
  std::vector<Word> words;
};

struct TextQuery {
  std::vector<TextTerm> terms;  // distinct
  std::vector<Phrase> phrases;
  bool is_of_user = false;           // who asks speaks of himself: I, my
  bool is_message = false;           // more than a question: what one says in a chat
  bool is_short = false;             // one or two words, as one types them into a box
  bool asks_nothing = false;         // but says thanks, or hello; what it finds is not meant
  std::vector<std::int64_t> days;    // since 1970
  std::vector<std::string> periods;  // names of dates: "d2023-05", "d-05-08", "d2023", "d-05"

  bool empty() const { return terms.empty() && days.empty() && periods.empty(); }
};

// A pasted document is no question: of a longer text the first and the last half of so
// many bytes count, and of more terms the first and the last half.
inline constexpr std::size_t kMaxQueryBytes = 8192;
inline constexpr std::ptrdiff_t kMaxTerms = 64;

// `now_ms`: what "yesterday" is seen from; without, it is only a word.
TextQuery ParseTextQuery(std::string_view text, Language language,
                         std::optional<std::int64_t> now_ms = std::nullopt);

// Whether all phrases of the query stand in the value.
bool HoldsPhrases(const TextQuery& query, std::string_view value, const TextConfig& config);

}  // namespace keepsake::search

#endif  // KEEPSAKE_TEXT_TEXT_QUERY_H_
