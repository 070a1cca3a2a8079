// What seven systems call memory, each done by what the core has: files in places, facts of a
// user, a window with vectors, checkpoints with a store, three ways to search, shallow and deep
// recall, and the replay of events.
#include <map>

#include "checkpointer_contract.h"
#include "keepsake/memory.h"
#include "keepsake/memory_provider.h"
#include "store_contract.h"

namespace keepsake::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t kStart = 1'700'000'000'000;

class Survey : public ::testing::Test {
 protected:
  Store& store() { return memory_.store(); }
  Checkpointer& saver() { return memory_.checkpointer(); }

  void Put(const Namespace& ns, const std::string& key, const std::string& value) {
    clock_.Advance(10);
    const Status status = store().Put(ns, key, value);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::vector<std::string> Found(const SearchOp& search) { return KeysOf(store().Search(search)); }

  ManualClock clock_{kStart};
  WordEmbedder embedder_;
  Memory memory_ =
      Memory::Open({.path = ":memory:"},
                   {.index = IndexConfig{.dims = WordEmbedder::kDims, .fields = {"text"}},
                    .embedder = &embedder_,
                    .clock = &clock_})
          .value();
};

// Instructions in files of user, project and folder; all that apply are read, the nearest last.
TEST_F(Survey, cap_109_claude_code_reads_files_of_a_place_and_of_those_around_it) {
  Put({"files", "user"}, "CLAUDE.md", R"({"text":"speak plainly"})");
  Put({"files", "user", "project"}, "CLAUDE.md", R"({"text":"use tabs"})");
  Put({"files", "user", "project", "docs"}, "CLAUDE.md", R"({"text":"use spaces"})");
  Put({"files", "user", "project", "docs"}, "MEMORY.md", R"({"text":"the build broke on rain"})");
  Put({"files", "user", "other"}, "CLAUDE.md", R"({"text":"never read"})");
  std::vector<std::string> read;
  const Namespace place = {"files", "user", "project", "docs"};
  for (std::size_t labels = 2; labels <= place.size(); ++labels) {
    const Namespace around(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(labels));
    read.push_back(store().Get(around, "CLAUDE.md").value()->value);
  }
  EXPECT_THAT(read, ElementsAre(R"({"text":"speak plainly"})", R"({"text":"use tabs"})",
                                R"({"text":"use spaces"})"));
  EXPECT_THAT(*store().List(place), ElementsAre("CLAUDE.md", "MEMORY.md"));
  EXPECT_THAT(Found({.ns_prefix = {"files"}, .query = "broke", .mode = SearchMode::kContains}),
              ElementsAre("MEMORY.md"));
}

// Facts of a user that every conversation gets, and her earlier conversations.
TEST_F(Survey, cap_109_chatgpt_has_saved_facts_in_all_chats_and_the_history_of_chats) {
  MemoryProvider provider(store());
  const std::string user = ResolveNamespace(MemoryScope::kUser, {.user_id = "ada"}).value();
  ASSERT_TRUE(provider.Put(user, "name", "\"Ada\"").ok());
  for (const char* thread : {"first", "second"}) {
    ASSERT_TRUE(saver().Put(At(thread, "", thread).New("messages", "1", "[1]")).ok());
    EXPECT_EQ(provider.Recall({.ns = user})->at(0).value, "\"Ada\"");
  }
  std::vector<std::string> chats;
  const auto threads = saver().Threads({}).value();
  for (const ThreadInfo& thread : threads) chats.push_back(thread.thread_id);
  EXPECT_THAT(chats, ElementsAre("second", "first"));
  const std::string other = ResolveNamespace(MemoryScope::kUser, {.user_id = "bob"}).value();
  EXPECT_THAT(*provider.Recall({.ns = other}), IsEmpty());
}

// The last messages as they were, and what is like the question of all that was said before.
TEST_F(Survey, cap_109_n8n_has_a_window_of_messages_and_vectors_of_older_ones) {
  const std::vector<std::string> said = {"tea", "music", "rain rain", "coffee"};
  std::string messages;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const std::string id = std::to_string(i + 1);
    Put({"conv", "1"}, id, R"({"text":")" + said[i] + "\"}");
    messages += (i == 0 ? "" : ",") + id;
    At at("1", "", id);
    if (i > 0) at.Parent(std::to_string(i));
    ASSERT_TRUE(saver().Put(at.New("messages", id, "[" + messages + "]")).ok());
  }
  const auto newest = saver().GetTuple({"1", "", ""}).value();
  EXPECT_THAT(Values(*newest), ElementsAre("messages@4=[1,2,3,4]"));
  EXPECT_THAT(Found({.ns_prefix = {"conv", "1"}, .limit = 2}), ElementsAre("4", "3"));
  const auto older = store().Search({.ns_prefix = {"conv", "1"}, .query = "tea", .limit = 1});
  EXPECT_EQ(older->at(0).item.key, "1");
  EXPECT_NEAR(*older->at(0).score, 1, 1e-6);
}

// The messages of this conversation as they were, and what is nearest of all that is known of the
// user, in every conversation.
TEST_F(Survey, cap_98_a_window_of_messages_beside_three_memories_of_the_user) {
  for (const std::string text : {"tea", "music", "tea rain", "coffee", "tea rain rain"})
    Put({"user", "ada"}, text, R"({"text":")" + text + "\"}");
  MemoryProvider provider(store());
  const std::string user = ResolveNamespace(MemoryScope::kUser, {.user_id = "ada"}).value();
  for (const std::string thread : {"first", "second"}) {
    ASSERT_TRUE(saver().Put(At(thread, "", "1").New("messages", "1", R"(["hello"])")).ok());
    At next(thread, "", "2");
    next.Parent("1").New("messages", "2", R"(["hello","which tea?"])");
    ASSERT_TRUE(saver().Put(next).ok());
    const auto window = saver().GetTuple({thread, "", ""}).value();
    EXPECT_THAT(Values(*window), ElementsAre(R"(messages@2=["hello","which tea?"])"));
    std::vector<std::string> known;
    const auto entries = provider.Recall({.ns = user, .query_text = "which tea?", .top_k = 3});
    for (const MemoryEntry& entry : *entries) known.push_back(entry.key);
    EXPECT_THAT(known, ElementsAre("tea", "tea rain", "tea rain rain"));
  }
}

// States of a thread by itself, and items in namespaces for all threads, by meaning and filter.
TEST_F(Survey, cap_109_langgraph_has_checkpoints_by_thread_and_items_by_namespace_and_filter) {
  ASSERT_TRUE(saver().Put(At("t", "", "1").New("a", "1", "1")).ok());
  ASSERT_TRUE(saver().Put(At("t", "", "2").Parent("1").New("a", "2", "2")).ok());
  EXPECT_THAT(Values(**saver().GetTuple({"t", "", ""})), ElementsAre("a@2=2"));
  EXPECT_THAT(Values(**saver().GetTuple({"t", "", "1"})), ElementsAre("a@1=1"));
  EXPECT_FALSE(saver().GetTuple({"u", "", ""})->has_value());
  Put({"ada", "memories"}, "old", R"({"text":"tea","year":1990})");
  Put({"ada", "memories"}, "new", R"({"text":"tea tea rain","year":2020})");
  Put({"ada", "memories"}, "off", R"({"text":"music","year":2020})");
  EXPECT_THAT(Found({.ns_prefix = {"ada"}, .filter = R"({"year":{"$gte":2000}})", .query = "tea"}),
              ElementsAre("new", "off"));
}

// One knowledge base, asked by vector, by words, and by both; values of a conversation beside it.
TEST_F(Survey, cap_109_dify_searches_by_vector_by_full_text_and_by_both) {
  Put({"knowledge"}, "like", R"({"text":"tea tea"})");
  Put({"knowledge"}, "words", R"({"text":"an umbrella against rain"})");
  Put({"knowledge"}, "neither", R"({"text":"music"})");
  const auto best = [&](SearchMode mode) {
    SearchOp search{.ns_prefix = {"knowledge"}, .query = "umbrella", .mode = mode};
    if (mode != SearchMode::kText) search.query_vector = WordEmbedder::VectorOf("tea");
    return Found(search);
  };
  EXPECT_EQ(best(SearchMode::kVector).front(), "like");
  EXPECT_THAT(best(SearchMode::kText), ElementsAre("words"));
  const std::vector<std::string> both = best(SearchMode::kHybrid);
  EXPECT_THAT(both, ::testing::IsSupersetOf({"like", "words"}));
  EXPECT_EQ(both.front() == "neither" || both.at(1) == "neither", false);
  MemoryProvider provider(store());
  ASSERT_TRUE(provider.Put("conv:1", "language", "\"en\"").ok());
  EXPECT_EQ(provider.Recall({.ns = "conv:1", .key = "language"})->at(0).value, "\"en\"");
}

// Shallow: what is like the question. Deep: and what is like that, of places further up, so far
// as it says something new.
TEST_F(Survey, cap_109_crewai_recalls_shallowly_and_deeply_in_scopes_of_scopes) {
  Put({"company"}, "plan", R"({"text":"rain music","importance":1})");
  Put({"company", "crew"}, "link", R"({"text":"tea rain","importance":0.5})");
  Put({"company", "crew", "agent"}, "fact", R"({"text":"tea","importance":0.1})");
  const Namespace agent = {"company", "crew", "agent"};
  EXPECT_THAT(Found({.ns_prefix = agent, .query = "tea"}), ElementsAre("fact"));
  // Nothing of the plan is in the question; the link leads to it.
  EXPECT_EQ(*store().Search({.ns_prefix = {"company"}, .query = "tea"})->at(2).score, 0);
  std::vector<std::string> deep = {"fact"};
  for (std::size_t labels = 2; labels >= 1; --labels) {
    const Namespace around(agent.begin(), agent.begin() + static_cast<std::ptrdiff_t>(labels));
    const ItemRef from = {Namespace(agent.begin(), agent.begin() + std::ptrdiff_t(labels) + 1),
                          deep.back()};
    const auto near = store().Search({.ns_prefix = around, .near = from});
    for (const SearchItem& hit : near.value()) {
      if (std::ranges::find(deep, hit.item.key) != deep.end()) continue;
      EXPECT_GT(*hit.score, 0.4);
      deep.push_back(hit.item.key);
      break;
    }
  }
  EXPECT_THAT(deep, ElementsAre("fact", "link", "plan"));
  SearchOp weighed{.ns_prefix = {"company"}, .query = "tea rain", .mode = SearchMode::kText};
  weighed.ranking = Ranking{.boosts = {{"importance", 1}}};
  EXPECT_THAT(Found(weighed), Not(IsEmpty()));
  EXPECT_EQ(Found(weighed).front(), "link");
}

// Every change is an event; played again, they make each state that there was, in both tiers.
TEST_F(Survey, cap_109_temporal_replays_its_events_to_any_state) {
  ASSERT_TRUE(store().KeepHistory({.ns = {"run"}}).ok());
  std::map<std::int64_t, std::string> states;  // as they were seen at the time
  const auto see = [&] {
    states[clock_.NowMs()] = Found({.ns_prefix = {"run"}}).empty()
                                 ? "none"
                                 : store().Get({"run"}, "step").value()->value;
  };
  for (const char* value : {"1", "2", "3"}) {
    Put({"run"}, "step", value);
    see();
  }
  clock_.Advance(10);
  ASSERT_TRUE(store().Delete({"run"}, "step").ok());
  see();
  const auto events = store().History({{"run"}, "step"}, 100).value();
  ASSERT_EQ(events.size(), 4U);
  std::map<std::int64_t, std::string> replayed;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    replayed[event->at_ms] = event->item ? event->item->value : "none";
  }
  EXPECT_EQ(replayed, states);
  for (const auto& [at_ms, value] : states) {
    const auto then = store().GetAsOf({.ns = {"run"}, .key = "step"}, at_ms).value();
    EXPECT_EQ(then ? then->value : "none", value);
    EXPECT_EQ(store().SearchAsOf({.ns_prefix = {"run"}}, at_ms)->empty(), value == "none");
  }
  // A thread's steps, its writes among them, lead from any of its states to the next.
  ASSERT_TRUE(saver().Put(At("t", "", "1").New("log", "1", "[0]")).ok());
  const std::vector<PendingWrite> writes = {Write("a", 0, "log", "1")};
  ASSERT_TRUE(saver().PutWrites({"t", "", "1"}, writes).ok());
  ASSERT_TRUE(saver().Put(At("t", "", "2").Parent("1").NewWithoutValue("log", "2")).ok());
  const std::vector<std::string> channels = {"log"};
  const auto log = saver().GetDeltaChannelHistory({"t", "", "2"}, channels).value();
  EXPECT_EQ(Text(*log.at(0).seed), "[0]");
  EXPECT_THAT(Shown(log.at(0).writes), ElementsAre("a/0 log=1"));
  ASSERT_TRUE(store().UndoOperation({events.front().operation}).has_value());
  EXPECT_EQ(store().Get({"run"}, "step").value()->value, "3");
}

}  // namespace
}  // namespace keepsake::testing
