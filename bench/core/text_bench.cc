// What a question by words costs without the boundary: of an index that was just opened, of one
// that has answered before, and after something was put.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "page_table.h"
#include "text/text_index.h"
#include "text/text_record.h"
#include "text/text_search.h"

namespace keepsake::search {
namespace {

enum Kind : std::int64_t { kWords, kCodes, kNumbers, kChinese };

// The n-th word is 1/n as frequent as the first.
class Texts {
 public:
  explicit Texts(Kind kind = kWords) : kind_(kind) {}

  std::string Some(int least, int most) {
    std::uniform_int_distribution<int> length(least, most);
    std::string text;
    for (int left = length(random_); left > 0; --left)
      text += kind_ == kChinese ? Chinese() : Word() + ' ';
    return text;
  }

 private:
  static constexpr double kDistinct = 20'000;

  std::string Chinese() {
    std::uniform_real_distribution<double> share(0, 1);
    const auto number = static_cast<std::uint32_t>(std::pow(kDistinct, share(random_)));
    std::mt19937 word(number);
    std::string text;
    for (auto left = 1 + word() % 3; left > 0; --left) {
      const double where = share(word);
      const auto point = static_cast<std::uint32_t>(0x4E00 + 3000 * where * where);
      text += static_cast<char>(0xE0 | point >> 12);
      text += static_cast<char>(0x80 | (point >> 6 & 0x3F));
      text += static_cast<char>(0x80 | (point & 0x3F));
    }
    return text;
  }

  std::string Word() {
    static constexpr const char* kSyllables[] = {"ka", "lo",  "mi",  "ren", "sta", "vo",
                                                 "tu", "bel", "nor", "pi",  "gra", "shu"};
    std::uniform_real_distribution<double> share(0, 1);
    auto number = static_cast<std::uint32_t>(std::pow(kDistinct, share(random_)));
    if (kind_ == kNumbers) return std::to_string(number * 2'654'435'761U);
    if (kind_ == kCodes) return "w" + std::to_string(number * 2'654'435'761U);
    std::string word;
    for (std::uint32_t left = number * 2'654'435'761U >> 8; left > 0 && word.size() < 12;
         left /= 12) {
      word += kSyllables[left % 12];
    }
    return word;
  }

  Kind kind_;
  std::mt19937 random_{7};
};

class Source final : public TextSource {
 public:
  explicit Source(const std::vector<Bytes>& records) : records_(records) {}

  Result<std::vector<bool>> Wanted(std::span<const std::int64_t> ids, std::size_t enough) override {
    return std::vector<bool>(std::min(ids.size(), enough), true);
  }
  Status RecordOf(std::int64_t id, FunctionRef<void(ByteView)> use) override {
    use(records_[static_cast<std::size_t>(id) - 1]);
    return {};
  }
  Status VectorsOf(std::span<const std::int64_t>,
                   FunctionRef<void(std::int64_t, std::span<const float>)>) override {
    return {};
  }

 private:
  const std::vector<Bytes>& records_;  // by id
};

// Short texts in 50 namespaces; longer ones of Chinese.
struct Filled {
  Filled(Kind kind, std::int64_t items)
      : texts(kind), least(kind == kChinese ? 100 : 8), last(items) {
    TextIndex index(&table);
    for (std::int64_t id = 1; id <= items; ++id) {
      Put(index, id);
      if (index.IsFull()) static_cast<void>(index.Flush());
    }
    static_cast<void>(index.Flush());
    while (*index.Merge()) continue;
    table.Keep(index);
    for (int i = 0; i < 64; ++i) questions.push_back(ParseTextQuery(texts.Some(6, 6), {}));
  }
  void Put(TextIndex& index, std::int64_t id) {
    const std::string value = R"({"text":")" + texts.Some(least, least + 24) + "\"}";
    records.resize(static_cast<std::size_t>(id));
    records.back() = MakeTextRecord(value, {});
    index.Put(id, "n" + std::to_string(id % 50) + "\x1F", records.back());
  }
  static Filled& Of(const benchmark::State& state) {
    static std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Filled>> all;
    std::unique_ptr<Filled>& filled = all[{state.range(0), state.range(1)}];
    if (filled == nullptr) {
      filled = std::make_unique<Filled>(static_cast<Kind>(state.range(1)), state.range(0));
    }
    return *filled;
  }
  void Ask(TextIndex& index) {
    Source source(records);
    TextPlan plan;
    const auto texts_of = index.View("n");
    benchmark::DoNotOptimize(
        SearchText(**texts_of, questions[next++ % questions.size()], {}, source, 10, plan));
  }

  Texts texts;
  int least;
  std::vector<Bytes> records;
  PageTable table;
  std::vector<TextQuery> questions;
  std::size_t next = 0;
  std::int64_t last;
};

void BM_FirstQuestion(benchmark::State& state) {
  Filled& filled = Filled::Of(state);
  for (auto _ : state) {
    TextIndex index(&filled.table);
    index.Restore(filled.table.state);
    filled.Ask(index);
  }
}

void BM_LaterQuestion(benchmark::State& state) {
  Filled& filled = Filled::Of(state);
  TextIndex index(&filled.table);
  index.Restore(filled.table.state);
  for (auto _ : state) filled.Ask(index);
}

void BM_QuestionAfterPut(benchmark::State& state) {
  Filled& filled = Filled::Of(state);
  TextIndex index(&filled.table);
  index.Restore(filled.table.state);
  std::int64_t id = filled.last;
  for (auto _ : state) {
    filled.Put(index, ++id);
    if (index.IsFull()) static_cast<void>(index.Flush());
    filled.Ask(index);
  }
}

// Of texts of some 250 words.
void BM_Analysis(benchmark::State& state) {
  Texts texts;
  std::vector<std::string> values;
  for (int i = 0; i < 64; ++i) values.push_back(R"({"text":")" + texts.Some(150, 350) + "\"}");
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(MakeTextRecord(values[next++ % values.size()], {}));
  }
}

// The segments of them, without their analysis.
void BM_Segments(benchmark::State& state) {
  Texts texts;
  std::vector<Bytes> records;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    records.push_back(MakeTextRecord(R"({"text":")" + texts.Some(150, 350) + "\"}", {}));
  }
  for (auto _ : state) {
    PageTable table;
    TextIndex index(&table);
    std::int64_t id = 0;
    for (const Bytes& record : records) {
      index.Add(++id, "n", record);
      if (id % 200 != 0) continue;
      static_cast<void>(index.Flush());
      table.Keep(index);
    }
    while (*index.Merge()) continue;
  }
}

void Sets(benchmark::internal::Benchmark* bench) {
  bench->Unit(benchmark::kMillisecond)->ArgNames({"items", "kind"});
  for (const Kind kind : {kWords, kCodes, kNumbers, kChinese}) bench->Args({10'000, kind});
  bench->Args({100'000, kWords});
}

BENCHMARK(BM_Analysis)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Segments)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_FirstQuestion)->Apply(Sets);
BENCHMARK(BM_LaterQuestion)->Apply(Sets);
BENCHMARK(BM_QuestionAfterPut)->Apply(Sets);

}  // namespace
}  // namespace keepsake::search
