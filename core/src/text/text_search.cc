#include "text/text_search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/answer_room.h"
#include "base/order.h"
#include "text/dates.h"
#include "text/near_words.h"
#include "text/text_record.h"

namespace keepsake::search {
namespace {

constexpr int kLastDayAfter = 14;
// Words of a question for which others are tried: each is compared with many.
constexpr std::size_t kMaxCorrections = 16;
constexpr std::size_t kMinNickname = 3;
// About what is said in one turn: of longer texts neighbours take less.
constexpr double kTurn = 12;
// Words of a text that may say something.
constexpr double kStatement = 6;
constexpr std::size_t kWantedAtOnce = 64;

// The probabilistic weight of a term that `matching` of `all` hold; never negative.
double Idf(double all, double matching) {
  return std::log(1 + (std::max(all, matching) - matching + 0.5) / (matching + 0.5));
}

// What a word adds to the scale of scores that no item holds: it is rare. Among one to three items
// it is only unknown.
double UnheldIdf(double all) { return std::min(Idf(all, 0), 2 * Idf(all, 1)); }

double Saturated(double occurrences, double saturation) {
  return occurrences * (saturation + 1) / (occurrences + saturation);
}

// A term in a block of a candidate.
struct Held {
  std::size_t candidate;
  std::uint32_t block;
  double count;
};

// Candidates are numbered through all shelves: those of one follow each other.
class TextRanking {
 public:
  TextRanking(std::vector<const TextShelf*> shelves, const TextQuery& query,
              const TextConfig& config, const Meaning& meaning, TextSource& source, TextPlan& plan,
              const TextWeights& weights)
      : texts_(std::move(shelves)),
        query_(query),
        config_(config),
        meaning_(meaning),
        source_(source),
        plan_(plan),
        weights_(weights),
        terms_(query.terms) {}

  Result<std::vector<TextHit>> Run(std::size_t most) {
    if (Status status = FindOwnRoom(); !status.ok()) return std::unexpected(std::move(status));
    Prepare();
    FindSpeakers();
    for (TextTerm& term : terms_) FindNearWords(term);
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      // It says which items are meant, more than what they hold.
      if (names_speaker_[t]) terms_[t].weight *= weights_.name;
      ScoreTerm(terms_[t], names_speaker_[t]);
    }
    Combine();
    ScoreNearBy();
    KeepBelowLenders();
    AddCues();
    if (meaning_.weight > 0 && !meaning_.nearest.empty()) {
      if (Status status = AddMeaning(); !status.ok()) return std::unexpected(std::move(status));
    }
    return Hits(most);
  }

 private:
  struct Shelf {
    const TextShelf* texts;
    std::size_t first;        // candidate
    std::size_t first_block;  // in windows_
    bool is_coherent;         // neighbours belong together, in no group either
  };
  struct Candidate {
    const Shelf* shelf = nullptr;  // null: it has no text
    const TextShelf::Item* item = nullptr;
    std::int64_t id = 0;      // 0: it was removed
    std::uint32_t place = 0;  // in the sequence of its shelf
    bool is_speaker = false;  // the question names who speaks here
    double dated = 0;         // how well its dates are those asked for
    double when = 0;          // the same of spans and weekdays
    double quoted = 0;        // what the question quotes
    std::optional<std::int64_t> day;
    double in_context = 0;  // BM25 with what neighbours have of the terms
    bool holds = false;     // a word of the question that is more than the name of a speaker
    double covered = 0;     // of the weight of all terms, what it and its neighbours hold
    TextScore score;
  };

  // For what is kept of each candidate, and of each block of a text.
  Status FindOwnRoom() const {
    constexpr std::uint64_t kPerCandidate = 2 * (sizeof(Candidate) + sizeof(TextHit));
    constexpr std::uint64_t kPerBlock = 2 * sizeof(Held);
    std::uint64_t bytes = 0;
    for (const TextShelf* texts : texts_) {
      bytes += kPerCandidate * texts->size() + kPerBlock * texts->blocks();
    }
    return FindRoom(bytes);
  }

  void Prepare() {
    std::size_t blocks = 0, slots = 0;
    double squares = 0, lengths = 0;
    for (const TextShelf* texts : texts_) {
      shelves_.push_back({texts, slots, blocks, texts->IsCoherent()});
      slots += texts->size();
      blocks += texts->blocks();
      items_ += static_cast<double>(texts->live());
      lengths += static_cast<double>(texts->length());
      squares += texts->squared_lengths();
    }
    candidates_.resize(slots);
    for (const Shelf& shelf : shelves_) AddShelf(shelf);
    mean_length_ = items_ > 0 ? std::max(lengths / items_, 1.0) : 1;
    const double mean = items_ > 0 ? lengths / items_ : 0;
    const double variance = items_ > 0 ? std::max(squares / items_ - mean * mean, 0.0) : 0;
    const double spread = std::sqrt(variance) / mean_length_;
    length_penalty_ =
        std::min(weights_.length_penalty + weights_.length_penalty_by_spread * spread, 1.0);
    windows_.assign(blocks, 0);
    counts_.assign(candidates_.size(), 0);
    is_holder_.assign(candidates_.size(), false);
    plan_.items = static_cast<std::uint64_t>(items_);
    plan_.has_phrases = !query_.phrases.empty();
  }

  void AddShelf(const Shelf& shelf) {
    const std::vector<std::uint32_t>& places = shelf.texts->Places();
    for (std::size_t slot = 0; slot < shelf.texts->size(); ++slot) {
      Candidate& candidate = candidates_[shelf.first + slot];
      candidate.shelf = &shelf;
      candidate.item = &shelf.texts->item(slot);
      candidate.id = candidate.item->id;
      candidate.place = places[slot];
    }
  }

  // Who stands `by` turns behind a candidate (before it if negative), or none.
  std::optional<std::size_t> Neighbour(std::size_t candidate, std::ptrdiff_t by) const {
    const Shelf& shelf = *candidates_[candidate].shelf;
    if (candidates_[candidate].item->group == 0 && !shelf.is_coherent) return std::nullopt;
    const std::vector<std::uint32_t>& sequence = shelf.texts->Sequence();
    const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(candidates_[candidate].place) + by;
    if (place < 0 || place >= std::ssize(sequence)) return std::nullopt;
    const std::size_t other = shelf.first + sequence[static_cast<std::size_t>(place)];
    if (candidates_[other].item->group != candidates_[candidate].item->group) return std::nullopt;
    return other;
  }

  // A name in the question, or the beginning of one: Mel is Melanie, but a car is not
  // Caroline. It says which items are meant, not what they hold; and nothing if everybody is
  // named, or nothing else is asked.
  void FindSpeakers() {
    names_speaker_.assign(terms_.size(), false);
    std::vector<std::string_view> named;
    for (const Shelf& shelf : shelves_) {
      std::vector<bool> is_named;
      for (const std::string& speaker : shelf.texts->speakers()) {
        is_named.push_back(IsNamed(speaker));
        if (is_named.back() && std::ranges::find(named, speaker) == named.end()) {
          named.push_back(speaker);
        }
      }
      if (std::ranges::find(is_named, true) == is_named.end()) continue;
      for (std::size_t slot = 0; slot < shelf.texts->size(); ++slot) {
        candidates_[shelf.first + slot].is_speaker = is_named[shelf.texts->item(slot).speaker];
      }
    }
    is_one_speaker_ = named.size() == 1;
    if (std::ranges::find(names_speaker_, false) == names_speaker_.end()) {
      names_speaker_.assign(terms_.size(), false);
    }
  }

  // `names`: tokens, each after a space.
  bool IsNamed(std::string_view names) {
    bool is_named = false;
    while (!names.empty()) {
      names.remove_prefix(1);
      const std::string_view name = names.substr(0, names.find(' '));
      names.remove_prefix(name.size());
      for (std::size_t t = 0; t < terms_.size(); ++t) {
        const Alternative& term = terms_[t].alternatives[0];
        if (name != term.token && !(terms_[t].is_capitalized && term.token.size() >= kMinNickname &&
                                    name.starts_with(term.token))) {
          continue;
        }
        is_named = names_speaker_[t] = true;
      }
    }
    return is_named;
  }

  void FindNearWords(TextTerm& term) {
    const auto add = [&](std::vector<Alternative> found) {
      for (Alternative& other : found) {
        if (other.token != term.alternatives[0].token)
          term.alternatives.push_back(std::move(other));
      }
    };
    if (query_.is_short && !term.alternatives[0].is_prefix) add(WordsWith(term, texts_));
    if (config_.language == Language::kGerman) add(CompoundsOf(term, texts_));
    if (!term.may_be_misspelled || corrections_left_ == 0 || IsHeld(term)) return;
    --corrections_left_;
    if (config_.language != Language::kGerman) add(WordsThatEndWith(term, texts_));
    const std::size_t before = term.alternatives.size();
    add(MisspellingsOf(term, texts_));
    if (term.alternatives.size() > before) {
      plan_.notes +=
          "; \"" + term.written + "\" read as \"" + term.alternatives[before].token + "\"";
    }
  }

  bool IsHeld(const TextTerm& term) const {
    return std::ranges::any_of(texts_, [&](const TextShelf* texts) {
      return texts->Find(term.alternatives[0].token) != nullptr;
    });
  }

  // Where the term is, by candidate and block, once each.
  std::vector<Held> WhereHeld(const TextTerm& term) const {
    std::vector<Held> held;
    for (const Shelf& shelf : shelves_) {
      for (const Alternative& alternative : term.alternatives) AddHeld(shelf, alternative, held);
    }
    const bool may_repeat = term.alternatives.size() > 1 || term.alternatives[0].is_prefix;
    if (!may_repeat && !term.is_negated) return held;
    std::vector<Held> sorted = InOrder(
        held, OrderOf(held.size(), [&](std::size_t a, std::size_t b) {
          return held[a].candidate != held[b].candidate ? held[a].candidate < held[b].candidate
                                                        : held[a].block < held[b].block;
        }));
    std::vector<Held> once;
    for (const Held& each : sorted) {
      const bool is_again = !once.empty() && once.back().candidate == each.candidate &&
                            once.back().block == each.block;
      if (is_again) {
        once.back().count += each.count;
      } else {
        once.push_back(each);
      }
    }
    return once;
  }

  void AddHeld(const Shelf& shelf, const Alternative& alternative, std::vector<Held>& held) const {
    const auto add = [&](const TextShelf::Postings& postings) {
      for (const TextShelf::Posting& posting : postings) {
        const std::size_t candidate = shelf.first + posting.slot;
        if (candidates_[candidate].id == 0 || posting.weight == 0) continue;
        held.push_back({candidate, posting.block, alternative.weight * posting.weight});
      }
    };
    if (!alternative.is_prefix) {
      if (const TextShelf::Postings* postings = shelf.texts->Find(alternative.token))
        add(*postings);
      return;
    }
    const TextShelf::Tokens& tokens = shelf.texts->tokens();
    for (auto token = tokens.lower_bound(alternative.token);
         token != tokens.end() && token->first.starts_with(alternative.token); ++token) {
      add(token->second);
    }
  }

  // Whether it holds a word that negates, by candidate and block.
  const std::vector<Held>& Negations() {
    if (!negations_) {
      TextTerm all;
      for (std::string& token : NegationTokens(config_.language)) {
        all.alternatives.push_back({.token = std::move(token)});
      }
      negations_ = WhereHeld(all);
    }
    return *negations_;
  }

  // "Without nuts" is answered by what says so, and not by what has nuts.
  void WeighNegated(const TextTerm& term, std::vector<Held>& held) {
    const auto place_of = [](const Held& at) { return std::pair(at.candidate, at.block); };
    std::vector<bool> says_so;
    for (const Held& at : held) {
      says_so.push_back(std::ranges::binary_search(Negations(), place_of(at), {}, place_of));
    }
    const bool is_said = std::ranges::find(says_so, true) != says_so.end();
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (!says_so[i]) held[i].count *= is_said ? weights_.contradicts : weights_.unsaid;
    }
    plan_.notes += "; not \"" + term.written + "\"";
  }

  void ScoreTerm(const TextTerm& term, bool is_name) {
    std::vector<Held> held = WhereHeld(term);
    if (term.is_negated && !query_.is_told) WeighNegated(term, held);
    double holding = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (i == 0 || held[i].candidate != held[i - 1].candidate) ++holding;
    }
    const double idf = term.weight * Idf(items_, holding);
    plan_.terms.push_back(term);
    plan_.terms.back().weight = idf;
    most_ += holding > 0 ? idf : term.weight * UnheldIdf(items_);
    for (std::size_t begin = 0, end = 0; begin < held.size(); begin = end) {
      double count = 0;
      for (; end < held.size() && held[end].candidate == held[begin].candidate; ++end) {
        count += held[end].count;
      }
      const std::size_t index = held[begin].candidate;
      Candidate& candidate = candidates_[index];
      candidate.holds |= !is_name;
      candidate.covered += idf;
      is_holder_[index] = true;
      const double normed = count / LengthNorm(*candidate.item);
      candidate.score.words += idf * Saturated(normed, weights_.saturation);
      ScorePassages(std::span(held).subspan(begin, end - begin), idf);
      AddCount(index, normed);
      ShareWithNeighbours(index, normed);
    }
    for (const std::size_t index : touched_) {
      candidates_[index].in_context += idf * Saturated(counts_[index], weights_.saturation);
      if (!is_holder_[index]) candidates_[index].covered += idf * std::min(counts_[index], 1.0);
      is_holder_[index] = false;
      counts_[index] = 0;
    }
    touched_.clear();
  }

  // Of one candidate: what each passage has of the term. A passage begins at each block but
  // the last ones.
  void ScorePassages(std::span<const Held> held, double idf) {
    const Candidate& candidate = candidates_[held[0].candidate];
    const TextShelf::Item& item = *candidate.item;
    const std::uint32_t last = item.blocks <= kPassageBlocks ? 0 : item.blocks - kPassageBlocks;
    double* const windows = &windows_[candidate.shelf->first_block + item.first_block];
    std::uint32_t next = 0;  // the first passage that has not been scored
    for (const Held& at : held) {
      const std::uint32_t begin = at.block < kPassageBlocks ? 0 : at.block - kPassageBlocks + 1;
      for (std::uint32_t passage = std::max(begin, next); passage <= std::min(at.block, last);
           ++passage) {
        double count = 0;
        for (const Held& other : held) {
          if (other.block >= passage && other.block < passage + kPassageBlocks)
            count += other.count;
        }
        windows[passage] +=
            idf * Saturated(count / PassageNorm(item, passage), weights_.saturation);
        next = passage + 1;
      }
    }
  }

  double LengthNorm(const TextShelf::Item& item) const {
    return 1 - length_penalty_ + length_penalty_ * item.length / mean_length_;
  }

  double PassageNorm(const TextShelf::Item& item, std::uint32_t passage) const {
    constexpr double kWords = kPassageBlocks * kBlockWords;
    const double length = std::min<double>(item.length - double{kBlockWords} * passage, kWords);
    return 1 - weights_.passage_penalty +
           weights_.passage_penalty * length / std::min(mean_length_, kWords);
  }

  void AddCount(std::size_t index, double count) {
    if (count == 0) return;
    if (counts_[index] == 0) touched_.push_back(index);
    counts_[index] += count;
  }

  // 1 for a turn, less for what is longer: it has a bit of everything.
  static double ShareOf(const Candidate& candidate) {
    return std::min(kTurn / std::max<double>(candidate.item->length, 1), 1.0);
  }

  void ShareWithNeighbours(std::size_t index, double count) {
    const double share = std::min(count, 1.0) * ShareOf(candidates_[index]);
    const bool asks = (candidates_[index].item->flags & RecordReader::kAsks) != 0;
    for (std::size_t by = 1; by <= weights_.earlier.size(); ++by) {
      const auto distance = static_cast<std::ptrdiff_t>(by);
      if (const auto later = Neighbour(index, distance)) {
        const double answer = by == 1 && asks ? weights_.answer : 0;
        AddCount(*later, (weights_.earlier[by - 1] + answer) * share);
      }
      if (const auto earlier = Neighbour(index, -distance)) {
        AddCount(*earlier, weights_.later[by - 1] * share);
      }
    }
  }

  // Of the words of a text as a whole and of its best passage, and what neighbours lend.
  void Combine() {
    for (Candidate& candidate : candidates_) {
      if (candidate.id == 0 || candidate.in_context == 0) continue;
      ++plan_.candidates;
      const std::span<const double> windows = std::span(windows_).subspan(
          candidate.shelf->first_block + candidate.item->first_block, candidate.item->blocks);
      const double best = *std::ranges::max_element(windows);
      const double whole = candidate.score.words;
      candidate.score.words = (1 - weights_.passage) * whole + weights_.passage * best;
      candidate.score.context =
          std::max(candidate.in_context - whole, 0.0) * TrustIn(*candidate.item);
    }
  }

  // "Bye." stands beside much, and says little.
  static double TrustIn(const TextShelf::Item& item) {
    return std::min((item.length + 0.5) / kStatement, 1.0);
  }

  // What stands further away counts, too, but little.
  void ScoreNearBy() {
    for (const Shelf& shelf : shelves_) {
      std::vector<double> near_by(shelf.texts->size(), 0);
      const std::vector<std::uint32_t>& sequence = shelf.texts->Sequence();
      AddFading(shelf, sequence.begin(), sequence.end(), near_by);
      AddFading(shelf, sequence.rbegin(), sequence.rend(), near_by);
      for (std::size_t slot = 0; slot < near_by.size(); ++slot) {
        candidates_[shelf.first + slot].score.context += weights_.near_by * near_by[slot];
      }
    }
  }

  template <typename Iterator>
  void AddFading(const Shelf& shelf, Iterator at, Iterator end, std::vector<double>& near_by) {
    double sum = 0;
    std::uint32_t group = 0;
    for (; at != end; ++at) {
      const Candidate& candidate = candidates_[shelf.first + *at];
      const bool is_alone = candidate.item->group == 0 && !shelf.is_coherent;
      if (candidate.item->group != group || is_alone) sum = 0;
      group = candidate.item->group;
      near_by[*at] += (1 - weights_.fading) * sum;
      sum = sum * weights_.fading + candidate.score.words * ShareOf(candidate);
    }
  }

  // Context shows what stands near a match; it is no match.
  void KeepBelowLenders() {
    std::vector<std::pair<std::size_t, double>> lowered;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const TextScore& score = candidates_[i].score;
      if (score.context == 0 || candidates_[i].holds) continue;
      double lender = 0;
      for (std::ptrdiff_t by = -std::ssize(weights_.earlier); by <= std::ssize(weights_.earlier);
           ++by) {
        const auto other = Neighbour(i, by);
        if (!other || !candidates_[*other].holds) continue;
        const TextScore& lent = candidates_[*other].score;
        lender = std::max(lender, lent.words + lent.context);
      }
      if (lender > 0) lowered.emplace_back(i, std::min(score.context, weights_.borrowed * lender));
    }
    for (const auto& [index, context] : lowered) candidates_[index].score.context = context;
  }

  void AddCues() {
    FindDates();
    FindTimes();
    FindQuoted();
    const double dates = WeightOfDates();
    double covered = 0, times = 1;
    for (Candidate& candidate : candidates_) {
      if (candidate.id == 0) continue;
      TextScore& score = candidate.score;
      // What nothing of the question leads to is no hit, unless the day is asked for.
      const double text = score.words + score.context;
      score.cues = candidate.dated + candidate.quoted;
      score.cues +=
          text > 0 ? candidate.when + CuesOf(candidate) : weights_.only_when * candidate.when;
      score.total = text > 0 || score.cues > 0 ? text + score.cues : 0;
      score.total *= FactorOf(candidate);
      if (score.total == 0) continue;
      const double dated = std::min(candidate.dated + candidate.when, dates);
      covered = std::max(covered, candidate.covered + dated);
      if (IsPreferred(candidate)) times = weights_.of_user;
    }
    const double all = std::max(most_ + dates, 1e-9);
    confidence_ = std::min(covered / all, 1.0) / (all * times);
    PutInOrder();
  }

  // What a question quotes is mostly a title: what holds its words close to each other comes
  // first, but it is no condition.
  void FindQuoted() {
    if (query_.quoted.empty()) return;
    double best = 0;
    for (const Candidate& candidate : candidates_) {
      best = std::max(best, candidate.score.words + candidate.score.context);
    }
    bool is_found = false;
    for (const Phrase& phrase : query_.quoted) {
      for (const Held& at : WhereAllAre(phrase)) {
        candidates_[at.candidate].quoted = weights_.quoted * best;
        is_found = true;
      }
    }
    if (is_found) plan_.notes += "; what is quoted first";
  }

  // Where the words of a phrase are in one block, or reach into the next.
  std::vector<Held> WhereAllAre(const Phrase& phrase) const {
    std::vector<Held> all;
    for (std::size_t word = 0; word < phrase.words.size(); ++word) {
      TextTerm term;
      term.alternatives.push_back({.token = phrase.words[word].token});
      const std::vector<Held> held = WhereHeld(term);
      if (word == 0) {
        all = held;
        continue;
      }
      std::erase_if(all, [&](const Held& at) {
        return std::ranges::none_of(held, [&](const Held& other) {
          return other.candidate == at.candidate && other.block + 1 >= at.block &&
                 other.block <= at.block + 1;
        });
      });
    }
    return all;
  }

  void FindTimes() {
    const TimeQuestion& asked = query_.time;
    if (!asked.has_when() && asked.order == TimeQuestion::Order::kNone) return;
    plan_.notes += "; by time: " + Describe(asked);
    for (const Shelf& shelf : shelves_) {
      const std::vector<TextTime> times = TimesOf(*shelf.texts, asked);
      for (std::size_t slot = 0; slot < times.size(); ++slot) {
        Candidate& candidate = candidates_[shelf.first + slot];
        candidate.day = times[slot].day;
        if (times[slot].is_in_span) candidate.when += weights_.in_span;
        if (times[slot].is_on_weekday) candidate.when += weights_.on_weekday;
      }
    }
  }

  // The first time, or what holds now: only what matches nearly as well as the best is put in
  // its order, by days if most have one, else as it was put.
  void PutInOrder() {
    if (query_.time.order == TimeQuestion::Order::kNone || query_.is_told) return;
    double words = 0, best = 0;
    for (const Candidate& candidate : candidates_) {
      words = std::max(words, candidate.score.words);
      best = std::max(best, candidate.score.total);
    }
    std::vector<std::size_t> ordered;
    std::size_t with_day = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const TextScore& score = candidates_[i].score;
      if (candidates_[i].id == 0 || words == 0 || score.words < weights_.ordered * words) continue;
      ordered.push_back(i);
      with_day += candidates_[i].day ? 1 : 0;
    }
    if (ordered.size() < 2) return;
    const bool by_day = 2 * with_day > ordered.size();
    if (by_day) std::erase_if(ordered, [&](std::size_t i) { return !candidates_[i].day; });
    const bool is_latest = query_.time.order == TimeQuestion::Order::kLatest;
    const auto is_before = [&](std::size_t a, std::size_t b) {
      const Candidate &one = candidates_[a], &other = candidates_[b];
      if (by_day && one.day != other.day) return one.day < other.day;
      return one.id < other.id;
    };
    const double share = weights_.in_order * (query_.time.is_only_hinted ? weights_.hinted : 1);
    const std::vector<std::size_t> order =
        OrderOf(ordered.size(),
                [&](std::size_t a, std::size_t b) { return is_before(ordered[a], ordered[b]); });
    for (std::size_t place = 0; place < order.size(); ++place) {
      const std::size_t from_end = is_latest ? place : order.size() - 1 - place;
      const double added = share * best * static_cast<double>(from_end) /
                           static_cast<double>(std::max<std::size_t>(order.size() - 1, 1));
      TextScore& score = candidates_[ordered[order[place]]].score;
      score.cues += added;
      score.total += added;
    }
  }

  // Of the time that is asked for, among the weights of terms.
  double WeightOfDates() const {
    double weight = query_.time.spans.empty() ? 0 : weights_.in_span;
    if (query_.time.weekdays != 0) weight += weights_.on_weekday;
    if (!query_.days.empty()) return weight + weights_.same_day;
    return query_.periods.empty() ? weight : weight + weights_.same_month;
  }

  // The user said it, and speaks of himself.
  bool IsPreferred(const Candidate& candidate) const {
    return query_.is_of_user && (candidate.item->flags & RecordReader::kOfUser) != 0;
  }

  double CuesOf(const Candidate& candidate) const {
    const std::uint8_t flags = candidate.item->flags;
    double cues = 0;
    if (candidate.is_speaker && is_one_speaker_) cues += weights_.speaker;
    if (query_.asks_when && (flags & RecordReader::kTellsTime) != 0) cues += weights_.when;
    if (query_.asks_how_many && (flags & RecordReader::kTellsNumber) != 0) {
      cues += weights_.how_many;
    }
    return cues;
  }

  double FactorOf(const Candidate& candidate) const {
    if (!query_.is_of_user) return 1;
    const std::uint8_t flags = candidate.item->flags;
    double factor = 1;
    if (IsPreferred(candidate)) factor *= weights_.of_user;
    if ((flags & RecordReader::kStands) != 0) factor *= weights_.standing;
    if (query_.is_message) {
      const auto newer = static_cast<double>(candidate.shelf->texts->live() - 1 - candidate.place);
      factor *= 1 + weights_.recency * std::exp(-newer / weights_.fresh_items);
    }
    return factor;
  }

  // What is told on a day, or soon after it happened; or in a month, or a year.
  void FindDates() {
    constexpr std::size_t kYear = 5;  // bytes of "d2023"
    for (const std::string& period : query_.periods) {
      NoteDate(period, period.size() == kYear ? weights_.same_year : weights_.same_month);
    }
    for (const std::int64_t day : query_.days) {
      NoteDate(NameOfDay(day), weights_.same_day);
      for (int after = 1; after <= kLastDayAfter; ++after) {
        NoteDate(NameOfDay(day + after),
                 weights_.day_after * std::exp(-after / weights_.days_to_forget));
      }
    }
  }

  void NoteDate(const std::string& name, double weight) {
    for (const Shelf& shelf : shelves_) {
      const TextShelf::Postings* postings = shelf.texts->Find(name);
      if (postings == nullptr) continue;
      for (const TextShelf::Posting& posting : *postings) {
        double& dated = candidates_[shelf.first + posting.slot].dated;
        dated = std::max(dated, weight);
      }
    }
  }

  // Items that are near by vector, and those beside them. The vectors count as far as the
  // embedder is shown to know something, because it may know nothing.
  Status AddMeaning() {
    double best = 0;
    for (const Candidate& candidate : candidates_) best = std::max(best, candidate.score.total);
    if (best == 0) return {};
    EmbedderCheck check(config_);
    if (Status status = AskItems(check); !status.ok()) return status;
    const std::optional<double> knowledge = check.Knowledge();
    NoteNearness();
    const std::vector<double> near = NearnessInContext();
    plan_.agreement = knowledge ? Share(*knowledge, weights_.ignorant, weights_.knowing)
                                : Share(Correlation(near), weights_.unrelated, weights_.agreeing);
    plan_.knows_nothing = knowledge && plan_.agreement == 0;
    const double weight = meaning_.weight * plan_.agreement;
    if (weight == 0) return {};
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      TextScore& score = candidates_[i].score;
      score.total = (1 - weight) * score.total + weight * weights_.nearness * best * near[i];
    }
    return {};
  }

  static double Share(double value, double none, double all) {
    return std::clamp((value - none) / (all - none), 0.0, 1.0);
  }

  // Of the items that are near: they have vectors.
  Status AskItems(EmbedderCheck& check) {
    std::vector<std::int64_t> ids;
    for (const auto& hit : meaning_.nearest) {
      if (ids.size() < EmbedderCheck::kItems) ids.push_back(hit.id);
    }
    return source_.Embedded(ids, check);
  }

  // 0 for the last of those that are given, 1 for their mean.
  void NoteNearness() {
    nearness_.assign(candidates_.size(), 0);
    const double last = *meaning_.nearest.back().score;
    double mean = 0;
    for (const auto& hit : meaning_.nearest) mean += *hit.score - last;
    mean /= static_cast<double>(meaning_.nearest.size());
    if (!(mean > 0)) return;
    for (const auto& hit : meaning_.nearest) {
      const std::size_t candidate = CandidateOf(hit.id);
      nearness_.resize(candidates_.size());
      nearness_[candidate] = (*hit.score - last) / mean;
    }
  }

  // An item without text becomes one.
  std::size_t CandidateOf(std::int64_t id) {
    for (const Shelf& shelf : shelves_) {
      const std::size_t slot = shelf.texts->SlotOf(id);
      if (slot < shelf.texts->size()) return shelf.first + slot;
    }
    candidates_.push_back({.id = id, .score = {}});
    return candidates_.size() - 1;
  }

  std::vector<double> NearnessInContext() const {
    std::vector<double> near(candidates_.size());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& candidate = candidates_[i];
      near[i] += nearness_[i];
      if (candidate.shelf == nullptr || nearness_[i] == 0) continue;
      const bool asks = (candidate.item->flags & RecordReader::kAsks) != 0;
      if (const auto later = Neighbour(i, 1)) {
        near[*later] += (weights_.near_earlier + (asks ? weights_.near_answer : 0)) *
                        ShareOf(candidate) * nearness_[i];
      }
      if (const auto earlier = Neighbour(i, -1)) {
        near[*earlier] += weights_.near_later * ShareOf(candidate) * nearness_[i];
      }
    }
    return near;
  }

  // How scores and nearness go together: about 0 for vectors that know nothing of the question.
  double Correlation(const std::vector<double>& near) const {
    double count = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (std::size_t i = 0; i < near.size(); ++i) {
      const double score = candidates_[i].score.total;
      if (score == 0 && near[i] == 0) continue;
      ++count;
      x += score;
      y += near[i];
      xx += score * score;
      yy += near[i] * near[i];
      xy += score * near[i];
    }
    if (count == 0) return 0;
    const double spread = (xx - x * x / count) * (yy - y * y / count);
    return spread > 0 ? (xy - x * y / count) / std::sqrt(spread) : 0;
  }

  // Asks the source some at a time: of a filter that few pass, more are asked for.
  Result<std::vector<TextHit>> Hits(std::size_t most) {
    std::vector<std::size_t> scored;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].id != 0 && candidates_[i].score.total > 0) scored.push_back(i);
    }
    const auto is_before = [&](std::size_t a, std::size_t b) {
      const Candidate &one = candidates_[a], &other = candidates_[b];
      return one.score.total != other.score.total ? one.score.total > other.score.total
                                                  : one.id < other.id;
    };
    std::vector<TextHit> hits;
    auto next = scored.begin();
    auto at_once =
        static_cast<std::ptrdiff_t>(std::min(scored.size(), std::max(most, kWantedAtOnce)));
    while (next != scored.end() && hits.size() < most) {
      const auto end = next + std::min<std::ptrdiff_t>(at_once, scored.end() - next);
      std::partial_sort(next, end, scored.end(), is_before);
      if (Status status = AddWanted({next, end}, most, hits); !status.ok()) {
        return std::unexpected(std::move(status));
      }
      next = end;
      at_once *= 2;
    }
    return hits;
  }

  Status AddWanted(const std::vector<std::size_t>& some, std::size_t most,
                   std::vector<TextHit>& hits) {
    std::vector<std::int64_t> ids;
    for (const std::size_t index : some) ids.push_back(candidates_[index].id);
    const Result<std::vector<bool>> wanted = source_.Wanted(ids);
    if (!wanted) return wanted.error();
    for (std::size_t i = 0; i < some.size() && hits.size() < most; ++i) {
      if (!(*wanted)[i]) continue;
      const TextScore& score = candidates_[some[i]].score;
      const double surety = score.total * confidence_;
      hits.push_back({ids[i], surety / (surety + 1), score});
    }
    return {};
  }

  std::vector<const TextShelf*> texts_;
  const TextQuery& query_;
  const TextConfig& config_;
  const Meaning& meaning_;
  TextSource& source_;
  TextPlan& plan_;
  const TextWeights& weights_;
  std::vector<TextTerm> terms_;
  std::vector<bool> names_speaker_;  // terms
  bool is_one_speaker_ = false;      // whom the question names
  std::size_t corrections_left_ = kMaxCorrections;
  std::optional<std::vector<Held>> negations_;

  std::vector<Shelf> shelves_;
  std::vector<Candidate> candidates_;
  double items_ = 0;
  double mean_length_ = 1;
  double length_penalty_ = 0;
  double most_ = 0;        // the weight of all terms: about what an item has that holds all
  double confidence_ = 0;  // times a score: how far it and its question are to be trusted

  std::vector<double> nearness_;      // of candidates, by vector; about 1 for those that are near
  std::vector<double> windows_;       // scores of passages, by their first blocks
  std::vector<double> counts_;        // of one term, neighbours' included
  std::vector<std::size_t> touched_;  // whose counts are not 0
  std::vector<bool> is_holder_;       // of one term
};

}  // namespace

Result<std::vector<TextHit>> SearchText(const TextIndex& index, std::string_view encoded_prefix,
                                        const TextQuery& query, const TextConfig& config,
                                        TextSource& source, std::size_t most, TextPlan& plan,
                                        const Meaning& meaning, const TextWeights& weights) {
  if (query.empty()) return {};
  return TextRanking(index.Below(encoded_prefix), query, config, meaning, source, plan, weights)
      .Run(most);
}

}  // namespace keepsake::search
