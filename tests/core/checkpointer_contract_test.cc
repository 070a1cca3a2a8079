// What every Checkpointer does, run over each implementation.
#include "checkpointer_contract.h"

#include <gmock/gmock.h>

#include <array>

namespace keepsake::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename Backend>
class CheckpointerContract : public ::testing::Test {
 protected:
  Checkpointer& saver() { return backend_.saver(); }

  void Put(const NewCheckpoint& next) {
    const Status s = saver().Put(next);
    ASSERT_TRUE(s.ok()) << s.message();
  }

  void PutWrites(const CheckpointKey& key, const std::vector<PendingWrite>& writes) {
    const Status s = saver().PutWrites(key, writes);
    ASSERT_TRUE(s.ok()) << s.message();
  }

  // nullopt if there is none, or an error, which fails the test.
  std::optional<CheckpointTuple> Find(const CheckpointKey& key) {
    auto tuple = saver().GetTuple(key);
    if (tuple) return *std::move(tuple);
    ADD_FAILURE() << tuple.error().message();
    return std::nullopt;
  }

  CheckpointTuple Get(const CheckpointKey& key) {
    auto tuple = Find(key);
    EXPECT_TRUE(tuple.has_value()) << "no checkpoint " << key.checkpoint_id;
    return tuple ? *std::move(tuple) : CheckpointTuple();
  }

  std::vector<std::string> List(const ListCheckpoints& list) {
    auto tuples = saver().List(list);
    if (tuples) return Shown(*tuples);
    ADD_FAILURE() << tuples.error().message();
    return {};
  }

  std::vector<DeltaChannelHistory> History(const CheckpointKey& key,
                                           const std::vector<std::string>& channels) {
    auto histories = saver().GetDeltaChannelHistory(key, channels);
    if (histories) return *std::move(histories);
    ADD_FAILURE() << histories.error().message();
    return {};
  }

  CheckpointerStats Stats() {
    const auto stats = saver().Stats();
    EXPECT_TRUE(stats.has_value());
    return stats.value_or(CheckpointerStats());
  }

  CheckpointerStats Counts() {
    CheckpointerStats counts = Stats();
    counts.bytes = 0;
    return counts;
  }

  Pruned PruneBy(const RetentionRules& rules) {
    const auto pruned = saver().Prune(rules);
    EXPECT_TRUE(pruned.has_value()) << pruned.error().message();
    return pruned.value_or(Pruned());
  }

  std::vector<std::string> ThreadIds(const ListThreads& list = {}) {
    std::vector<std::string> ids;
    const auto threads = saver().Threads(list);
    EXPECT_TRUE(threads.has_value());
    for (const ThreadInfo& info : *threads) ids.push_back(info.thread_id);
    return ids;
  }

  std::uint64_t Prune(const std::vector<std::string>& thread_ids,
                      PruneStrategy strategy = PruneStrategy::kKeepLatest) {
    return PruneBy({.thread_ids = thread_ids, .strategy = strategy}).checkpoints;
  }

  std::uint64_t DeleteForRuns(const std::vector<std::string>& run_ids) {
    const auto deleted = saver().DeleteForRuns(run_ids);
    EXPECT_TRUE(deleted.has_value());
    return deleted.value_or(0);
  }

  // `count` checkpoints "1", "2", … each the child of the one before, each with
  // its own version of channel "step".
  void PutChain(const std::string& thread_id, int count, const std::string& checkpoint_ns = "") {
    for (int i = 1; i <= count; ++i) {
      const std::string id = std::to_string(i);
      Put(At(thread_id, checkpoint_ns, id)
              .Parent(i == 1 ? "" : std::to_string(i - 1))
              .Metadata("{\"step\":" + id + ",\"source\":\"loop\"}")
              .New("step", id, id));
    }
  }

  Backend backend_;
};

using Backends = ::testing::Types<MemorySaverBackend, SqliteSaverBackend>;
TYPED_TEST_SUITE(CheckpointerContract, Backends);

// --- put and get

TYPED_TEST(CheckpointerContract, cap_66_threads_and_namespaces_do_not_see_each_other) {
  this->Put(At("t1", "", "1").New("x", "1", "\"root\""));
  this->Put(At("t1", "child:1", "1").New("x", "1", "\"child\""));
  this->Put(At("t2", "", "1").New("x", "1", "\"other\""));
  EXPECT_THAT(Values(this->Get({"t1", "", ""})), ElementsAre("x@1=\"root\""));
  EXPECT_THAT(Values(this->Get({"t1", "child:1", ""})), ElementsAre("x@1=\"child\""));
  EXPECT_THAT(Values(this->Get({"t2", "", ""})), ElementsAre("x@1=\"other\""));
}

TYPED_TEST(CheckpointerContract, cap_67_everything_that_was_put_comes_back) {
  At next = At("t", "", "2").Parent("1");
  next.New("messages", "7", "[1]").New("count", "v.3", "2").NewWithoutValue("branch", "4");
  next.checkpoint().checkpoint = Typed("json", "{\"v\":4}");
  next.checkpoint().metadata = Typed("json", "{\"source\":\"loop\"}");
  this->Put(next);
  const CheckpointTuple tuple = this->Get({"t", "", "2"});
  EXPECT_EQ(tuple.key, (CheckpointKey{"t", "", "2"}));
  EXPECT_EQ(tuple.parent_checkpoint_id, "1");
  EXPECT_EQ(tuple.checkpoint, Typed("json", "{\"v\":4}"));
  EXPECT_EQ(tuple.metadata, Typed("json", "{\"source\":\"loop\"}"));
  EXPECT_THAT(Values(tuple), ElementsAre("messages@7=[1]", "count@v.3=2"));
  EXPECT_THAT(tuple.pending_writes, IsEmpty());
}

TYPED_TEST(CheckpointerContract, cap_67_values_come_in_the_order_of_channel_versions) {
  this->Put(At("t", "", "1").New("b", "1", "1").New("a", "1", "2").New("c", "1", "3"));
  EXPECT_THAT(Values(this->Get({"t", "", "1"})), ElementsAre("b@1=1", "a@1=2", "c@1=3"));
}

TYPED_TEST(CheckpointerContract, cap_67_an_unchanged_channel_keeps_the_parents_value) {
  this->Put(At("t", "", "1").New("a", "1", "\"a1\"").New("b", "1", "\"b1\""));
  this->Put(At("t", "", "2").Parent("1").Unchanged("a", "1").New("b", "2", "\"b2\""));
  EXPECT_THAT(Values(this->Get({"t", "", "2"})), ElementsAre("a@1=\"a1\"", "b@2=\"b2\""));
}

TYPED_TEST(CheckpointerContract, a_channel_with_a_new_version_and_no_value_has_none) {
  this->Put(At("t", "", "1").New("a", "1", "1"));
  this->Put(At("t", "", "2").Parent("1").NewWithoutValue("a", "2"));
  EXPECT_THAT(Values(this->Get({"t", "", "2"})), IsEmpty());
}

TYPED_TEST(CheckpointerContract, a_channel_without_value_in_the_parent_stays_without) {
  this->Put(At("t", "", "1").New("a", "1", "1"));
  this->Put(At("t", "", "2").Parent("1").NewWithoutValue("a", "2"));
  this->Put(At("t", "", "2b").Parent("1").New("a", "2", "\"fork\""));
  this->Put(At("t", "", "3").Parent("2").Unchanged("a", "2"));
  EXPECT_THAT(Values(this->Get({"t", "", "3"})), IsEmpty());
}

TYPED_TEST(CheckpointerContract, a_version_the_parent_lacks_is_the_newest_put_of_it) {
  this->Put(At("t", "", "1").New("a", "1", "\"old\""));
  this->Put(At("t", "", "2").New("a", "1", "\"new\""));
  this->Put(At("t", "", "3").Parent("gone").Unchanged("a", "1").Unchanged("b", "1"));
  EXPECT_THAT(Values(this->Get({"t", "", "3"})), ElementsAre("a@1=\"new\""));
}

TYPED_TEST(CheckpointerContract, a_channel_that_is_not_listed_any_more_is_gone) {
  this->Put(At("t", "", "1").New("a", "1", "1").New("b", "1", "2"));
  this->Put(At("t", "", "2").Parent("1").Unchanged("b", "1"));
  EXPECT_THAT(Values(this->Get({"t", "", "2"})), ElementsAre("b@1=2"));
}

TYPED_TEST(CheckpointerContract, cap_80_forks_with_equal_versions_keep_their_own_values) {
  this->Put(At("t", "", "1").New("messages", "3", "[0]"));
  this->Put(At("t", "", "2").Parent("1").New("messages", "4", "[0,1]"));
  this->Put(At("t", "", "3").Parent("1").New("messages", "4", "[0,2]"));
  this->Put(At("t", "", "4").Parent("2").Unchanged("messages", "4"));
  this->Put(At("t", "", "5").Parent("3").Unchanged("messages", "4"));
  EXPECT_THAT(Values(this->Get({"t", "", "2"})), ElementsAre("messages@4=[0,1]"));
  EXPECT_THAT(Values(this->Get({"t", "", "3"})), ElementsAre("messages@4=[0,2]"));
  EXPECT_THAT(Values(this->Get({"t", "", "4"})), ElementsAre("messages@4=[0,1]"));
  EXPECT_THAT(Values(this->Get({"t", "", "5"})), ElementsAre("messages@4=[0,2]"));
}

TYPED_TEST(CheckpointerContract, cap_80_an_earlier_checkpoint_is_read_and_continued_from) {
  this->PutChain("t", 3);
  this->Put(At("t", "", "4").Parent("1").New("step", "2", "\"forked\""));
  EXPECT_THAT(Values(this->Get({"t", "", "1"})), ElementsAre("step@1=1"));
  EXPECT_EQ(this->Get({"t", "", "4"}).parent_checkpoint_id, "1");
  EXPECT_EQ(this->Get({"t", "", ""}).key.checkpoint_id, "4");
  EXPECT_THAT(Values(this->Get({"t", "", "2"})), ElementsAre("step@2=2"));
}

TYPED_TEST(CheckpointerContract, cap_68_metadata_comes_back_and_is_found_by_each_of_its_members) {
  const std::string common =
      R"(,"created_at":"2026-01-01","counters_since_delta_snapshot":{"messages":[3,1]},)"
      R"("run_id":"r","mine":{"tags":["a","b"]}})";
  const std::vector<std::string> all = {
      R"({"source":"input","step":-1,"parents":{})" + common,
      R"({"source":"loop","step":0,"parents":{"sub":"7"})" + common,
      R"({"source":"update","step":1,"parents":{})" + common,
      R"({"source":"fork","step":2,"parents":{"":"1"})" + common};
  for (std::size_t i = 0; i < all.size(); ++i) {
    At at("t", "", std::to_string(i + 1));
    if (i > 0) at.Parent(std::to_string(i));
    this->Put(at.Metadata(all[i]));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(Text(this->Get({"t", "", std::to_string(i + 1)}).metadata), all[i]);
  }
  const auto found = [&](const std::string& filter) {
    ListCheckpoints list;
    list.filter = filter;
    return this->List(list);
  };
  EXPECT_THAT(found(R"({"source":"input"})"), ElementsAre("t//1"));
  EXPECT_THAT(found(R"({"source":"loop","step":0})"), ElementsAre("t//2"));
  EXPECT_THAT(found(R"({"source":"update"})"), ElementsAre("t//3"));
  EXPECT_THAT(found(R"({"parents":{"":"1"}})"), ElementsAre("t//4"));
  EXPECT_THAT(found(R"({"step":-1})"), ElementsAre("t//1"));
  EXPECT_THAT(found(R"({"mine":{"tags":["b","a"]}})"), IsEmpty());
  for (const char* of_all :
       {R"({"created_at":"2026-01-01"})", R"({"run_id":"r","mine":{"tags":["a","b"]}})",
        R"({"counters_since_delta_snapshot":{"messages":[3,1]}})"}) {
    EXPECT_EQ(found(of_all).size(), all.size()) << of_all;
  }
  EXPECT_EQ(Text(this->saver().Threads({}).value().at(0).metadata), all.back());
  ASSERT_TRUE(this->saver().CopyThread("t", "copy").ok());
  EXPECT_EQ(Text(this->Get({"copy", "", "2"}).metadata), all[1]);
  this->Put(At("t", "", "4").Parent("3").Metadata(R"({"source":"loop"})"));
  EXPECT_THAT(found(R"({"source":"fork"})"), ElementsAre("copy//4"));
}

// LangGraph's reducer of messages adds what is new and replaces what has the same id.
TYPED_TEST(CheckpointerContract, cap_79_messages_are_a_channel_with_all_their_history) {
  const std::string document(20'000, 'x');
  const std::vector<std::string> states = {R"([{"id":1,"text":"hello"}])",
                                           R"([{"id":1,"text":"hello"},{"id":2,"text":"hi"}])",
                                           R"([{"id":1,"text":"good day"},{"id":2,"text":"hi"}])"};
  this->Put(At("t", "", "1").New("document", "1", document).New("messages", "1", states[0]));
  const auto bytes = this->Stats().bytes;
  for (const char* id : {"2", "3"}) {
    this->Put(At("t", "", id)
                  .Parent(id[0] == '2' ? "1" : "2")
                  .Unchanged("document", "1")
                  .New("messages", id, states.at(static_cast<std::size_t>(id[0] - '1'))));
  }
  for (const char* id : {"1", "2", "3"}) {
    EXPECT_THAT(Values(this->Get({"t", "", id})),
                ElementsAre("document@1=" + document,
                            "messages@" + std::string(id) + "=" +
                                states.at(static_cast<std::size_t>(id[0] - '1'))));
  }
  EXPECT_LT(this->Stats().bytes - bytes, document.size()) << "each channel has its own value";
  // A channel whose steps are kept as writes, too: the state is what they make of the seed.
  this->PutWrites({"t", "", "3"}, {Write("a", 0, "messages", "3"), Write("a", 1, "other", "0")});
  this->Put(
      At("t", "", "4").Parent("3").Unchanged("document", "1").NewWithoutValue("messages", "4"));
  this->PutWrites({"t", "", "4"}, {Write("b", 0, "messages", "4")});
  this->Put(
      At("t", "", "5").Parent("4").Unchanged("document", "1").NewWithoutValue("messages", "5"));
  const auto history = this->History({"t", "", "5"}, {"messages"});
  ASSERT_EQ(history.size(), 1U);
  EXPECT_EQ(Text(*history[0].seed), states[2]);
  EXPECT_THAT(Shown(history[0].writes), ElementsAre("a/0 messages=3", "b/0 messages=4"));
}

TYPED_TEST(CheckpointerContract, cap_69_the_id_that_was_given_is_the_id_that_is_used) {
  this->Put(At("t", "ns", "1ef4f797-8335-6428-8001-8a1503f9b875"));
  EXPECT_EQ(this->Get({"t", "ns", ""}).key,
            (CheckpointKey{"t", "ns", "1ef4f797-8335-6428-8001-8a1503f9b875"}));
}

TYPED_TEST(CheckpointerContract, cap_69_putting_an_id_again_replaces_the_checkpoint) {
  this->Put(At("t", "", "1").New("a", "1", "1").New("b", "1", "1"));
  this->Put(At("t", "", "1").Parent("0").Metadata("{\"n\":2}").New("a", "2", "2"));
  const CheckpointTuple tuple = this->Get({"t", "", "1"});
  EXPECT_THAT(Values(tuple), ElementsAre("a@2=2"));
  EXPECT_EQ(tuple.parent_checkpoint_id, "0");
  EXPECT_EQ(Text(tuple.metadata), "{\"n\":2}");
  EXPECT_EQ(this->Counts(), (CheckpointerStats{1, 1, 0}));
}

TYPED_TEST(CheckpointerContract, replacing_a_checkpoint_keeps_values_that_children_have) {
  this->Put(At("t", "", "1").New("a", "1", "\"kept\"").New("b", "1", "\"freed\""));
  this->Put(At("t", "", "2").Parent("1").Unchanged("a", "1"));
  this->Put(At("t", "", "1").New("a", "1", "\"new\""));
  EXPECT_THAT(Values(this->Get({"t", "", "2"})), ElementsAre("a@1=\"kept\""));
  EXPECT_THAT(Values(this->Get({"t", "", "1"})), ElementsAre("a@1=\"new\""));
}

TYPED_TEST(CheckpointerContract, a_checkpoint_replaced_by_its_own_child_keeps_its_value) {
  this->Put(At("t", "", "1").New("a", "1", "1"));
  this->Put(At("t", "", "1").Parent("1").Unchanged("a", "1"));
  EXPECT_THAT(Values(this->Get({"t", "", "1"})), ElementsAre("a@1=1"));
}

TYPED_TEST(CheckpointerContract, cap_70_without_an_id_the_greatest_id_is_the_latest) {
  this->Put(At("t", "", "2"));
  this->Put(At("t", "", "3"));
  this->Put(At("t", "", "1"));
  EXPECT_EQ(this->Get({"t", "", ""}).key.checkpoint_id, "3");
  EXPECT_EQ(this->Get({"t", "", "1"}).key.checkpoint_id, "1");
}

TYPED_TEST(CheckpointerContract, cap_70_what_is_not_there_is_no_error) {
  EXPECT_EQ(this->Find({"t", "", ""}), std::nullopt);
  this->Put(At("t", "", "1"));
  EXPECT_EQ(this->Find({"t", "", "2"}), std::nullopt);
  EXPECT_EQ(this->Find({"t", "ns", ""}), std::nullopt);
  EXPECT_EQ(this->Find({"u", "", "1"}), std::nullopt);
}

TYPED_TEST(CheckpointerContract, cap_76_ids_are_ordered_by_code_point_beyond_the_bmp) {
  this->Put(At("t", "", "\U00010000"));
  this->Put(At("t", "", "\uFFFF"));
  EXPECT_EQ(this->Get({"t", "", ""}).key.checkpoint_id, "\U00010000");
  EXPECT_THAT(this->List({.thread_id = "t"}), ElementsAre("t//\U00010000", "t//\uFFFF"));
}

TYPED_TEST(CheckpointerContract, cap_74_any_bytes_of_any_type_survive) {
  const Blob binary = {"bytes", {0x00, 0xFF, 0xEF, 0xBF, 0xBD, 0x00}};
  const Blob empty = {"null", {}};
  At next("t", "", "1");
  next.New("binary", "1", binary).New("empty", "1", empty);
  next.checkpoint().checkpoint = binary;
  next.checkpoint().metadata = empty;
  this->Put(next);
  this->PutWrites({"t", "", "1"}, {{"task", 0, "a", binary, ""}, {"task", 1, "b", empty, ""}});
  const CheckpointTuple tuple = this->Get({"t", "", "1"});
  EXPECT_EQ(tuple.checkpoint, binary);
  EXPECT_EQ(tuple.metadata, empty);
  ASSERT_EQ(tuple.values.size(), 2u);
  EXPECT_EQ(tuple.values[0].value, binary);
  EXPECT_EQ(tuple.values[1].value, empty);
  ASSERT_EQ(tuple.pending_writes.size(), 2u);
  EXPECT_EQ(tuple.pending_writes[0].value, binary);
  EXPECT_EQ(tuple.pending_writes[1].value, empty);
}

TYPED_TEST(CheckpointerContract, a_value_of_megabytes_survives) {
  const std::string large(3'000'000, 'x');
  this->Put(At("t", "", "1").New("a", "1", large));
  EXPECT_EQ(Text(this->Get({"t", "", "1"}).values.at(0).value), large);
}

TYPED_TEST(CheckpointerContract, versions_of_any_text_survive) {
  At next("t", "", "1");
  int channel = 0;
  for (const char* version : {"", "0", "007", "4611686018427387903", "4611686018427387904",
                              "18446744073709551616", "-1", "1.5", "\u7248"}) {
    next.New("c" + std::to_string(channel++), version, version);
  }
  this->Put(next);
  const auto tuple = this->Get({"t", "", "1"});
  ASSERT_EQ(tuple.values.size(), 9u);
  for (const ChannelValue& value : tuple.values) EXPECT_EQ(value.version, Text(value.value));
}

// --- refusals

TYPED_TEST(CheckpointerContract, cap_72_every_call_about_a_thread_requires_its_id) {
  const CheckpointKey key = {"", "", "1"};
  const std::vector<std::string> none = {""};
  Checkpointer& saver = this->saver();
  EXPECT_EQ(saver.Put(At("", "", "1")).code(), StatusCode::kThreadIdRequired);
  EXPECT_EQ(saver.PutWrites(key, {}).code(), StatusCode::kThreadIdRequired);
  EXPECT_EQ(saver.GetTuple(key).error().code(), StatusCode::kThreadIdRequired);
  EXPECT_EQ(saver.List({.thread_id = ""}).error().code(), StatusCode::kThreadIdRequired);
  EXPECT_EQ(saver.Writes(key, "").error().code(), StatusCode::kThreadIdRequired);
  EXPECT_EQ(saver.GetDeltaChannelHistory(key, {}).error().code(), StatusCode::kThreadIdRequired);
  EXPECT_EQ(saver.DeleteThread("").code(), StatusCode::kThreadIdRequired);
  EXPECT_EQ(saver.CopyThread("", "b").code(), StatusCode::kThreadIdRequired);
  EXPECT_EQ(saver.CopyThread("a", "").code(), StatusCode::kThreadIdRequired);
  EXPECT_EQ(saver.Prune({.thread_ids = none, .strategy = PruneStrategy::kDelete}).error().code(),
            StatusCode::kThreadIdRequired);
}

TYPED_TEST(CheckpointerContract, cap_72_a_refused_id_is_named_and_nothing_is_stored) {
  const std::string nul("a\0b", 3);
  const std::string lone_surrogate = "\xED\xA0\x80";
  const std::string too_long(kMaxIdBytes + 1, 'x');
  for (const std::string& bad : {nul, lone_surrogate, too_long, std::string("\xFF")}) {
    const auto refused = [&](const Status& s, const std::string& field) {
      EXPECT_EQ(s.code(), StatusCode::kInvalidArgument) << field;
      EXPECT_THAT(s.message(), HasSubstr(field));
    };
    refused(this->saver().Put(At(bad, "", "1")), "thread_id");
    refused(this->saver().Put(At("t", bad, "1")), "checkpoint_ns");
    refused(this->saver().Put(At("t", "", bad)), "checkpoint_id");
    refused(this->saver().Put(At("t", "", "1").Parent(bad)), "parent_checkpoint_id");
    refused(this->saver().Put(At("t", "", "1").New(bad, "1", "1")), "channel");
    refused(this->saver().Put(At("t", "", "1").New("a", bad, "1")), "version");
    refused(this->saver().Put(At("t", "", "1").New("a", "1", Typed(bad, ""))), "type");
    const CheckpointKey key = {"t", "", "1"};
    refused(this->saver().PutWrites(key, std::array{Write(bad, 0, "a", "1")}), "task_id");
    refused(this->saver().PutWrites(key, std::array{Write("a", 0, bad, "1")}), "channel");
    refused(this->saver().PutWrites(key, std::array{Write("a", 0, "a", "1", bad)}), "task_path");
    refused(this->saver().List({.thread_id = "t", .before = bad}).error(), "before");
    refused(this->saver().List({.thread_id = "t", .after = bad}).error(), "after");
  }
  EXPECT_EQ(this->Stats(), CheckpointerStats());
}

TYPED_TEST(CheckpointerContract, cap_72_empty_ids_are_refused_where_one_is_needed) {
  const CheckpointKey no_id = {"t", "", ""};
  Checkpointer& saver = this->saver();
  EXPECT_THAT(saver.Put(At("t", "", "")).message(), HasSubstr("checkpoint_id must not be empty"));
  EXPECT_THAT(saver.PutWrites(no_id, {}).message(), HasSubstr("checkpoint_id must not be empty"));
  EXPECT_THAT(saver.Writes(no_id, "").error().message(), HasSubstr("checkpoint_id"));
  EXPECT_THAT(saver.PutWrites({"t", "", "1"}, std::array{Write("", 0, "a", "1")}).message(),
              HasSubstr("task_id must not be empty"));
}

TYPED_TEST(CheckpointerContract, cap_72_an_id_of_the_greatest_length_is_taken) {
  const std::string longest(kMaxIdBytes, 'x');
  this->Put(At(longest, longest, longest).New(longest, longest, "1"));
  EXPECT_EQ(this->Get({longest, longest, ""}).values.size(), 1u);
}

TYPED_TEST(CheckpointerContract, values_must_be_of_new_versions) {
  NewCheckpoint next = At("t", "", "1").Unchanged("a", "1");
  next.values.push_back({"a", "1", Json("1")});
  EXPECT_EQ(this->saver().Put(next).code(), StatusCode::kInvalidArgument);
  next.new_versions = {"a"};
  next.values[0].version = "2";
  EXPECT_EQ(this->saver().Put(next).code(), StatusCode::kInvalidArgument);
  next.values[0] = {"b", "1", Json("1")};
  EXPECT_THAT(this->saver().Put(next).message(), HasSubstr("\"b\""));
  next.values = {{"a", "1", Json("1")}, {"a", "1", Json("2")}};
  EXPECT_EQ(this->saver().Put(next).code(), StatusCode::kInvalidArgument);
  next.values.pop_back();
  EXPECT_TRUE(this->saver().Put(next).ok());
  next.channel_versions.push_back({"a", "2"});
  EXPECT_EQ(this->saver().Put(next).code(), StatusCode::kInvalidArgument);
}

// --- pending writes

TYPED_TEST(CheckpointerContract, cap_67_pending_writes_come_by_task_path_task_and_index) {
  this->Put(At("t", "", "1"));
  const CheckpointKey key = {"t", "", "1"};
  this->PutWrites(key, {Write("b", 0, "x", "1", "~2"), Write("b", 1, "x", "2", "~2")});
  this->PutWrites(key, {Write("z", 10, "x", "4", "~1"), Write("z", 9, "x", "3", "~1")});
  this->PutWrites(key, {Write("a", 0, "x", "5", "~2"), Write("c", 0, "x", "6")});
  EXPECT_THAT(Shown(this->Get(key).pending_writes),
              ElementsAre("c/0 x=6", "z/9 x=3", "z/10 x=4", "a/0 x=5", "b/0 x=1", "b/1 x=2"));
  EXPECT_EQ(this->Get(key).pending_writes.back().task_path, "~2");
}

TYPED_TEST(CheckpointerContract, cap_67_task_paths_are_ordered_by_code_point) {
  const CheckpointKey key = {"t", "", "1"};
  this->PutWrites(key, {Write("a", 0, "x", "2", "\U00010000"), Write("a", 1, "x", "1", "\uFFFF")});
  this->Put(At("t", "", "1"));
  EXPECT_THAT(Shown(this->Get(key).pending_writes), ElementsAre("a/1 x=1", "a/0 x=2"));
}

TYPED_TEST(CheckpointerContract, a_write_that_is_there_already_stays) {
  const CheckpointKey key = {"t", "", "1"};
  this->PutWrites(key, {Write("a", 0, "x", "\"first\"", "p")});
  this->PutWrites(key, {Write("a", 0, "y", "\"second\"", "q"), Write("a", 1, "x", "\"new\"", "p")});
  const auto writes = this->saver().Writes(key, "");
  EXPECT_THAT(Shown(*writes), ElementsAre("a/0 x=\"first\"", "a/1 x=\"new\""));
}

TYPED_TEST(CheckpointerContract, a_special_write_replaces_an_earlier_one) {
  const CheckpointKey key = {"t", "", "1"};
  this->PutWrites(key, {Write("a", -3, "__interrupt__", "1", "p"), Write("a", 0, "x", "1", "p")});
  this->PutWrites(
      key, {Write("a", -3, "__interrupt__", "2", "p"), Write("a", -4, "__resume__", "3", "p")});
  EXPECT_THAT(Shown(*this->saver().Writes(key, "")),
              ElementsAre("a/-4 __resume__=3", "a/-3 __interrupt__=2", "a/0 x=1"));
}

TYPED_TEST(CheckpointerContract, writes_may_arrive_before_their_checkpoint) {
  const CheckpointKey key = {"t", "", "1"};
  this->PutWrites(key, {Write("a", 0, "x", "1")});
  EXPECT_EQ(this->Find(key), std::nullopt);
  EXPECT_EQ(this->Counts(), (CheckpointerStats{1, 0, 1}));
  this->Put(At("t", "", "1"));
  EXPECT_THAT(Shown(this->Get(key).pending_writes), ElementsAre("a/0 x=1"));
}

TYPED_TEST(CheckpointerContract, putting_a_checkpoint_again_keeps_its_writes) {
  this->Put(At("t", "", "1"));
  this->PutWrites({"t", "", "1"}, {Write("a", 0, "x", "1")});
  this->Put(At("t", "", "1"));
  EXPECT_EQ(this->Get({"t", "", "1"}).pending_writes.size(), 1u);
}

TYPED_TEST(CheckpointerContract, writes_of_one_channel_are_those_of_that_channel) {
  const CheckpointKey key = {"t", "", "1"};
  this->PutWrites(key, {Write("b", 0, "x", "2"), Write("b", 1, "y", "3"), Write("a", 0, "x", "1")});
  EXPECT_THAT(Shown(*this->saver().Writes(key, "x")), ElementsAre("a/0 x=1", "b/0 x=2"));
  EXPECT_THAT(Shown(*this->saver().Writes({"t", "", "2"}, "")), IsEmpty());
  EXPECT_THAT(Shown(*this->saver().Writes({"t", "ns", "1"}, "")), IsEmpty());
}

// --- list

TYPED_TEST(CheckpointerContract, cap_71_a_listing_is_newest_first_then_by_thread_and_namespace) {
  for (const char* thread : {"b", "a"}) {
    for (const char* ns : {"n", ""}) {
      this->Put(At(thread, ns, "1"));
      this->Put(At(thread, ns, "2"));
    }
  }
  EXPECT_THAT(this->List({}),
              ElementsAre("a//2", "a/n/2", "b//2", "b/n/2", "a//1", "a/n/1", "b//1", "b/n/1"));
  EXPECT_THAT(this->List({.thread_id = "b"}), ElementsAre("b//2", "b/n/2", "b//1", "b/n/1"));
  EXPECT_THAT(this->List({.checkpoint_ns = "n"}), ElementsAre("a/n/2", "b/n/2", "a/n/1", "b/n/1"));
  EXPECT_THAT(this->List({.thread_id = "a", .checkpoint_ns = ""}), ElementsAre("a//2", "a//1"));
  EXPECT_THAT(this->List({.thread_id = "c"}), IsEmpty());
}

TYPED_TEST(CheckpointerContract, cap_71_a_listing_is_bounded_before_and_after) {
  this->PutChain("t", 5);
  EXPECT_THAT(this->List({.thread_id = "t", .before = "3"}), ElementsAre("t//2", "t//1"));
  EXPECT_THAT(this->List({.thread_id = "t", .after = "3"}), ElementsAre("t//5", "t//4"));
  EXPECT_THAT(this->List({.thread_id = "t", .before = "5", .after = "2"}),
              ElementsAre("t//4", "t//3"));
  EXPECT_THAT(this->List({.thread_id = "t", .before = "2", .after = "4"}), IsEmpty());
  EXPECT_THAT(this->List({.before = "35", .after = "25"}), ElementsAre("t//3"));
}

TYPED_TEST(CheckpointerContract, cap_71_a_listing_of_one_id_has_at_most_that_one) {
  this->PutChain("t", 3);
  EXPECT_THAT(this->List({.thread_id = "t", .checkpoint_id = "2"}), ElementsAre("t//2"));
  EXPECT_THAT(this->List({.checkpoint_id = "2", .before = "2"}), IsEmpty());
  EXPECT_THAT(this->List({.checkpoint_id = "2", .after = "2"}), IsEmpty());
  EXPECT_THAT(this->List({.checkpoint_id = "2", .before = "3", .after = "1"}), ElementsAre("t//2"));
  EXPECT_THAT(this->List({.thread_id = "t", .checkpoint_id = "9"}), IsEmpty());
}

TYPED_TEST(CheckpointerContract, cap_71_a_limit_of_zero_lists_nothing) {
  this->PutChain("t", 3);
  EXPECT_THAT(this->List({.thread_id = "t", .limit = 0}), IsEmpty());
  EXPECT_THAT(this->List({.thread_id = "t", .limit = 2}), ElementsAre("t//3", "t//2"));
  EXPECT_THAT(this->List({.thread_id = "t", .limit = 9}), ElementsAre("t//3", "t//2", "t//1"));
}

TYPED_TEST(CheckpointerContract, cap_71_a_filter_is_deep_equality_of_metadata_members) {
  this->Put(At("t", "", "1").Metadata(R"({"step":1,"tags":["a","b"],"o":{"x":1,"y":null}})"));
  this->Put(At("t", "", "2").Metadata(R"({"step":2.0,"o":{"y":null,"x":1.0},"user":"\u00fc"})"));
  this->Put(At("t", "", "3").Metadata(R"({"step":"2","o":{"x":1},"none":null})"));
  const auto filtered = [&](std::string filter) {
    return this->List({.thread_id = "t", .filter = std::move(filter)});
  };
  EXPECT_THAT(filtered(R"({"step":2})"), ElementsAre("t//2"));
  EXPECT_THAT(filtered(R"({"o":{"x":1,"y":null}})"), ElementsAre("t//2", "t//1"));
  EXPECT_THAT(filtered(R"({"o":{"x":1,"y":null},"step":1})"), ElementsAre("t//1"));
  EXPECT_THAT(filtered(R"({"tags":["a","b"]})"), ElementsAre("t//1"));
  EXPECT_THAT(filtered(R"({"tags":["b","a"]})"), IsEmpty());
  EXPECT_THAT(filtered(R"({"user":"ü"})"), ElementsAre("t//2"));
  EXPECT_THAT(filtered(R"({"none":null})"), ElementsAre("t//3"));
  EXPECT_THAT(filtered(R"({"step":{"$gt":1}})"), IsEmpty()) << "an operator is a value here";
  EXPECT_THAT(filtered("{}"), ElementsAre("t//3", "t//2", "t//1"));
}

TYPED_TEST(CheckpointerContract, cap_71_a_limit_counts_what_the_filter_lets_through) {
  for (const char* id : {"1", "2", "3", "4", "5", "6"}) {
    this->Put(At("t", "", id).Metadata(*id % 2 == 0 ? R"({"even":true})" : R"({"even":false})"));
  }
  EXPECT_THAT(this->List({.thread_id = "t", .filter = R"({"even":false})", .limit = 2}),
              ElementsAre("t//5", "t//3"));
}

TYPED_TEST(CheckpointerContract, cap_71_metadata_that_is_not_json_matches_no_filter) {
  At opaque("t", "", "1");
  opaque.checkpoint().metadata = Typed("msgpack", "{\"step\":1}");
  this->Put(opaque);
  At broken("t", "", "2");
  broken.checkpoint().metadata = Typed("json", "{\"step\":");
  this->Put(broken);
  EXPECT_THAT(this->List({.thread_id = "t", .filter = R"({"step":1})"}), IsEmpty());
  EXPECT_THAT(this->List({.thread_id = "t"}), ElementsAre("t//2", "t//1"));
}

TYPED_TEST(CheckpointerContract, cap_71_a_filter_that_is_no_object_is_an_error) {
  for (const char* filter : {"[]", "1", "{", "null", "{\"a\":}"}) {
    EXPECT_EQ(this->saver().List({.thread_id = "t", .filter = filter}).error().code(),
              StatusCode::kInvalidFilter)
        << filter;
  }
}

TYPED_TEST(CheckpointerContract, cap_71_pages_of_any_size_make_up_the_whole_listing) {
  for (const char* thread : {"a", "b"}) {
    for (const char* ns : {"", "n"}) this->PutChain(thread, 4, ns);
  }
  for (const ListCheckpoints& list :
       {ListCheckpoints{}, ListCheckpoints{.thread_id = "a"}, ListCheckpoints{.checkpoint_ns = "n"},
        ListCheckpoints{.thread_id = "b", .checkpoint_ns = ""},
        ListCheckpoints{.filter = R"({"source":"loop"})"},
        ListCheckpoints{.before = "4", .after = "1"}}) {
    const std::vector<std::string> whole = this->List(list);
    EXPECT_FALSE(whole.empty());
    for (const std::uint32_t page : {1u, 2u, 3u, 5u}) {
      std::vector<std::string> pages;
      ListCheckpoints next = list;
      next.limit = page;
      for (auto tuples = this->saver().List(next); tuples && !tuples->empty();
           tuples = this->saver().List(next)) {
        const auto shown = Shown(*tuples);
        pages.insert(pages.end(), shown.begin(), shown.end());
        next.cursor = tuples->back().key;
      }
      EXPECT_EQ(pages, whole) << "pages of " << page;
    }
  }
}

TYPED_TEST(CheckpointerContract, cap_71_a_cursor_need_not_exist) {
  this->PutChain("t", 3);
  EXPECT_THAT(this->List({.thread_id = "t", .cursor = CheckpointKey{"t", "", "25"}}),
              ElementsAre("t//2", "t//1"));
}

TYPED_TEST(CheckpointerContract, a_listing_has_values_and_pending_writes) {
  this->PutChain("t", 2);
  this->PutWrites({"t", "", "1"}, {Write("a", 0, "x", "1")});
  const auto tuples = this->saver().List({.thread_id = "t"});
  ASSERT_TRUE(tuples && tuples->size() == 2);
  EXPECT_EQ((*tuples)[0], this->Get({"t", "", "2"}));
  EXPECT_EQ((*tuples)[1], this->Get({"t", "", "1"}));
  EXPECT_EQ((*tuples)[1].pending_writes.size(), 1u);
}

// --- delta channels

TYPED_TEST(CheckpointerContract, a_delta_history_is_a_seed_and_what_was_written_upon_it) {
  this->Put(At("t", "", "1").New("d", "1", "\"seed\""));
  this->PutWrites({"t", "", "1"}, {Write("b", 0, "d", "2", "~1"), Write("a", 0, "d", "3", "~2"),
                                   Write("a", 1, "other", "0")});
  this->Put(At("t", "", "2").Parent("1").NewWithoutValue("d", "2"));
  this->PutWrites({"t", "", "2"}, {Write("a", 0, "d", "4"), Write("a", 1, "d", "5")});
  this->Put(At("t", "", "3").Parent("2").NewWithoutValue("d", "3"));
  this->PutWrites({"t", "", "3"}, {Write("a", 0, "d", "\"own\"")});
  const auto histories = this->History({"t", "", "3"}, {"d"});
  ASSERT_EQ(histories.size(), 1u);
  EXPECT_EQ(histories[0].channel, "d");
  EXPECT_EQ(histories[0].seed, Json("\"seed\""));
  EXPECT_THAT(Shown(histories[0].writes), ElementsAre("b/0 d=2", "a/0 d=3", "a/0 d=4", "a/1 d=5"));
  EXPECT_EQ(this->History({"t", "", ""}, {"d"}), histories) << "the newest is the default";
}

TYPED_TEST(CheckpointerContract, each_delta_channel_stops_at_its_own_seed) {
  this->Put(At("t", "", "1").New("a", "1", "\"a1\"").New("b", "1", "\"b1\""));
  this->PutWrites({"t", "", "1"}, {Write("x", 0, "a", "1"), Write("x", 1, "b", "1")});
  this->Put(At("t", "", "2").Parent("1").New("a", "2", "\"a2\"").NewWithoutValue("b", "2"));
  this->PutWrites({"t", "", "2"},
                  {Write("x", 0, "a", "2"), Write("x", 1, "b", "2"), Write("x", 2, "c", "2")});
  this->Put(At("t", "", "3").Parent("2").NewWithoutValue("a", "3").NewWithoutValue("b", "3"));
  const auto histories = this->History({"t", "", "3"}, {"b", "a", "c", "b"});
  ASSERT_EQ(histories.size(), 4u);
  EXPECT_EQ(histories[0].seed, Json("\"b1\""));
  EXPECT_THAT(Shown(histories[0].writes), ElementsAre("x/1 b=1", "x/1 b=2"));
  EXPECT_EQ(histories[1].seed, Json("\"a2\""));
  EXPECT_THAT(Shown(histories[1].writes), ElementsAre("x/0 a=2"));
  EXPECT_EQ(histories[2].seed, std::nullopt);
  EXPECT_THAT(Shown(histories[2].writes), ElementsAre("x/2 c=2"));
  EXPECT_EQ(histories[3], histories[0]);
}

TYPED_TEST(CheckpointerContract, a_delta_history_follows_parents_and_not_siblings) {
  this->Put(At("t", "", "1").New("d", "1", "\"seed\""));
  this->Put(At("t", "", "2").Parent("1").NewWithoutValue("d", "2"));
  this->PutWrites({"t", "", "2"}, {Write("a", 0, "d", "\"sibling\"")});
  this->Put(At("t", "", "3").Parent("1").NewWithoutValue("d", "2"));
  this->PutWrites({"t", "", "3"}, {Write("a", 0, "d", "\"mine\"")});
  this->Put(At("t", "", "4").Parent("3").NewWithoutValue("d", "3"));
  EXPECT_THAT(Shown(this->History({"t", "", "4"}, {"d"})[0].writes), ElementsAre("a/0 d=\"mine\""));
}

TYPED_TEST(CheckpointerContract, a_delta_history_of_nothing_is_empty) {
  EXPECT_THAT(this->History({"t", "", "1"}, {}), IsEmpty());
  const std::vector<DeltaChannelHistory> empty = {{"d", std::nullopt, {}}};
  EXPECT_EQ(this->History({"t", "", "1"}, {"d"}), empty);
  EXPECT_EQ(this->History({"t", "", ""}, {"d"}), empty);
  this->Put(At("t", "", "1").New("d", "1", "1"));
  EXPECT_EQ(this->History({"t", "", "1"}, {"d"}), empty) << "its own value is not an ancestor's";
  this->Put(At("t", "", "2").Parent("gone").NewWithoutValue("d", "1"));
  EXPECT_EQ(this->History({"t", "", "2"}, {"d"}), empty);
}

TYPED_TEST(CheckpointerContract, parents_that_run_in_circles_are_walked_once) {
  this->Put(At("t", "", "self").Parent("self").NewWithoutValue("d", "1"));
  this->PutWrites({"t", "", "self"}, {Write("a", 0, "d", "\"own\"")});
  EXPECT_THAT(this->History({"t", "", "self"}, {"d"})[0].writes, IsEmpty());

  this->Put(At("c", "", "1").Parent("3").NewWithoutValue("d", "1"));
  this->Put(At("c", "", "2").Parent("1").NewWithoutValue("d", "2"));
  this->Put(At("c", "", "3").Parent("2").NewWithoutValue("d", "3"));
  for (const char* id : {"1", "2", "3"}) {
    this->PutWrites({"c", "", id}, {Write(id, 0, "d", id)});
  }
  EXPECT_THAT(Shown(this->History({"c", "", "3"}, {"d"})[0].writes),
              ElementsAre("1/0 d=1", "2/0 d=2"));
  EXPECT_EQ(this->Prune({"c"}), 0u) << "all are needed to rebuild the newest";
  EXPECT_EQ(this->Prune({"t"}), 0u);
}

TYPED_TEST(CheckpointerContract, a_long_delta_history_is_whole_and_in_order) {
  constexpr int kLength = 600;
  for (int i = 0; i < kLength; ++i) {
    const std::string id = std::to_string(1000 + i);
    At next = At("t", "", id).Parent(i == 0 ? "" : std::to_string(999 + i));
    this->Put(i == 0 ? next.New("d", "0", "0") : next.NewWithoutValue("d", std::to_string(i)));
    this->PutWrites({"t", "", id}, {Write("a", 0, "d", std::to_string(i))});
  }
  const auto history = this->History({"t", "", ""}, {"d"})[0];
  ASSERT_EQ(history.writes.size(), static_cast<std::size_t>(kLength - 1));
  for (std::size_t i = 0; i < history.writes.size(); ++i) {
    EXPECT_EQ(Text(history.writes[i].value), std::to_string(i));
  }
  EXPECT_EQ(history.seed, Json("0"));
}

// --- delete_thread

TYPED_TEST(CheckpointerContract, deleting_a_thread_removes_all_that_it_had) {
  this->PutChain("t", 3);
  this->PutChain("t", 2, "child:1");
  this->PutWrites({"t", "", "3"}, {Write("a", 0, "x", "1")});
  this->PutWrites({"t", "", "not yet"}, {Write("a", 0, "x", "1")});
  this->PutChain("u", 1);
  ASSERT_TRUE(this->saver().DeleteThread("t").ok());
  EXPECT_EQ(this->Find({"t", "", ""}), std::nullopt);
  EXPECT_EQ(this->Find({"t", "child:1", ""}), std::nullopt);
  EXPECT_THAT(Shown(*this->saver().Writes({"t", "", "3"}, "")), IsEmpty());
  EXPECT_EQ(this->Counts(), (CheckpointerStats{1, 1, 0}));
  EXPECT_THAT(Values(this->Get({"u", "", ""})), ElementsAre("step@1=1"));
}

TYPED_TEST(CheckpointerContract, deleting_a_thread_that_is_not_there_is_fine) {
  EXPECT_TRUE(this->saver().DeleteThread("nobody").ok());
}

// --- copy_thread

TYPED_TEST(CheckpointerContract, a_copied_thread_has_every_checkpoint_value_and_write) {
  this->PutChain("t", 3);
  this->Put(At("t", "", "4").Parent("3").Unchanged("step", "3").NewWithoutValue("d", "1"));
  this->PutChain("t", 1, "child:1");
  this->PutWrites({"t", "", "4"}, {Write("a", 0, "x", "1", "~p"), Write("a", -1, "e", "2", "~p")});
  this->PutWrites({"t", "", "not yet"}, {Write("a", 0, "x", "1")});
  const auto before = this->saver().List({.thread_id = "t"});
  ASSERT_TRUE(this->saver().CopyThread("t", "copy").ok());
  EXPECT_EQ(*this->saver().List({.thread_id = "t"}), *before) << "the source is as it was";
  auto copied = *this->saver().List({.thread_id = "copy"});
  ASSERT_EQ(copied.size(), 5u);
  for (CheckpointTuple& tuple : copied) tuple.key.thread_id = "t";
  EXPECT_EQ(copied, *before);
  EXPECT_EQ(this->saver().Writes({"copy", "", "not yet"}, "")->size(), 1u);
  EXPECT_EQ(this->Counts(), (CheckpointerStats{2, 10, 6}));
}

TYPED_TEST(CheckpointerContract, a_copy_and_its_source_go_their_own_ways) {
  this->PutChain("t", 2);
  ASSERT_TRUE(this->saver().CopyThread("t", "copy").ok());
  ASSERT_TRUE(this->saver().DeleteThread("t").ok());
  EXPECT_THAT(Values(this->Get({"copy", "", "1"})), ElementsAre("step@1=1"));
  this->Put(At("copy", "", "3").Parent("2").Unchanged("step", "2"));
  EXPECT_THAT(Values(this->Get({"copy", "", "3"})), ElementsAre("step@2=2"));
  EXPECT_EQ(this->Counts(), (CheckpointerStats{1, 3, 0}));
}

TYPED_TEST(CheckpointerContract, the_newest_put_of_a_version_is_so_in_a_copy_too) {
  this->Put(At("t", "", "1").New("a", "1", "\"old\""));
  this->Put(At("t", "", "2").New("a", "1", "\"new\""));
  ASSERT_TRUE(this->saver().CopyThread("t", "copy").ok());
  this->Put(At("copy", "", "3").Unchanged("a", "1"));
  EXPECT_THAT(Values(this->Get({"copy", "", "3"})), ElementsAre("a@1=\"new\""));
}

TYPED_TEST(CheckpointerContract, a_thread_that_is_not_there_is_neither_copied_nor_renamed) {
  for (const Status& s :
       {this->saver().CopyThread("nobody", "copy"), this->saver().RenameThread("nobody", "copy")}) {
    EXPECT_EQ(s.code(), StatusCode::kNotFound);
    EXPECT_THAT(s.message(), HasSubstr("\"nobody\""));
  }
  EXPECT_THAT(this->List({.thread_id = "copy"}), IsEmpty());
  EXPECT_EQ(this->Stats(), CheckpointerStats());
}

TYPED_TEST(CheckpointerContract, copying_replaces_nothing) {
  this->PutChain("t", 2);
  this->PutChain("taken", 1);
  this->PutWrites({"writes", "", "1"}, {Write("a", 0, "x", "1")});
  for (const char* target : {"taken", "writes", "t"}) {
    const Status s = this->saver().CopyThread("t", target);
    EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(s.message(), HasSubstr(target));
  }
  EXPECT_EQ(this->Counts(), (CheckpointerStats{3, 3, 1}));
}

// --- delete_for_runs

TYPED_TEST(CheckpointerContract,
           the_checkpoints_of_runs_are_deleted_in_all_threads_and_namespaces) {
  this->Put(At("t", "", "1").Metadata(R"({"run_id":"r1"})").New("a", "1", "1"));
  this->Put(At("t", "", "2").Parent("1").Metadata(R"({"run_id":"r2"})").New("a", "2", "2"));
  this->Put(At("t", "", "3").Parent("2").Metadata(R"({"run_id":"r3"})").New("a", "3", "3"));
  this->Put(At("t", "child:1", "1").Metadata(R"({"run_id":"r1"})"));
  this->Put(At("u", "", "1").Metadata(R"({"step":0,"run_id":"r\u0031"})"));
  this->Put(At("u", "", "2").Metadata(R"({"meta":{"run_id":"r1"}})"));
  this->Put(At("u", "", "3").Metadata(R"({"run_id":1})"));
  EXPECT_EQ(this->DeleteForRuns({"r1", "r2"}), 4u);
  EXPECT_THAT(this->List({}), ElementsAre("t//3", "u//3", "u//2"));
}

TYPED_TEST(CheckpointerContract, writes_of_a_deleted_run_go_with_it) {
  this->Put(At("t", "", "1").Metadata(R"({"run_id":"r1"})"));
  this->PutWrites({"t", "", "1"}, {Write("a", 0, "x", "1")});
  EXPECT_EQ(this->DeleteForRuns({"r1"}), 1u);
  EXPECT_EQ(this->Find({"t", "", "1"}), std::nullopt);
  EXPECT_EQ(this->Stats(), CheckpointerStats());
}

TYPED_TEST(CheckpointerContract, deleting_no_runs_or_unknown_runs_deletes_nothing) {
  this->PutChain("t", 2);
  EXPECT_EQ(this->DeleteForRuns({}), 0u);
  EXPECT_EQ(this->DeleteForRuns({"nobody", ""}), 0u);
  EXPECT_EQ(this->Stats().checkpoints, 2u);
}

TYPED_TEST(CheckpointerContract, survivors_of_a_deleted_run_keep_the_values_that_it_brought) {
  this->Put(At("t", "", "1").Metadata(R"({"run_id":"r1"})").New("a", "1", "1").New("b", "1", "1"));
  this->Put(At("t", "", "2").Parent("1").Metadata(R"({"run_id":"r2"})").Unchanged("a", "1"));
  EXPECT_EQ(this->DeleteForRuns({"r1"}), 1u);
  EXPECT_THAT(Values(this->Get({"t", "", "2"})), ElementsAre("a@1=1"));
}

TYPED_TEST(CheckpointerContract, a_deleted_run_that_a_delta_channel_is_rebuilt_from_stays) {
  this->Put(At("t", "", "0").Metadata(R"({"run_id":"r1"})").New("d", "0", "0"));
  this->Put(At("t", "", "1").Parent("0").Metadata(R"({"run_id":"r1"})").New("d", "1", "\"seed\""));
  this->PutWrites({"t", "", "1"}, {Write("a", 0, "d", "1")});
  this->Put(At("t", "", "2").Parent("1").Metadata(R"({"run_id":"r2"})").NewWithoutValue("d", "2"));
  const auto history = this->History({"t", "", "2"}, {"d"});
  EXPECT_EQ(this->DeleteForRuns({"r1"}), 1u);
  EXPECT_EQ(this->History({"t", "", "2"}, {"d"}), history);
  EXPECT_THAT(this->List({}), ElementsAre("t//2", "t//1"));
  EXPECT_EQ(this->DeleteForRuns({"r1", "r2"}), 2u) << "nobody needs it any more";
}

// --- prune

TYPED_TEST(CheckpointerContract, keeping_the_latest_keeps_one_of_each_thread_and_namespace) {
  this->PutChain("t", 4);
  this->PutChain("t", 2, "child:1");
  this->PutChain("u", 3);
  this->PutChain("v", 2);
  EXPECT_EQ(this->Prune({"t", "u", "nobody"}), 6u);
  EXPECT_THAT(this->List({}), ElementsAre("t//4", "u//3", "t/child:1/2", "v//2", "v//1"));
  EXPECT_THAT(Values(this->Get({"t", "", ""})), ElementsAre("step@4=4"));
  EXPECT_EQ(this->Counts(), (CheckpointerStats{3, 5, 0}));
  EXPECT_EQ(this->Prune({"t", "u"}), 0u);
}

TYPED_TEST(CheckpointerContract, pruning_by_deleting_removes_the_threads) {
  this->PutChain("t", 3);
  this->PutWrites({"t", "", "not yet"}, {Write("a", 0, "x", "1")});
  this->PutChain("u", 1);
  EXPECT_EQ(this->Prune({"t", "t", "nobody"}, PruneStrategy::kDelete), 3u);
  EXPECT_EQ(this->Counts(), (CheckpointerStats{1, 1, 0}));
}

TYPED_TEST(CheckpointerContract, pruning_no_threads_deletes_nothing) {
  this->PutChain("t", 2);
  EXPECT_EQ(this->Prune({}), 0u);
  EXPECT_EQ(this->Prune({}, PruneStrategy::kDelete), 0u);
  EXPECT_EQ(this->Stats().checkpoints, 2u);
}

TYPED_TEST(CheckpointerContract, an_interrupted_thread_is_pruned_to_what_it_resumes_from) {
  this->PutChain("t", 3);
  this->PutWrites({"t", "", "2"}, {Write("a", 0, "x", "\"done\"")});
  this->PutWrites({"t", "", "3"}, {Write("a", -3, "__interrupt__", "\"q1\"", "~1"),
                                   Write("b", -3, "__interrupt__", "\"q2\"", "~2")});
  const CheckpointTuple before = this->Get({"t", "", ""});
  this->PutWrites({"t", "", "4"}, {Write("a", 0, "x", "\"early\"")});
  EXPECT_EQ(this->Prune({"t"}), 2u);
  EXPECT_EQ(this->Get({"t", "", ""}), before);
  EXPECT_EQ(this->saver().Writes({"t", "", "2"}, "")->size(), 0u);
  EXPECT_EQ(this->saver().Writes({"t", "", "4"}, "")->size(), 1u)
      << "the checkpoint of these is still on its way";
}

TYPED_TEST(CheckpointerContract, values_of_pruned_ancestors_stay_with_their_descendants) {
  this->Put(At("t", "", "1").New("a", "1", "\"a1\"").New("b", "1", "\"b1\""));
  this->Put(At("t", "", "2").Parent("1").Unchanged("a", "1").New("b", "2", "\"b2\""));
  this->Put(At("t", "", "3").Parent("2").Unchanged("a", "1").New("b", "3", "\"b3\""));
  EXPECT_EQ(this->Prune({"t"}), 2u);
  EXPECT_THAT(Values(this->Get({"t", "", ""})), ElementsAre("a@1=\"a1\"", "b@3=\"b3\""));
  this->Put(At("t", "", "4").Parent("3").Unchanged("a", "1").Unchanged("b", "3"));
  EXPECT_THAT(Values(this->Get({"t", "", "4"})), ElementsAre("a@1=\"a1\"", "b@3=\"b3\""));
}

TYPED_TEST(CheckpointerContract, a_delta_channel_is_rebuilt_alike_after_pruning) {
  this->Put(At("t", "", "1").New("d", "1", "\"old\"").New("x", "1", "1"));
  this->PutWrites({"t", "", "1"}, {Write("a", 0, "d", "1")});
  this->Put(At("t", "", "2").Parent("1").New("d", "2", "\"seed\"").New("x", "2", "2"));
  this->PutWrites({"t", "", "2"}, {Write("a", 0, "d", "2")});
  this->Put(At("t", "", "3").Parent("2").NewWithoutValue("d", "3").New("x", "3", "3"));
  this->Put(At("t", "", "3b").Parent("2").New("x", "4", "4"));
  this->Put(At("t", "", "4").Parent("3").NewWithoutValue("d", "4").New("x", "4", "4"));
  const auto history = this->History({"t", "", ""}, {"d"});
  EXPECT_EQ(this->Prune({"t"}), 2u);
  EXPECT_THAT(this->List({.thread_id = "t"}), ElementsAre("t//4", "t//3", "t//2"));
  EXPECT_EQ(this->History({"t", "", ""}, {"d"}), history);
}

TYPED_TEST(CheckpointerContract, a_delta_channel_without_seed_keeps_back_to_its_first_write) {
  this->Put(At("t", "", "1"));
  this->Put(At("t", "", "2").Parent("1"));
  this->PutWrites({"t", "", "2"}, {Write("a", 0, "d", "1")});
  this->Put(At("t", "", "3").Parent("2").NewWithoutValue("d", "1"));
  this->Put(At("t", "", "4").Parent("3").Unchanged("d", "1"));
  const auto history = this->History({"t", "", ""}, {"d"});
  EXPECT_EQ(this->Prune({"t"}), 1u);
  EXPECT_THAT(this->List({.thread_id = "t"}), ElementsAre("t//4", "t//3", "t//2"));
  EXPECT_EQ(this->History({"t", "", ""}, {"d"}), history);
}

TYPED_TEST(CheckpointerContract, a_channel_that_was_emptied_keeps_no_ancestors) {
  this->Put(At("t", "", "1"));
  this->PutWrites({"t", "", "1"}, {Write("a", 0, "branch:to:b", "null")});
  this->Put(At("t", "", "2").Parent("1").New("branch:to:b", "1", "null"));
  this->PutWrites({"t", "", "2"}, {Write("b", 0, "x", "1")});
  this->Put(At("t", "", "3").Parent("2").NewWithoutValue("branch:to:b", "2"));
  this->Put(At("t", "", "4").Parent("3").Unchanged("branch:to:b", "2"));
  EXPECT_EQ(this->Prune({"t"}), 3u);
}

TYPED_TEST(CheckpointerContract, an_old_checkpoint_keeps_the_parent_with_its_pending_sends) {
  this->Put(At("t", "", "1"));
  this->PutWrites({"t", "", "1"}, {Write("a", 0, "__pregel_tasks", "{}")});
  this->Put(At("t", "", "2").Parent("1"));
  EXPECT_EQ(this->Prune({"t"}), 0u);
  EXPECT_EQ(this->saver().Writes({"t", "", "1"}, "__pregel_tasks")->size(), 1u);
  this->Put(At("t", "", "3").Parent("1").New("__pregel_tasks", "1", "[]"));
  EXPECT_EQ(this->Prune({"t"}), 2u) << "it has them among its own channels";
}

// --- deltas

TYPED_TEST(CheckpointerContract, a_value_may_be_told_by_what_is_new_of_it) {
  const std::string first = "[" + std::string(500, 'a') + "]";
  const std::string second = "[" + std::string(500, 'a') + std::string(300, 'b') + "]";
  At one = At("t", "", "1").New("a", "1", first);
  one.checkpoint().values[0].delta.stamp = 11;
  this->Put(one);
  At two = At("t", "", "2").Parent("1").New("a", "2", std::string(300, 'b'));
  two.checkpoint().values[0].delta = {22, 11, 501, 1};
  this->Put(two);
  EXPECT_THAT(Values(this->Get({"t", "", "2"})), ElementsAre("a@2=" + second));
  At three = At("t", "", "3").Parent("2").New("a", "3", "!");
  three.checkpoint().values[0].delta = {33, 22, 0, 5};
  this->Put(three);
  EXPECT_THAT(Values(this->Get({"t", "", "3"})), ElementsAre("a@3=!bbbb]"));
}

TYPED_TEST(CheckpointerContract, a_delta_of_another_base_is_refused) {
  At one = At("t", "", "1").New("a", "1", std::string(500, 'a')).New("short", "1", "1");
  one.checkpoint().values[0].delta.stamp = 11;
  one.checkpoint().values[1].delta.stamp = 12;
  this->Put(one);
  const auto refused = [&](const char* channel, const char* parent, ValueDelta delta) {
    At next = At("t", "", "2").Parent(parent).New(channel, "2", "new");
    next.checkpoint().values[0].delta = delta;
    const Status s = this->saver().Put(next);
    EXPECT_EQ(s.code(), StatusCode::kNotFound) << channel << " of " << parent;
    EXPECT_THAT(s.message(), HasSubstr(channel));
  };
  refused("a", "1", {22, 99, 10, 10});
  refused("a", "1", {22, 11, 300, 300});
  refused("a", "1", {22, 11, 501, 0});
  refused("a", "", {22, 11, 10, 10});
  refused("a", "gone", {22, 11, 10, 10});
  refused("b", "1", {22, 11, 10, 10});
  refused("short", "1", {22, 12, 0, 0});
  EXPECT_EQ(this->Stats().checkpoints, 1u);
}

// A delta channel has a value every so often; and the step that reads LangGraph's
// "__start__" leaves it without one.
TYPED_TEST(CheckpointerContract,
           a_delta_upon_a_channel_that_was_emptied_is_one_upon_its_last_value) {
  const std::string input(2000, 'x');
  At one = At("t", "", "1").New("__start__", "1", input);
  one.checkpoint().values[0].delta.stamp = 11;
  this->Put(one);
  this->Put(At("t", "", "2").Parent("1").NewWithoutValue("__start__", "2"));
  this->Put(At("t", "", "3").Parent("2").NewWithoutValue("__start__", "3"));
  At four = At("t", "", "4").Parent("3").New("__start__", "4", "next");
  four.checkpoint().values[0].delta = {33, 11, 1000, 500};
  this->Put(four);
  EXPECT_THAT(Values(this->Get({"t", "", "4"})),
              ElementsAre("__start__@4=" + input.substr(0, 1000) + "next" + input.substr(0, 500)));
  At five = At("t", "", "5").Parent("3").New("__start__", "5", "next");
  five.checkpoint().values[0].delta = {44, 33, 1000, 500};
  EXPECT_EQ(this->saver().Put(five).code(), StatusCode::kNotFound) << "of a sibling";
}

TYPED_TEST(CheckpointerContract, a_channel_without_a_value_in_a_circle_of_parents_has_no_base) {
  this->Put(At("t", "", "1").Parent("2").NewWithoutValue("a", "1"));
  this->Put(At("t", "", "2").Parent("1").NewWithoutValue("a", "2"));
  At next = At("t", "", "3").Parent("2").New("a", "3", "new");
  next.checkpoint().values[0].delta = {22, 11, 1, 1};
  EXPECT_EQ(this->saver().Put(next).code(), StatusCode::kNotFound);
  this->Put(At("t", "", "3").Parent("2").New("a", "3", std::string(3000, 'x')));
}

// --- retention

TYPED_TEST(CheckpointerContract, the_last_checkpoints_of_each_namespace_can_be_kept) {
  this->PutChain("t", 5);
  this->PutChain("t", 3, "child");
  this->PutChain("u", 4);
  EXPECT_EQ(this->PruneBy({.thread_ids = {{"t"}}, .keep_last = 2}).checkpoints, 4u);
  EXPECT_THAT(this->List({.thread_id = "t"}),
              ElementsAre("t//5", "t//4", "t/child/3", "t/child/2"));
  EXPECT_EQ(this->PruneBy({.keep_last = 1}).checkpoints, 5u);
  EXPECT_THAT(this->List({}), ElementsAre("t//5", "u//4", "t/child/3"));
}

TYPED_TEST(CheckpointerContract, what_is_older_can_go_but_never_the_newest) {
  this->PutChain("t", 5);
  this->PutChain("u", 2);
  EXPECT_EQ(this->PruneBy({.older_than = "4"}).checkpoints, 4u);
  EXPECT_THAT(this->List({}), ElementsAre("t//5", "t//4", "u//2"));
}

TYPED_TEST(CheckpointerContract, a_dry_run_says_what_would_go_and_keeps_it) {
  this->PutChain("t", 5);
  const auto before = this->saver().List({});
  const Pruned would = this->PruneBy({.keep_last = 2, .dry_run = true});
  EXPECT_EQ(would.checkpoints, 3u);
  EXPECT_GT(would.bytes, 0u);
  EXPECT_EQ(*this->saver().List({}), *before);
  EXPECT_EQ(this->PruneBy({.keep_last = 2}), would);
}

TYPED_TEST(CheckpointerContract, the_oldest_go_until_the_rest_fits) {
  std::uint32_t random = 1;
  for (int i = 10; i < 60; ++i) {
    std::string text(10'000, ' ');
    for (char& c : text) {
      random = random * 1'664'525 + 1'013'904'223;
      c = static_cast<char>('a' + (random >> 16) % 23);
    }
    this->Put(
        At(i % 2 == 0 ? "even" : "odd", "", std::to_string(i)).New("a", std::to_string(i), text));
  }
  EXPECT_EQ(this->PruneBy({.max_bytes = 10'000'000}).checkpoints, 0u);
  const std::uint64_t before = this->Stats().bytes;
  const Pruned pruned = this->PruneBy({.max_bytes = before / 2});
  EXPECT_LE(this->Stats().bytes, before / 2);
  EXPECT_EQ(before - this->Stats().bytes, pruned.bytes);
  EXPECT_GT(this->Stats().checkpoints, 15u) << "and no more than needed";
  EXPECT_THAT(Shown(*this->saver().List({.limit = 2})), ElementsAre("odd//59", "even//58"));
  this->PruneBy({.max_bytes = 1});
  EXPECT_THAT(this->List({}), ElementsAre("odd//59", "even//58"));
}

TYPED_TEST(CheckpointerContract, an_interrupted_thread_and_subgraph_resume_after_retention) {
  this->PutChain("t", 5);
  this->PutWrites({"t", "", "5"}, {Write("a", -3, "__interrupt__", "\"q\"", "~1")});
  this->PutChain("t", 3, "old:1");
  this->Put(At("t", "waits:1", "51").New("a", "1", "1"));
  this->PutWrites({"t", "waits:1", "51"}, {Write("b", -3, "__interrupt__", "\"q\"", "~1")});
  const CheckpointTuple root = this->Get({"t", "", ""});
  const CheckpointTuple child = this->Get({"t", "waits:1", ""});
  this->PruneBy({.keep_last = 1, .older_than = "9", .max_bytes = 1});
  EXPECT_EQ(this->Get({"t", "", ""}), root);
  EXPECT_EQ(this->Get({"t", "waits:1", ""}), child);
  EXPECT_THAT(this->List({}), ElementsAre("t/waits:1/51", "t//5")) << "the finished run is gone";
}

TYPED_TEST(CheckpointerContract, retention_spares_what_a_delta_channel_is_rebuilt_from) {
  this->Put(At("t", "", "1").New("d", "1", "\"seed\""));
  this->PutWrites({"t", "", "1"}, {Write("a", 0, "d", "1")});
  this->Put(At("t", "", "2").Parent("1").NewWithoutValue("d", "2"));
  this->PutWrites({"t", "", "2"}, {Write("a", 0, "d", "2")});
  this->Put(At("t", "", "3").Parent("2").NewWithoutValue("d", "3"));
  const auto history = this->History({"t", "", "3"}, {"d"});
  EXPECT_EQ(this->PruneBy({.keep_last = 1}).checkpoints, 0u);
  EXPECT_EQ(this->History({"t", "", "3"}, {"d"}), history);
}

// --- threads

TYPED_TEST(CheckpointerContract, threads_are_listed_by_their_last_activity) {
  this->PutChain("a", 2);
  this->PutChain("b", 4);
  this->PutChain("c", 2);
  this->PutChain("b", 9, "child:1");
  this->Put(At("d", "only:1", "3").Metadata("{\"step\":7}"));
  this->PutWrites({"e", "", "1"}, {Write("a", 0, "x", "1")});
  EXPECT_THAT(this->ThreadIds(), ElementsAre("b", "d", "a", "c", "e"));
  const auto threads = *this->saver().Threads({});
  EXPECT_EQ(threads[0].checkpoints, 13u);
  EXPECT_EQ(threads[0].newest_checkpoint_id, "4") << "of the root";
  EXPECT_EQ(threads[1].metadata, Json("{\"step\":7}"));
  EXPECT_EQ(threads[2].checkpoint, this->Get({"a", "", ""}).checkpoint);
  EXPECT_GT(threads[2].bytes, 0u);
  EXPECT_EQ(threads[4].checkpoints, 0u);
  EXPECT_THAT(this->ThreadIds({.limit = 2}), ElementsAre("b", "d"));
  EXPECT_THAT(this->ThreadIds({.cursor = ListThreads::Cursor{"3", "d"}, .limit = 2}),
              ElementsAre("a", "c"));
  EXPECT_THAT(this->ThreadIds({.cursor = ListThreads::Cursor{"2", "c"}}), ElementsAre("e"));
}

TYPED_TEST(CheckpointerContract, threads_are_filtered_by_the_metadata_of_their_newest_checkpoint) {
  for (int i = 1; i <= 200; ++i) {
    const std::string id = std::to_string(1000 + i);
    this->Put(At("t" + id, "", id).Metadata(i % 50 == 0 ? R"({"by":"ada"})" : R"({"by":"bob"})"));
  }
  this->PutWrites({"w", "", "1"}, {Write("a", 0, "x", "1")});
  const std::string filter = R"({"by":"ada"})";
  EXPECT_THAT(this->ThreadIds({.filter = filter}), ElementsAre("t1200", "t1150", "t1100", "t1050"));
  EXPECT_THAT(this->ThreadIds({.limit = 2, .filter = filter}), ElementsAre("t1200", "t1150"));
  EXPECT_THAT(this->ThreadIds(
                  {.cursor = ListThreads::Cursor{"1150", "t1150"}, .limit = 1, .filter = filter}),
              ElementsAre("t1100"));
  this->Put(At("t1200", "", "1201").Metadata(R"({"by":"bob"})"));
  EXPECT_THAT(this->ThreadIds({.limit = 1, .filter = filter}), ElementsAre("t1150"));
  EXPECT_THAT(this->ThreadIds({.filter = filter, .thread_prefix = "t110"}), ElementsAre("t1100"));
  EXPECT_THAT(this->ThreadIds({.limit = 0, .filter = filter}), ElementsAre());
  EXPECT_EQ(this->saver().Threads({.filter = "[]"}).error().code(), StatusCode::kInvalidFilter);
}

TYPED_TEST(CheckpointerContract, what_changes_after_threads_were_listed_is_in_the_next_list) {
  this->PutChain("a", 2);
  this->PutChain("b", 3);
  this->PutChain("c", 4);
  EXPECT_THAT(this->ThreadIds(), ElementsAre("c", "b", "a"));
  this->PutChain("a", 6);
  EXPECT_THAT(this->ThreadIds(), ElementsAre("a", "c", "b"));
  this->Put(At("b", "only:1", "9"));
  EXPECT_THAT(this->ThreadIds(), ElementsAre("a", "c", "b")) << "it has a root";
  ASSERT_TRUE(this->saver().RenameThread("c", "x").ok());
  EXPECT_THAT(this->ThreadIds(), ElementsAre("a", "x", "b"));
  ASSERT_TRUE(this->saver().DeleteThread("x").ok());
  this->PutWrites({"w", "", "1"}, {Write("a", 0, "x", "1")});
  EXPECT_THAT(this->ThreadIds(), ElementsAre("a", "b", "w"));
  this->Put(At("w", "only:1", "8"));
  EXPECT_THAT(this->ThreadIds(), ElementsAre("w", "a", "b")) << "its root has writes alone";
  EXPECT_THAT(this->ThreadIds({.thread_prefix = "b"}), ElementsAre("b"));
  ASSERT_TRUE(this->saver().CopyThread("b", "copy").ok());
  EXPECT_THAT(this->ThreadIds(), ElementsAre("w", "a", "b", "copy"));
}

TYPED_TEST(CheckpointerContract, a_renamed_thread_is_the_same_under_another_name) {
  this->PutChain("t", 2);
  this->PutChain("t", 1, "child");
  this->PutChain("taken", 1);
  const CheckpointTuple before = this->Get({"t", "", ""});
  EXPECT_EQ(this->saver().RenameThread("t", "taken").code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(this->saver().RenameThread("t", "new").ok());
  CheckpointTuple after = this->Get({"new", "", ""});
  EXPECT_EQ(after.key.thread_id, "new");
  after.key.thread_id = "t";
  EXPECT_EQ(after, before);
  EXPECT_THAT(this->List({}), ElementsAre("new//2", "new//1", "new/child/1", "taken//1"));
  EXPECT_EQ(this->saver().RenameThread("t", "other").code(), StatusCode::kNotFound);
}

TYPED_TEST(CheckpointerContract, cap_80_a_fork_is_the_thread_as_it_was) {
  this->PutChain("t", 2);
  this->Put(At("t", "", "3").Parent("2").New("step", "3", "3"));
  this->Put(At("t", "", "4").Parent("2").New("step", "3", "4"));
  this->PutWrites({"t", "", "3"}, {Write("a", -3, "__interrupt__", "1"), Write("b", 0, "x", "1")});
  this->PutWrites({"t", "", "4"}, {Write("a", -3, "__interrupt__", "1"), Write("b", 0, "x", "1")});
  this->Put(At("t", "child", "15").New("a", "1", "1"));
  this->Put(At("t", "child", "35").New("a", "2", "2"));
  this->Put(At("t", "child", "45").New("a", "3", "3"));
  ASSERT_TRUE(this->saver().ForkThread("t", "2", "fork").ok());
  EXPECT_THAT(this->List({.thread_id = "fork"}),
              ElementsAre("fork//2", "fork/child/15", "fork//1"));
  ASSERT_TRUE(this->saver().ForkThread("t", "4", "fork 4").ok());
  EXPECT_THAT(this->List({.thread_id = "fork 4", .checkpoint_ns = ""}),
              ElementsAre("fork 4//4", "fork 4//2", "fork 4//1"));
  EXPECT_THAT(this->List({.thread_id = "fork 4", .checkpoint_ns = "child"}),
              ElementsAre("fork 4/child/45", "fork 4/child/35", "fork 4/child/15"));
  EXPECT_EQ(this->Get({"fork 4", "", ""}).pending_writes, this->Get({"t", "", "4"}).pending_writes)
      << "the newest goes on where it stands";
  ASSERT_TRUE(this->saver().DeleteThread("t").ok());
  EXPECT_THAT(Values(this->Get({"fork", "", "2"})), ElementsAre("step@2=2"));
}

TYPED_TEST(CheckpointerContract, a_fork_of_an_older_checkpoint_has_not_done_what_followed) {
  const std::string command = "00000000-0000-0000-0000-000000000000";
  const PendingWrite question = Write("a", -3, "__interrupt__", "1");
  const PendingWrite update = Write(command, 0, "x", "9");
  this->PutChain("t", 3);
  this->PutWrites({"t", "", "2"}, {Write("b", 0, "x", "1"), Write("b", 1, "branch", "1")});
  this->PutWrites({"t", "", "2"}, {Write("c", -1, "__error__", "1")});
  this->PutWrites({"t", "", "2"}, {question, Write("a", -4, "__resume__", "[1]")});
  this->PutWrites({"t", "", "2"}, {Write("a", 0, "x", "2")});
  this->PutWrites({"t", "", "2"}, {update, Write(command, -4, "__resume__", "1")});
  ASSERT_TRUE(this->saver().ForkThread("t", "2", "fork").ok());
  EXPECT_THAT(this->Get({"fork", "", ""}).pending_writes, ElementsAre(update, question));
  EXPECT_EQ(this->Get({"t", "", "2"}).pending_writes.size(), 8u) << "the source is as it was";
  ASSERT_TRUE(this->saver().ForkThread("fork", "1", "again").ok());
  EXPECT_THAT(this->Get({"again", "", ""}).pending_writes, ElementsAre());
}

TYPED_TEST(CheckpointerContract, a_fork_stands_before_the_question_of_a_subgraph) {
  this->PutChain("t", 3);
  const PendingWrite question = Write("a", -3, "__interrupt__", "1");
  this->PutWrites({"t", "", "2"}, {question, Write("a", 0, "x", "1")});
  this->Put(At("t", "a:1", "21").New("a", "1", "1"));
  this->PutWrites({"t", "a:1", "21"}, {Write("s", 0, "a", "2")});
  this->Put(At("t", "a:1", "22").Parent("21").New("a", "2", "2"));
  this->PutWrites({"t", "a:1", "22"}, {question, Write("a", -4, "__resume__", "[1]")});
  this->PutWrites({"t", "a:1", "22"}, {Write("a", 0, "a", "3")});
  this->Put(At("t", "a:1", "23").Parent("22").New("a", "3", "3"));
  this->Put(At("t", "b:1", "24").New("a", "3", "3"));
  this->PutWrites({"t", "c:1", "24"}, {Write("a", 0, "a", "3")});
  ASSERT_TRUE(this->saver().ForkThread("t", "2", "fork").ok());
  EXPECT_THAT(this->List({.thread_id = "fork"}),
              ElementsAre("fork/a:1/22", "fork/a:1/21", "fork//2", "fork//1"));
  EXPECT_THAT(this->Get({"fork", "a:1", "22"}).pending_writes, ElementsAre(question));
  EXPECT_EQ(this->Get({"fork", "a:1", "21"}).pending_writes.size(), 1u);
  EXPECT_THAT(this->Get({"fork", "", ""}).pending_writes, ElementsAre(question));
}

TYPED_TEST(CheckpointerContract, a_fork_needs_its_checkpoint_and_an_empty_target) {
  this->PutChain("t", 2);
  EXPECT_EQ(this->saver().ForkThread("t", "9", "fork").code(), StatusCode::kNotFound);
  EXPECT_EQ(this->saver().ForkThread("nobody", "1", "fork").code(), StatusCode::kNotFound);
  EXPECT_EQ(this->saver().ForkThread("t", "1", "t").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(this->Stats().threads, 1u);
}

TYPED_TEST(CheckpointerContract, stats_count_what_is_stored) {
  EXPECT_EQ(this->Stats(), CheckpointerStats());
  this->PutChain("t", 2);
  this->PutChain("t", 1, "n");
  this->PutWrites({"u", "", "1"}, {Write("a", 0, "x", "1"), Write("a", 1, "x", "1")});
  EXPECT_EQ(this->Counts(), (CheckpointerStats{2, 3, 2}));
}

}  // namespace
}  // namespace keepsake::testing
