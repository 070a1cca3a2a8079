#include "keepsake/memory.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "checkpointer_contract.h"
#include "temporary_file.h"

namespace keepsake {
namespace {

using testing::At;

TEST(Memory, both_tiers_are_there_after_reopening_the_file) {
  const TemporaryFile file("memory_test_");
  {
    Memory memory = Memory::Open({.path = file.path()}).value();
    ASSERT_TRUE(memory.store().Put({"a"}, "k", "1").ok());
    ASSERT_TRUE(memory.checkpointer().Put(At("t", "", "1").New("a", "1", "\"x\"")).ok());
  }
  Memory memory = Memory::Open({.path = file.path()}).value();
  EXPECT_EQ(memory.store().Get({"a"}, "k").value()->value, "1");
  EXPECT_TRUE(memory.checkpointer().GetTuple({"t", "", "1"}).value().has_value());
}

TEST(Memory, forgets_in_every_byte_of_the_folder) {
  const TemporaryFile file("memory_test_");
  Memory memory = Memory::Open({.path = file.path()}).value();
  ASSERT_TRUE(memory.store().Put({"user", "ada"}, "k", "\"SECRET\"").ok());
  ASSERT_TRUE(memory.checkpointer().Put(At("t", "", "1").New("a", "1", "\"SECRET\"")).ok());
  ASSERT_TRUE(memory.store().Put({"user", "bob"}, "k", "1").ok());
  EXPECT_TRUE(file.Holds("SECRET"));
  ASSERT_TRUE(memory.erasures().Put({{"user", "ada"}, "case 7", 0}).ok());
  const Erasure erasure{.id = "1", .digest = "", .namespaces = {{"user", "ada"}}, .threads = {"t"}};
  EXPECT_EQ(memory.Forget(erasure).error().code(), StatusCode::kHeld);
  ASSERT_TRUE(memory.erasures().Release({"user", "ada"}).ok());
  const Result<Erased> erased = memory.Forget(erasure);
  ASSERT_TRUE(erased.has_value()) << erased.error().message();
  EXPECT_EQ(erased->items, 1U);
  EXPECT_EQ(erased->checkpoints, 1U);
  EXPECT_FALSE(file.Holds("SECRET"));
  EXPECT_TRUE(memory.store().Get({"user", "bob"}, "k").value().has_value());
}

TEST(Memory, what_cannot_be_opened_is_an_error) {
  const TemporaryFile file("memory_test_");
  EXPECT_EQ(Memory::Open({.path = file.path() + "/none/x.db"}).error().code(),
            StatusCode::kCannotOpen);
  const Result<Memory> refused = Memory::Open({.path = ":memory:"}, {.index = IndexConfig{}});
  EXPECT_FALSE(refused.has_value()) << "an index without dimensions";
}

}  // namespace
}  // namespace keepsake
