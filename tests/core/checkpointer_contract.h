// What the tests of checkpointers share: the two savers, and short ways to say
// what is put.
#ifndef KEEPSAKE_TESTS_CORE_CHECKPOINTER_CONTRACT_H_
#define KEEPSAKE_TESTS_CORE_CHECKPOINTER_CONTRACT_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keepsake/checkpointer.h"
#include "keepsake/database.h"
#include "keepsake/memory_saver.h"
#include "keepsake/sqlite_saver.h"

namespace keepsake::testing {

class MemorySaverBackend {
 public:
  Checkpointer& saver() { return *saver_; }

 private:
  std::unique_ptr<Checkpointer> saver_ = MakeMemorySaver();
};

class SqliteSaverBackend {
 public:
  SqliteSaverBackend() {
    auto database = sql::OpenDatabase({.path = ":memory:"});
    if (!database) {
      ADD_FAILURE() << database.error().message();
      return;
    }
    database_ = *std::move(database);
    saver_ = MakeSqliteSaver(*database_).value();
  }

  Checkpointer& saver() { return *saver_; }
  sql::Database& database() { return *database_; }

 private:
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<Checkpointer> saver_;
};

inline Blob Typed(std::string type, std::string_view bytes) {
  return {std::move(type), Bytes(bytes.begin(), bytes.end())};
}
inline Blob Json(std::string_view text) { return Typed("json", text); }
inline std::string Text(const Blob& blob) { return {blob.bytes.begin(), blob.bytes.end()}; }

// Says what a put brings: At("t", "", "2").Parent("1").New("messages", "2", "[1]").
class At {
 public:
  At(std::string thread_id, std::string checkpoint_ns, std::string checkpoint_id) {
    next_.key = {std::move(thread_id), std::move(checkpoint_ns), std::move(checkpoint_id)};
    next_.checkpoint = Json("{\"id\":\"" + next_.key.checkpoint_id + "\"}");
    next_.metadata = Json("{}");
  }

  At& Parent(std::string id) {
    next_.parent_checkpoint_id = std::move(id);
    return *this;
  }
  At& Metadata(std::string_view json) {
    next_.metadata = Json(json);
    return *this;
  }
  At& New(const std::string& channel, const std::string& version, std::string_view value) {
    return New(channel, version, Json(value));
  }
  At& New(const std::string& channel, const std::string& version, Blob value) {
    NewWithoutValue(channel, version);
    next_.values.push_back({channel, version, std::move(value)});
    return *this;
  }
  At& NewWithoutValue(const std::string& channel, const std::string& version) {
    next_.new_versions.push_back(channel);
    return Unchanged(channel, version);
  }
  At& Unchanged(const std::string& channel, const std::string& version) {
    next_.channel_versions.push_back({channel, version});
    return *this;
  }

  NewCheckpoint& checkpoint() { return next_; }
  operator const NewCheckpoint&() const { return next_; }

 private:
  NewCheckpoint next_;
};

inline PendingWrite Write(std::string task_id, std::int32_t idx, std::string channel,
                          std::string_view value, std::string task_path = "") {
  return {std::move(task_id), idx, std::move(channel), Json(value), std::move(task_path)};
}

// "messages@2=[1]", one per value.
inline std::vector<std::string> Values(const CheckpointTuple& tuple) {
  std::vector<std::string> values;
  for (const ChannelValue& value : tuple.values) {
    values.push_back(value.channel + "@" + value.version + "=" + Text(value.value));
  }
  return values;
}

// "a/0 messages=1", one per write.
inline std::vector<std::string> Shown(const std::vector<PendingWrite>& writes) {
  std::vector<std::string> shown;
  for (const PendingWrite& write : writes) {
    shown.push_back(write.task_id + "/" + std::to_string(write.idx) + " " + write.channel + "=" +
                    Text(write.value));
  }
  return shown;
}

// "thread/namespace/id", one per checkpoint.
inline std::vector<std::string> Shown(const std::vector<CheckpointTuple>& tuples) {
  std::vector<std::string> shown;
  for (const CheckpointTuple& tuple : tuples) {
    shown.push_back(tuple.key.thread_id + "/" + tuple.key.checkpoint_ns + "/" +
                    tuple.key.checkpoint_id);
  }
  return shown;
}

}  // namespace keepsake::testing

#endif  // KEEPSAKE_TESTS_CORE_CHECKPOINTER_CONTRACT_H_
