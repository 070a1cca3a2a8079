#include "keepsake/memory_saver.h"

#include <gmock/gmock.h>

#include "checkpointer_contract.h"

namespace keepsake::testing {
namespace {

TEST(MemorySaver, cap_73_each_saver_has_its_own_threads) {
  const auto one = MakeMemorySaver();
  const auto other = MakeMemorySaver();
  ASSERT_TRUE(one->Put(At("t", "", "1")).ok());
  EXPECT_EQ(one->Stats()->checkpoints, 1u);
  EXPECT_EQ(other->Stats()->checkpoints, 0u);
}

TEST(MemorySaver, cap_73_checkpoints_are_ordered_within_thread_and_namespace) {
  const auto saver = MakeMemorySaver();
  for (const char* id : {"2", "3", "1"}) ASSERT_TRUE(saver->Put(At("t", "n", id)).ok());
  EXPECT_THAT(Shown(*saver->List({.thread_id = "t", .checkpoint_ns = "n"})),
              ::testing::ElementsAre("t/n/3", "t/n/2", "t/n/1"));
}

TEST(MemorySaver, cap_73_a_result_is_a_copy) {
  const auto saver = MakeMemorySaver();
  ASSERT_TRUE(saver->Put(At("t", "", "1").New("a", "1", "[1]")).ok());
  auto tuple = saver->GetTuple({"t", "", "1"});
  ASSERT_TRUE(tuple && *tuple);
  (*tuple)->values.at(0).value.bytes.clear();
  (*tuple)->metadata.bytes.clear();
  EXPECT_THAT(Values(**saver->GetTuple({"t", "", "1"})), ::testing::ElementsAre("a@1=[1]"));
}

}  // namespace
}  // namespace keepsake::testing
