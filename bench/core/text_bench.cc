// What a question by words costs without the boundary: of an index that was just opened, of one
// that has answered before, and after something was put.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "page_table.h"
#include "text/text_index.h"
#include "text/text_record.h"
#include "text/text_search.h"

namespace keepsake::search {
namespace {

// The n-th word is 1/n as frequent as the first.
class Texts {
 public:
  std::string Some(int least, int most) {
    std::uniform_int_distribution<int> length(least, most);
    std::string text;
    for (int left = length(random_); left > 0; --left) text += Word() + ' ';
    return text;
  }

 private:
  std::string Word() {
    static constexpr const char* kSyllables[] = {"ka", "lo",  "mi",  "ren", "sta", "vo",
                                                 "tu", "bel", "nor", "pi",  "gra", "shu"};
    std::uniform_real_distribution<double> share(0, 1);
    auto number = static_cast<std::uint32_t>(std::pow(20'000.0, share(random_)));
    std::string word;
    for (std::uint32_t left = number * 2'654'435'761U >> 8; left > 0 && word.size() < 12;
         left /= 12) {
      word += kSyllables[left % 12];
    }
    return word;
  }

  std::mt19937 random_{7};
};

class Source final : public TextSource {
 public:
  Result<std::vector<bool>> Wanted(std::span<const std::int64_t> ids, std::size_t enough) override {
    return std::vector<bool>(std::min(ids.size(), enough), true);
  }
  Status RecordOf(std::int64_t, FunctionRef<void(ByteView)>) override { return {}; }
  Status VectorsOf(std::span<const std::int64_t>,
                   FunctionRef<void(std::int64_t, std::span<const float>)>) override {
    return {};
  }
};

// Short texts in 50 namespaces.
struct Filled {
  explicit Filled(std::int64_t items) : last(items) {
    TextIndex index(&table);
    for (std::int64_t id = 1; id <= items; ++id) {
      Put(index, id);
      if (index.IsFull()) static_cast<void>(index.Flush());
    }
    static_cast<void>(index.Flush());
    while (*index.Merge()) continue;
    table.Keep(index);
    for (int i = 0; i < 64; ++i) questions.push_back(ParseTextQuery(texts.Some(5, 5), {}));
  }
  void Put(TextIndex& index, std::int64_t id) {
    index.Put(id, "n" + std::to_string(id % 50) + "\x1F",
              MakeTextRecord(R"({"text":")" + texts.Some(8, 32) + "\"}", {}));
  }
  static Filled& Of(std::int64_t items) {
    static std::map<std::int64_t, std::unique_ptr<Filled>> all;
    std::unique_ptr<Filled>& filled = all[items];
    if (filled == nullptr) filled = std::make_unique<Filled>(items);
    return *filled;
  }
  void Ask(TextIndex& index) {
    Source source;
    TextPlan plan;
    const auto texts_of = index.View("n");
    benchmark::DoNotOptimize(
        SearchText(**texts_of, questions[next++ % questions.size()], {}, source, 10, plan));
  }

  Texts texts;
  PageTable table;
  std::vector<TextQuery> questions;
  std::size_t next = 0;
  std::int64_t last;
};

void BM_FirstQuestion(benchmark::State& state) {
  Filled& filled = Filled::Of(state.range(0));
  for (auto _ : state) {
    TextIndex index(&filled.table);
    index.Restore(filled.table.state);
    filled.Ask(index);
  }
}

void BM_LaterQuestion(benchmark::State& state) {
  Filled& filled = Filled::Of(state.range(0));
  TextIndex index(&filled.table);
  index.Restore(filled.table.state);
  for (auto _ : state) filled.Ask(index);
}

void BM_QuestionAfterPut(benchmark::State& state) {
  Filled& filled = Filled::Of(state.range(0));
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

BENCHMARK(BM_Analysis)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Segments)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_FirstQuestion)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_LaterQuestion)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_QuestionAfterPut)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace keepsake::search
