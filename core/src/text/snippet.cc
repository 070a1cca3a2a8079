#include "text/snippet.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "text/analysis.h"
#include "text/text_query.h"
#include "text/text_record.h"

namespace keepsake::search {
namespace {

// As BM25 does it, with about the saturation of a ranking.
double Saturated(double count) { return 2 * count / (count + 1); }

struct Match {
  std::uint32_t begin;
  std::uint32_t end;
  std::size_t term;
  std::uint32_t block;
};

// A text of the item, with what of it was asked for.
struct Searched {
  std::string text;
  std::vector<Token> tokens;
  std::vector<Match> matches;
};

std::vector<Searched> SearchedTexts(std::string_view value, std::span<const TextTerm> terms,
                                    const TextConfig& config) {
  std::vector<Searched> texts;
  BlockCounter counter;
  for (FieldText& text : TextsOf(value, config)) {
    const bool has_weight = HasWeight(text, config);
    Searched& searched = texts.emplace_back();
    searched.text = std::move(text.text);
    searched.tokens = Analyze(searched.text, config.language);
    for (const Token& token : searched.tokens) {
      const std::uint32_t block = counter.block();
      counter.Add(token, has_weight);
      if (!has_weight || token.begin == token.end) continue;  // or a date's name
      for (std::size_t t = 0; t < terms.size(); ++t) {
        const bool is_match = std::ranges::any_of(
            terms[t].alternatives,
            [&](const Alternative& other) { return other.Matches(token.text); });
        if (is_match) searched.matches.push_back({token.begin, token.end, t, block});
      }
    }
  }
  return texts;
}

// The first block of the best passage: the terms in it count as those of an item do.
std::uint32_t BestPassage(const std::vector<Searched>& texts, std::span<const TextTerm> terms) {
  std::vector<Match> matches;  // by block
  for (const Searched& searched : texts) {
    matches.insert(matches.end(), searched.matches.begin(), searched.matches.end());
  }
  std::uint32_t best = 0;
  double most = 0;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const std::uint32_t passage = matches[i].block;
    if (i > 0 && matches[i - 1].block == passage) continue;
    std::vector<double> counts(terms.size());
    for (std::size_t j = i; j < matches.size() && matches[j].block < passage + kPassageBlocks;
         ++j) {
      ++counts[matches[j].term];
    }
    double weight = 0;
    for (std::size_t t = 0; t < terms.size(); ++t) weight += terms[t].weight * Saturated(counts[t]);
    if (weight <= most) continue;
    best = passage;
    most = weight;
  }
  return best;
}

// Begins at the match from which a window has the terms that weigh most.
struct Window {
  std::uint32_t begin = 0;
  double weight = 0;
};

Window BestWindow(const std::vector<Match>& matches, std::uint32_t passage,
                  std::span<const TextTerm> terms, std::uint32_t length) {
  const auto is_in_passage = [&](const Match& match) {
    return match.block >= passage && match.block < passage + kPassageBlocks;
  };
  const auto end = std::ranges::find_if(
      matches, [&](const Match& match) { return match.block >= passage + kPassageBlocks; });
  Window best;
  for (auto first = std::ranges::find_if(matches, is_in_passage); first != end; ++first) {
    std::set<std::size_t> seen;
    double weight = 0;
    for (auto match = first; match != end && match->end <= first->begin + length; ++match) {
      if (seen.insert(match->term).second) weight += terms[match->term].weight;
    }
    if (weight > best.weight) best = {first->begin, weight};
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

std::optional<Snippet> MakeSnippet(std::string_view value, std::span<const TextTerm> terms,
                                   const TextConfig& config, std::uint32_t length) {
  const std::vector<Searched> texts = SearchedTexts(value, terms, config);
  const std::uint32_t passage = BestPassage(texts, terms);
  const Searched* best = nullptr;
  Window best_window;
  for (const Searched& searched : texts) {
    const Window window = BestWindow(searched.matches, passage, terms, length);
    if (best != nullptr && window.weight <= best_window.weight) continue;
    best = &searched;
    best_window = window;
  }
  if (best == nullptr) return std::nullopt;
  return Cut(best->text, best->tokens, best->matches, best_window.begin, length);
}

}  // namespace keepsake::search
