// What the fuzzer and its slice in the test run do with one input. Every input
// goes to an engine in memory and to one over SQLite, and to both alike.
#ifndef KEEPSAKE_TESTS_FUZZ_FRAME_FUZZ_H_
#define KEEPSAKE_TESTS_FUZZ_FRAME_FUZZ_H_

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>

#include "../golden/request_builder.h"
#include "byte_source.h"
#include "keepsake/engine.h"
#include "operation_generator.h"

namespace keepsake::fuzz {

inline Bytes OpenFrame(std::optional<sql::OpenOptions> database) {
  return wire::RequestBuilder({.kind = wire::FrameKind::kOpen})
      .Add(wire::Tag::kOpen, wire::Open{std::move(database)})
      .Build();
}

// An engine in memory and one over SQLite, which should not be told apart.
class Twins {
 public:
  Twins() {
    in_memory_.Open(OpenFrame(std::nullopt));
    sqlite_.Open(OpenFrame(sql::OpenOptions{.path = ":memory:", .vfs = ""}));
  }

  // How the answers to `frame` differ, or "".
  std::string Differ(ByteView frame) {
    // The backends need different room, and may prune differently to keep to a limit. Rows
    // travel to and from files only.
    if (PrunesByRules(frame) || MovesRows(frame)) {
      Twins().Execute(frame);
      return "";
    }
    // One has an index from the first vector on, the other once it is asked for.
    if (HasTag(frame, {wire::Tag::kCheckpointerStats, wire::Tag::kListThreads,
                       wire::Tag::kImproveIndex})) {
      Execute(frame);
      return "";
    }
    const ByteView one = in_memory_.Execute(frame);
    const ByteView other = sqlite_.Execute(frame);
    if (WithoutBytes(frame, one) != WithoutBytes(frame, other)) {
      return "to a frame of tags" + Tags(frame) + "\n in memory: " + Describe(one) +
             "\n SQLite:    " + Describe(other);
    }
    return IsExactlyOnce(frame) ? DifferWhenRepeated(frame, {other.begin(), other.end()}) : "";
  }
  void Execute(ByteView frame) {
    in_memory_.Execute(frame);
    sqlite_.Execute(frame);
  }

  // Two remembered frames of one name are one request, which mutated ones need not
  // be: each gets a client of its own.
  Bytes InOwnName(ByteView frame) {
    Bytes own(frame.begin(), frame.end());
    Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    if (!request || !request->acknowledged) return own;
    constexpr std::size_t kClientIdOffset = 4;
    ++clients_;
    std::memcpy(own.data() + kClientIdOffset, &clients_, sizeof(clients_));
    return own;
  }

 private:
  // What an engine is told of itself it is told again.
  static bool IsExactlyOnce(ByteView frame) {
    Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    const auto configures = [](const wire::OperationView& view) {
      return view.tag == std::to_underlying(wire::Tag::kConfigureStore);
    };
    return request && request->acknowledged &&
           std::ranges::none_of(request->operations, configures);
  }

  static bool HasTag(ByteView frame, std::initializer_list<wire::Tag> tags) {
    Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    return request && std::ranges::any_of(request->operations, [&](const auto& view) {
             return std::ranges::find(tags, static_cast<wire::Tag>(view.tag)) != tags.end();
           });
  }

  static bool PrunesByRules(ByteView frame) {
    Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    return request && std::ranges::any_of(request->operations, [](const auto& view) {
             if (view.tag != std::to_underlying(wire::Tag::kPrune)) return false;
             Result<RetentionRules> rules = wire::Decode<RetentionRules>(view.payload);
             return rules && rules->strategy == PruneStrategy::kByRules;
           });
  }

  // A response, but for how many bytes a prune freed.
  static Bytes WithoutBytes(ByteView frame, ByteView response) {
    Bytes same(response.begin(), response.end());
    Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    Result<wire::Response> parsed = wire::ParseResponse(response);
    if (!request || !parsed || parsed->results.size() != request->operations.size()) return same;
    for (std::size_t i = 0; i < parsed->results.size(); ++i) {
      const wire::ResultView& result = parsed->results[i];
      const bool is_prune = request->operations[i].tag == std::to_underlying(wire::Tag::kPrune);
      if (!is_prune || result.code != StatusCode::kOk) continue;
      const auto end = result.body.data() + result.body.size() - response.data();
      std::fill(same.begin() + end - sizeof(Pruned::bytes), same.begin() + end, 0);
    }
    return same;
  }

  static bool MovesRows(ByteView frame) {
    return HasTag(frame,
                  {wire::Tag::kReadRows, wire::Tag::kEndRows, wire::Tag::kPutRows,
                   wire::Tag::kFinishImport, wire::Tag::kImportState, wire::Tag::kLimitVectors});
  }

  std::string DifferWhenRepeated(ByteView frame, const Bytes& first) {
    const ByteView again = sqlite_.Execute(frame);
    if (std::ranges::equal(first, again)) return "";
    return "to a repeated frame of tags" + Tags(frame) + "\n at first: " + Describe(first) +
           "\n then:     " + Describe(again);
  }

  static std::string Tags(ByteView frame) {
    std::string tags;
    Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    if (!request) return " (malformed)";
    for (const wire::OperationView& view : request->operations) {
      tags += " " + std::to_string(view.tag);
    }
    return tags;
  }
  static std::string Describe(ByteView response) {
    Result<wire::Response> parsed = wire::ParseResponse(response);
    if (!parsed) return "(malformed) " + parsed.error().message();
    std::string description;
    for (const wire::ResultView& result : parsed->results) {
      description += std::string(StatusCodeName(result.code)) + " [";
      for (const std::uint8_t byte : result.body) {
        description += byte >= 0x20 && byte < 0x7F ? static_cast<char>(byte) : '.';
      }
      description += "] ";
    }
    return description;
  }

  Engine in_memory_;
  Engine sqlite_;
  std::uint64_t clients_ = 0;
};

// Frames made of valid operations.
inline std::string RunOperations(ByteSource source) {
  Twins twins;
  OperationGenerator generator(source);
  while (!source.empty()) {
    if (std::string difference = twins.Differ(generator.Frame()); !difference.empty()) {
      return difference;
    }
  }
  return "";
}

inline bool IsOfDatabase(const wire::OperationView& view) {
  return view.tag >= std::to_underlying(wire::Tag::kFlush);
}

// A file that the fuzzer would make up, and leave behind.
inline bool NamesFile(const std::optional<sql::OpenOptions>& options) {
  return options && options->path != ":memory:";
}
inline bool NamesFile(const wire::OperationView& view) {
  if (view.tag != std::to_underlying(wire::Tag::kImportFrom) &&
      view.tag != std::to_underlying(wire::Tag::kForeignOpen)) {
    return false;
  }
  Result<sql::OpenOptions> options = wire::Decode<sql::OpenOptions>(view.payload);
  return options && NamesFile(*options);
}

inline void RunOpen(ByteView frame) {
  Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kOpen);
  if (request && request->operations.size() == 1) {
    Result<wire::Open> open = wire::Decode<wire::Open>(request->operations[0].payload);
    if (open && NamesFile(open->database)) return;
  }
  Engine session;
  session.Open(frame);
  session.Execute(frame);
}

// Any bytes, as any frame. Only what asks for the database itself may differ.
inline std::string RunFrame(Twins& twins, ByteView frame) {
  RunOpen(frame);
  Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
  if (request && std::ranges::any_of(request->operations, IsOfDatabase)) {
    const auto names_file = [](const wire::OperationView& view) { return NamesFile(view); };
    if (!std::ranges::any_of(request->operations, names_file)) twins.Execute(frame);
    return "";
  }
  return twins.Differ(twins.InOwnName(frame));
}

// The entry: how the engines differ on this input, or "".
inline std::string RunInput(ByteView input) {
  ByteSource source(input);
  if (source.Chance(2)) return RunOperations(source);
  Twins twins;
  return RunFrame(twins, source.Rest());
}

}  // namespace keepsake::fuzz

#endif  // KEEPSAKE_TESTS_FUZZ_FRAME_FUZZ_H_
