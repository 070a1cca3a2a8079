// Fits the weights of the ranking by words (search::TextWeights) to conversations, and tells
// what they are worth on the one that they were not fitted to. bench/recall.mjs --fit makes
// the data and runs it:
//
//   text_fit data.tsv words                        the weights of words
//   text_fit data.tsv vectors dims name=file …     those of nearness, with each embedder's
//                                                  float32 vectors; the first one is to gain
//
//   data      := (conversation | turn | question)*   a line each, separated by tabs
//   conversation   id
//   turn           key, value, numbers of its vectors
//   question       text, keys of the turns that answer it, number of its vector
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "store/fusion.h"
#include "store/memory/memory_text_index.h"
#include "text/embedder_check.h"
#include "text/text_search.h"

namespace keepsake {
namespace {

using search::TextWeights;

struct Turn {
  std::string key, value;
  std::vector<std::size_t> vectors;
};
struct Question {
  std::string text;
  std::set<std::string> evidence;
  std::size_t vector;
};
struct Conversation {
  std::string id;
  std::vector<Turn> turns;
  std::vector<Question> questions;
  MemoryTextIndex index;
};

TextConfig Config() {
  return {.fields = {{"text", 1}, {"caption", 0.7}, {"date", 0}},
          .group = "session",
          .position = "turn",
          .speaker = "speaker"};
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<Conversation> ReadConversations(const char* path) {
  std::vector<Conversation> conversations;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = Split(line, '\t');
    if (parts[0] == "conversation") {
      conversations.push_back({.id = parts[1], .turns = {}, .questions = {}, .index = {}});
    } else if (parts[0] == "turn") {
      Turn turn{.key = parts[1], .value = parts[2], .vectors = {}};
      for (const std::string& number : Split(parts[3], ','))
        turn.vectors.push_back(std::stoul(number));
      Conversation& last = conversations.back();
      last.index.Put(static_cast<std::int64_t>(last.turns.size()), "n\x1F",
                     search::MakeTextEntry(turn.value, Config()));
      last.turns.push_back(std::move(turn));
    } else {
      const std::vector<std::string> keys = Split(parts[2], ',');
      conversations.back().questions.push_back(
          {parts[1], {keys.begin(), keys.end()}, std::stoul(parts[3])});
    }
  }
  return conversations;
}

using Nearest = std::vector<Hit<std::int64_t>>;

struct Embedder {
  std::string name;
  std::size_t dims;
  std::vector<float> vectors;                 // of all texts, each of length 1
  std::vector<std::vector<Nearest>> nearest;  // of each question of each conversation

  std::span<const float> VectorOf(std::size_t number) const {
    return std::span(vectors).subspan(number * dims, dims);
  }
};

class Source final : public search::TextSource {
 public:
  // `embedder` is null where words are all.
  Source(const Conversation& conversation, const Embedder* embedder)
      : conversation_(conversation), embedder_(embedder) {}

  Result<search::TextScope> Scope() override { return conversation_.index.Scope("n\x1F"); }
  Result<std::uint64_t> Count(const search::TextTerm& term, std::uint64_t) override {
    return conversation_.index.Count(term, "n\x1F");
  }
  Status Matching(const std::vector<search::TextTerm>& terms, std::uint64_t,
                  const search::TextItemCallback& add) override {
    conversation_.index.Matching(terms, [&](std::int64_t id, const MemoryTextIndex::Entry& entry) {
      Give(id, entry, add);
      return true;
    });
    return {};
  }
  Status InGroup(std::string_view ns, std::string_view group,
                 const search::TextItemCallback& add) override {
    conversation_.index.InGroup(
        ns, group,
        [&](std::int64_t id, const MemoryTextIndex::Entry& entry) { Give(id, entry, add); });
    return {};
  }
  Status Tokens(std::string_view beginning, FunctionRef<void(std::string_view)> add) override {
    conversation_.index.Tokens(beginning, add);
    return {};
  }
  // The first by path is that of the caption, if there is one.
  Status Embedded(std::span<const std::int64_t> ids, search::EmbedderCheck& check) override {
    for (const std::int64_t id : ids) {
      const Turn& turn = conversation_.turns[static_cast<std::size_t>(id)];
      const MemoryTextIndex::Entry* entry = conversation_.index.Find(id);
      if (entry != nullptr) check.Add(entry->text.record, embedder_->VectorOf(turn.vectors.back()));
    }
    return {};
  }

 private:
  void Give(std::int64_t id, const MemoryTextIndex::Entry& entry,
            const search::TextItemCallback& add) const {
    add({.id = id,
         .ns = entry.ns,
         .key = conversation_.turns[static_cast<std::size_t>(id)].key,
         .group = entry.text.group,
         .position = entry.text.position,
         .record = entry.text.record,
         .is_wanted = true});
  }

  const Conversation& conversation_;
  const Embedder* embedder_;
};

Embedder ReadEmbedder(const std::string& name, const std::string& path, std::size_t dims,
                      const std::vector<Conversation>& conversations) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<float> vectors(bytes.size() / sizeof(float));
  std::memcpy(vectors.data(), bytes.data(), vectors.size() * sizeof(float));
  for (std::size_t at = 0; at < vectors.size(); at += dims) {
    double norm = 0;
    for (std::size_t i = 0; i < dims; ++i) norm += double{vectors[at + i]} * vectors[at + i];
    for (std::size_t i = 0; i < dims; ++i) vectors[at + i] /= static_cast<float>(std::sqrt(norm));
  }
  Embedder embedder{.name = name, .dims = dims, .vectors = std::move(vectors), .nearest = {}};
  const auto cosine = [&](std::size_t a, std::size_t b) {
    const std::span<const float> one = embedder.VectorOf(a), other = embedder.VectorOf(b);
    float sum = 0;
    for (std::size_t i = 0; i < dims; ++i) sum += one[i] * other[i];
    return double{sum};
  };
  for (const Conversation& conversation : conversations) {
    std::vector<Nearest>& of_questions = embedder.nearest.emplace_back();
    for (const Question& question : conversation.questions) {
      Nearest hits;
      for (std::size_t turn = 0; turn < conversation.turns.size(); ++turn) {
        double best = -1;
        for (const std::size_t vector : conversation.turns[turn].vectors) {
          best = std::max(best, cosine(vector, question.vector));
        }
        hits.push_back({static_cast<std::int64_t>(turn), best});
      }
      std::ranges::stable_sort(hits,
                               [](const auto& a, const auto& b) { return *a.score > *b.score; });
      hits.resize(std::min<std::size_t>(hits.size(), search::kVectorHits));
      of_questions.push_back(std::move(hits));
    }
  }
  return embedder;
}

struct Recall {
  double at5 = 0, at10 = 0, questions = 0;

  Recall& operator+=(const Recall& other) {
    at5 += other.at5;
    at10 += other.at10;
    questions += other.questions;
    return *this;
  }
  double worth() const { return (at5 + at10) / 2 / questions; }
};

// Of the conversation with this number.
Recall Measure(const Conversation& conversation, std::size_t number, const Embedder* embedder,
               const TextWeights& weights) {
  Recall recall;
  Source source(conversation, embedder);
  for (std::size_t q = 0; q < conversation.questions.size(); ++q) {
    const Question& question = conversation.questions[q];
    search::Meaning meaning;
    if (embedder != nullptr) {
      meaning = {.nearest = embedder->nearest[number][q], .weight = Ranking().vector_weight};
    }
    search::TextPlan plan;
    const auto hits =
        search::SearchText(source, search::ParseTextQuery(question.text, Language::kEnglish),
                           Config(), plan, meaning, search::kMaxCandidates, weights);
    double found = 0;
    for (std::size_t i = 0; hits && i < std::min<std::size_t>(10, hits->size()); ++i) {
      const auto turn = static_cast<std::size_t>((*hits)[i].id);
      if (question.evidence.contains(conversation.turns[turn].key)) ++found;
      if (i == 4) recall.at5 += found / static_cast<double>(question.evidence.size());
    }
    if (hits && hits->size() < 5)
      recall.at5 += found / static_cast<double>(question.evidence.size());
    recall.at10 += found / static_cast<double>(question.evidence.size());
    ++recall.questions;
  }
  return recall;
}

struct Knob {
  const char* name;
  double& (*of)(TextWeights&);
};

#define KEEPSAKE_KNOB(name)                                             \
  Knob {                                                                \
    #name, [](TextWeights& weights) -> double& { return weights.name; } \
  }

const std::vector<Knob> kWords = {
    KEEPSAKE_KNOB(saturation),       KEEPSAKE_KNOB(length_penalty), KEEPSAKE_KNOB(earlier[0]),
    KEEPSAKE_KNOB(earlier[1]),       KEEPSAKE_KNOB(earlier[2]),     KEEPSAKE_KNOB(later[0]),
    KEEPSAKE_KNOB(later[1]),         KEEPSAKE_KNOB(answer),         KEEPSAKE_KNOB(group),
    KEEPSAKE_KNOB(group_saturation), KEEPSAKE_KNOB(speaker),        KEEPSAKE_KNOB(when),
    KEEPSAKE_KNOB(how_many),         KEEPSAKE_KNOB(asking),         KEEPSAKE_KNOB(same_day),
    KEEPSAKE_KNOB(day_after),        KEEPSAKE_KNOB(same_month),     KEEPSAKE_KNOB(coverage)};
const std::vector<Knob> kVectors = {KEEPSAKE_KNOB(nearness), KEEPSAKE_KNOB(near_earlier),
                                    KEEPSAKE_KNOB(near_later), KEEPSAKE_KNOB(near_answer)};

class Fit {
 public:
  Fit(const std::vector<Conversation>& conversations, const std::vector<Embedder>& embedders)
      : conversations_(conversations), embedders_(embedders) {}

  // Of one embedder, or of words alone (-1).
  Recall Of(std::size_t conversation, int embedder, const TextWeights& weights) {
    std::string key(reinterpret_cast<const char*>(&weights), sizeof(weights));
    key += std::to_string(conversation) + '/' + std::to_string(embedder);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    const Embedder* by = embedder < 0 ? nullptr : &embedders_[static_cast<std::size_t>(embedder)];
    return known_[key] = Measure(conversations_[conversation], conversation, by, weights);
  }

  Recall Among(const std::vector<std::size_t>& some, int embedder, const TextWeights& weights) {
    Recall sum;
    for (const std::size_t conversation : some) sum += Of(conversation, embedder, weights);
    return sum;
  }

  // What the first embedder finds; the others must not find less than the words do.
  double Worth(const std::vector<std::size_t>& some, const TextWeights& weights) {
    if (embedders_.empty()) return Among(some, -1, weights).worth();
    const Recall words = Among(some, -1, weights);
    double worth = Among(some, 0, weights).worth();
    for (int weak = 1; weak < std::ssize(embedders_); ++weak) {
      const Recall recall = Among(some, weak, weights);
      worth -= 2 * std::max(0.0, (words.at5 - recall.at5) / words.questions);
      worth -= 2 * std::max(0.0, (words.at10 - recall.at10) / words.questions);
    }
    return worth;
  }

  // One knob after the other, a large step up or down and then a small one, if that helps.
  TextWeights Best(const std::vector<std::size_t>& some, const std::vector<Knob>& knobs) {
    TextWeights best;
    double worth = Worth(some, best);
    for (const double step : {1.4, 1.15}) {
      for (const Knob& knob : knobs) {
        for (const double factor : {step, 1 / step}) {
          TextWeights tried = best;
          knob.of(tried) *= factor;
          const double found = Worth(some, tried);
          if (found <= worth + 1e-4) continue;
          best = tried;
          worth = found;
          break;
        }
      }
    }
    return best;
  }

 private:
  const std::vector<Conversation>& conversations_;
  const std::vector<Embedder>& embedders_;
  std::map<std::string, Recall> known_;
};

void PrintRow(const std::string& name, const std::function<Recall(int)>& recall, int embedders) {
  std::printf("| %s", name.c_str());
  for (int embedder = -1; embedder < embedders; ++embedder) {
    const Recall of = recall(embedder);
    std::printf(" | %.4f / %.4f", of.at5 / of.questions, of.at10 / of.questions);
  }
  std::printf(" |\n");
  std::fflush(stdout);
}

// What EmbedderCheck makes of each embedder, over all questions of a conversation.
void PrintKnowledge(const std::vector<Conversation>& conversations,
                    const std::vector<Embedder>& embedders) {
  std::printf("What is known of the items, least / median / most (%g to count, %g in full):\n\n|",
              TextWeights().ignorant, TextWeights().knowing);
  for (const Embedder& embedder : embedders) std::printf(" | %s", embedder.name.c_str());
  std::printf(" |\n|---|");
  for (std::size_t i = 0; i < embedders.size(); ++i) std::printf("---|");
  for (std::size_t c = 0; c < conversations.size(); ++c) {
    std::printf("\n| %s", conversations[c].id.c_str());
    for (const Embedder& embedder : embedders) {
      Source source(conversations[c], &embedder);
      std::vector<double> known;
      for (const Nearest& nearest : embedder.nearest[c]) {
        std::vector<std::int64_t> ids;
        for (const auto& hit : nearest) ids.push_back(hit.id);
        ids.resize(std::min(ids.size(), search::EmbedderCheck::kItems));
        const TextConfig config = Config();
        search::EmbedderCheck check(config);
        (void)source.Embedded(ids, check);
        known.push_back(check.Knowledge().value_or(0));
      }
      std::ranges::sort(known);
      std::printf(" | %.1f / %.1f / %.1f", known.front(), known[known.size() / 2], known.back());
    }
    std::printf(" |");
  }
  std::printf("\n\n");
}

std::string Changes(TextWeights weights, const std::vector<Knob>& knobs) {
  TextWeights defaults;
  std::string changes;
  for (const Knob& knob : knobs) {
    char text[64];
    std::snprintf(text, sizeof(text), " %s %.3g", knob.name, knob.of(weights));
    if (knob.of(weights) != knob.of(defaults)) changes += text;
  }
  return changes.empty() ? " as they are" : changes;
}

int Run(int argc, char** argv) {
  const std::vector<Conversation> conversations = ReadConversations(argv[1]);
  const bool is_of_words = std::strcmp(argv[2], "words") == 0;
  std::vector<Embedder> embedders;
  for (int i = 4; i < argc; ++i) {
    const std::vector<std::string> parts = Split(argv[i], '=');
    embedders.push_back(ReadEmbedder(parts[0], parts[1], std::stoul(argv[3]), conversations));
  }
  const std::vector<Knob>& knobs = is_of_words ? kWords : kVectors;
  Fit fit(conversations, embedders);
  const int count = static_cast<int>(embedders.size());
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < conversations.size(); ++i) all.push_back(i);
  if (!is_of_words) PrintKnowledge(conversations, embedders);
  std::printf("| weights | words |");
  for (const Embedder& embedder : embedders) std::printf(" %s |", embedder.name.c_str());
  std::printf("\n|---|---|");
  for (int i = 0; i < count; ++i) std::printf("---|");
  std::printf("\n");
  PrintRow("of the core", [&](int e) { return fit.Among(all, e, TextWeights()); }, count);
  std::vector<TextWeights> left_out;
  for (const std::size_t one : all) {
    std::vector<std::size_t> others = all;
    std::erase(others, one);
    left_out.push_back(fit.Best(others, knobs));
    std::fprintf(stderr, "without %s:%s\n", conversations[one].id.c_str(),
                 Changes(left_out.back(), knobs).c_str());
  }
  PrintRow(
      "fitted to the other four",
      [&](int e) {
        Recall sum;
        for (const std::size_t one : all) sum += fit.Of(one, e, left_out[one]);
        return sum;
      },
      count);
  const TextWeights best = fit.Best(all, knobs);
  PrintRow("fitted to all five", [&](int e) { return fit.Among(all, e, best); }, count);
  std::printf("\nfitted to all five:%s\n", Changes(best, knobs).c_str());
  return 0;
}

}  // namespace
}  // namespace keepsake

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  return keepsake::Run(argc, argv);
}
