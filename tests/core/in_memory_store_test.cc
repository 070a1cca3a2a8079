// What is particular to InMemoryStore; the contract is in store_contract_test.cc.
#include "keepsake/in_memory_store.h"

#include <gtest/gtest.h>

namespace keepsake {
namespace {

TEST(InMemoryStore, cap_21_nothing_outlives_the_store) {
  ASSERT_TRUE(MakeInMemoryStore()->Put({"n"}, "k", "1").ok());
  EXPECT_EQ(MakeInMemoryStore()->Get({"n"}, "k").value(), std::nullopt);
}

TEST(InMemoryStore, bad_options_are_an_error_of_every_batch) {
  const auto store = MakeInMemoryStore({.index = IndexConfig{.dims = 0}});
  EXPECT_EQ(store->Put({"n"}, "k", "1").code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace keepsake
