#include "text/relative_dates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "text/dates.h"

namespace keepsake::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A Wednesday.
constexpr std::string_view kToday = "d2023-05-10";

std::vector<std::string> In(std::string_view text, std::string_view today = kToday) {
  return RelativeDatesIn(text, DayOfName(today).value());
}

TEST(RelativeDates, are_days_weeks_months_and_years) {
  EXPECT_THAT(In("I saw her yesterday."), ElementsAre("d2023-05-09"));
  EXPECT_THAT(In("Last night, TODAY!"), ElementsAre("d2023-05-10", "d2023-05-09"));
  EXPECT_THAT(In("we met last month"), ElementsAre("d2023-04"));
  EXPECT_THAT(In("that was last year"), ElementsAre("d2022"));
  EXPECT_THAT(In("last weekend"), ElementsAre("d2023-05-06", "d2023-05-07"));
  const std::vector<std::string> week = In("what did I do last week?");
  ASSERT_THAT(week, SizeIs(7));
  EXPECT_EQ(week.front(), "d2023-05-01");
  EXPECT_EQ(week.back(), "d2023-05-07");
}

TEST(RelativeDates, are_counted_back_over_months_and_years) {
  EXPECT_THAT(In("last month", "d2023-01-31"), ElementsAre("d2022-12"));
  EXPECT_THAT(In("yesterday", "d2024-03-01"), ElementsAre("d2024-02-29"));
  EXPECT_THAT(In("three months ago", "d2023-02-28"), ElementsAre("d2022-11"));
  EXPECT_THAT(In("14 days ago"), ElementsAre("d2023-04-26"));
  EXPECT_THAT(In("a year ago"), ElementsAre("d2022"));
}

TEST(RelativeDates, know_the_last_weekday) {
  EXPECT_THAT(In("last Friday"), ElementsAre("d2023-05-05"));
  EXPECT_THAT(In("last Wednesday"), ElementsAre("d2023-05-03")) << "not today";
  EXPECT_THAT(In("am letzten Dienstag"), ElementsAre("d2023-05-09"));
  EXPECT_THAT(In("vendredi dernier"), ElementsAre("d2023-05-05"));
  EXPECT_THAT(In("上周三"), ElementsAre("d2023-05-03"));
  EXPECT_THAT(In("上星期天"), ElementsAre("d2023-05-07"));
  EXPECT_THAT(In("on Friday"), IsEmpty());
}

TEST(RelativeDates, are_read_in_other_languages) {
  EXPECT_THAT(In("Das war vor drei Tagen."), ElementsAre("d2023-05-07"));
  EXPECT_THAT(In("vorgestern, letzten Monat"), ElementsAre("d2023-05-08", "d2023-04"));
  EXPECT_THAT(In("il y a deux jours"), ElementsAre("d2023-05-08"));
  EXPECT_THAT(In("l'année dernière"), ElementsAre("d2022"));
  EXPECT_THAT(In("hace dos días"), ElementsAre("d2023-05-08"));
  EXPECT_THAT(In("ieri, il mese scorso"), ElementsAre("d2023-05-09", "d2023-04"));
  EXPECT_THAT(In("ontem"), ElementsAre("d2023-05-09"));
  EXPECT_THAT(In("我昨天去了"), ElementsAre("d2023-05-09"));
  EXPECT_THAT(In("上个月"), ElementsAre("d2023-04"));
  EXPECT_THAT(In("上周"), SizeIs(7));
}

TEST(RelativeDates, are_not_those_within_longer_ones) {
  EXPECT_THAT(In("the day before yesterday"), ElementsAre("d2023-05-08"));
  EXPECT_THAT(In("上周末"), ElementsAre("d2023-05-06", "d2023-05-07"));
  EXPECT_THAT(In("yesterday yesterday and yesterday"), ElementsAre("d2023-05-09"));
  EXPECT_THAT(In("il bambino ha tre anni"), IsEmpty());
}

TEST(RelativeDates, have_years_of_four_digits) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t today : {kMost, kMost / 86'400'000, -kMost, std::int64_t{3'000'000}}) {
    EXPECT_THAT(RelativeDatesIn("yesterday, last year", today), IsEmpty());
  }
}

TEST(RelativeDates, are_none_of_what_only_looks_like_one) {
  EXPECT_THAT(In(""), IsEmpty());
  EXPECT_THAT(In("the last weekday, monthly, yesterdays"), IsEmpty());
  EXPECT_THAT(In("three days in Rome"), IsEmpty());
  EXPECT_THAT(In("99999999999999999999 days ago, 5000 years ago"), IsEmpty());
  EXPECT_THAT(In("ago"), IsEmpty());
  EXPECT_THAT(In("\xFF\xFE vor"), IsEmpty());
}

}  // namespace
}  // namespace keepsake::search
