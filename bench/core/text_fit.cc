// Fits the weights of the ranking by words (search::TextWeights) to several sets of text at
// once. bench/recall-kinds.mjs --fit makes the data and runs it:
//
//   text_fit data.tsv
//
//   data      := (set | "talk" | item | question)*   a line each, separated by tabs
//   set       := "set" name ("recall" | "rank")       recall@10, or nDCG@10
//   item      := "item" key value
//   question  := "question" text keys-with-commas items-before
//
// A step is taken if it raises the sum of all sets, where what falls below its first figure
// counts four times.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "text/text_record.h"
#include "text/text_search.h"

namespace keepsake {
namespace {

using search::TextWeights;

constexpr std::size_t kFound = 10;
constexpr double kLoss = 4;
constexpr int kRounds = 4;

struct Question {
  search::TextQuery query;
  std::set<std::string> gold;
  std::size_t before;
};

struct Talk {
  std::vector<std::string> keys;
  std::vector<Bytes> records;
  std::vector<Question> questions;
  std::map<std::size_t, search::TextIndex> indexes;  // of the items before a question
};

struct Set {
  std::string name;
  bool is_by_rank;
  std::vector<Talk> talks;
};

class Everything final : public search::TextSource {
 public:
  explicit Everything(const std::vector<Bytes>& records) : records_(records) {}

  Result<std::vector<bool>> Wanted(std::span<const std::int64_t> ids, std::size_t enough) override {
    return std::vector<bool>(std::min(ids.size(), enough), true);
  }
  Status RecordOf(std::int64_t id, FunctionRef<void(ByteView)> use) override {
    use(records_[static_cast<std::size_t>(id - 1)]);
    return {};
  }
  Status Embedded(std::span<const std::int64_t>, search::EmbedderCheck&) override { return {}; }

 private:
  const std::vector<Bytes>& records_;
};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<Set> ReadSets(const char* path) {
  std::vector<Set> sets;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = Split(line, '\t');
    if (parts[0] == "set") {
      sets.push_back({.name = parts[1], .is_by_rank = parts[2] == "rank", .talks = {}});
    } else if (parts[0] == "talk") {
      sets.back().talks.emplace_back();
    } else if (parts[0] == "item") {
      Talk& talk = sets.back().talks.back();
      talk.keys.push_back(parts[1]);
      talk.records.push_back(search::MakeTextEntry(parts[2], {}).record);
    } else {
      const std::vector<std::string> keys = Split(parts[2], ',');
      sets.back().talks.back().questions.push_back(
          {search::ParseTextQuery(parts[1], Language::kEnglish),
           {keys.begin(), keys.end()},
           std::stoul(parts[3])});
    }
  }
  for (Set& set : sets) {
    for (Talk& talk : set.talks) {
      for (const Question& question : talk.questions) {
        const auto [index, is_new] = talk.indexes.try_emplace(question.before);
        for (std::size_t i = 0; is_new && i < question.before; ++i) {
          index->second.Put(static_cast<std::int64_t>(i + 1), "n\x1F", talk.records[i], {});
        }
      }
    }
  }
  return sets;
}

double WorthOf(const std::vector<search::TextHit>& hits, const Talk& talk, const Question& question,
               bool is_by_rank) {
  double got = 0, all = 0;
  const auto gain = [&](std::size_t i) {
    return is_by_rank ? 1 / std::log2(static_cast<double>(i) + 2) : 1;
  };
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (question.gold.contains(talk.keys[static_cast<std::size_t>(hits[i].id - 1)])) got += gain(i);
  }
  const std::size_t most =
      is_by_rank ? std::min(kFound, question.gold.size()) : question.gold.size();
  for (std::size_t i = 0; i < most; ++i) all += gain(i);
  return got / all;
}

double Worth(const Set& set, const TextWeights& weights) {
  double sum = 0, count = 0;
  for (const Talk& talk : set.talks) {
    Everything source(talk.records);
    for (const Question& question : talk.questions) {
      search::TextPlan plan;
      const auto hits = SearchText(talk.indexes.at(question.before), "", question.query, {}, source,
                                   kFound, plan, {}, weights);
      sum += WorthOf(*hits, talk, question, set.is_by_rank);
      ++count;
    }
  }
  return sum / count;
}

std::map<std::string, double*> NamesOf(TextWeights& weights) {
  std::map<std::string, double*> names = {
      {"saturation", &weights.saturation},
      {"length_penalty", &weights.length_penalty},
      {"length_penalty_by_spread", &weights.length_penalty_by_spread},
      {"passage", &weights.passage},
      {"passage_penalty", &weights.passage_penalty},
      {"answer", &weights.answer},
      {"near_by", &weights.near_by},
      {"fading", &weights.fading},
      {"repeated", &weights.repeated},
      {"asking", &weights.asking},
      {"beside", &weights.beside},
      {"speaker", &weights.speaker},
      {"when", &weights.when},
      {"how_many", &weights.how_many},
      {"of_user", &weights.of_user},
      {"standing", &weights.standing},
      {"recency", &weights.recency},
      {"likeness", &weights.likeness},
      {"fresh_items", &weights.fresh_items},
      {"same_day", &weights.same_day},
      {"same_month", &weights.same_month},
      {"same_year", &weights.same_year}};
  for (std::size_t i = 0; i < weights.earlier.size(); ++i) {
    names["earlier " + std::to_string(i + 1)] = &weights.earlier[i];
    names["later " + std::to_string(i + 1)] = &weights.later[i];
  }
  return names;
}

class Fit {
 public:
  explicit Fit(std::vector<Set> sets) : sets_(std::move(sets)), first_(WorthsOf(weights_)) {
    best_ = first_;
    for (const auto& [name, weight] : NamesOf(weights_)) {
      steps_[name] = std::max(0.05, *weight / 4);
    }
  }

  void Run() {
    Print("as they are");
    for (int round = 0; round < kRounds; ++round) {
      bool has_gained = false;
      for (const auto& [name, step] : steps_) has_gained |= Try(name, step) || Try(name, -step);
      for (auto& [name, step] : steps_) step *= has_gained ? 1 : 0.5;
    }
  }

 private:
  std::vector<double> WorthsOf(const TextWeights& weights) const {
    std::vector<double> worths;
    for (const Set& set : sets_) worths.push_back(Worth(set, weights));
    return worths;
  }
  double Sum(const std::vector<double>& worths) const {
    double sum = 0;
    for (std::size_t i = 0; i < worths.size(); ++i) {
      sum += worths[i] - kLoss * std::max(first_[i] - worths[i], 0.0);
    }
    return sum;
  }
  bool Try(const std::string& name, double step) {
    TextWeights tried = weights_;
    double& weight = *NamesOf(tried).at(name);
    weight = std::max(weight + step, 0.0);
    const bool is_share = name == "passage" || name == "passage_penalty" || name == "fading";
    if (is_share && weight > 0.95) return false;
    const std::vector<double> worths = WorthsOf(tried);
    if (Sum(worths) <= Sum(best_) + 1e-5) return false;
    weights_ = tried;
    best_ = worths;
    Print((name + " " + std::to_string(weight)).c_str());
    return true;
  }
  void Print(const char* what) const {
    std::printf("%s:", what);
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      std::printf(" %s %.4f", sets_[i].name.c_str(), best_[i]);
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  std::vector<Set> sets_;
  TextWeights weights_;
  std::map<std::string, double> steps_;
  std::vector<double> first_, best_;
};

}  // namespace
}  // namespace keepsake

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: text_fit data.tsv\n"), 2;
  keepsake::Fit(keepsake::ReadSets(arguments[1])).Run();
}
