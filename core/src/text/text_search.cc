#include "text/text_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/answer_room.h"
#include "base/heap_sort.h"
#include "base/order.h"
#include "base/top.h"
#include "text/bm25.h"
#include "text/common_words.h"
#include "text/dates.h"
#include "text/embedder_check.h"
#include "text/languages/language.h"
#include "text/likeness.h"
#include "text/near_words.h"
#include "text/text_record.h"

namespace keepsake::search {
namespace {

// What is told more days after a day is not told of it.
constexpr int kLastDayAfter = 14;
// Words of a question for which others are tried: each is compared with many.
constexpr std::size_t kMaxCorrections = 16;
constexpr std::size_t kMinNickname = 3;
// A turn that does little but ask has at most so many words.
constexpr std::uint32_t kMaxAsking = 15;
// An item borrows from so many neighbours on both sides.
constexpr std::ptrdiff_t kWindow = 3;
constexpr std::size_t kWantedAtOnce = 64;
// So many of the newest items are newer than others by a number that counts.
constexpr std::size_t kFresh = 128;
// If a message has so many words, its first hits (the leaders) are about the same matter. Among so
// many of the best hits (the followers) those that are like the leaders rise.
constexpr std::size_t kWordsOfMatter = 6, kFollowers = 64;
constexpr std::ptrdiff_t kLeaders = 3;
// Of how rare a word is in general it has at least this part where all items hold it: they share a
// topic, and a question that names it is no less sure.
constexpr double kLeastRarity = 0.5;
// Times, for what says that something is asked for beside what is.
constexpr double kTalkBesideTopic = 0.02, kVagueBesideTopic = 0.5;
// Times each score, if nothing is asked for: less than a gate lets through.
constexpr double kAsksNothing = 0.05;
constexpr double kPassageWords = kPassageBlocks * kBlockWords;
// A candidate may hold a word of the question that is more than the name of a speaker (kHolds), and
// the term that is being scored (kHoldsTerm).
constexpr std::uint8_t kHolds = 1, kHoldsTerm = 2;

double BestOf(const std::vector<double>& scores) {
  double best = 0;
  for (const double score : scores) best = std::max(best, score);
  return best;
}

// A candidate is the place of an item in the view: those of a namespace follow each other.
class TextRanking {
 public:
  TextRanking(const TextView& texts, const TextQuery& query, const TextConfig& config,
              const Meaning& meaning, TextSource& source, TextPlan& plan,
              const TextWeights& weights)
      : texts_(texts),
        query_(query),
        config_(config),
        meaning_(meaning),
        source_(source),
        plan_(plan),
        weights_(weights),
        of_fields_(WeightsOf(config)),
        terms_(query.terms) {}

  Result<std::vector<TextHit>> Run(std::size_t most) {
    if (Status status = FindOwnRoom(); !status.ok()) return std::unexpected(std::move(status));
    Prepare();
    FindSpeakers();
    for (TextTerm& term : terms_) {
      FindNearWords(term);
      has_topic_ |= term.SaysSomething();
    }
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      // It says which items are meant, more than what they hold.
      if (names_speaker_[t]) terms_[t].weight *= weights_.name;
      if (is_talk_ && terms_[t].asks) terms_[t].weight *= weights_.asking_word;
      ScoreTerm(terms_[t], names_speaker_[t]);
    }
    Combine();
    if (std::ranges::any_of(neighbours_, &Neighbours::lend)) KeepBelowLenders();
    AddCues();
    if (Status status = AddLikeness(); !status.ok()) return std::unexpected(std::move(status));
    if (meaning_.weight > 0 && !meaning_.nearest.empty()) {
      if (Status status = AddMeaning(); !status.ok()) return std::unexpected(std::move(status));
    }
    DropWithoutPhrases();
    if (!texts_.status().ok()) return std::unexpected(texts_.status());
    return Hits(most);
  }

 private:
  // Neighbours in a namespace.
  struct Neighbours {
    bool is_talk = false;      // somebody speaks
    bool is_coherent = false;  // they belong together, in no group either
    bool lend = false;         // some may have neighbours
  };
  // What few questions ask for.
  struct Asked {
    double dated = 0;  // how well its dates are those asked for
    double alike = 0;  // how much it is like the first hits
  };
  struct Scored {
    double total;
    std::size_t candidate;
  };

  // For what is kept of each candidate, and of each block of a text.
  Status FindOwnRoom() const {
    constexpr std::uint64_t kPerCandidate =
        2 * (6 * sizeof(double) + sizeof(Asked) + sizeof(Scored) + sizeof(TextHit));
    constexpr std::uint64_t kPerBlock = 2 * sizeof(Held);
    return FindRoom(kPerCandidate * texts_.items().size() + kPerBlock * texts_.blocks());
  }

  void Prepare() {
    for (std::size_t n = 0; n < texts_.namespaces().size(); ++n) {
      const TextView::NamespaceItems& ns = texts_.namespaces()[n];
      const bool is_talk = ns.IsTalk();
      const bool is_coherent =
          is_talk || (static_cast<double>(ns.size()) >= weights_.coherent_items &&
                      texts_.Coherence(n) > weights_.beyond_chance);
      is_talk_ |= is_talk;
      neighbours_.push_back(
          {.is_talk = is_talk, .is_coherent = is_coherent, .lend = is_coherent || ns.has_groups});
    }
    const std::size_t candidates = texts_.items().size();
    const auto lengths = static_cast<double>(texts_.length());
    const double squares = texts_.squared_lengths();
    items_ = static_cast<double>(candidates);
    const double mean_length = items_ > 0 ? std::max(lengths / items_, 1.0) : 1;
    const double mean = items_ > 0 ? lengths / items_ : 0;
    const double variance = items_ > 0 ? std::max(squares / items_ - mean * mean, 0.0) : 0;
    const double spread = std::sqrt(variance) / mean_length;
    text_norm_ = {std::min(weights_.b * (1 + spread), 1.0), mean_length};
    passage_norm_ = {weights_.b, std::min(mean_length, kPassageWords)};
    windows_.assign(texts_.blocks(), 0);
    for (std::vector<double>* each : {&words_, &context_, &covered_, &counts_, &totals_}) {
      each->assign(candidates, 0);
    }
    holds_.assign(candidates, 0);
    plan_.items = candidates;
    plan_.has_phrases = !query_.phrases.empty();
  }

  // REQUIRES: it has text, as in all of the following that name a candidate.
  const TextView::Item& item(std::size_t candidate) const { return texts_.items()[candidate]; }

  std::int64_t IdOf(std::size_t candidate) const {
    const std::size_t texts = words_.size();
    return candidate < texts ? item(candidate).id : others_[candidate - texts];
  }

  const Asked& AskedOf(std::size_t candidate) const {
    static constexpr Asked kNone;
    return candidate < asked_.size() ? asked_[candidate] : kNone;
  }
  Asked& NoteAsked(std::size_t candidate) {
    if (asked_.empty()) asked_.resize(words_.size());
    return asked_[candidate];
  }

  // Whether a candidate has another one `by` turns behind it (before it if negative).
  bool HasNeighbour(std::size_t candidate, std::ptrdiff_t by) const {
    const std::size_t other = candidate + static_cast<std::size_t>(by);
    if (other >= words_.size()) return false;
    const TextView::Item &one = item(candidate), &two = item(other);
    return one.ns == two.ns && one.group == two.group &&
           (one.group != 0 || neighbours_[one.ns].is_coherent);
  }

  // A name in the question, or the beginning of one: Mel is Melanie, but a car is not
  // Caroline. It says which items are meant, not what they hold; and nothing if everybody is
  // named, or nothing else is asked.
  void FindSpeakers() {
    names_speaker_.assign(terms_.size(), false);
    std::size_t named = 0;
    for (const std::string& speaker : texts_.speakers()) {
      is_named_.push_back(IsNamed(speaker));
      if (is_named_.back()) ++named;
    }
    is_one_speaker_ = named == 1;
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
    if (WordsOf(config_.language).joins_words) add(CompoundsOf(term, texts_));
    if (!term.may_be_misspelled || corrections_left_ == 0) return;
    if (texts_.Holds(term.alternatives[0].token)) return;
    --corrections_left_;
    if (!WordsOf(config_.language).joins_words) add(WordsThatEndWith(term, texts_));
    const std::size_t before = term.alternatives.size();
    add(MisspellingsOf(term, texts_));
    if (term.alternatives.size() > before) {
      plan_.notes +=
          "; \"" + term.written + "\" read as \"" + term.alternatives[before].token + "\"";
    }
  }

  // Where the term is, each candidate's blocks together, once each.
  std::vector<Held> WhereHeld(const TextTerm& term) const {
    std::vector<Held> held;
    if (term.alternatives.size() == 1 && !term.alternatives[0].is_prefix) {
      held = texts_.Find(term.alternatives[0].token, of_fields_);
      std::erase_if(held, [](const Held& at) { return at.count == 0; });
      return held;
    }
    for (const Alternative& alternative : term.alternatives) AddHeld(alternative, held);
    HeapSort(held, [](const Held& a, const Held& b) {
      return a.item != b.item ? a.item < b.item : a.block < b.block;
    });
    std::size_t last = 0;
    for (std::size_t i = 1; i < held.size(); ++i) {
      if (held[i].item == held[last].item && held[i].block == held[last].block) {
        held[last].count += held[i].count;
      } else {
        held[++last] = held[i];
      }
    }
    if (!held.empty()) held.resize(last + 1);
    return held;
  }

  void AddHeld(const Alternative& alternative, std::vector<Held>& held) const {
    const auto add = [&](std::string_view token) {
      for (Held at : texts_.Find(token, of_fields_)) {
        if (at.count == 0) continue;
        at.count *= alternative.weight;
        held.push_back(at);
      }
    };
    if (!alternative.is_prefix) return add(alternative.token);
    std::set<std::string> tokens;
    texts_.VisitTokens(
        alternative.token, [](std::string_view) { return true; },
        [&](std::string_view token) { tokens.emplace(token); });
    for (const std::string& token : tokens) add(token);
  }

  // The idf of a word. Few items know little of it: among them what is common in general is less.
  // Squares, so that among hundreds it is what it is.
  double RarityOf(const TextTerm& term, double holding) const {
    const double general =
        std::log(GeneralShare(term.commonness)) / std::log(GeneralShare(Commonness::kRare));
    const double known = items_ * items_, usual = weights_.usual_items * weights_.usual_items;
    return Idf(items_, holding) * (known + usual * general) / (known + usual);
  }

  bool IsBesideTopic(const TextTerm& term) const { return term.IsTalk() && !query_.asks_nothing; }

  // How much of a question a term is, for how sure a hit is: by its idf among the items and some
  // more, as texts are in general.
  double TellingOf(const TextTerm& term, double holding) const {
    if (term.may_be_chance && holding == 0) return 0;
    const double share = GeneralShare(term.commonness), usual = weights_.usual_items;
    const double all = items_ + usual;
    const double rarity = Idf(all, holding + usual * share);
    if (IsBesideTopic(term)) return kTalkBesideTopic * rarity;
    if (term.commonness == Commonness::kVague && has_topic_) {
      return (holding > 0 ? kVagueBesideTopic : kTalkBesideTopic) * rarity;
    }
    return std::max(rarity, kLeastRarity * Idf(all, all * share));
  }

  void ScoreTerm(const TextTerm& term, bool is_name) {
    const std::vector<Held> held = WhereHeld(term);
    double holding = 0, occurring = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (i == 0 || held[i].item != held[i - 1].item) ++holding;
      occurring += held[i].count;
    }
    const double repeats = std::log(std::max(occurring / std::max(holding, 1.0), 1.0));
    const double rarity = RarityOf(term, holding);
    const double idf = term.weight * (1 + weights_.burstiness * repeats) * rarity;
    plan_.terms.push_back(term);
    plan_.terms.back().weight = idf;
    const double telling = term.weight * TellingOf(term, holding);
    told_ += telling;
    if (holding > 0) {
      held_told_ += telling;
      held_most_ += IsBesideTopic(term) ? kTalkBesideTopic * idf : idf;
    }
    for (std::size_t begin = 0, end = 0; begin < held.size(); begin = end) {
      double count = 0;
      for (; end < held.size() && held[end].item == held[begin].item; ++end) {
        count += held[end].count;
      }
      const std::size_t index = held[begin].item;
      const TextView::Item& item = this->item(index);
      holds_[index] |= is_name ? 0 : kHolds;
      covered_[index] += telling * std::min(count, 1.0);
      const double normed = count / text_norm_.Of(item.length);
      words_[index] += idf * Saturated(normed, 1, weights_.k1);
      ScorePassages(std::span(held).subspan(begin, end - begin), item, &windows_[item.first_block],
                    idf);
      if (!neighbours_[item.ns].lend) continue;
      holds_[index] |= kHoldsTerm;
      ShareWithNeighbours(index, normed);
    }
    for (const std::size_t index : touched_) {
      context_[index] += idf * Saturated(counts_[index], 1, weights_.k1);
      if ((holds_[index] & kHoldsTerm) == 0) {
        covered_[index] += telling * std::min(counts_[index], 1.0);
      }
      counts_[index] = 0;
    }
    if (touched_.empty()) return;
    touched_.clear();
    for (const Held& at : held) holds_[at.item] &= kHolds;
  }

  // Of one candidate: what each passage has of the term. A passage begins at each block but
  // the last ones.
  void ScorePassages(std::span<const Held> held, const TextView::Item& item, double* windows,
                     double idf) const {
    const std::uint32_t last = item.blocks() <= kPassageBlocks ? 0 : item.blocks() - kPassageBlocks;
    std::uint32_t passage = 0;  // the first that has not been scored
    for (std::size_t i = 0; i < held.size(); ++i) {
      const std::uint32_t block = held[i].block;
      passage = std::max(passage, block < kPassageBlocks ? 0 : block - kPassageBlocks + 1);
      for (; passage <= std::min(block, last); ++passage) {
        double count = 0;
        for (std::size_t j = i; j < held.size() && held[j].block < passage + kPassageBlocks; ++j) {
          count += held[j].count;
        }
        const double words = std::min(item.length - double{kBlockWords} * passage, kPassageWords);
        windows[passage] += idf * Saturated(count, passage_norm_.Of(words), weights_.k1);
      }
    }
  }

  void AddCount(std::size_t index, double count) {
    if (count == 0) return;
    if (counts_[index] == 0) touched_.push_back(index);
    counts_[index] += count;
  }

  // 1 for a turn, less for what is longer: it has a bit of everything.
  double ShareOf(const TextView::Item& item) const {
    return std::min(weights_.turn / std::max<double>(item.length, 1), 1.0);
  }

  void ShareWithNeighbours(std::size_t index, double count) {
    AddCount(index, count);
    const TextView::Item& item = this->item(index);
    const double share = std::min(count, 1.0) * ShareOf(item);
    const bool asks = (item.flags & RecordReader::kAsks) != 0;
    const double near[] = {weights_.near_1, weights_.near_2, weights_.near_3};
    for (std::ptrdiff_t by = 1; by <= kWindow; ++by) {
      const double answer = by == 1 && asks ? weights_.answer : 0;
      Lend(index, by, (near[by - 1] + answer) * share);
      Lend(index, -by, near[by - 1] * share);
    }
  }

  void Lend(std::size_t index, std::ptrdiff_t by, double count) {
    if (HasNeighbour(index, by)) AddCount(index + static_cast<std::size_t>(by), count);
  }

  // Of the words of a text as a whole and of its best passage, and what neighbours lend.
  void Combine() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == 0 && context_[i] == 0) continue;
      ++plan_.candidates;
      const TextView::Item& item = this->item(i);
      const std::span<const double> windows =
          std::span(windows_).subspan(item.first_block, item.blocks());
      const double whole = words_[i];
      words_[i] =
          (1 - weights_.passage) * whole + weights_.passage * *std::ranges::max_element(windows);
      if (neighbours_[item.ns].lend) context_[i] = std::max(context_[i] - whole, 0.0);
    }
  }

  // Context shows what stands near a match; it is no match.
  void KeepBelowLenders() {
    std::vector<double>& lent = counts_;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (holds_[i] == 0) continue;
      for (std::ptrdiff_t by = -kWindow; by <= kWindow; ++by) {
        if (!HasNeighbour(i, by)) continue;
        double& most_lent = lent[i + static_cast<std::size_t>(by)];
        most_lent = std::max(most_lent, words_[i] + context_[i]);
      }
    }
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (holds_[i] != 0 || lent[i] == 0) continue;
      context_[i] = std::min(context_[i], weights_.borrowed * lent[i]);
    }
  }

  void AddCues() {
    FindDates();
    const double dates = WeightOfDates();
    const bool has_cues = is_one_speaker_ || !asked_.empty();
    double covered = 0, times = 1;
    FindFresh();
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const double text = words_[i] + context_[i], cues = has_cues ? CuesOf(i) : 0;
      // What nothing of the question leads to is no hit, unless the day is asked for.
      if (text == 0 && cues == 0) continue;
      totals_[i] = (text + cues) * FactorOf(i);
      const double dated = std::min(AskedOf(i).dated, dates);
      covered = std::max(covered, covered_[i] + dated);
      if (query_.is_of_user && IsOfUser(item(i))) times = weights_.of_user;
    }
    const double told = std::max(told_ + dates, 1e-9);
    // What no item holds counts as much beside what one does as it tells.
    double most = held_told_ > 0 ? held_most_ * told_ / held_told_ : told_;
    // What a speaker is worth stands beside words, not beside nearly nothing.
    if (is_one_speaker_) most = std::max(most, told_);
    confidence_ = std::min(covered / told, 1.0) / (std::max(most + dates, 1e-9) * times);
  }

  // Most words of a long message say nothing of its matter. Its first hits do: what is like them
  // belongs to it. What holds no word of the question stays where it is, and the best hit's score
  // says as much as before.
  Status AddLikeness() {
    if (!query_.is_message || terms_.size() < kWordsOfMatter) return {};
    std::vector<Scored> best = BestBehind(nullptr, kFollowers);
    if (best.size() < 2) return {};
    const std::vector<Scored> leaders(best.begin(),
                                      best.begin() + std::min(std::ssize(best), kLeaders));
    HeapSort(best, [](const Scored& a, const Scored& b) { return a.candidate < b.candidate; });
    Result<std::vector<double>> likeness = LikenessTo(leaders, best);
    if (!likeness) return likeness.error();
    const Scored& first = leaders.front();
    const double most = first.total / FactorOf(first.candidate);
    for (std::size_t i = 0; i < best.size(); ++i) {
      const std::size_t candidate = best[i].candidate;
      if (holds_[candidate] == 0) continue;
      const double factor = FactorOf(candidate);
      const double added = weights_.likeness * most * factor * (*likeness)[i];
      NoteAsked(candidate).alike = added;
      totals_[candidate] += added;
    }
    confidence_ *= first.total / BestOf(totals_);
    return {};
  }

  // How much each is like the leaders on average, of which the better ones count more.
  Result<std::vector<double>> LikenessTo(std::span<const Scored> leaders,
                                         std::span<const Scored> all) {
    std::vector<std::uint32_t> places;
    for (const auto& [total, candidate] : all) {
      places.push_back(static_cast<std::uint32_t>(candidate));
    }
    std::vector<double> likeness(all.size());
    double weights = 0;
    Likeness of(texts_, of_fields_, text_norm_);
    for (const Scored& leader : leaders) {
      const double share = leader.total / leaders.front().total, weight = share * share;
      weights += weight;
      Status status = source_.RecordOf(IdOf(leader.candidate), [&](ByteView record) {
        of.Choose(record);
        const std::vector<double> like = of.Of(places);
        for (std::size_t i = 0; i < all.size(); ++i) likeness[i] += weight * like[i];
      });
      if (!status.ok()) return std::unexpected(std::move(status));
    }
    for (double& each : likeness) each /= weights;
    return likeness;
  }

  // Of the time that is asked for, among the weights of terms.
  double WeightOfDates() const {
    if (!query_.days.empty()) return weights_.date;
    return query_.periods.empty() ? 0 : weights_.inexact * weights_.date;
  }

  static bool IsOfUser(const TextView::Item& item) {
    return (item.flags & RecordReader::kOfUser) != 0;
  }

  // Who speaks, and when.
  double CuesOf(std::size_t candidate) const {
    double cues = AskedOf(candidate).dated;
    if (words_[candidate] + context_[candidate] == 0) return cues;
    if (is_one_speaker_ && is_named_[item(candidate).speaker]) cues += weights_.speaker;
    return cues;
  }

  // One speaker asks another: the answer follows.
  static bool OnlyAsks(const TextView::Item& item) {
    return item.speaker != 0 && (item.flags & RecordReader::kAsks) != 0 &&
           item.length <= kMaxAsking;
  }

  double FactorOf(std::size_t candidate) const {
    const TextView::Item& item = this->item(candidate);
    double factor = OnlyAsks(item) ? weights_.asking : 1;
    if (!query_.is_of_user) return factor;
    // The user said it, and speaks of himself.
    if (IsOfUser(item)) {
      factor *= weights_.of_user;
      if ((item.flags & RecordReader::kStands) != 0) factor *= weights_.standing;
    }
    if (!fresh_.empty()) factor *= 1 + weights_.recency * fresh_[candidate];
    return factor;
  }

  // What was put last, if a message of the user is answered in a talk.
  void FindFresh() {
    if (!query_.is_of_user || !query_.is_message || !is_talk_) return;
    fresh_.assign(words_.size(), 0);
    const auto is_newer = [&](std::uint32_t a, std::uint32_t b) { return item(a).id > item(b).id; };
    for (std::size_t n = 0; n < neighbours_.size(); ++n) {
      if (!neighbours_[n].is_talk) continue;
      const TextView::NamespaceItems& ns = texts_.namespaces()[n];
      Top<std::uint32_t, decltype(is_newer)> newest(kFresh, is_newer);
      for (std::uint32_t i = ns.first; i < ns.end; ++i) newest.Push(i);
      double newer = 0;
      for (const std::uint32_t i : newest.TakeSorted()) {
        fresh_[i] = std::exp(-newer++ / weights_.fresh_items);
      }
    }
  }

  // What is told on a day, or soon after it happened; or in a month, or a year.
  void FindDates() {
    for (const std::string& period : query_.periods) {
      NoteDate(period, weights_.inexact * weights_.date);
    }
    for (const std::int64_t day : query_.days) {
      for (int after = 0; after <= kLastDayAfter; ++after) {
        NoteDate(NameOfDay(day + after),
                 weights_.date * std::exp(-after / weights_.days_to_forget));
      }
    }
  }

  void NoteDate(const std::string& name, double weight) {
    for (const Held& at : texts_.Find(name, of_fields_)) {
      double& dated = NoteAsked(at.item).dated;
      dated = std::max(dated, weight);
    }
  }

  // Items that are near by vector, and those beside them. The vectors count as far as the
  // embedder is shown to know something, because it may know nothing.
  Status AddMeaning() {
    const double best = BestOf(totals_);
    if (best == 0) return {};
    FindNearest();
    EmbedderCheck check;
    if (Status status = AskItems(check); !status.ok()) return status;
    const std::optional<double> knowledge = check.Knowledge();
    NoteNearness();
    const std::vector<double> near = NearnessInContext();
    plan_.agreement = knowledge ? Share(*knowledge, weights_.beyond_chance, weights_.knowing)
                                : Share(Correlation(near), weights_.unrelated, weights_.agreeing);
    plan_.knows_nothing = knowledge && plan_.agreement == 0;
    const double weight = meaning_.weight * plan_.agreement;
    if (weight == 0) return {};
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      totals_[i] = (1 - weight) * totals_[i] + weight * weights_.nearness * best * near[i];
    }
    return {};
  }

  static double Share(double value, double none, double all) {
    return std::clamp((value - none) / (all - none), 0.0, 1.0);
  }

  // Of the items that are near: they have vectors.
  Status AskItems(EmbedderCheck& check) {
    std::vector<std::int64_t> ids;
    std::map<std::int64_t, std::size_t> with_text;
    for (std::size_t i = 0; i < nearest_.size() && ids.size() < EmbedderCheck::kItems; ++i) {
      ids.push_back(meaning_.nearest[i].id);
      if (nearest_[i] < words_.size()) with_text[ids.back()] = nearest_[i];
    }
    return source_.VectorsOf(ids, [&](std::int64_t id, std::span<const float> vector) {
      const auto known = with_text.find(id);
      if (known != with_text.end()) check.Add(texts_.SketchOf(known->second), vector);
    });
  }

  // An item without text becomes a candidate.
  void FindNearest() {
    std::vector<std::int64_t> ids;
    for (const auto& hit : meaning_.nearest) ids.push_back(hit.id);
    nearest_ = texts_.PlacesOf(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (nearest_[i] < words_.size()) continue;
      const auto other = std::ranges::find(others_, ids[i]);
      nearest_[i] = words_.size() + static_cast<std::size_t>(other - others_.begin());
      if (other != others_.end()) continue;
      others_.push_back(ids[i]);
      totals_.push_back(0);
    }
  }

  // 0 for the last of those that are given, 1 for their mean.
  void NoteNearness() {
    nearness_.assign(totals_.size(), 0);
    const double last = *meaning_.nearest.back().score;
    double mean = 0;
    for (const auto& hit : meaning_.nearest) mean += *hit.score - last;
    mean /= static_cast<double>(meaning_.nearest.size());
    if (!(mean > 0)) return;
    for (std::size_t i = 0; i < nearest_.size(); ++i) {
      nearness_[nearest_[i]] = (*meaning_.nearest[i].score - last) / mean;
    }
  }

  std::vector<double> NearnessInContext() const {
    std::vector<double> near = nearness_;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (nearness_[i] == 0) continue;
      const bool asks = (item(i).flags & RecordReader::kAsks) != 0;
      const double share = ShareOf(item(i)) * nearness_[i];
      if (HasNeighbour(i, 1)) {
        near[i + 1] += (weights_.near_1 + (asks ? weights_.near_answer : 0)) * share;
      }
      if (HasNeighbour(i, -1)) near[i - 1] += weights_.near_1 * share;
    }
    return near;
  }

  // How scores and nearness go together: about 0 for vectors that know nothing of the question.
  double Correlation(const std::vector<double>& near) const {
    double count = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (std::size_t i = 0; i < near.size(); ++i) {
      const double score = totals_[i];
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

  // What lacks a word of a phrase does not hold the phrase: nobody need read it.
  void DropWithoutPhrases() {
    std::vector<bool> holds;
    for (const Phrase& phrase : query_.phrases) {
      for (const Phrase::Word& word : phrase.words) {
        holds.assign(totals_.size(), false);
        // In fields without weight, too.
        for (const Held& at : texts_.Find(word.token, of_fields_)) holds[at.item] = true;
        for (std::size_t i = 0; i < holds.size(); ++i) {
          if (!holds[i]) totals_[i] = 0;
        }
      }
    }
  }

  // Asks the source some at a time: of a filter that few pass, more are asked for.
  Result<std::vector<TextHit>> Hits(std::size_t most) {
    std::vector<TextHit> hits;
    std::vector<Scored> some;
    for (std::size_t at_once = std::max(most, kWantedAtOnce); hits.size() < most; at_once *= 2) {
      some = BestBehind(some.empty() ? nullptr : &some.back(), at_once);
      if (Status status = AddWanted(some, most, hits); !status.ok()) {
        return std::unexpected(std::move(status));
      }
      if (some.size() < at_once) break;
    }
    return hits;
  }

  std::vector<Scored> BestBehind(const Scored* last, std::size_t most) const {
    const auto is_before = [&](const Scored& a, const Scored& b) {
      return a.total != b.total ? a.total > b.total : IdOf(a.candidate) < IdOf(b.candidate);
    };
    Top<Scored, decltype(is_before)> best(most, is_before);
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      const Scored scored{totals_[i], i};
      if (scored.total > 0 && (last == nullptr || is_before(*last, scored))) best.Push(scored);
    }
    return best.TakeSorted();
  }

  Status AddWanted(std::span<const Scored> some, std::size_t most, std::vector<TextHit>& hits) {
    std::vector<std::int64_t> ids;
    for (const Scored& each : some) ids.push_back(IdOf(each.candidate));
    const Result<std::vector<bool>> wanted = source_.Wanted(ids, most - hits.size());
    if (!wanted) return wanted.error();
    for (std::size_t i = 0; i < wanted->size(); ++i) {
      if (!(*wanted)[i]) continue;
      TextScore score = PartsOf(some[i].candidate);
      score.total = some[i].total;
      const double surety = score.total * confidence_;
      hits.push_back({ids[i], plan_.trust * surety / (surety + 1), score});
    }
    return {};
  }

  TextScore PartsOf(std::size_t candidate) const {
    if (candidate >= words_.size()) return {};
    const Asked& asked = AskedOf(candidate);
    return {.words = words_[candidate],
            .context = context_[candidate],
            .cues = CuesOf(candidate) + asked.alike};
  }

  const TextView& texts_;
  const TextQuery& query_;
  const TextConfig& config_;
  const Meaning& meaning_;
  TextSource& source_;
  TextPlan& plan_;
  const TextWeights& weights_;
  const FieldWeights of_fields_;
  std::vector<TextTerm> terms_;
  std::vector<bool> names_speaker_;  // terms
  std::vector<bool> is_named_;       // speakers, by the question
  bool is_talk_ = false;             // in one of the namespaces
  bool has_topic_ = false;           // a word that says what is asked for
  bool is_one_speaker_ = false;      // whom the question names
  std::size_t corrections_left_ = kMaxCorrections;

  std::vector<Neighbours> neighbours_;  // by namespace
  double items_ = 0;
  Norm text_norm_, passage_norm_;
  // Weights of terms: all of them by what they tell, those that an item holds, and about what one
  // has that holds these.
  double told_ = 0, held_told_ = 0, held_most_ = 0;
  double confidence_ = 0;  // times a score: how far it and its question are to be trusted

  // Of candidates:
  std::vector<double> words_;         // BM25 of the item alone
  std::vector<double> context_;       // BM25 with what neighbours have of the terms, then without
  std::vector<double> covered_;       // of the weight of all terms, what it and its neighbours hold
  std::vector<double> totals_;        // then of others_, too
  std::vector<double> counts_;        // of one term, neighbours' included
  std::vector<std::uint8_t> holds_;   // kHolds…
  std::vector<Asked> asked_;          // empty if nothing of it is asked for
  std::vector<double> fresh_;         // 1 for what was put last; empty if that does not count
  std::vector<double> nearness_;      // by vector; about 1 for those that are near
  std::vector<std::size_t> nearest_;  // those that are near by vector, in their order
  std::vector<std::int64_t> others_;  // ids of items without text that are near by vector
  std::vector<std::size_t> touched_;  // whose counts are not 0
  std::vector<double> windows_;       // scores of passages, by their first blocks
};

}  // namespace

Result<std::vector<TextHit>> SearchText(const TextView& texts, const TextQuery& query,
                                        const TextConfig& config, TextSource& source,
                                        std::size_t most, TextPlan& plan, const Meaning& meaning,
                                        const TextWeights& weights) {
  if (query.asks_nothing) plan.trust = kAsksNothing;
  if (query.empty()) return {};
  return TextRanking(texts, query, config, meaning, source, plan, weights).Run(most);
}

}  // namespace keepsake::search
