// What frames that lie are answered, and what their decoding may cost.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <string>

#include "../golden/golden_frames.h"
#include "engine/operation_table.h"

namespace keepsake::wire {
namespace {

Status ErrorOf(const Bytes& frame) {
  Result<Request> request = ParseRequest(frame, FrameKind::kExecute);
  return request ? Status() : request.error();
}

Bytes AnyFrame() {
  return RequestBuilder(golden::Header()).Add(Tag::kPut, golden::AnyPut()).Build();
}

TEST(Frame, each_beginning_of_a_frame_is_malformed) {
  const Bytes frame = AnyFrame();
  for (std::size_t length = 0; length < frame.size(); ++length) {
    const Bytes beginning(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(ErrorOf(beginning).code(), StatusCode::kMalformedFrame) << length;
  }
  EXPECT_TRUE(ErrorOf(frame).ok());
}

TEST(Frame, each_beginning_of_a_payload_is_malformed) {
  for (const golden::GoldenFrame& golden : golden::GoldenFrames()) {
    const auto kind = static_cast<FrameKind>(golden.request[1]);
    const ByteView payload = ParseRequest(golden.request, kind)->operations[0].payload;
    for (std::size_t length = 0; length < payload.size(); ++length) {
      Result<Bytes> again = golden.reencode_payload(payload.first(length));
      ASSERT_FALSE(again) << golden.name << " cut to " << length;
      EXPECT_EQ(again.error().code(), StatusCode::kMalformedFrame);
    }
  }
}

TEST(Frame, bytes_after_the_end_are_malformed) {
  Bytes frame = AnyFrame();
  frame.push_back(0);
  EXPECT_EQ(ErrorOf(frame).message(), "frame goes on after its end");
  EXPECT_EQ(Decode<DeleteThread>(Encode(CopyThread{"a", "b"})).error().message(),
            "frame goes on after its end");
}

TEST(Frame, a_header_of_another_version_kind_flag_or_time_is_malformed) {
  const auto error_with = [](auto change) {
    RequestHeader header = golden::Header();
    change(header);
    return ErrorOf(RequestBuilder(header).Build()).message();
  };
  EXPECT_EQ(error_with([](auto& header) { header.version = 2; }),
            "frame is of version 2, this core reads 1");
  EXPECT_EQ(error_with([](auto& header) { header.kind = FrameKind::kOpen; }),
            "frame is of another kind than the call");
  EXPECT_EQ(error_with([](auto& header) { header.kind = static_cast<FrameKind>(9); }),
            "frame has a choice of no known kind, at byte 2");
  for (const std::uint16_t flags : {8, 9, 16, 0x8001, 0xFFFF}) {
    EXPECT_EQ(error_with([&](auto& header) { header.flags = flags; }),
              "frame has flags of no known meaning: " + std::to_string(flags));
  }
  EXPECT_EQ(error_with([](auto& header) { header.now_ms = -1; }),
            "frame's time is out of range: -1");
  EXPECT_EQ(error_with([](auto& header) { header.now_ms = kMaxNowMs + 1; }),
            "frame's time is out of range: 8640000000000001");
  EXPECT_EQ(error_with([](auto& header) { header.now_ms = kMaxNowMs; }), "");
}

TEST(Frame, a_remembered_frame_names_itself_and_acknowledges_an_earlier_one) {
  const auto error_of = [](std::uint64_t client_id, std::uint64_t sequence,
                           std::uint64_t acknowledged) {
    RequestHeader header = golden::Header();
    header.client_id = client_id;
    header.sequence = sequence;
    return ErrorOf(RequestBuilder(header).Remember(acknowledged).Build()).message();
  };
  constexpr std::uint64_t kLast = kMaxRemembered;
  const std::string range = "frame's client_id and sequence must be at most 2^53 to be remembered";
  EXPECT_EQ(error_of(0, 1, 0), "");
  EXPECT_EQ(error_of(kLast, kLast, kLast - 1), "");
  EXPECT_EQ(error_of(kLast + 1, 1, 0), range);
  EXPECT_EQ(error_of(1, kLast + 1, 0), range);
  EXPECT_EQ(error_of(1, 7, 7), "frame 7 must not acknowledge itself or a later one: 7");
  EXPECT_EQ(error_of(1, 0, 0), "frame 0 must not acknowledge itself or a later one: 0");
}

TEST(Frame, a_remembered_frame_may_end_nowhere_else) {
  const Bytes frame = RequestBuilder(golden::Header()).Remember(1).Build();
  for (std::size_t length = 0; length < frame.size(); ++length) {
    const Bytes beginning(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(ErrorOf(beginning).code(), StatusCode::kMalformedFrame) << length;
  }
  EXPECT_EQ(ParseRequest(frame, FrameKind::kExecute)->acknowledged, 1U);
}

TEST(Frame, an_open_frame_is_not_remembered) {
  const Bytes frame = RequestBuilder(golden::Header(FrameKind::kOpen)).Remember(1).Build();
  EXPECT_EQ(ParseRequest(frame, FrameKind::kOpen).error().message(),
            "frame has flags of no known meaning: 1");
}

TEST(Frame, the_sequence_is_read_from_a_malformed_frame) {
  Bytes frame = AnyFrame();
  frame[0] = 77;
  EXPECT_EQ(SequenceOf(frame), golden::kSequence);
  frame.resize(19);
  EXPECT_EQ(SequenceOf(frame), 0U);
  EXPECT_EQ(SequenceOf({}), 0U);
}

// A list of n elements that take at least b bytes each can't be in fewer than
// n * b bytes, so that none of these allocates anything.
TEST(Frame, a_count_beyond_the_end_is_refused_before_anything_is_allocated) {
  constexpr std::uint32_t kHuge = std::numeric_limits<std::uint32_t>::max();
  const Bytes huge = Encode(kHuge);
  const std::string rule = "frame has a length beyond its end, at byte 4";
  EXPECT_EQ(Decode<std::string>(huge).error().message(), rule);
  EXPECT_EQ(Decode<Bytes>(huge).error().message(), rule);
  EXPECT_EQ(Decode<std::vector<float>>(huge).error().message(), rule);
  EXPECT_EQ(Decode<Namespace>(huge).error().message(), rule);
  EXPECT_EQ(Decode<std::vector<CheckpointTuple>>(huge).error().message(), rule);
  EXPECT_EQ(Decode<std::vector<OperationView>>(huge).error().message(), rule);
}

TEST(Frame, a_count_is_measured_by_the_least_size_of_an_element) {
  Bytes frame = Encode(std::uint32_t{2});
  frame.resize(4 + 2 * 24 - 1);  // a PendingWrite takes at least 24 bytes
  EXPECT_EQ(Decode<std::vector<PendingWrite>>(frame).error().message(),
            "frame has a length beyond its end, at byte 4");
  frame.push_back(0);
  EXPECT_EQ(Decode<std::vector<PendingWrite>>(frame)->size(), 2U);
}

TEST(Frame, a_flag_is_0_or_1_and_a_choice_one_of_those_known) {
  Bytes get = Encode(GetOp{{}, "", true});
  get.back() = 2;
  EXPECT_EQ(Decode<GetOp>(get).error().message(),
            "frame has a flag that is neither 0 nor 1, at byte 9");
  EXPECT_EQ(
      Decode<RetentionRules>(Encode(RetentionRules{.strategy = static_cast<PruneStrategy>(3)}))
          .error()
          .message(),
      "frame has a choice of no known kind, at byte 19");
}

// From "  kOpen = 2," of C++ or "  open: 2," of TypeScript, as "open".
std::map<std::string, int> NumbersIn(const std::string& path, const std::string& begin) {
  std::ifstream file(std::string(KEEPSAKE_TESTS_DIR) + "/../" + path);
  std::map<std::string, int> numbers;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (inside && line.starts_with("}")) break;
    const std::size_t separator = line.find_first_of("=:");
    if (inside && line.starts_with("  ") && separator != std::string::npos) {
      std::string name = line.substr(2, line.find_first_of(" :", 2) - 2);
      if (line[separator] == '=') name.erase(0, 1);
      name[0] = static_cast<char>(std::tolower(name[0]));
      numbers[name] = std::stoi(line.substr(separator + 1));
    }
    inside = inside || line.find(begin) != std::string::npos;
  }
  return numbers;
}

TEST(Frame, each_tag_has_a_row_in_the_operation_table) {
  auto tags = NumbersIn("core/src/wire/layout.h", "enum class Tag");
  EXPECT_EQ(tags.erase("open"), 1U);
  EXPECT_EQ(tags.size(), Operations().size());
  for (const auto& [name, tag] : tags) {
    EXPECT_NE(FindOperation(static_cast<std::uint8_t>(tag)), nullptr) << name;
  }
}

TEST(Frame, both_languages_list_the_same_kinds_and_flags) {
  const auto kinds = NumbersIn("core/src/wire/frame.h", "enum class FrameKind");
  EXPECT_EQ(kinds.size(), 3U);
  EXPECT_EQ(kinds, NumbersIn("js/src/wire/codec.ts", "const FrameKind"));
  const auto flags = NumbersIn("core/src/wire/frame.h", "enum class RequestFlag");
  EXPECT_EQ(flags.size(), 3U);
  EXPECT_EQ(flags, NumbersIn("js/src/wire/codec.ts", "const RequestFlag"));
}

TEST(Frame, typescript_lists_the_status_codes_by_name_in_their_order) {
  std::ifstream file(std::string(KEEPSAKE_TESTS_DIR) + "/../js/src/wire/status.ts");
  std::uint16_t code = 0;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (inside && line.starts_with("]")) break;
    if (inside) {
      EXPECT_EQ(line.substr(3, line.size() - 5), StatusCodeName(static_cast<StatusCode>(code++)));
    }
    inside = inside || line.find("STATUS_CODES = [") != std::string::npos;
  }
  EXPECT_EQ(code, EnumRange<StatusCode>::kLast + 1);
}

TEST(Frame, the_last_language_is_the_last_that_travels) {
  EXPECT_EQ(static_cast<int>(kLastLanguage), EnumRange<Language>::kLast);
}

}  // namespace
}  // namespace keepsake::wire
