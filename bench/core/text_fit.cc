// Tries other weights of the ranking by words (search::TextWeights) on several sets of text at
// once. bench/recall-kinds.mjs --data=data.tsv makes the data:
//
//   text_fit data.tsv                 recall@10 and nDCG@10 of each set, beside plain, worst first
//   text_fit data.tsv --each          what each number earns: each set without it
//   text_fit data.tsv --fit           steps that raise the sum of all sets
//   text_fit data.tsv name=value …    the first table with these instead
//   … --sample=n                      each nth question
//
//   data      := (set | "talk" | item | question)*   a line each, separated by tabs
//   set       := "set" name plain-recall plain-ndcg
//   item      := "item" key value
//   question  := "question" text keys-with-commas items-before
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/text_index.h"
#include "text/text_record.h"
#include "text/text_search.h"

namespace keepsake {
namespace {

using search::TextWeights;

constexpr std::size_t kFound = 10;
// What falls below its first figure counts so many times.
constexpr double kLoss = 4;
constexpr int kRounds = 4;

struct Worth {
  double recall = 0, ndcg = 0;
};

struct Question {
  search::TextQuery query;
  std::set<std::string> gold;
  std::size_t before;
};

struct Talk {
  std::vector<std::string> keys;
  std::vector<Bytes> records;
  std::vector<Question> questions;
  // Of the items before a question.
  mutable std::map<std::size_t, search::TextIndex> indexes;
};

struct Set {
  std::string name;
  Worth plain;
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
  Status VectorsOf(std::span<const std::int64_t>,
                   FunctionRef<void(std::int64_t, std::span<const float>)>) override {
    return {};
  }

 private:
  const std::vector<Bytes>& records_;
};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<Set> ReadSets(const char* path, std::size_t sample) {
  std::vector<Set> sets;
  std::size_t questions = 0;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = Split(line, '\t');
    if (parts[0] == "set") {
      const Worth plain{std::atof(parts[2].c_str()), std::atof(parts[3].c_str())};
      sets.push_back({.name = parts[1], .plain = plain, .talks = {}});
    } else if (parts[0] == "talk") {
      sets.back().talks.emplace_back();
    } else if (parts[0] == "item") {
      Talk& talk = sets.back().talks.back();
      talk.keys.push_back(parts[1]);
      talk.records.push_back(search::MakeTextRecord(parts[2], {}));
    } else if (questions++ % sample == 0) {
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
          index->second.Put(static_cast<std::int64_t>(i + 1), "n\x1F", talk.records[i]);
        }
        if (is_new) (void)index->second.Flush();
      }
    }
  }
  return sets;
}

void AddWorth(const std::vector<search::TextHit>& hits, const Talk& talk, const Question& question,
              Worth& sum) {
  const auto gain = [](std::size_t i) { return 1 / std::log2(static_cast<double>(i) + 2); };
  double found = 0, gained = 0, best = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (!question.gold.contains(talk.keys[static_cast<std::size_t>(hits[i].id - 1)])) continue;
    ++found;
    gained += gain(i);
  }
  const std::size_t most = std::min(kFound, question.gold.size());
  for (std::size_t i = 0; i < most; ++i) best += gain(i);
  sum.recall += found / static_cast<double>(most);
  sum.ndcg += gained / best;
}

Worth WorthOf(const Set& set, const TextWeights& weights) {
  Worth sum;
  double count = 0;
  for (const Talk& talk : set.talks) {
    Everything source(talk.records);
    for (const Question& question : talk.questions) {
      search::TextPlan plan;
      const auto texts = *talk.indexes.at(question.before).View("");
      const auto hits = SearchText(*texts, question.query, {}, source, kFound, plan, {}, weights);
      AddWorth(*hits, talk, question, sum);
      ++count;
    }
  }
  return {sum.recall / count, sum.ndcg / count};
}

std::vector<Worth> WorthsOf(const std::vector<Set>& sets, const TextWeights& weights) {
  std::vector<Worth> worths;
  for (const Set& set : sets) worths.push_back(WorthOf(set, weights));
  return worths;
}

struct Named {
  const char* name;
  double TextWeights::* weight;
  double none;  // with which the rule does nothing
};
constexpr Named kNamed[] = {
    {"k1", &TextWeights::k1, 0},
    {"b", &TextWeights::b, 0},
    {"burstiness", &TextWeights::burstiness, 0},
    {"passage", &TextWeights::passage, 0},
    {"inexact", &TextWeights::inexact, 0},
    {"asking_word", &TextWeights::asking_word, 1},
    {"usual_items", &TextWeights::usual_items, 0},
    {"near_1", &TextWeights::near_1, 0},
    {"near_2", &TextWeights::near_2, 0},
    {"near_3", &TextWeights::near_3, 0},
    {"answer", &TextWeights::answer, 0},
    {"turn", &TextWeights::turn, 1e9},
    {"borrowed", &TextWeights::borrowed, 1e9},
    {"coherent_items", &TextWeights::coherent_items, 1e9},
    {"speaker", &TextWeights::speaker, 0},
    {"name", &TextWeights::name, 1},
    {"asking", &TextWeights::asking, 1},
    {"date", &TextWeights::date, 0},
    {"days_to_forget", &TextWeights::days_to_forget, 0},
    {"of_user", &TextWeights::of_user, 1},
    {"standing", &TextWeights::standing, 1},
    {"recency", &TextWeights::recency, 0},
    {"fresh_items", &TextWeights::fresh_items, 0},
    {"likeness", &TextWeights::likeness, 0},
};

// The worst first.
void PrintBesidePlain(const std::vector<Set>& sets, const TextWeights& weights) {
  struct Row {
    const Set* set;
    Worth worth;
    double above() const {
      return std::min(worth.recall - set->plain.recall, worth.ndcg - set->plain.ndcg);
    }
  };
  std::vector<Row> rows;
  for (const Set& set : sets) rows.push_back({&set, WorthOf(set, weights)});
  std::ranges::sort(rows, {}, &Row::above);
  for (const Row& row : rows) {
    const Worth &plain = row.set->plain, &worth = row.worth;
    std::printf("%-10s recall %.4f %.4f %+.4f   ndcg %.4f %.4f %+.4f\n", row.set->name.c_str(),
                plain.recall, worth.recall, worth.recall - plain.recall, plain.ndcg, worth.ndcg,
                worth.ndcg - plain.ndcg);
  }
}

// In thousandths of recall@10 and nDCG@10: what is lost without it.
void PrintEach(const std::vector<Set>& sets) {
  const std::vector<Worth> all = WorthsOf(sets, {});
  std::printf("%-20s", "");
  for (const Set& set : sets) std::printf(" %13.13s", set.name.c_str());
  std::printf(" %13s\n", "mean");
  for (const Named& named : kNamed) {
    TextWeights weights;
    weights.*named.weight = named.none;
    const std::vector<Worth> without = WorthsOf(sets, weights);
    std::printf("%-20s", named.name);
    Worth mean;
    const auto count = static_cast<double>(sets.size());
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const double recall = 1000 * (all[i].recall - without[i].recall);
      const double ndcg = 1000 * (all[i].ndcg - without[i].ndcg);
      std::printf(" %+6.1f %+6.1f", recall, ndcg);
      mean.recall += recall / count;
      mean.ndcg += ndcg / count;
    }
    std::printf(" %+6.1f %+6.1f\n", mean.recall, mean.ndcg);
    std::fflush(stdout);
  }
}

class Fit {
 public:
  explicit Fit(const std::vector<Set>& sets) : sets_(sets), first_(WorthsOf(sets, weights_)) {
    best_ = first_;
    for (const Named& named : kNamed) steps_.push_back(std::max(0.05, weights_.*named.weight / 4));
  }

  void Run() {
    Print("as they are");
    for (int round = 0; round < kRounds; ++round) {
      bool has_gained = false;
      for (std::size_t i = 0; i < steps_.size(); ++i) {
        has_gained |= Try(kNamed[i], steps_[i]) || Try(kNamed[i], -steps_[i]);
      }
      for (double& step : steps_) step *= has_gained ? 1 : 0.5;
    }
  }

 private:
  static double Loss(double first, double now) { return kLoss * std::max(first - now, 0.0); }
  double Sum(const std::vector<Worth>& worths) const {
    double sum = 0;
    for (std::size_t i = 0; i < worths.size(); ++i) {
      sum += worths[i].recall - Loss(first_[i].recall, worths[i].recall) + worths[i].ndcg -
             Loss(first_[i].ndcg, worths[i].ndcg);
    }
    return sum;
  }
  bool Try(const Named& named, double step) {
    TextWeights tried = weights_;
    tried.*named.weight = std::max(tried.*named.weight + step, 0.0);
    const std::vector<Worth> worths = WorthsOf(sets_, tried);
    if (Sum(worths) <= Sum(best_) + 1e-5) return false;
    weights_ = tried;
    best_ = worths;
    Print((std::string(named.name) + "=" + std::to_string(weights_.*named.weight)).c_str());
    return true;
  }
  void Print(const char* what) const {
    std::printf("%s:", what);
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      std::printf(" %s %.4f %.4f", sets_[i].name.c_str(), best_[i].recall, best_[i].ndcg);
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  const std::vector<Set>& sets_;
  TextWeights weights_;
  std::vector<double> steps_;
  std::vector<Worth> first_, best_;
};

int Run(const char* path, std::span<const char* const> options) {
  std::size_t sample = 1;
  bool is_each = false, is_fit = false;
  TextWeights weights;
  for (const std::string_view option : options) {
    const std::size_t is = option.find('=');
    const std::string_view name = option.substr(0, is);
    const double value = is == option.npos ? 0 : std::atof(option.data() + is + 1);
    is_each |= name == "--each";
    is_fit |= name == "--fit";
    if (name == "--sample") sample = static_cast<std::size_t>(value);
    for (const Named& named : kNamed) {
      if (name == named.name) weights.*named.weight = value;
    }
  }
  const std::vector<Set> sets = ReadSets(path, sample);
  if (is_each) {
    PrintEach(sets);
  } else if (is_fit) {
    Fit(sets).Run();
  } else {
    PrintBesidePlain(sets, weights);
  }
  return 0;
}

}  // namespace
}  // namespace keepsake

int main(int count, char** arguments) {
  if (count < 2) return std::fprintf(stderr, "usage: text_fit data.tsv [option …]\n"), 2;
  return keepsake::Run(arguments[1], std::span(arguments + 2, static_cast<std::size_t>(count - 2)));
}
