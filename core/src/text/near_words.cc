#include "text/near_words.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/order.h"
#include "keepsake/function_ref.h"
#include "text/text_weights.h"

namespace keepsake::search {
namespace {

constexpr double kInexact = kTextWeights.inexact;
constexpr std::size_t kLeastPart = 5;   // bytes of a word that stands in a compound
constexpr std::size_t kLeastPiece = 3;  // bytes of a piece of a word
constexpr std::size_t kMaxAlternatives = 64;

// Tokens, each with the best weight that it was added with.
class Found {
 public:
  void Add(std::string_view token, double weight) {
    double& best = weights_.try_emplace(std::string(token), 0).first->second;
    best = std::max(best, weight);
  }
  // The best of them.
  std::vector<Alternative> Take() {
    std::vector<Alternative> all;
    for (const auto& [token, weight] : weights_) {
      all.push_back({.token = token, .is_prefix = false, .weight = weight});
    }
    std::vector<std::size_t> order = OrderOf(
        all.size(), [&](std::size_t a, std::size_t b) { return all[a].weight > all[b].weight; });
    if (order.size() > kMaxAlternatives) order.resize(kMaxAlternatives);
    return InOrder(all, order);
  }

 private:
  std::map<std::string, double, std::less<>> weights_;
};

// Gives each word that begins so, as it is written, and its token.
template <typename Words>
void EachWord(const Words& words, std::string_view beginning,
              FunctionRef<void(std::string_view, const typename Words::value_type&)> visit) {
  for (auto word = words.lower_bound(beginning);
       word != words.end() && word->first.starts_with(beginning); ++word) {
    visit(word->first, *word);
  }
}

using Visit = FunctionRef<void(std::string_view word, std::string_view token)>;

void EachWordOf(const TextShelf& shelf, std::string_view beginning, const Visit& visit) {
  EachWord(shelf.tokens(), beginning,
           [&](std::string_view word, const auto&) { visit(word, word); });
  EachWord(shelf.written(), beginning,
           [&](std::string_view word, const auto& entry) { visit(word, entry.second); });
}

// REQUIRES: `whole` has four bytes.
void AddWordsThatEndWith(std::string_view whole, std::span<const TextShelf* const> shelves,
                         Found& found) {
  const WordMark of_whole(whole);
  for (const TextShelf* shelf : shelves) {
    for (const auto& [token, mark] : shelf->all_tokens()) {
      const std::string_view word = token->first;
      const bool ends = mark.MayEndWith(of_whole) && word.ends_with(whole);
      if (ends && word != whole) found.Add(word, kInexact);
    }
  }
}

std::string_view FirstLetter(std::string_view word) {
  std::size_t end = 1;
  while (end < word.size() && (static_cast<unsigned char>(word[end]) & 0xC0) == 0x80) ++end;
  return word.substr(0, end);
}

}  // namespace

std::vector<Alternative> MisspellingsOf(const TextTerm& term,
                                        std::span<const TextShelf* const> shelves) {
  Found near, farther;
  const std::size_t most = AllowedTypos(term.written);
  if (most == 0) return {};
  for (const TextShelf* shelf : shelves) {
    EachWordOf(
        *shelf, FirstLetter(term.written), [&](std::string_view word, std::string_view token) {
          std::size_t distance = EditDistance(term.written, word, most);
          // Not all endings of other scripts are known: a word may have two stems.
          if (static_cast<unsigned char>(word[0]) >= 0x80) {
            const std::string_view stem = term.alternatives[0].token;
            distance = std::min(distance, EditDistance(stem, token, most));
          }
          if (distance > most) return;
          distance <= 1 ? near.Add(token, kInexact) : farther.Add(token, kInexact * kInexact);
        });
  }
  std::vector<Alternative> nearest = near.Take();
  return nearest.empty() ? farther.Take() : nearest;
}

std::vector<Alternative> WordsWith(const TextTerm& term,
                                   std::span<const TextShelf* const> shelves) {
  Found found;
  const std::string_view part = term.written.empty() ? term.alternatives[0].token : term.written;
  if (part.size() < kLeastPiece) return {};
  const WordMark of_part(part);
  for (const TextShelf* shelf : shelves) {
    for (const auto& [token, mark] : shelf->all_tokens()) {
      if (mark.MayHold(of_part) && token->first.contains(part)) found.Add(token->first, kInexact);
    }
    for (const auto& [word, mark] : shelf->all_written()) {
      if (mark.MayHold(of_part) && word->first.contains(part)) found.Add(word->second, kInexact);
    }
  }
  return found.Take();
}

std::vector<Alternative> WordsThatEndWith(const TextTerm& term,
                                          std::span<const TextShelf* const> shelves) {
  Found found;
  const std::string_view whole = term.alternatives[0].token;
  if (whole.size() >= kLeastPart) AddWordsThatEndWith(whole, shelves, found);
  return found.Take();
}

std::vector<Alternative> CompoundsOf(const TextTerm& term,
                                     std::span<const TextShelf* const> shelves) {
  Found found;
  const std::string_view whole = term.alternatives[0].token;
  if (whole.size() < kLeastPart) return {};
  AddWordsThatEndWith(whole, shelves, found);
  for (const TextShelf* shelf : shelves) {
    EachWord(shelf->tokens(), whole, [&](std::string_view token, const auto&) {
      if (token != whole) found.Add(token, kInexact);
    });
    for (std::size_t size = kLeastPart; size < whole.size(); ++size) {
      for (const std::string_view part :
           {whole.substr(0, size), whole.substr(whole.size() - size)}) {
        if (shelf->Find(part) != nullptr) found.Add(part, kInexact);
      }
    }
  }
  return found.Take();
}

}  // namespace keepsake::search
