#include "checkpoint/validation.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "json/utf8.h"

namespace keepsake::checkpoint {
namespace {

Status Invalid(std::string_view field, std::string_view rule) {
  return {StatusCode::kInvalidArgument, std::string(field) + " must " + std::string(rule)};
}

Status InvalidChannel(std::string_view channel, std::string_view rule) {
  return {StatusCode::kInvalidArgument,
          "channel " + std::string(rule) + ": " + json::Quoted(channel)};
}

using VersionOf = std::unordered_map<std::string_view, std::string_view>;

Status CollectVersions(const NewCheckpoint& checkpoint, VersionOf& version_of) {
  for (const ChannelVersion& entry : checkpoint.channel_versions) {
    if (Status s = ValidateId("channel", entry.channel); !s.ok()) return s;
    if (Status s = ValidateId("version", entry.version, EmptyId::kAllowed); !s.ok()) return s;
    if (!version_of.emplace(entry.channel, entry.version).second) {
      return InvalidChannel(entry.channel, "must have one version");
    }
  }
  return {};
}

Status ValidateValues(const NewCheckpoint& checkpoint, const VersionOf& version_of) {
  const std::unordered_set<std::string_view> is_new(checkpoint.new_versions.begin(),
                                                    checkpoint.new_versions.end());
  std::unordered_set<std::string_view> seen;
  for (const NewValue& value : checkpoint.values) {
    const auto version = version_of.find(value.channel);
    if (version == version_of.end() || version->second != value.version) {
      return InvalidChannel(value.channel, "value must have the version of channel_versions");
    }
    if (!is_new.contains(value.channel)) {
      return InvalidChannel(value.channel, "value must be of a channel in new_versions");
    }
    if (!seen.insert(value.channel).second) {
      return InvalidChannel(value.channel, "must have one value");
    }
    if (Status s = ValidateId("type", value.value.type, EmptyId::kAllowed); !s.ok()) return s;
  }
  return {};
}

}  // namespace

Status ValidateId(std::string_view field, std::string_view id, EmptyId empty) {
  if (id.empty() && empty == EmptyId::kRefused) return Invalid(field, "not be empty");
  if (id.size() > kMaxIdBytes) {
    return Invalid(field, "not be longer than " + std::to_string(kMaxIdBytes) + " bytes");
  }
  if (id.contains('\0')) return Invalid(field, "not contain NUL: " + json::Quoted(id));
  if (!json::IsWellFormedUtf8(id))
    return Invalid(field, "be well-formed UTF-8: " + json::Quoted(id));
  return {};
}

Status ValidateThreadId(std::string_view thread_id) {
  if (thread_id.empty()) return {StatusCode::kThreadIdRequired, "thread_id is required"};
  return ValidateId("thread_id", thread_id);
}

Status ValidateKey(const CheckpointKey& key, EmptyId empty_checkpoint_id) {
  if (Status s = ValidateThreadId(key.thread_id); !s.ok()) return s;
  if (Status s = ValidateId("checkpoint_ns", key.checkpoint_ns, EmptyId::kAllowed); !s.ok()) {
    return s;
  }
  return ValidateId("checkpoint_id", key.checkpoint_id, empty_checkpoint_id);
}

Status ValidateNewCheckpoint(const NewCheckpoint& checkpoint) {
  if (Status s = ValidateKey(checkpoint.key); !s.ok()) return s;
  for (const auto& [field, id] : {std::pair<std::string_view, std::string_view>{
                                      "parent_checkpoint_id", checkpoint.parent_checkpoint_id},
                                  {"type", checkpoint.checkpoint.type},
                                  {"metadata type", checkpoint.metadata.type}}) {
    if (Status s = ValidateId(field, id, EmptyId::kAllowed); !s.ok()) return s;
  }
  VersionOf version_of;
  if (Status s = CollectVersions(checkpoint, version_of); !s.ok()) return s;
  return ValidateValues(checkpoint, version_of);
}

Status ValidateWrites(std::span<const PendingWrite> writes) {
  for (const PendingWrite& write : writes) {
    if (Status s = ValidateId("task_id", write.task_id); !s.ok()) return s;
    if (Status s = ValidateId("channel", write.channel); !s.ok()) return s;
    if (Status s = ValidateId("task_path", write.task_path, EmptyId::kAllowed); !s.ok()) return s;
    if (Status s = ValidateId("type", write.value.type, EmptyId::kAllowed); !s.ok()) return s;
  }
  return {};
}

Status ValidateCopy(std::string_view source, std::string_view target) {
  if (Status s = ValidateThreadId(source); !s.ok()) return s;
  return ValidateThreadId(target);
}

Status ValidateRules(const RetentionRules& rules) {
  if (rules.thread_ids) {
    for (const std::string& thread_id : *rules.thread_ids) {
      if (Status s = ValidateThreadId(thread_id); !s.ok()) return s;
    }
  }
  const bool has_limit = rules.keep_last > 0 || !rules.older_than.empty() || rules.max_bytes > 0;
  if (rules.strategy != PruneStrategy::kByRules && (!rules.thread_ids || has_limit)) {
    return {StatusCode::kInvalidArgument, "a prune by strategy needs thread_ids and has no limits"};
  }
  return ValidateId("older_than", rules.older_than, EmptyId::kAllowed);
}

Status NoThread(std::string_view thread_id) {
  return {StatusCode::kNotFound, "there is no thread " + json::Quoted(thread_id) +
                                     ": the list of threads has the ids of those that there are"};
}

Status TargetNotEmpty(std::string_view target) {
  return {StatusCode::kInvalidArgument,
          "target thread must have no checkpoints or writes: " + json::Quoted(target)};
}

Status OtherBase(std::string_view channel) {
  return {StatusCode::kNotFound,
          "the parent has another value than a delta is based on: " + json::Quoted(channel)};
}

Status NoCheckpoint(std::string_view thread_id, std::string_view checkpoint_id) {
  return {StatusCode::kNotFound,
          "thread " + json::Quoted(thread_id) +
              " has no such checkpoint in the root namespace: " + json::Quoted(checkpoint_id)};
}

Status ValidateList(const ListCheckpoints& list) {
  if (list.thread_id) {
    if (Status s = ValidateThreadId(*list.thread_id); !s.ok()) return s;
  }
  for (const auto& [field, id] :
       {std::pair<std::string_view, std::string_view>{
            "checkpoint_ns", list.checkpoint_ns ? *list.checkpoint_ns : std::string_view()},
        {"checkpoint_id", list.checkpoint_id},
        {"before", list.before},
        {"after", list.after}}) {
    if (Status s = ValidateId(field, id, EmptyId::kAllowed); !s.ok()) return s;
  }
  return list.cursor ? ValidateKey(*list.cursor) : Status();
}

}  // namespace keepsake::checkpoint
