#include "keepsake/function_ref.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace keepsake {
namespace {

int Call(FunctionRef<int(int)> callable) { return callable(20); }

struct Counter {
  int operator()(int by) { return count += by; }
  int count = 1;
};

TEST(FunctionRef, calls_what_it_was_made_from) {
  int more = 1;
  EXPECT_EQ(Call([&](int number) { return number + more; }), 21);
  const auto twice = [](int number) { return 2 * number; };
  EXPECT_EQ(Call(twice), 40);
}

TEST(FunctionRef, borrows_and_never_copies) {
  Counter counter;
  EXPECT_EQ(Call(counter), 21);
  EXPECT_EQ(counter.count, 21);
  const FunctionRef<int(int)> first(counter);
  const FunctionRef<int(int)> second = first;
  EXPECT_EQ(second(1), 22);
  EXPECT_EQ(counter.count, 22);
}

TEST(FunctionRef, hands_over_what_can_only_be_moved) {
  std::unique_ptr<std::string> kept;
  const auto keep = [&](std::unique_ptr<std::string> text) { kept = std::move(text); };
  const FunctionRef<void(std::unique_ptr<std::string>)> give(keep);
  give(std::make_unique<std::string>("text"));
  EXPECT_EQ(*kept, "text");
}

TEST(FunctionRef, of_nothing_says_so) {
  const FunctionRef<void()> nothing(nullptr);
  EXPECT_TRUE(nothing == nullptr);
  const auto something = [] {};
  EXPECT_FALSE(FunctionRef<void()>(something) == nullptr);
}

}  // namespace
}  // namespace keepsake
