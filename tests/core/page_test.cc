#include "base/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace keepsake::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::int64_t> Ids(std::vector<Hit> hits) {
  std::vector<std::int64_t> ids;
  for (const Hit& hit : hits) ids.push_back(hit.id);
  return ids;
}

TEST(Page, orders_scored_before_unscored_and_keeps_order_among_equals) {
  Page page(0, 10);
  page.PushUnscored(1, 100);
  page.PushScored(2, 0.5);
  page.PushUnscored(3, 200);
  page.PushScored(4, 0.9);
  page.PushScored(5, 0.5);
  page.PushUnscored(6, 200);
  EXPECT_THAT(Ids(page.Take()), ElementsAre(4, 2, 5, 3, 6, 1));
}

TEST(Page, pages_joined_are_the_whole_sequence) {
  std::mt19937 random(11);
  std::vector<std::pair<bool, int>> candidates(200);
  for (auto& [scored, rank] : candidates) {
    scored = random() % 2 == 0;
    rank = static_cast<int>(random() % 20);
  }
  const auto take = [&](std::uint32_t offset, std::uint32_t limit) {
    Page page(offset, limit);
    for (int i = 0; i < 200; ++i) {
      const auto [scored, rank] = candidates[static_cast<std::size_t>(i)];
      scored ? page.PushScored(i, rank) : page.PushUnscored(i, rank);
    }
    return Ids(page.Take());
  };
  const std::vector<std::int64_t> whole = take(0, UINT32_MAX);
  ASSERT_EQ(whole.size(), 200U);
  for (const std::uint32_t limit : {1U, 7U, 64U}) {
    std::vector<std::int64_t> joined;
    for (std::uint32_t offset = 0; offset < 210; offset += limit) {
      for (const std::int64_t id : take(offset, limit)) joined.push_back(id);
    }
    EXPECT_EQ(joined, whole) << limit;
  }
  EXPECT_THAT(take(0, 0), IsEmpty());
  EXPECT_THAT(take(UINT32_MAX, UINT32_MAX), IsEmpty());
}

}  // namespace
}  // namespace keepsake::search
