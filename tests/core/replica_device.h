// A device with a memory that syncs: an engine over files in memory, which may be killed at any
// moment, and a log that several of them share.
#ifndef KEEPSAKE_TESTS_CORE_REPLICA_DEVICE_H_
#define KEEPSAKE_TESTS_CORE_REPLICA_DEVICE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../golden/request_builder.h"
#include "file_vfs_test_files.h"
#include "keepsake/engine.h"
#include "sync/records.h"

namespace keepsake::replica {

using wire::RequestBuilder;
using wire::Tag;

inline constexpr std::int64_t kNow = 1'700'000'000'000;

// What one device puts, and the others carry out.
struct Log {
  std::vector<sync::LogRecord> records;

  std::uint64_t newest() const { return records.size(); }
  void Append(std::vector<Bytes> requests) {
    const std::uint64_t number = records.size() + 1;
    records.push_back({number, DigestOf(number), std::move(requests)});
  }
  // Those after the one with this number, at most so many.
  std::vector<sync::LogRecord> After(std::uint64_t number, std::size_t most = 1'000'000) const {
    std::vector<sync::LogRecord> found;
    for (std::size_t i = number; i < records.size() && found.size() < most; ++i) {
      found.push_back(records[i]);
    }
    return found;
  }
  static Bytes DigestOf(std::uint64_t number) {
    return {'d', static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8)};
  }
};

class Answers {
 public:
  explicit Answers(ByteView response)
      : bytes_(response.begin(), response.end()), parsed_(wire::ParseResponse(bytes_)) {}

  bool is_failed() const { return parsed_->header.kind == wire::FrameKind::kFailed; }
  StatusCode code(std::size_t i = 0) const { return parsed_->results.at(is_failed() ? 0 : i).code; }
  std::string message(std::size_t i = 0) const {
    return parsed_->results.at(is_failed() ? 0 : i).message();
  }
  const Bytes& bytes() const { return bytes_; }
  template <typename T>
  T As(std::size_t i = 0) const {
    if (code(i) != StatusCode::kOk) {
      ADD_FAILURE() << StatusCodeName(code(i)) << ": " << message(i);
      return T();
    }
    return wire::Decode<T>(parsed_->results.at(i).body).value();
  }

 private:
  Bytes bytes_;
  Result<wire::Response> parsed_;
};

struct DeviceOptions {
  std::optional<IndexConfig> index = std::nullopt;
  Bytes keys = {};
  sql::Durability durability = sql::Durability::kRelaxed;
};

class Device {
 public:
  explicit Device(std::string name, DeviceOptions options = {})
      : name_(std::move(name)),
        options_(std::move(options)),
        files_(std::make_unique<sql::MemoryFiles>("memory.db")) {
    Open();
  }
  ~Device() { Close(); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void Open() {
    vfs_ = *sql::FileVfs::Register("device-" + name_, files_->Host());
    engine_ = std::make_unique<Engine>();
    const sql::OpenOptions opened_by{.path = "memory.db",
                                     .durability = options_.durability,
                                     .vfs = "device-" + name_,
                                     .verifies = true,
                                     .keys = options_.keys};
    const Answers opened(engine_->Open(RequestBuilder({.kind = wire::FrameKind::kOpen})
                                           .Add(Tag::kOpen, wire::Open{opened_by})
                                           .Build()));
    ASSERT_EQ(opened.code(), StatusCode::kOk) << opened.message();
    const Answers configured = Run(Tag::kConfigureStore, wire::ConfigureStore{options_.index, {}});
    ASSERT_EQ(configured.code(), StatusCode::kOk) << configured.message();
  }
  void Close() {
    engine_.reset();
    vfs_.reset();
  }
  void Reopen() {
    Close();
    Open();
  }
  // As if the process had died, or the machine when the files were so.
  void Kill() { Become(files_->CopyOfBytes()); }
  void Become(sql::MemoryFiles image) {
    auto files = std::make_unique<sql::MemoryFiles>(std::move(image));
    Close();
    files_ = std::move(files);
    Open();
  }
  sql::MemoryFiles& files() { return *files_; }
  // Lends a file by this name.
  void Lend(const std::string& name, Bytes bytes) {
    files_->Add(name, std::move(bytes));
    files_->Add(name + "-wal", {});
    files_->Add(name + "-journal", {});
  }

  RequestBuilder Frame(std::int64_t now_ms = kNow) {
    return RequestBuilder({.sequence = ++sequence_, .now_ms = now_ms});
  }
  Answers Execute(ByteView frame) { return Answers(engine_->Execute(frame)); }
  Answers Execute(const RequestBuilder& frame) { return Execute(frame.Build()); }
  template <typename Payload>
  Answers Run(Tag tag, const Payload& payload, std::int64_t now_ms = kNow) {
    return Execute(Frame(now_ms).Add(tag, payload));
  }
  Answers Run(Tag tag) { return Run(tag, wire::Nothing{}); }
  // Fails the test unless it succeeds.
  template <typename Payload>
  void Do(Tag tag, const Payload& payload, std::int64_t now_ms = kNow) {
    const Answers answers = Run(tag, payload, now_ms);
    EXPECT_EQ(answers.code(), StatusCode::kOk) << answers.message();
  }

  // ---- syncing

  void StartSync(std::uint64_t number = 0) {
    Do(Tag::kStartSync, wire::StartSync{"log", number, Log::DigestOf(number)});
  }
  sync::State State() {
    return Run(Tag::kSyncState).As<std::optional<sync::State>>().value_or(sync::State());
  }
  std::vector<sync::OutboxEntry> Outbox(std::uint64_t max_bytes = 1 << 30) {
    return Run(Tag::kReadOutbox, wire::ReadOutbox{0, max_bytes})
        .As<std::vector<sync::OutboxEntry>>();
  }
  Answers CatchUp(const Log& log, std::size_t most = 1'000'000) {
    return Run(Tag::kCatchUp, sync::CatchUp{log.After(State().number, most), "", 0, {}});
  }
  // Puts what waits, or some of it, into the log: true if nothing of others was in the way.
  bool Push(Log& log, std::uint64_t max_bytes = 1 << 30, bool is_heard = true) {
    if (State().number != log.newest()) return false;
    const std::vector<sync::OutboxEntry> entries = Outbox(max_bytes);
    if (entries.empty()) return true;
    std::vector<Bytes> requests;
    for (const sync::OutboxEntry& entry : entries) requests.push_back(entry.request);
    log.Append(std::move(requests));
    if (!is_heard) return true;
    const wire::ConfirmOutbox confirm{log.newest(), Log::DigestOf(log.newest()),
                                      entries.back().sequence};
    Do(Tag::kConfirmOutbox, confirm);
    return true;
  }
  // All that the log has and all that waits here.
  void Sync(Log& log) {
    for (int i = 0; i < 100; ++i) {
      const Answers caught_up = CatchUp(log);
      ASSERT_EQ(caught_up.code(), StatusCode::kOk) << caught_up.message();
      if (Push(log)) return;
    }
  }

  Bytes Export() {
    const auto size = Run(Tag::kBeginExport).As<std::uint64_t>();
    Bytes bytes;
    while (bytes.size() < size) {
      const Bytes piece =
          Run(Tag::kReadExport, wire::ReadExport{bytes.size(), 1 << 20}).As<Bytes>();
      if (piece.empty()) break;
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(Run(Tag::kEndExport).code(), StatusCode::kOk);
    return bytes;
  }

 private:
  std::string name_;
  DeviceOptions options_;
  std::unique_ptr<sql::MemoryFiles> files_;
  std::unique_ptr<sql::FileVfs> vfs_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t sequence_ = 0;
};

}  // namespace keepsake::replica

#endif  // KEEPSAKE_TESTS_CORE_REPLICA_DEVICE_H_
