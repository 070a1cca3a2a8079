#include "text/snippet.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "text/analysis.h"
#include "text/text_query.h"
#include "text/text_record.h"

namespace keepsake::search {
namespace {

struct Match {
  std::uint32_t begin;
  std::uint32_t end;
  std::size_t term;
};

std::vector<Match> MatchesIn(const std::vector<Token>& tokens, const TextQuery& query) {
  std::vector<Match> matches;
  for (const Token& token : tokens) {
    if (token.begin == token.end) continue;  // a date's name
    for (std::size_t t = 0; t < query.terms.size(); ++t) {
      const auto& alternatives = query.terms[t].alternatives;
      const bool is_match = std::ranges::any_of(
          alternatives, [&](const Alternative& other) { return other.Matches(token.text); });
      if (is_match) matches.push_back({token.begin, token.end, t});
    }
  }
  return matches;
}

// Begins at the match from which a window holds the most different terms.
struct Window {
  std::uint32_t begin = 0;
  std::size_t terms = 0;
};

Window BestWindow(const std::vector<Match>& matches, std::uint32_t length) {
  Window best;
  for (const Match& first : matches) {
    std::set<std::size_t> terms;
    for (const Match& match : matches) {
      if (match.begin >= first.begin && match.end <= first.begin + length) terms.insert(match.term);
    }
    if (terms.size() > best.terms) best = {first.begin, terms.size()};
  }
  return best;
}

// At most `length` bytes on, between characters, and one of them at least.
std::uint32_t EndOfPiece(std::string_view text, std::uint32_t begin, std::uint32_t length) {
  if (text.size() - begin <= length) return static_cast<std::uint32_t>(text.size());
  std::uint32_t end = begin + length;
  const auto is_within_character = [&] {
    return end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80;
  };
  while (end > begin && is_within_character()) --end;
  if (end > begin) return end;
  do ++end;
  while (is_within_character());
  return end;
}

// Cuts the text around the window, at the ends of tokens.
Snippet Cut(std::string_view text, const std::vector<Token>& tokens,
            const std::vector<Match>& matches, std::uint32_t first, std::uint32_t length) {
  // Some of what goes before is shown, too.
  std::uint32_t begin = first <= length / 4 ? 0 : first;
  for (const Token& token : tokens) {
    if (token.begin + length / 4 >= first) begin = std::min(begin, token.begin);
  }
  std::uint32_t end = begin;
  for (const Token& token : tokens) {
    if (token.end <= begin + length) end = std::max(end, token.end);
  }
  if (end == begin) end = EndOfPiece(text, begin, length);  // one word, longer than that
  if (text.size() - end <= length / 8) end = static_cast<std::uint32_t>(text.size());
  while (begin < end && text[begin] == ' ') ++begin;
  Snippet snippet{.text = std::string(text.substr(begin, end - begin)), .highlights = {}};
  for (const Match& match : matches) {
    if (match.begin < begin || match.end > end) continue;
    const Snippet::Highlight highlight{match.begin - begin, match.end - begin};
    auto& highlights = snippet.highlights;
    if (!highlights.empty() && highlight.begin <= highlights.back().end) {
      highlights.back().end = std::max(highlights.back().end, highlight.end);
    } else {
      highlights.push_back(highlight);
    }
  }
  return snippet;
}

}  // namespace

std::optional<Snippet> MakeSnippet(std::string_view value, std::string_view query,
                                   const TextConfig& config, std::uint32_t length) {
  const TextQuery parsed = ParseTextQuery(query, config.language);
  std::optional<Snippet> snippet;
  std::size_t best_terms = 0;
  for (const FieldText& text : TextsOf(value, config)) {
    const std::vector<Token> tokens = Analyze(text.text, config.language);
    const std::vector<Match> matches = MatchesIn(tokens, parsed);
    const Window window = BestWindow(matches, length);
    if (snippet && window.terms <= best_terms) continue;
    best_terms = window.terms;
    snippet = Cut(text.text, tokens, matches, window.begin, length);
  }
  return snippet;
}

}  // namespace keepsake::search
