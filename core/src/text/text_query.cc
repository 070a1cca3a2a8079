#include "text/text_query.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "text/analysis.h"
#include "text/dates.h"
#include "text/languages/language.h"
#include "text/languages/other_scripts.h"
#include "text/relative_dates.h"
#include "text/spelling.h"
#include "text/substring.h"
#include "text/text_record.h"
#include "text/text_weights.h"
#include "text/unicode.h"
#include "text/word_list.h"

namespace keepsake::search {
namespace {

constexpr std::int64_t kMsPerDay = 86'400'000;

// So many sentences are more than a question.
constexpr std::ptrdiff_t kSentencesOfMessage = 3;
constexpr std::size_t kShort = 2;

// A part of a query: plain, or between quotes.
struct Section {
  std::string_view text;
  bool is_phrase;
};

// As they are typed, and what telephones make of it.
struct Quotes {
  std::string_view open, close;
};
constexpr Quotes kQuotes[] = {{"\u300C", "\u300D"}, {"\u300E", "\u300F"}, {"\"", "\""},
                              {"\u201C", "\u201D"}, {"\u201E", "\u201C"}, {"\u201E", "\u201D"},
                              {"\u00AB", "\u00BB"}, {"\u00BB", "\u00AB"}};

// The first quotation; begin is npos if there is none. A single quote is no phrase.
struct Quotation {
  std::size_t begin = std::string_view::npos, text = 0, end_of_text = 0, end = 0;
};

Quotation FirstQuotation(std::string_view text) {
  Quotation first;
  for (const auto& [open, close] : kQuotes) {
    const std::size_t begin = text.find(open);
    if (begin >= first.begin) continue;
    const std::size_t inside = begin + open.size();
    const std::size_t end = text.find(close, inside);
    if (end != std::string_view::npos) first = {begin, inside, end, end + close.size()};
  }
  return first;
}

std::vector<Section> SectionsOf(std::string_view text) {
  std::vector<Section> sections;
  while (!text.empty()) {
    const Quotation found = FirstQuotation(text);
    if (found.begin == std::string_view::npos) break;
    sections.push_back({text.substr(0, found.begin), false});
    sections.push_back({text.substr(found.text, found.end_of_text - found.text), true});
    text.remove_prefix(found.end);
  }
  sections.push_back({text, false});
  return sections;
}

constexpr std::string_view kMarks[] = {"?", "\uFF1F", "\u061F"};

// In such a text quotes are around titles and the like, which an answer need not repeat.
bool IsQuestion(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  const std::string_view trimmed = text.substr(0, last + 1);
  return std::ranges::any_of(kMarks,
                             [&](std::string_view mark) { return trimmed.ends_with(mark); });
}

// Whether it is about who asks. `lower`: in small letters, with spaces around it.
bool IsOfUser(std::string_view lower) {
  const auto has = [lower](std::string_view piece) { return lower.contains(piece); };
  return has(kOfUserSign) || std::ranges::any_of(kAllWords, [&](const LanguageWords* words) {
           return std::ranges::any_of(words->of_user, has);
         });
}

// Whether something is asked in it, beside what is said. `lower`: in small letters.
bool HoldsQuestion(std::string_view lower) {
  const std::string_view first = lower.substr(0, lower.find_first_of(" ,'"));
  static const WordsOfAll question_words(&LanguageWords::question_words);
  return question_words.Has(first) ||
         std::ranges::any_of(kMarks, [&](std::string_view mark) { return lower.contains(mark); });
}

std::ptrdiff_t SentencesIn(std::string_view text) {
  std::ptrdiff_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_end = text[i] == '.' || text[i] == '!' || text[i] == '?';
    if (is_end && (i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '\n')) ++count;
  }
  return count;
}

class QueryParser {
 public:
  explicit QueryParser(Language language) : language_(language) {}

  // What is behind is read as if something stood between them that nobody asks for.
  TextQuery Parse(std::string_view text, std::string_view behind) {
    const std::string lower = ToLowerAscii(text) + ' ';
    const std::string_view last = behind.empty() ? text : behind;
    query_.is_of_user = IsOfUser(' ' + lower);
    query_.is_message = !IsQuestion(last) || SentencesIn(text) >= kSentencesOfMessage;
    for (const std::string_view part : {text, behind}) ReadWords(part);
    spoken_ = LanguageOf(words_, language_);
    for (const std::string_view part : {text, behind}) {
      for (const Section& section : SectionsOf(part)) AddSection(section);
    }
    // In what people say, quotes are around titles and what somebody said.
    if (IsQuestion(last) || query_.is_of_user || SentencesIn(text) > 1) {
      query_.phrases.clear();
    }
    KeepNarrowestDates();
    query_.is_short = !IsQuestion(last) && query_.terms.size() + stop_terms_.size() <= kShort;
    NoteAskingWords();
    const bool is_of_somebody =
        query_.is_of_user || NamesSomebody(query_.terms) || NamesSomebody(stop_terms_);
    if (query_.terms.empty()) {
      query_.terms = std::move(stop_terms_);
      for (TextTerm& term : query_.terms) term.commonness = Commonness::kTalk;
    }
    query_.asks_nothing = AsksNothing(HoldsQuestion(lower), is_of_somebody);
    if (std::ssize(query_.terms) > kMaxTerms) {
      const auto first = query_.terms.begin() + kMaxTerms / 2;
      query_.terms.erase(first, query_.terms.end() - kMaxTerms / 2);
    }
    return std::move(query_);
  }

 private:
  void AddSection(const Section& section) {
    const std::vector<Token> tokens = Analyze(section.text, language_);
    talk_ = TalkIn(tokens, section.text.size());
    Phrase phrase;
    for (const Token& token : tokens) {
      if (token.kind == Token::Kind::kDate) {
        AddDate(token.text);
        continue;
      }
      const bool is_prefix =
          !section.is_phrase && token.end < section.text.size() && section.text[token.end] == '*';
      AddTerm(token, tokens, section.text, is_prefix);
      const bool is_plain = token.kind != Token::Kind::kPair &&
                            token.kind != Token::Kind::kCompound &&
                            token.kind != Token::Kind::kTelephone;
      if (section.is_phrase && is_plain) {
        phrase.words.push_back({token.text, token.position});
      }
    }
    if (phrase.words.empty()) return;
    for (std::size_t i = phrase.words.size(); i-- > 0;) {
      phrase.words[i].distance -= phrase.words[0].distance;
    }
    query_.phrases.push_back(std::move(phrase));
  }

  // As they are before they are stemmed, and no more than tell a language.
  void ReadWords(std::string_view text) {
    for (Token& token : Analyze(text, Language::kNone)) {
      if (std::ssize(words_) >= kMaxTerms) return;
      if (token.kind == Token::Kind::kWord) words_.push_back(std::move(token.text));
    }
  }

  // Which bytes are characters of what people say in a talk, in a script without spaces.
  std::vector<bool> TalkIn(const std::vector<Token>& tokens, std::size_t bytes) const {
    std::vector<bool> talk(bytes, false);
    for (const Token& token : tokens) {
      if (IsUnspaced(token) &&
          (token.is_stop_word || CommonnessOf(token.text, language_) == Commonness::kTalk)) {
        std::fill(talk.begin() + token.begin, talk.begin() + token.end, true);
      }
    }
    return talk;
  }

  static bool IsUnspaced(const Token& token) {
    return token.kind == Token::Kind::kCharacter || token.kind == Token::Kind::kPair;
  }

  void NoteCommonness(const Token& token, std::string_view written, TextTerm& term) const {
    if (!IsUnspaced(token)) {
      term.commonness = CommonnessOf(token.text, language_);
      if (spoken_ == language_ || token.kind != Token::Kind::kWord) return;
      for (Token& word : Analyze(written, Language::kNone)) {
        term.commonness = CommonnessOfWord(std::move(word.text), spoken_);
      }
      return;
    }
    const auto begin = talk_.begin() + token.begin, end = talk_.begin() + token.end;
    const auto count = std::count(begin, end, true);
    if (count == end - begin) term.commonness = Commonness::kTalk;
    term.may_be_chance = token.kind == Token::Kind::kPair && count > 0;
  }

  static bool NamesSomebody(const std::vector<TextTerm>& terms) {
    static const WordsOfAll somebody(&LanguageWords::somebody);
    return std::ranges::any_of(
        terms, [](const TextTerm& term) { return somebody.Has(term.alternatives[0].token); });
  }

  // Whether nothing is left of it without its common words. "That works" is said of anything, but
  // "Where does she work?" and "Tell me where she works" ask for something. What is vague does so
  // if it is of somebody: not in "How is it going?".
  bool AsksNothing(bool is_question, bool is_of_somebody) const {
    if (query_.terms.empty() || !query_.days.empty() || !query_.periods.empty() ||
        !query_.phrases.empty()) {
      return false;
    }
    is_question |= std::ranges::any_of(
        query_.terms, [](const TextTerm& term) { return term.commonness == Commonness::kAsking; });
    return std::ranges::all_of(query_.terms, [&](const TextTerm& term) {
      if (term.IsTalk() || term.may_be_chance) return true;
      if (term.commonness == Commonness::kRare) return false;
      if (term.commonness == Commonness::kVague) return !is_question || !is_of_somebody;
      return !is_question && !query_.is_short;
    });
  }

  void NoteAskingWords() {
    const std::string_view asks_for = WordsOf(language_).asks_for;
    const auto asks = [asks_for](const TextTerm& term) {
      return asks_for.contains(' ' + term.alternatives[0].token + ' ');
    };
    if (std::ranges::all_of(query_.terms, asks)) return;
    for (TextTerm& term : query_.terms) term.asks = asks(term);
  }

  void AddDate(const std::string& name) {
    if (const std::optional<std::int64_t> day = DayOfName(name)) {
      query_.days.push_back(*day);
    } else {
      query_.periods.push_back(name);
    }
  }

  // "8 May 2023" asks for a day, not for all of May. REQUIRES: everything is read.
  void KeepNarrowestDates() {
    std::vector<std::string>& periods = query_.periods;
    if (!query_.days.empty()) return periods.clear();
    std::size_t most = 0;  // a longer name is narrower: d2023-05, d-05-08, d2023 and d-05
    for (const std::string& name : periods) most = std::max(most, name.size());
    if (most > 5) std::erase_if(periods, [&](const std::string& name) { return name.size() < 7; });
  }

  void AddTerm(const Token& token, const std::vector<Token>& tokens, std::string_view text,
               bool is_prefix) {
    TextTerm term;
    term.alternatives.push_back({.token = token.text, .is_prefix = is_prefix});
    const std::string_view written = text.substr(token.begin, token.end - token.begin);
    if (is_prefix) {
      // As it is written, too: words are stored as stems.
      for (const Token& plain : Analyze(written, Language::kNone)) {
        if (plain.text != token.text) {
          term.alternatives.push_back({.token = plain.text, .is_prefix = true});
        }
      }
    }
    const bool is_character = token.kind == Token::Kind::kCharacter;
    if ((is_character && IsIn(Token::Kind::kPair, token, tokens)) ||
        (!is_character && IsIn(Token::Kind::kTelephone, token, tokens))) {
      // It says little more than what it is in.
      term.weight = kTextWeights.inexact;
    }
    const bool is_word = token.kind == Token::Kind::kWord;
    if (is_word) term.written = ToLowerAscii(written);
    // A beginning says nothing of how common the words are that it stands for.
    if (!is_prefix) NoteCommonness(token, written, term);
    term.may_be_misspelled =
        is_word && !is_prefix && term.SaysSomething() && AllowedTypos(token.text) > 0;
    term.is_capitalized = is_word && !written.empty() && written[0] >= 'A' && written[0] <= 'Z';
    std::vector<TextTerm>& terms = token.is_stop_word && !is_prefix ? stop_terms_ : query_.terms;
    const bool is_known = std::ranges::any_of(terms, [&](const TextTerm& known) {
      return known.alternatives[0].token == token.text &&
             known.alternatives[0].is_prefix == is_prefix;
    });
    if (!is_known) terms.push_back(std::move(term));
  }

  static bool IsIn(Token::Kind whole, const Token& token, const std::vector<Token>& tokens) {
    return std::ranges::any_of(tokens, [&](const Token& other) {
      return &other != &token && other.kind == whole && other.begin <= token.begin &&
             other.end >= token.end;
    });
  }

  Language language_;
  Language spoken_ = language_;     // in the question
  std::vector<std::string> words_;  // the first of it
  TextQuery query_;
  std::vector<TextTerm> stop_terms_;
  std::vector<bool> talk_;  // bytes of the section that is read
};

bool HoldsPhrase(const Phrase& phrase, const std::vector<Token>& tokens) {
  const auto stands_at = [&](const Phrase::Word& word, std::uint32_t position) {
    // Positions never go down.
    const auto there = std::ranges::equal_range(tokens, position, {}, &Token::position);
    return std::ranges::any_of(there, [&](const Token& token) { return token.text == word.token; });
  };
  return std::ranges::any_of(tokens, [&](const Token& token) {
    return token.text == phrase.words[0].token &&
           std::ranges::all_of(phrase.words, [&](const Phrase::Word& word) {
             return stands_at(word, token.position + word.distance);
           });
  });
}

TextQuery ParseWhole(std::string_view text, Language language) {
  QueryParser parser(language);
  if (text.size() <= kMaxQueryBytes) return parser.Parse(text, "");
  constexpr std::size_t kHalf = kMaxQueryBytes / 2;
  const auto begins_character = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
  };
  std::size_t end = kHalf, begin = text.size() - kHalf;
  while (end > 0 && !begins_character(end)) --end;
  while (begin < text.size() && !begins_character(begin)) ++begin;
  return parser.Parse(text.substr(0, end), text.substr(begin));
}

}  // namespace

TextQuery ParseTextQuery(std::string_view text, Language language,
                         std::optional<std::int64_t> now_ms) {
  TextQuery query = ParseWhole(text, language);
  // What names a date means that one.
  if (!now_ms || !query.days.empty() || !query.periods.empty()) return query;
  const std::string_view asked = text.substr(0, kMaxQueryBytes);
  for (std::string& name : RelativeDatesIn(asked, *now_ms / kMsPerDay)) {
    // "See you tomorrow" asks for no day.
    if (query.is_of_user || !query.is_message) query.asks_nothing = false;
    if (const std::optional<std::int64_t> day = DayOfName(name)) {
      query.days.push_back(*day);
    } else {
      query.periods.push_back(std::move(name));
    }
  }
  return query;
}

bool HoldsPhrases(const TextQuery& query, std::string_view value, const TextConfig& config) {
  if (query.phrases.empty()) return true;
  std::vector<std::vector<Token>> texts;
  for (const FieldText& text : TextsOf(value, config)) {
    texts.push_back(Analyze(text.text, config.language));
  }
  return std::ranges::all_of(query.phrases, [&](const Phrase& phrase) {
    return std::ranges::any_of(
        texts, [&](const std::vector<Token>& tokens) { return HoldsPhrase(phrase, tokens); });
  });
}

}  // namespace keepsake::search
