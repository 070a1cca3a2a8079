#include "text/near_words.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/order.h"
#include "text/spelling.h"
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

// REQUIRES: `whole` has four bytes.
void AddWordsThatEndWith(std::string_view whole, const TextView& texts, Found& found) {
  texts.VisitTokens(
      "",
      [&](std::string_view token) { return token.size() > whole.size() && token.ends_with(whole); },
      [&](std::string_view token) { found.Add(token, kInexact); });
}

std::string_view FirstLetter(std::string_view word) {
  std::size_t end = 1;
  while (end < word.size() && (static_cast<unsigned char>(word[end]) & 0xC0) == 0x80) ++end;
  return word.substr(0, end);
}

}  // namespace

std::vector<Alternative> MisspellingsOf(const TextTerm& term, const TextView& texts) {
  Found near, farther;
  const std::size_t most = AllowedTypos(term.written);
  if (most == 0) return {};
  const auto find = [&](std::string_view asked, auto visit_words) {
    Spelling spelling(asked, most);
    std::size_t distance = 0;
    visit_words(
        [&](std::string_view word) {
          distance = spelling.DistanceTo(word);
          return TextView::Choice(distance <= most, spelling.hopeless());
        },
        [&](std::string_view token) {
          distance <= 1 ? near.Add(token, kInexact) : farther.Add(token, kInexact * kInexact);
        });
  };
  const std::string_view first = FirstLetter(term.written);
  find(term.written, [&](auto choose, auto add) {
    texts.VisitWords(first, choose, [&](std::string_view, std::string_view token) { add(token); });
  });
  // Not all endings of other scripts are known: a word may have two stems.
  if (static_cast<unsigned char>(term.written[0]) >= 0x80) {
    find(term.alternatives[0].token,
         [&](auto choose, auto add) { texts.VisitTokens(first, choose, add); });
  }
  std::vector<Alternative> nearest = near.Take();
  return nearest.empty() ? farther.Take() : nearest;
}

std::vector<Alternative> WordsWith(const TextTerm& term, const TextView& texts) {
  Found found;
  const std::string_view part = term.written.empty() ? term.alternatives[0].token : term.written;
  if (part.size() < kLeastPiece) return {};
  texts.VisitWords(
      "", [&](std::string_view word) { return word.contains(part); },
      [&](std::string_view, std::string_view token) { found.Add(token, kInexact); });
  return found.Take();
}

std::vector<Alternative> WordsThatEndWith(const TextTerm& term, const TextView& texts) {
  Found found;
  const std::string_view whole = term.alternatives[0].token;
  if (whole.size() >= kLeastPart) AddWordsThatEndWith(whole, texts, found);
  return found.Take();
}

std::vector<Alternative> CompoundsOf(const TextTerm& term, const TextView& texts) {
  Found found;
  const std::string_view whole = term.alternatives[0].token;
  if (whole.size() < kLeastPart) return {};
  AddWordsThatEndWith(whole, texts, found);
  texts.VisitTokens(
      whole, [&](std::string_view token) { return token != whole; },
      [&](std::string_view token) { found.Add(token, kInexact); });
  for (std::size_t size = kLeastPart; size < whole.size(); ++size) {
    for (const std::string_view part : {whole.substr(0, size), whole.substr(whole.size() - size)}) {
      if (texts.Holds(part)) found.Add(part, kInexact);
    }
  }
  return found.Take();
}

}  // namespace keepsake::search
