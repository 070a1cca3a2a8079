#include "keepsake/status.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "wire/layout.h"

namespace keepsake {
namespace {

TEST(Status, every_code_has_its_own_name) {
  std::set<std::string_view> names;
  constexpr std::uint16_t kLast = wire::EnumRange<StatusCode>::kLast;
  for (std::uint16_t code = 0; code <= kLast; ++code) {
    names.insert(StatusCodeName(static_cast<StatusCode>(code)));
  }
  EXPECT_EQ(names.size(), kLast + 1U);
  EXPECT_EQ(StatusCodeName(static_cast<StatusCode>(kLast + 1)), "internal")
      << "core/src/wire/layout.txt does not know the last one";
  EXPECT_EQ(StatusCodeName(StatusCode::kNotADatabase), "not_a_database");
  EXPECT_EQ(StatusCodeName(StatusCode::kIoError), "io_error");
}

TEST(Status, a_code_of_a_newer_version_is_internal) {
  EXPECT_EQ(StatusCodeName(static_cast<StatusCode>(60000)), "internal");
}

TEST(Status, success_has_no_message) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().code(), StatusCode::kOk);
  EXPECT_EQ(Status().message(), "");
  EXPECT_TRUE(Status(StatusCode::kOk, "").ok());
}

TEST(Status, a_copy_outlives_what_it_was_made_from) {
  Status copy;
  {
    const Status status(StatusCode::kNotFound, "no thread \"t\"");
    copy = status;
    EXPECT_EQ(status.message(), copy.message());
  }
  EXPECT_EQ(copy.code(), StatusCode::kNotFound);
  EXPECT_EQ(copy.message(), "no thread \"t\"");
  copy = Status(copy);
  EXPECT_EQ(copy.message(), "no thread \"t\"");
}

TEST(Status, what_was_moved_from_is_success) {
  Status from(StatusCode::kIoError, "disk");
  Status to(std::move(from));
  EXPECT_TRUE(from.ok());  // NOLINT: that is what is asked
  EXPECT_EQ(to.code(), StatusCode::kIoError);
  to = Status();
  EXPECT_TRUE(to.ok());
}

}  // namespace
}  // namespace keepsake
