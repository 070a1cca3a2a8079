#include "text/text_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/order.h"
#include "text/dates.h"
#include "text/text_record.h"

namespace keepsake::search {
namespace {

constexpr int kLastDayAfter = 14;
// A misspelled word counts so much for each letter that is wrong.
constexpr double kTypo = 0.3;
constexpr std::size_t kMaxAlternatives = 64;
// Words of a question for which others are tried: each is compared with all that begin as it does.
constexpr std::size_t kMaxCorrections = 16;
// Groups whose items are all read: those of the best items.
constexpr std::size_t kMaxGroups = 256;
constexpr std::size_t kMinNickname = 3;

constexpr std::size_t kNoGroup = std::numeric_limits<std::size_t>::max();

// The probabilistic weight of a term that `matching` of `all` hold; never negative.
double Idf(double all, double matching) {
  return std::log(1 + (std::max(all, matching) - matching + 0.5) / (matching + 0.5));
}

double Saturated(double occurrences, double saturation) {
  return occurrences * (saturation + 1) / (occurrences + saturation);
}

struct Candidate {
  std::int64_t id;
  std::string ns;
  std::string key;
  std::size_t group;
  double position;
  Bytes record;
  bool is_wanted;

  double length = 0;
  double length_norm = 1;
  bool asks = false;
  bool tells_time = false;
  bool tells_number = false;
  std::vector<std::int64_t> days;
  std::vector<std::string> months;
  bool is_speaker = false;  // the question names who speaks here
  double covered = 0;       // the weight of the terms that it and its neighbours hold
  double nearness = 0;      // by vector; about 1 for those that are near
  bool is_hit = false;
  TextScore score;
};

// Items of one group that follow each other.
struct Group {
  std::string id;                    // the namespace, NUL, the group
  double best = 0;                   // the weight of the terms in the item that holds most of them
  double count = 0;                  // of one term
  std::vector<std::size_t> members;  // candidates, by position
  double length = 0;
  double score = 0;
};

// A term in a candidate.
struct Occurrence {
  std::size_t candidate;
  double count;
};

class TextRanking {
 public:
  TextRanking(TextSource& source, const TextQuery& query, const TextConfig& config,
              const Meaning& meaning, std::uint64_t max_candidates, TextPlan& plan,
              const TextWeights& weights)
      : source_(source),
        query_(query),
        config_(config),
        meaning_(meaning),
        max_candidates_(max_candidates),
        plan_(plan),
        weights_(weights),
        terms_(query.terms) {}

  Result<std::vector<TextHit>> Run() {
    const Result<TextScope> scope = source_.Scope();
    if (!scope) return std::unexpected(scope.error());
    scope_ = *scope;
    if (Status status = Collect(); !status.ok()) return std::unexpected(std::move(status));
    if (!config_.group.empty()) {
      if (Status status = CollectGroups(); !status.ok()) return std::unexpected(std::move(status));
    }
    plan_.items = scope_.items;
    plan_.candidates = candidates_.size();
    plan_.has_phrases = !query_.phrases.empty();
    CollectNearest();
    Count();
    ScoreTerms();
    AddCues();
    if (meaning_.weight > 0 && !meaning_.nearest.empty()) {
      if (Status status = AddMeaning(); !status.ok()) return std::unexpected(std::move(status));
    }
    return Hits();
  }

 private:
  Status Collect() {
    const auto add = [&](const TextItem& item) { AddCandidate(item); };
    const Result<std::vector<TextTerm>> selective = SelectiveTerms();
    if (!selective) return selective.error();
    Status status = source_.Matching(*selective, max_candidates_, add);
    if (!status.ok()) return status;
    // A word that no item holds is looked for as the words that are nearly it.
    std::vector<TextTerm> corrected;
    std::size_t left = kMaxCorrections;
    for (std::size_t t = 0; t < terms_.size() && left > 0 && status.ok(); ++t) {
      if (!terms_[t].may_be_misspelled || IsHeld(t)) continue;
      status = AddNearTokens(terms_[t]);
      --left;
      if (terms_[t].alternatives.size() > 1) corrected.push_back(terms_[t]);
    }
    if (!status.ok() || corrected.empty()) return status;
    return source_.Matching(corrected, max_candidates_, add);
  }

  // All terms, unless so many items may hold them that only the rarest can be looked for:
  // those that together have no more than max_candidates_, and one at least.
  Result<std::vector<TextTerm>> SelectiveTerms() {
    if (scope_.items <= max_candidates_) return terms_;
    counts_in_scope_.clear();
    std::uint64_t sum = 0;
    for (const TextTerm& term : terms_) {
      const Result<std::uint64_t> count = source_.Count(term, scope_.items);
      if (!count) return std::unexpected(count.error());
      counts_in_scope_.push_back(*count);
      sum += *count;
    }
    if (sum <= max_candidates_) {
      counts_in_scope_.clear();
      return terms_;
    }
    plan_.is_capped = true;
    std::vector<TextTerm> selective;
    sum = 0;
    for (const std::size_t t : OrderOf(terms_.size(), [&](std::size_t a, std::size_t b) {
           return counts_in_scope_[a] != counts_in_scope_[b]
                      ? counts_in_scope_[a] < counts_in_scope_[b]
                      : a < b;
         })) {
      if (counts_in_scope_[t] == 0) continue;
      sum += counts_in_scope_[t];
      if (!selective.empty() && sum > max_candidates_) break;
      selective.push_back(terms_[t]);
    }
    return selective;
  }

  bool IsHeld(std::size_t index) const {
    if (!counts_in_scope_.empty()) return counts_in_scope_[index] > 0;
    const TextTerm& term = terms_[index];
    return std::ranges::any_of(candidates_, [&](const Candidate& candidate) {
      RecordReader reader(candidate.record);
      while (reader.Next()) {
        if (term.alternatives[0].Matches(reader.token())) return true;
      }
      return false;
    });
  }

  // Hardly anybody gets the first letter wrong.
  Status AddNearTokens(TextTerm& term) {
    const std::string word = term.alternatives[0].token;
    const std::size_t most = AllowedTypos(word);
    std::vector<Alternative> near;
    std::size_t first = 1;
    while (first < word.size() && (static_cast<unsigned char>(word[first]) & 0xC0) == 0x80) ++first;
    Status status = source_.Tokens(word.substr(0, first), [&](std::string_view token) {
      const std::size_t distance = EditDistance(word, token, most);
      if (distance == 0 || distance > most) return;
      near.push_back({.token = std::string(token),
                      .is_prefix = false,
                      .weight = distance == 1 ? kTypo : kTypo * kTypo});
    });
    std::vector<std::size_t> order = OrderOf(near.size(), [&](std::size_t a, std::size_t b) {
      return near[a].weight != near[b].weight ? near[a].weight > near[b].weight
                                              : near[a].token < near[b].token;
    });
    if (order.size() > kMaxAlternatives) order.resize(kMaxAlternatives);
    for (const std::size_t i : order) term.alternatives.push_back(std::move(near[i]));
    return status;
  }

  void AddCandidate(const TextItem& item) {
    if (!known_.try_emplace(item.id, candidates_.size()).second) return;
    candidates_.push_back({.id = item.id,
                           .ns = std::string(item.ns),
                           .key = std::string(item.key),
                           .group = GroupOf(item),
                           .position = item.position,
                           .record = Bytes(item.record.begin(), item.record.end()),
                           .is_wanted = item.is_wanted});
  }

  // The groups of the items that hold most of the question, as a whole: a neighbour
  // that holds nothing of it may be the answer.
  Status CollectGroups() {
    for (const Candidate& candidate : candidates_) {
      if (candidate.group == kNoGroup) continue;
      double& best = groups_[candidate.group].best;
      best = std::max(best, WeightOfTermsIn(candidate));
    }
    std::vector<std::size_t> order = OrderOf(groups_.size(), [&](std::size_t a, std::size_t b) {
      const Group &one = groups_[a], &other = groups_[b];
      return one.best != other.best ? one.best > other.best : one.id < other.id;
    });
    if (order.size() > kMaxGroups) order.resize(kMaxGroups);
    for (const std::size_t index : order) {
      if (candidates_.size() > 2 * max_candidates_) break;
      const std::string id = groups_[index].id;
      const std::size_t end_of_ns = id.find('\0');
      Status status = source_.InGroup(std::string_view(id).substr(0, end_of_ns),
                                      std::string_view(id).substr(end_of_ns + 1),
                                      [&](const TextItem& item) { AddCandidate(item); });
      if (!status.ok()) return status;
    }
    return {};
  }

  // What is near and holds nothing of the question, in no group that does.
  void CollectNearest() {
    for (const auto& hit : meaning_.nearest) {
      AddCandidate({.id = hit.id,
                    .ns = {},
                    .key = {},
                    .group = {},
                    .position = 0,
                    .record = {},
                    .is_wanted = !plan_.has_phrases});
    }
  }

  std::size_t GroupOf(const TextItem& item) {
    if (item.group.empty()) return kNoGroup;
    std::string id(item.ns);
    (id += '\0') += item.group;
    const auto [entry, is_new] = group_of_id_.try_emplace(id, groups_.size());
    if (is_new) groups_.push_back({.id = std::move(id), .members = {}});
    return entry->second;
  }

  double WeightOfTermsIn(const Candidate& candidate) const {
    double weight = 0;
    RecordReader reader(candidate.record);
    while (reader.Next()) {
      for (const TextTerm& term : terms_) {
        for (const Alternative& alternative : term.alternatives) {
          if (alternative.Matches(reader.token())) weight += term.weight * alternative.weight;
        }
      }
    }
    return weight;
  }

  // Reads the records: who holds which term, and what else is told.
  void Count() {
    candidates_ =
        InOrder(candidates_, OrderOf(candidates_.size(), [&](std::size_t a, std::size_t b) {
                  const Candidate &one = candidates_[a], &other = candidates_[b];
                  return one.ns != other.ns ? one.ns < other.ns : one.key < other.key;
                }));
    occurrences_.resize(terms_.size());
    speaks_for_.assign(terms_.size(), false);
    for (std::size_t i = 0; i < candidates_.size(); ++i) CountIn(i);
    FindGroups();
    KeepSpeakersApart();
  }

  void CountIn(std::size_t index) {
    Candidate& candidate = candidates_[index];
    RecordReader reader(candidate.record);
    candidate.asks = reader.asks();
    candidate.tells_time = reader.tells_time();
    candidate.tells_number = reader.tells_number();
    const double mean =
        scope_.items == 0 ? 1
                          : static_cast<double>(scope_.length) / static_cast<double>(scope_.items);
    candidate.length = reader.length();
    candidate.length_norm = 1 - weights_.length_penalty +
                            weights_.length_penalty * candidate.length / std::max(mean, 1.0);
    NoteSpeaker(reader.speaker(), candidate);
    while (reader.Next()) {
      for (std::size_t t = 0; t < terms_.size(); ++t) CountTerm(t, index, reader);
      NoteDate(reader.token(), candidate);
    }
    candidate.record = {};
  }

  void CountTerm(std::size_t term, std::size_t index, const RecordReader& reader) {
    for (const Alternative& alternative : terms_[term].alternatives) {
      if (!alternative.Matches(reader.token())) continue;
      const double count = alternative.weight * reader.Weighted(config_);
      std::vector<Occurrence>& occurrences = occurrences_[term];
      if (!occurrences.empty() && occurrences.back().candidate == index) {
        occurrences.back().count += count;
      } else if (count > 0) {
        occurrences.push_back({index, count});
      }
      return;
    }
  }

  void NoteDate(std::string_view token, Candidate& candidate) const {
    if (query_.days.empty() && query_.months.empty()) return;
    if (const std::optional<std::int64_t> day = DayOfName(token)) {
      candidate.days.push_back(*day);
    } else if (std::ranges::find(query_.months, token) != query_.months.end()) {
      candidate.months.emplace_back(token);
    }
  }

  // A name in the question, or the beginning of one: Mel is Melanie,
  // but a car is not Caroline.
  void NoteSpeaker(std::string_view names, Candidate& candidate) {
    while (!names.empty()) {
      names.remove_prefix(1);  // a space
      const std::string_view name = names.substr(0, names.find(' '));
      names.remove_prefix(name.size());
      for (std::size_t t = 0; t < terms_.size(); ++t) {
        const Alternative& term = terms_[t].alternatives[0];
        const bool is_named =
            name == term.token || (terms_[t].is_capitalized && term.token.size() >= kMinNickname &&
                                   name.starts_with(term.token));
        if (!is_named) continue;
        candidate.is_speaker = true;
        speaks_for_[t] = true;
        if (std::ranges::find(speakers_, name) == speakers_.end()) speakers_.emplace_back(name);
      }
    }
  }

  // The name of who speaks says which items are meant, not what they hold; and
  // nothing if everybody is named.
  void KeepSpeakersApart() {
    bool has_other = false;
    for (std::size_t t = 0; t < terms_.size(); ++t) has_other |= !speaks_for_[t];
    if (!has_other) return;
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      if (speaks_for_[t]) occurrences_[t].clear();
    }
  }

  void FindGroups() {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const std::size_t group = candidates_[i].group;
      if (group != kNoGroup) groups_[group].members.push_back(i);
    }
    place_.resize(candidates_.size());
    double length = 0;
    for (Group& group : groups_) {
      SortStable(group.members, [&](std::size_t a, std::size_t b) {
        return candidates_[a].position < candidates_[b].position;
      });
      for (std::size_t place = 0; place < group.members.size(); ++place) {
        const std::size_t member = group.members[place];
        place_[member] = place;
        group.length += candidates_[member].length;
      }
      length += group.length;
    }
    if (!groups_.empty()) mean_group_length_ = length / static_cast<double>(groups_.size());
  }

  void ScoreTerms() {
    counts_.assign(candidates_.size(), 0);
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      const std::vector<Occurrence>& occurrences = occurrences_[t];
      if (occurrences.empty()) continue;
      // Of a search that was capped, not all that hold the term are candidates.
      const bool is_counted = !counts_in_scope_.empty() && counts_in_scope_[t] > 0;
      const std::uint64_t holding = is_counted ? counts_in_scope_[t] : occurrences.size();
      const double idf =
          terms_[t].weight * Idf(static_cast<double>(scope_.items), static_cast<double>(holding));
      most_ += idf;
      ScoreWords(occurrences, idf);
      ScoreGroups(occurrences, terms_[t].weight);
    }
  }

  void ScoreWords(const std::vector<Occurrence>& occurrences, double idf) {
    touched_.clear();
    for (const Occurrence& occurrence : occurrences) {
      Candidate& candidate = candidates_[occurrence.candidate];
      const double count = occurrence.count / candidate.length_norm;
      candidate.score.words += idf * Saturated(count, weights_.saturation);
      AddCount(occurrence.candidate, count);
      ShareWithNeighbours(occurrence.candidate, std::min(count, 1.0));
    }
    for (const std::size_t index : touched_) {
      Candidate& candidate = candidates_[index];
      candidate.score.total += idf * Saturated(counts_[index], weights_.saturation);
      candidate.covered += idf * std::min(counts_[index], 1.0);
      counts_[index] = 0;
    }
  }

  void AddCount(std::size_t index, double count) {
    if (count == 0) return;
    if (counts_[index] == 0) touched_.push_back(index);
    counts_[index] += count;
  }

  void ShareWithNeighbours(std::size_t index, double count) {
    const Candidate& candidate = candidates_[index];
    if (candidate.group == kNoGroup) return;
    const std::vector<std::size_t>& members = groups_[candidate.group].members;
    const std::size_t place = place_[index];
    for (std::size_t distance = 1; distance <= weights_.earlier.size(); ++distance) {
      if (place + distance < members.size()) {
        const double answer = distance == 1 && candidate.asks ? weights_.answer : 0;
        AddCount(members[place + distance], (weights_.earlier[distance - 1] + answer) * count);
      }
      if (distance <= place)
        AddCount(members[place - distance], weights_.later[distance - 1] * count);
    }
  }

  // BM25 with the group as the document.
  void ScoreGroups(const std::vector<Occurrence>& occurrences, double weight) {
    std::vector<std::size_t> holding;
    for (const Occurrence& occurrence : occurrences) {
      const std::size_t index = candidates_[occurrence.candidate].group;
      if (index == kNoGroup) continue;
      if (groups_[index].count == 0) holding.push_back(index);
      groups_[index].count += occurrence.count;
    }
    const double idf =
        Idf(static_cast<double>(groups_.size()), static_cast<double>(holding.size()));
    for (const std::size_t index : holding) {
      Group& group = groups_[index];
      const double length = group.length / std::max(mean_group_length_, 1.0);
      group.score +=
          weight * idf * group.count / (group.count + weights_.group_saturation * length);
      group.count = 0;
    }
  }

  void AddCues() {
    for (Candidate& candidate : candidates_) {
      TextScore& score = candidate.score;
      const double covered = most_ > 0 ? candidate.covered / most_ : 1;
      score.words *= 1 - weights_.coverage + weights_.coverage * covered;
      score.total *= 1 - weights_.coverage + weights_.coverage * covered;
      if (candidate.group != kNoGroup)
        score.total += weights_.group * groups_[candidate.group].score;
      score.context = score.total - score.words;
      // What nothing of the question leads to is no hit, unless the day is asked for.
      score.cues = CuesOf(candidate);
      const double dated = DateCue(candidate);
      if (score.total > 0 || dated > 0) score.total += score.cues + dated;
      score.cues += dated;
      candidate.is_hit = score.total > 0;
      if (candidate.asks && candidate.group != kNoGroup) score.total *= weights_.asking;
    }
  }

  double CuesOf(const Candidate& candidate) const {
    double cues = 0;
    if (candidate.is_speaker && speakers_.size() == 1) cues += weights_.speaker;
    if (query_.asks_when && candidate.tells_time) cues += weights_.when;
    if (query_.asks_how_many && candidate.tells_number) cues += weights_.how_many;
    return cues;
  }

  // What is told on a day, or soon after it happened.
  double DateCue(const Candidate& candidate) const {
    double best = candidate.months.empty() || !query_.days.empty() ? 0 : weights_.same_month;
    for (const std::int64_t asked : query_.days) {
      for (const std::int64_t told : candidate.days) {
        const std::int64_t after = told - asked;
        if (after == 0) best = std::max(best, weights_.same_day);
        if (after > 0 && after <= kLastDayAfter) {
          best = std::max(best, weights_.day_after * std::exp(-static_cast<double>(after) /
                                                              weights_.days_to_forget));
        }
      }
    }
    return best;
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
      if (!candidates_[i].is_hit && near[i] > 0) {
        candidates_[i].is_hit = true;
        score.total = plan_.agreement * score.cues;
      }
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
    const double last = *meaning_.nearest.back().score;
    double mean = 0;
    for (const auto& hit : meaning_.nearest) mean += *hit.score - last;
    mean /= static_cast<double>(meaning_.nearest.size());
    if (!(mean > 0)) return;
    std::unordered_map<std::int64_t, double> of_id;
    for (const auto& hit : meaning_.nearest) of_id[hit.id] = (*hit.score - last) / mean;
    for (Candidate& candidate : candidates_) {
      const auto found = of_id.find(candidate.id);
      if (found != of_id.end()) candidate.nearness = found->second;
    }
  }

  std::vector<double> NearnessInContext() const {
    std::vector<double> near(candidates_.size());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& candidate = candidates_[i];
      near[i] += candidate.nearness;
      if (candidate.group == kNoGroup || candidate.nearness == 0) continue;
      const std::vector<std::size_t>& members = groups_[candidate.group].members;
      const std::size_t place = place_[i];
      if (place + 1 < members.size()) {
        near[members[place + 1]] +=
            (weights_.near_earlier + (candidate.asks ? weights_.near_answer : 0)) *
            candidate.nearness;
      }
      if (place > 0) near[members[place - 1]] += weights_.near_later * candidate.nearness;
    }
    return near;
  }

  // How scores and nearness go together: about 0 for vectors that know nothing of the question.
  double Correlation(const std::vector<double>& near) const {
    const double count = static_cast<double>(near.size());
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (std::size_t i = 0; i < near.size(); ++i) {
      const double score = candidates_[i].score.total;
      x += score;
      y += near[i];
      xx += score * score;
      yy += near[i] * near[i];
      xy += score * near[i];
    }
    const double spread = (xx - x * x / count) * (yy - y * y / count);
    return spread > 0 ? (xy - x * y / count) / std::sqrt(spread) : 0;
  }

  std::vector<TextHit> Hits() const {
    std::vector<TextHit> hits;
    const double scale = std::max(most_, 1e-9);
    for (const Candidate& candidate : candidates_) {
      const double total = candidate.score.total;
      if (!candidate.is_wanted || !candidate.is_hit) continue;
      hits.push_back({candidate.id, total / (total + scale), candidate.score});
    }
    // Candidates lie in the order of namespace and key.
    return InOrder(hits, OrderOf(hits.size(), [&](std::size_t a, std::size_t b) {
                     return hits[a].score > hits[b].score;
                   }));
  }

  TextSource& source_;
  const TextQuery& query_;
  const TextConfig& config_;
  const Meaning& meaning_;
  std::uint64_t max_candidates_;
  TextPlan& plan_;
  const TextWeights& weights_;
  std::vector<TextTerm> terms_;
  std::vector<std::uint64_t> counts_in_scope_;  // of terms, if the search is capped
  TextScope scope_;

  std::vector<Candidate> candidates_;
  std::unordered_map<std::int64_t, std::size_t> known_;  // ids, while candidates are collected
  std::vector<std::vector<Occurrence>> occurrences_;     // of each term, by candidate
  std::vector<bool> speaks_for_;                         // terms that name a speaker
  std::vector<std::string> speakers_;                    // who are named
  std::map<std::string, std::size_t> group_of_id_;
  std::vector<Group> groups_;
  std::vector<std::size_t> place_;  // of a candidate in its group
  double mean_group_length_ = 0;
  double most_ = 0;  // the weight of all terms: about what an item has that holds all

  std::vector<double> counts_;        // of one term, neighbours' included
  std::vector<std::size_t> touched_;  // whose counts are not 0
};

}  // namespace

Result<std::vector<TextHit>> SearchText(TextSource& source, const TextQuery& query,
                                        const TextConfig& config, TextPlan& plan,
                                        const Meaning& meaning, std::uint64_t max_candidates,
                                        const TextWeights& weights) {
  if (query.empty()) return {};
  return TextRanking(source, query, config, meaning, max_candidates, plan, weights).Run();
}

}  // namespace keepsake::search
