// An agent's memory in a file: what it knows, found by words and by meaning, and where its
// conversation stands. Run it twice: the second run goes on where the first one stopped.
#include <keepsake/json.h>
#include <keepsake/memory.h>

#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

using Json = nlohmann::json;

// Errors are values; here they end the program.
void Check(const keepsake::Status& status) {
  if (status.ok()) return;
  std::cerr << keepsake::StatusCodeName(status.code()) << ": " << status.message() << "\n";
  std::exit(1);
}

template <typename T>
T ValueOf(keepsake::Result<T> result) {
  if (!result) Check(result.error());
  return *std::move(result);
}

// Stands in for a model: vectors of two subjects, drinks and weather.
class TwoSubjects final : public keepsake::Embedder {
 public:
  keepsake::Result<std::vector<std::vector<float>>> EmbedDocuments(
      std::span<const std::string> texts) override {
    std::vector<std::vector<float>> vectors;
    for (const std::string& text : texts) vectors.push_back(VectorOf(text));
    return vectors;
  }
  keepsake::Result<std::vector<float>> EmbedQuery(const std::string& text) override {
    return VectorOf(text);
  }

 private:
  static std::vector<float> VectorOf(const std::string& text) {
    const auto has = [&](auto... words) { return (text.contains(words) || ...) ? 1.F : .1F; };
    return {has("tea", "thirsty"), has("rain", "umbrella")};
  }
};

void Remember(keepsake::Store& store) {
  const keepsake::Namespace ada = {"users", "ada"};  // a path; a search covers what is below it
  const auto put = [&](const char* key, const Json& value) {
    ValueOf(keepsake::PutJson(store, ada, key, value));  // which would mask secrets, and name them
  };
  put("drink", {{"text", "She likes green tea"}, {"since", 2019}});
  put("walk", {{"text", "She walks in the rain"}, {"since", 2004}});
}

void Search(keepsake::Store& store, keepsake::SearchMode mode, std::string query) {
  std::cout << query << "\n";
  const std::string filter = ValueOf(keepsake::JsonText({{"since", {{"$gte", 2000}}}}));
  const auto hits = ValueOf(store.Search(
      {.ns_prefix = {"users"}, .filter = filter, .query = query, .limit = 1, .mode = mode}));
  for (const keepsake::SearchItem& hit : hits) {
    const Json value = ValueOf(keepsake::ParseJson(hit.item.value));
    std::cout << "  " << value["text"].get<std::string>() << "\n";
  }
}

// Adds a message to the thread "ada", as the next checkpoint after its newest one.
void Say(keepsake::Checkpointer& checkpointer, const std::string& message) {
  const auto newest = ValueOf(checkpointer.GetTuple({.thread_id = "ada"}));
  Json messages = Json::array();
  if (newest) messages = ValueOf(keepsake::ParseBlob(newest->values.at(0).value));
  messages.push_back(message);
  // Ids sort by time: any that ascend will do.
  const std::string id = std::to_string(1'000'000 + messages.size());
  Check(checkpointer.Put({
      .key = {.thread_id = "ada", .checkpoint_id = id},
      .parent_checkpoint_id = newest ? newest->key.checkpoint_id : "",
      .checkpoint = ValueOf(keepsake::JsonBlob({{"id", id}})),
      .metadata = ValueOf(keepsake::JsonBlob({{"source", "input"}})),
      .channel_versions = {{"messages", id}},
      .new_versions = {"messages"},
      .values = {{"messages", id, ValueOf(keepsake::JsonBlob(messages))}},
  }));
  std::cout << "The thread has " << messages.size() << " messages.\n";
}

int main(int argc, char** argv) {
  TwoSubjects embedder;
  keepsake::Memory memory = ValueOf(keepsake::Memory::Open(
      {.path = argc > 1 ? argv[1] : "agent.db"},
      {.index = keepsake::IndexConfig{.dims = 2, .fields = {"text"}}, .embedder = &embedder}));
  Remember(memory.store());
  Search(memory.store(), keepsake::SearchMode::kText, "What does she walk in?");
  Search(memory.store(), keepsake::SearchMode::kVector, "I am thirsty");
  Say(memory.checkpointer(), "hello");
}
