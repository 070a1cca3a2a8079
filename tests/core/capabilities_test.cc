// Capabilities that no other suite has reason to name.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <mutex>
#include <regex>
#include <sstream>
#include <string_view>

#include "checkpointer_contract.h"
#include "forwarding_database.h"
#include "keepsake/memory.h"
#include "keepsake/memory_provider.h"
#include "store_contract.h"
#include "temporary_file.h"

namespace keepsake::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t kMinute = 60'000;

std::string TextOf(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::filesystem::path Project() { return std::filesystem::path(KEEPSAKE_TESTS_DIR) / ".."; }

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Memory OpenMemory(const std::string& path, StoreOptions options = {}) {
  return Memory::Open({.path = path}, std::move(options)).value();
}

// --- Threads of a program ---

// 100 puts, each read at once; says how many were there.
int PutMany(Memory& memory, std::mutex& mutex, const std::string& name) {
  int there = 0;
  for (int i = 0; i < 100; ++i) {
    const std::lock_guard lock(mutex);
    const std::string key = name + std::to_string(i);
    if (!memory.store().Put({"a"}, key, R"({"text":"tea"})").ok()) continue;
    const auto item = memory.store().Get({"a"}, key);
    if (item && *item) ++there;
  }
  return there;
}

TEST(Capabilities, cap_18_threads_use_memories_of_their_own_and_one_behind_a_lock) {
  const TemporaryFile file("capabilities_");
  Memory shared = OpenMemory(file.path());
  std::mutex of_shared;
  const auto work = [&](const std::string& name) {
    Memory own = OpenMemory(":memory:");
    std::mutex of_own;
    return PutMany(own, of_own, name) + PutMany(shared, of_shared, name);
  };
  std::vector<std::future<int>> threads;
  for (const char* name : {"a", "b", "c", "d"}) {
    threads.push_back(std::async(std::launch::async, work, name));
  }
  for (std::future<int>& thread : threads) EXPECT_EQ(thread.get(), 200);
  EXPECT_EQ(shared.store().Stats()->items, 400U);
}

TEST(Capabilities, cap_64_a_batch_runs_on_another_thread_over_a_file_with_expiry) {
  const TemporaryFile file("capabilities_");
  ManualClock clock(1000);
  const StoreOptions options = {.ttl = {.default_ttl_ms = kMinute}, .clock = &clock};
  const auto put = [&] {
    Memory memory = OpenMemory(file.path(), options);
    const std::vector<Operation> batch = {PutOperation({"a"}, "k", "1"), GetOp{{"a"}, "k"},
                                          PutOperation({"a"}, "l", "2")};
    return memory.store().Batch(batch).value();
  };
  std::future<std::vector<OperationResult>> pending = std::async(std::launch::async, put);
  const std::vector<OperationResult> results = pending.get();
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(std::get<1>(results[1]), std::nullopt) << "a batch sees the store as it was";
  Memory memory = OpenMemory(file.path(), options);
  clock.Advance(kMinute - 1);
  const std::vector<Operation> get = {GetOp{.ns = {"a"}, .key = "k", .refresh_ttl = false}};
  EXPECT_EQ(std::get<1>(memory.store().Batch(get)->at(0))->value, "1");
  clock.Advance(1);
  EXPECT_EQ(*memory.store().Get({"a"}, "k"), std::nullopt);
}

// --- Documents ---

bool IsComment(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line.starts_with("//");
}

// What a public header declares without a word: types, and methods of interfaces.
std::vector<std::string> UndocumentedIn(const std::filesystem::path& header) {
  static const std::regex type(R"(^(?:class|struct|enum class) (\w+)[^;]*$)");
  static const std::regex method(R"(^  virtual .* = 0;$)");
  const std::vector<std::string> lines = Lines(TextOf(header));
  std::string opening;
  for (std::size_t i = 0; i < lines.size() && lines[i].starts_with("//"); ++i) {
    opening += lines[i] + "\n";
  }
  std::vector<std::string> undocumented;
  if (opening.empty()) undocumented.push_back(header.filename());
  bool is_public = true;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i] == " protected:" || lines[i] == " private:") is_public = false;
    if (lines[i].starts_with("}")) is_public = true;
    const bool has_comment = lines[i].contains("//") || IsComment(lines[i - 1]);
    std::smatch found;
    if (std::regex_match(lines[i], found, type)) {
      bool is_told = has_comment || opening.contains(found[1].str());
      for (std::size_t j = i; j < lines.size() && !lines[j].starts_with("}"); ++j) {
        is_told = is_told || lines[j].contains("//");
      }
      if (!is_told) undocumented.push_back(found[1]);
    } else if (is_public && lines[i - 1].empty() && std::regex_match(lines[i], method) &&
               !has_comment) {
      undocumented.push_back(lines[i]);
    }
  }
  return undocumented;
}

TEST(Capabilities, cap_19_every_public_type_is_documented) {
  std::size_t headers = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(Project() / "core" / "include" / "keepsake")) {
    EXPECT_THAT(UndocumentedIn(entry.path()), IsEmpty()) << entry.path();
    ++headers;
  }
  EXPECT_GT(headers, 20U);
  const TemporaryFile header("capabilities_");
  std::ofstream(header.path()) << "\nstruct Bare {\n  int n = 0;\n};\n\n  virtual int N() = 0;\n";
  EXPECT_THAT(UndocumentedIn(header.path()),
              ElementsAre("memory.db", "Bare", "  virtual int N() = 0;"));
}

// What an agent does with any store: it puts, and asks.
std::vector<std::string> Agent(Store& store) {
  EXPECT_TRUE(store.Put({"ada", "memories"}, "tea", R"({"text":"tea at five"})").ok());
  EXPECT_TRUE(store.Put({"ada", "memories"}, "rain", R"({"text":"rain"})").ok());
  return KeysOf(store.Search({.ns_prefix = {"ada"}, .query = "tea", .limit = 1}));
}

TEST(Capabilities, cap_20_the_documentation_says_which_store_is_for_what_and_each_runs_the_agent) {
  const std::string guide = TextOf(Project() / "docs" / "backends.md");
  for (const char* purpose :
       {"tests, a short-lived agent, a cache", "on one machine", "recall by meaning"}) {
    EXPECT_THAT(guide, HasSubstr(purpose));
  }
  const std::string in_cpp = TextOf(Project() / "docs" / "cpp.md");
  for (const char* backend : {"MakeInMemoryStore", "Memory::Open", "Embedder"}) {
    EXPECT_THAT(in_cpp, HasSubstr(backend));
  }
  const TemporaryFile file("capabilities_");
  WordEmbedder embedder;
  const StoreOptions by_meaning = {.index = IndexConfig{.dims = WordEmbedder::kDims},
                                   .embedder = &embedder};
  EXPECT_THAT(Agent(*MakeInMemoryStore()), ElementsAre("tea"));
  EXPECT_THAT(Agent(*MakeInMemoryStore(by_meaning)), ElementsAre("tea"));
  {
    Memory memory = OpenMemory(file.path());
    EXPECT_THAT(Agent(memory.store()), ElementsAre("tea"));
  }
  Memory memory = OpenMemory(file.path(), by_meaning);
  EXPECT_THAT(Agent(memory.store()), ElementsAre("tea"));
}

// --- Files ---

TEST(Capabilities, cap_24_a_file_is_in_wal_mode) {
  constexpr std::size_t kWriteVersion = 18, kReadVersion = 19;
  constexpr char kWal = 2;
  // What binds a file to its log changes when the log begins anew.
  const auto beside_bond = [](std::string bytes) { return bytes.replace(72, 20, ""); };
  const TemporaryFile file("capabilities_");
  Memory memory = OpenMemory(file.path());
  ASSERT_TRUE(memory.database().Flush().ok());
  const std::string before = TextOf(file.path());
  EXPECT_EQ(before.at(kWriteVersion), kWal);
  EXPECT_EQ(before.at(kReadVersion), kWal);
  ASSERT_TRUE(memory.store().Put({"a"}, "k", "\"in the log\"").ok());
  EXPECT_EQ(beside_bond(TextOf(file.path())), beside_bond(before));
  EXPECT_THAT(TextOf(file.path() + "-wal"), HasSubstr("in the log"));
  ASSERT_TRUE(memory.database().Flush().ok());
  EXPECT_THAT(TextOf(file.path()), HasSubstr("in the log"));
}

TEST(Capabilities, cap_25_one_owner_has_a_file_for_all_its_stores_and_savers) {
  const TemporaryFile file("capabilities_");
  {
    Memory owner = OpenMemory(file.path());
    const Result<Memory> other = Memory::Open({.path = file.path()});
    ASSERT_FALSE(other.has_value());
    EXPECT_EQ(other.error().code(), StatusCode::kBusy);
    ASSERT_TRUE(owner.store().Put({"a"}, "k", "1").ok()) << "the owner is not disturbed";
    const auto second = MakeSqliteStore(owner.database());
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ((*second)->Get({"a"}, "k").value()->value, "1");
  }
  Memory next = OpenMemory(file.path());
  EXPECT_EQ(next.store().Get({"a"}, "k").value()->value, "1");
}

TEST(Capabilities, cap_27_both_tiers_share_a_file_and_a_transaction) {
  const TemporaryFile file("capabilities_");
  {
    Memory memory = OpenMemory(file.path());
    const auto write_both = [&](const std::string& name, bool fails) {
      return memory.database().InTransaction([&]() -> Status {
        Status status = memory.store().Put({"a"}, name, "1");
        if (status.ok()) status = memory.checkpointer().Put(At(name, "", "1").New("a", "1", "1"));
        return fails ? Status(StatusCode::kInternal, "on purpose") : status;
      });
    };
    EXPECT_TRUE(write_both("kept", false).ok());
    EXPECT_FALSE(write_both("undone", true).ok());
  }
  Memory memory = OpenMemory(file.path());
  EXPECT_THAT(*memory.store().List({"a"}), ElementsAre("kept"));
  EXPECT_TRUE(memory.checkpointer().GetTuple({"kept", "", ""})->has_value());
  EXPECT_FALSE(memory.checkpointer().GetTuple({"undone", "", ""})->has_value());
  ASSERT_TRUE(memory.checkpointer().DeleteThread("kept").ok());
  EXPECT_THAT(*memory.store().List({"a"}), ElementsAre("kept")) << "of tables of their own";
}

TEST(Capabilities, cap_28_vectors_are_rows_beside_their_items) {
  Memory memory = OpenMemory(":memory:", {.index = IndexConfig{.dims = 2}});
  const auto rows = [&] {
    std::vector<std::string> shown;
    const Status status = memory.database().Run(
        "SELECT kv.key, v.path, v.vector FROM store_vectors AS v"
        " JOIN store_kv AS kv ON kv.item_id = v.item_id ORDER BY kv.key, v.path",
        {}, [&](const sql::Row& row) {
          std::vector<float> vector(row.Blob(2).size() / sizeof(float));
          std::memcpy(vector.data(), row.Blob(2).data(), row.Blob(2).size());
          shown.push_back(std::string(row.Text(0)) + " " + std::string(row.Text(1)));
          for (const float value : vector) shown.back() += " " + std::to_string(int(value));
        });
    EXPECT_TRUE(status.ok()) << status.message();
    return shown;
  };
  const auto put = [&](const std::string& key, std::vector<FieldVector> vectors) {
    const std::vector<Operation> batch = {
        PutOp{.ns = {"a"}, .key = key, .value = "1", .vectors = std::move(vectors)}};
    return memory.store().Batch(batch).has_value();
  };
  ASSERT_TRUE(put("k", {{"a", {1, 2}}, {"b", {3, 4}}}));
  ASSERT_TRUE(put("l", {{"a", {5, 6}}}));
  EXPECT_THAT(rows(), ElementsAre("k a 1 2", "k b 3 4", "l a 5 6"));
  ASSERT_TRUE(put("k", {{"b", {7, 8}}}));
  EXPECT_THAT(rows(), ElementsAre("k b 7 8", "l a 5 6"));
  ASSERT_TRUE(memory.store().Delete({"a"}, "k").ok());
  EXPECT_THAT(rows(), ElementsAre("l a 5 6"));
}

// --- Both tiers ---

std::vector<std::string> ThreadsOf(Memory& memory) {
  std::vector<std::string> ids;
  const auto threads = memory.checkpointer().Threads({});
  for (const ThreadInfo& thread : threads.value()) ids.push_back(thread.thread_id);
  return ids;
}

TEST(Capabilities, cap_57_items_are_of_all_threads_and_latest_states_are_of_one_with_history) {
  Memory memory = OpenMemory(":memory:");
  Store& store = memory.store();
  Checkpointer& saver = memory.checkpointer();
  // A store has the latest value, whoever put it; a checkpointer has all states of each thread.
  for (const char* n : {"1", "2"}) {
    ASSERT_TRUE(store.Put({"user", "ada"}, "count", n).ok());
    for (const char* thread : {"a", "b"}) {
      At at(thread, "", n);
      if (n[0] == '2') at.Parent("1");
      ASSERT_TRUE(saver.Put(at.New("count", n, n)).ok());
    }
  }
  EXPECT_EQ(store.Get({"user", "ada"}, "count").value()->value, "2");
  EXPECT_EQ(store.Stats()->items, 1U);
  EXPECT_THAT(Shown(*saver.List({.thread_id = "a"})), ElementsAre("a//2", "a//1"));
  EXPECT_THAT(Values(**saver.GetTuple({"a", "", "1"})), ElementsAre("count@1=1"));
  EXPECT_EQ(saver.GetTuple({"a", "", "2"}).value()->parent_checkpoint_id, "1");
  // A value is JSON that filters look into; a state is bytes of any type.
  ASSERT_TRUE(saver.Put(At("a", "", "3").New("s", "1", Typed("bytes", "\xFF\x00{"))).ok());
  EXPECT_EQ(store.Put({"a"}, "k", "\xFF").code(), StatusCode::kInvalidValue);
  ASSERT_TRUE(store.Put({"a"}, "k", R"({"class":"x"})").ok());
  EXPECT_THAT(KeysOf(store.Search({.filter = R"({"class":"x"})"})), ElementsAre("k"));
  // Neither is written by writes to the other.
  ASSERT_TRUE(saver.DeleteThread("a").ok());
  EXPECT_EQ(store.Get({"user", "ada"}, "count").value()->value, "2");
  ASSERT_TRUE(store.Delete({"user", "ada"}, "count").ok());
  EXPECT_THAT(ThreadsOf(memory), ElementsAre("b"));
}

// What a run does: it goes on from the newest checkpoint, or the one given, adds its input to the
// messages, saves that, and then its answer.
std::string GoOn(Checkpointer& saver, const std::string& thread, const std::string& input,
                 const std::string& from = "") {
  static int ids = 100;  // ascend, as those of LangGraph
  auto last = saver.GetTuple({thread, "", from}).value();
  std::string messages = last ? Text(last->values.at(0).value) : "[]";
  std::string parent = last ? last->key.checkpoint_id : "";
  for (const std::string& said : {input, "re: " + input}) {
    messages.insert(messages.size() - 1, (messages.size() > 2 ? ",\"" : "\"") + said + "\"");
    const std::string id = std::to_string(++ids);
    EXPECT_TRUE(saver.Put(At(thread, "", id).Parent(parent).New("messages", id, messages)).ok());
    parent = id;
  }
  return messages;
}

TEST(Capabilities, cap_78_a_run_goes_on_from_the_last_checkpoint_also_after_a_restart) {
  const TemporaryFile file("capabilities_");
  {
    Memory memory = OpenMemory(file.path());
    EXPECT_EQ(GoOn(memory.checkpointer(), "a", "one"), R"(["one","re: one"])");
  }
  Memory memory = OpenMemory(file.path());
  Checkpointer& saver = memory.checkpointer();
  EXPECT_EQ(GoOn(saver, "b", "other"), R"(["other","re: other"])");
  EXPECT_EQ(GoOn(saver, "a", "two"), R"(["one","re: one","two","re: two"])");
  // Each step was saved: its input is there without its answer.
  const auto states = saver.List({.thread_id = "a"}).value();
  ASSERT_EQ(states.size(), 4U);
  EXPECT_EQ(Text(states[1].values.at(0).value), R"(["one","re: one","two"])");
  for (std::size_t i = 0; i + 1 < states.size(); ++i) {
    EXPECT_EQ(states[i].parent_checkpoint_id, states[i + 1].key.checkpoint_id);
  }
  EXPECT_EQ(GoOn(saver, "a", "else", states[2].key.checkpoint_id),
            R"(["one","re: one","else","re: else"])");
}

// What a node recalls: of who its configuration names, and nothing where there is no store.
Result<std::vector<std::string>> RecallFor(Store* store, const ScopeVariables& who) {
  if (store == nullptr) return std::vector<std::string>();
  const Result<std::string> resolved = ResolveNamespace(MemoryScope::kUser, who);
  if (!resolved) return std::unexpected(resolved.error());
  Namespace ns = PlaceOf(*resolved).value();
  if (who.store_namespace.empty()) ns.push_back("memories");
  return KeysOf(store->Search({.ns_prefix = ns}));
}

TEST(Capabilities, cap_82_namespaces_come_from_the_user_s_id_or_are_named_by_the_configuration) {
  Memory memory = OpenMemory(":memory:");
  Store& store = memory.store();
  ASSERT_TRUE(store.Put({"user", "ada"}, "profile", "1").ok());
  ASSERT_TRUE(store.Put({"user", "ada", "memories"}, "tea", "1").ok());
  ASSERT_TRUE(store.Put({"user", EncodeLabel("ada.b"), "memories"}, "dotted", "1").ok());
  ASSERT_TRUE(store.Put({"team"}, "rules", "1").ok());
  EXPECT_THAT(*RecallFor(&store, {.user_id = "ada"}), ElementsAre("tea"));
  EXPECT_THAT(*RecallFor(&store, {.user_id = "ada.b"}), ElementsAre("dotted"));
  EXPECT_THAT(*RecallFor(&store, {.user_id = "bob"}), IsEmpty());
  EXPECT_THAT(*RecallFor(&store, {.user_id = "ada", .store_namespace = "team"}),
              ElementsAre("rules"));
  EXPECT_THAT(*RecallFor(nullptr, {.user_id = "ada"}), IsEmpty());
  const auto nobody = RecallFor(&store, {.conversation_id = "1"});
  ASSERT_FALSE(nobody.has_value());
  EXPECT_THAT(nobody.error().message(), HasSubstr("user_id is not set"));
  // A provider puts where the same name leads.
  MemoryProvider provider(store);
  const std::string hers = ResolveNamespace(MemoryScope::kUser, {.user_id = "ada"}).value();
  ASSERT_TRUE(provider.Put(hers, "cup", "\"blue\"").ok());
  EXPECT_TRUE(store.Get({"user", "ada"}, "cup")->has_value());
}

TEST(Capabilities, cap_89_vectors_are_the_host_s_alone) {
  WordEmbedder embedder;
  const IndexConfig index = {.dims = WordEmbedder::kDims, .fields = {"text"}};
  const Operation put = PutOperation({"a"}, "k", R"({"text":"tea and rain","n":1})");
  for (const bool is_file : {false, true}) {
    Memory memory = OpenMemory(":memory:");
    const std::unique_ptr<Store> in_memory = MakeInMemoryStore();
    Store& store = is_file ? memory.store() : *in_memory;
    // Without a model there are words, and no vectors.
    ASSERT_TRUE(store.Batch({&put, 1}).has_value());
    EXPECT_EQ(store.Stats()->vectors, 0U);
    EXPECT_THAT(KeysOf(store.Search({.query = "rain tea", .mode = SearchMode::kText})),
                ElementsAre("k"));
    EXPECT_FALSE(store.Search({.query = "tea", .mode = SearchMode::kVector}).has_value());
    EXPECT_THAT(store.PrepareEmbedding({&put, 1})->texts, IsEmpty());
    // With an index the host is told what to embed; nobody makes up what it does not bring.
    ASSERT_TRUE(store.Configure(index, {}).ok());
    EXPECT_THAT(store.PrepareEmbedding({&put, 1})->texts, ElementsAre("tea and rain"));
    EXPECT_FALSE(store.Search({.query = "tea", .mode = SearchMode::kVector}).has_value());
  }
  Memory memory = OpenMemory(":memory:", {.index = index, .embedder = &embedder});
  ASSERT_TRUE(memory.store().Batch({&put, 1}).has_value());
  EXPECT_THAT(embedder.document_calls, ElementsAre(ElementsAre("tea and rain")));
  std::vector<float> stored(WordEmbedder::kDims);
  const Status status =
      memory.database().Run("SELECT vector FROM store_vectors", {}, [&](const sql::Row& row) {
        std::memcpy(stored.data(), row.Blob(0).data(), row.Blob(0).size());
      });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(stored, WordEmbedder::VectorOf("tea and rain"));
  const auto found = memory.store().Search({.query = "rain"});
  EXPECT_THAT(embedder.query_calls, ElementsAre("rain"));
  EXPECT_NEAR(*found->at(0).score, 0.70710678, 1e-6) << "of the host's two vectors";
}

// --- What is not used ---

// What `nm` says is in the program of this name, after it was run.
std::string SymbolsOf(const std::string& features) {
  const std::string program = std::string(KEEPSAKE_FEATURE_PROGRAMS) + features;
  EXPECT_EQ(std::system(program.c_str()), 0) << program;
  std::string symbols;
  const auto close = [](std::FILE* pipe) { ::pclose(pipe); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(
      ::popen((std::string(KEEPSAKE_NM) + " -C --defined-only " + program).c_str(), "r"), close);
  std::array<char, 4096> part;
  while (std::fgets(part.data(), part.size(), pipe.get()) != nullptr) symbols += part.data();
  return symbols;
}

constexpr const char* kFiles = "sqlite3_open_v2";
constexpr const char* kThreads = "MakeMemorySaver";
constexpr const char* kProvider = "keepsake::MemoryProvider::Recall";
constexpr const char* kSecurity = "keepsake::ScopedStore::Batch";

TEST(Capabilities, cap_83_a_program_has_what_it_uses_and_no_graph) {
  const std::string store = SymbolsOf("store");
  EXPECT_THAT(store, HasSubstr("keepsake::MakeInMemoryStore"));
  for (const char* unused : {kFiles, kThreads, "keepsake::Checkpointer", "langgraph", "emscripten"})
    EXPECT_THAT(store, Not(HasSubstr(unused)));
  EXPECT_THAT(SymbolsOf("files"), HasSubstr(kFiles));
}

TEST(Capabilities, cap_107_what_is_off_is_not_in_the_program) {
  const std::string bare = SymbolsOf("store");
  EXPECT_THAT(bare, Not(HasSubstr(kProvider)));
  EXPECT_THAT(bare, Not(HasSubstr(kSecurity)));
  const std::string provider = SymbolsOf("provider");
  EXPECT_THAT(provider, HasSubstr(kProvider));
  EXPECT_THAT(provider, Not(HasSubstr(kFiles)));
  const std::string security = SymbolsOf("security");
  EXPECT_THAT(security, HasSubstr(kSecurity));
  EXPECT_THAT(security, Not(HasSubstr(kProvider)));
  const std::string all = SymbolsOf("all");
  for (const char* used : {kFiles, kThreads, kProvider, kSecurity})
    EXPECT_THAT(all, HasSubstr(used));
}

// A database that notes which statements are run on it.
class NotingDatabase final : public ForwardingDatabase {
 public:
  using ForwardingDatabase::ForwardingDatabase, ForwardingDatabase::Run;

  Status Run(std::string_view sql, std::span<const sql::Param> params,
             const sql::RowCallback& on_row) override {
    statements.emplace_back(sql);
    return database_.Run(sql, params, on_row);
  }

  std::vector<std::string> statements;
};

TEST(Capabilities, cap_107_what_is_off_has_no_field_and_runs_no_statement) {
  static_assert(sizeof(Memory) == 3 * sizeof(void*), "a database and its two tiers");
  const auto database = sql::OpenDatabase({.path = ":memory:"}).value();
  NotingDatabase noting(*database);
  const auto store = MakeSqliteStore(noting).value();
  const auto statements_of_put = [&] {
    EXPECT_TRUE(store->Put({"a"}, "k", "1").ok());
    noting.statements.clear();
    EXPECT_TRUE(store->Put({"a"}, "k", "2").ok());
    EXPECT_TRUE(store->Get({"a"}, "k").has_value());
    return noting.statements;
  };
  const std::vector<std::string> off = statements_of_put();
  for (const char* table : {"audit_log", "store_versions", "history_rules", "holds", "erasures"})
    EXPECT_THAT(off, Not(Contains(HasSubstr(table))));
  ASSERT_TRUE(store->KeepHistory({.ns = {"a"}}).ok());
  EXPECT_THAT(statements_of_put(), Contains(HasSubstr("store_versions")));
}

}  // namespace
}  // namespace keepsake::testing
