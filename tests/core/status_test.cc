#include "keepsake/status.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace keepsake {
namespace {

TEST(Status, every_code_has_its_own_name) {
  std::set<std::string_view> names;
  constexpr auto kLast = static_cast<std::uint16_t>(StatusCode::kInternal);
  for (std::uint16_t code = 0; code <= kLast; ++code) {
    names.insert(StatusCodeName(static_cast<StatusCode>(code)));
  }
  EXPECT_EQ(names.size(), kLast + 1U);
  EXPECT_EQ(StatusCodeName(StatusCode::kNotADatabase), "not_a_database");
  EXPECT_EQ(StatusCodeName(StatusCode::kIoError), "io_error");
}

TEST(Status, a_code_of_a_newer_version_is_internal) {
  EXPECT_EQ(StatusCodeName(static_cast<StatusCode>(60000)), "internal");
}

}  // namespace
}  // namespace keepsake
