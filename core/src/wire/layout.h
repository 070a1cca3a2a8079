// Fields() names the fields of a struct in the order in which they travel. It is
// the only place that knows it: Writer and Reader both follow it.
#ifndef KEEPSAKE_WIRE_LAYOUT_H_
#define KEEPSAKE_WIRE_LAYOUT_H_

#include <concepts>
#include <tuple>
#include <type_traits>

#include "import/foreign_file.h"
#include "keepsake/audit.h"
#include "keepsake/checkpointer.h"
#include "keepsake/database.h"
#include "keepsake/erasure.h"
#include "keepsake/history.h"
#include "keepsake/namespace.h"
#include "keepsake/operation.h"
#include "keepsake/provenance.h"
#include "keepsake/scope.h"
#include "keepsake/store.h"
#include "transfer/file_salvage.h"
#include "transfer/row_import.h"
#include "wire/listed_tuples.h"

namespace keepsake::wire {

// T or const T, so that one Fields() serves writing and reading.
template <typename Actual, typename T>
concept Is = std::same_as<std::remove_const_t<Actual>, T>;

template <typename T>
struct IsForeignPage : std::false_type {};
template <typename T>
struct IsForeignPage<import::ForeignPage<T>> : std::true_type {};

auto Fields(Is<Blob> auto& x) { return std::tie(x.type, x.bytes); }

auto Fields(Is<Validity> auto& x) { return std::tie(x.from_ms, x.until_ms); }
auto Fields(Is<Provenance> auto& x) { return std::tie(x.origin, x.source, x.is_quarantined); }
auto Fields(Is<ProvenanceFilter> auto& x) { return std::tie(x.origin, x.source, x.is_prefix); }
auto Fields(Is<OriginWeight> auto& x) { return std::tie(x.origin, x.weight); }
auto Fields(Is<OriginRule> auto& x) { return std::tie(x.origin, x.trust, x.weight); }
auto Fields(Is<Item> auto& x) {
  return std::tie(x.ns, x.key, x.value, x.created_at_ms, x.updated_at_ms, x.validity, x.provenance);
}
auto Fields(Is<ScorePart> auto& x) { return std::tie(x.name, x.value); }
auto Fields(Is<Snippet::Highlight> auto& x) { return std::tie(x.begin, x.end); }
auto Fields(Is<Snippet> auto& x) { return std::tie(x.text, x.highlights); }
auto Fields(Is<SearchItem> auto& x) {
  return std::tie(x.item, x.score, x.parts, x.snippet, x.plan);
}
auto Fields(Is<GetOp> auto& x) { return std::tie(x.ns, x.key, x.refresh_ttl); }
auto Fields(Is<IndexChoice> auto& x) { return std::tie(x.kind, x.paths); }
auto Fields(Is<FieldVector> auto& x) { return std::tie(x.path, x.values); }
auto Fields(Is<ItemRef> auto& x) { return std::tie(x.ns, x.key); }
auto Fields(Is<PutOp> auto& x) {
  return std::tie(x.ns, x.key, x.value, x.index, x.ttl_ms, x.vectors, x.validity, x.supersedes,
                  x.provenance);
}
auto Fields(Is<Boost> auto& x) { return std::tie(x.path, x.weight); }
auto Fields(Is<Ranking> auto& x) {
  return std::tie(x.min_score, x.fusion, x.vector_weight, x.recency, x.half_life_ms, x.boosts,
                  x.diversity, x.explain, x.snippet_length, x.origins);
}
auto Fields(Is<SearchOp> auto& x) {
  return std::tie(x.ns_prefix, x.filter, x.query, x.limit, x.offset, x.mode, x.refresh_ttl,
                  x.query_vector, x.ranking, x.near, x.plan, x.ef_search, x.as_of_ms,
                  x.include_superseded, x.include_quarantined);
}
auto Fields(Is<MatchCondition> auto& x) { return std::tie(x.match_type, x.path); }
auto Fields(Is<ListNamespacesOp> auto& x) {
  return std::tie(x.match_conditions, x.max_depth, x.limit, x.offset);
}
auto Fields(Is<IndexConfig> auto& x) {
  return std::tie(x.dims, x.fields, x.model, x.replace_vectors);
}
auto Fields(Is<TextField> auto& x) { return std::tie(x.path, x.weight); }
auto Fields(Is<TextConfig> auto& x) {
  return std::tie(x.fields, x.group, x.position, x.speaker, x.language);
}
auto Fields(Is<StoreStats> auto& x) {
  return std::tie(x.items, x.namespaces, x.vectors, x.pending, x.in_graph);
}
auto Fields(Is<IndexStep> auto& x) { return std::tie(x.vectors, x.is_wanted); }
auto Fields(Is<IndexProgress> auto& x) { return std::tie(x.vectors, x.in_graph, x.is_done); }
auto Fields(Is<WhyNot> auto& x) {
  return std::tie(x.absence, x.rank, x.score, x.last_score, x.parts);
}
auto Fields(Is<PendingEmbedding> auto& x) {
  return std::tie(x.id, x.fingerprint, x.paths, x.texts);
}
auto Fields(Is<PendingEmbeddings> auto& x) { return std::tie(x.items, x.left); }
auto Fields(Is<ItemVectors> auto& x) { return std::tie(x.id, x.fingerprint, x.vectors); }

auto Fields(Is<HistoryRule> auto& x) {
  return std::tie(x.ns, x.max_versions, x.max_age_ms, x.since_ms);
}
auto Fields(Is<Version> auto& x) {
  return std::tie(x.operation, x.change, x.at_ms, x.actor, x.item);
}
auto Fields(Is<Undo> auto& x) { return std::tie(x.operation, x.force); }
auto Fields(Is<Undone> auto& x) { return std::tie(x.operation, x.items); }

auto Fields(Is<Policy> auto& x) {
  return std::tie(x.readable, x.writable, x.read_only, x.max_entries, x.max_entries_per_namespace,
                  x.max_value_bytes, x.max_bytes, x.default_ttl_ms, x.max_ttl_ms, x.origins);
}
auto Fields(Is<ScopeLevel> auto& x) { return std::tie(x.place, x.policy); }

auto Fields(Is<CheckpointKey> auto& x) {
  return std::tie(x.thread_id, x.checkpoint_ns, x.checkpoint_id);
}
auto Fields(Is<ChannelVersion> auto& x) { return std::tie(x.channel, x.version); }
auto Fields(Is<ChannelValue> auto& x) { return std::tie(x.channel, x.version, x.value); }
auto Fields(Is<ValueDelta> auto& x) { return std::tie(x.stamp, x.base_stamp, x.prefix, x.suffix); }
auto Fields(Is<NewValue> auto& x) { return std::tie(x.channel, x.version, x.value, x.delta); }
auto Fields(Is<RetentionRules> auto& x) {
  return std::tie(x.thread_ids, x.keep_last, x.older_than, x.max_bytes, x.dry_run, x.strategy);
}
auto Fields(Is<Pruned> auto& x) { return std::tie(x.checkpoints, x.bytes); }
auto Fields(Is<ThreadInfo> auto& x) {
  return std::tie(x.thread_id, x.newest_checkpoint_id, x.checkpoint, x.metadata, x.checkpoints,
                  x.bytes);
}
auto Fields(Is<ListThreads::Cursor> auto& x) {
  return std::tie(x.newest_checkpoint_id, x.thread_id);
}
auto Fields(Is<ListThreads> auto& x) { return std::tie(x.cursor, x.limit); }
auto Fields(Is<NewCheckpoint> auto& x) {
  return std::tie(x.key, x.parent_checkpoint_id, x.checkpoint, x.metadata, x.channel_versions,
                  x.new_versions, x.values);
}
auto Fields(Is<PendingWrite> auto& x) {
  return std::tie(x.task_id, x.idx, x.channel, x.value, x.task_path);
}
auto Fields(Is<CheckpointTuple> auto& x) {
  return std::tie(x.key, x.parent_checkpoint_id, x.checkpoint, x.metadata, x.values,
                  x.pending_writes);
}
auto Fields(Is<ListedValue> auto& x) {
  return std::tie(x.channel, x.version, x.type, x.shared, x.whole, x.rest);
}
auto Fields(Is<ListedTuple> auto& x) {
  return std::tie(x.key, x.parent_checkpoint_id, x.checkpoint, x.metadata, x.values,
                  x.pending_writes);
}
auto Fields(Is<ListCheckpoints> auto& x) {
  return std::tie(x.thread_id, x.checkpoint_ns, x.checkpoint_id, x.before, x.after, x.filter,
                  x.cursor, x.limit);
}
auto Fields(Is<DeltaChannelHistory> auto& x) { return std::tie(x.channel, x.seed, x.writes); }
auto Fields(Is<CheckpointerStats> auto& x) {
  return std::tie(x.threads, x.checkpoints, x.writes, x.bytes);
}

auto Fields(Is<Erasure> auto& x) {
  return std::tie(x.id, x.digest, x.namespaces, x.filter, x.from, x.threads, x.thread_prefix,
                  x.dry_run);
}
auto Fields(Is<Erased> auto& x) {
  return std::tie(x.at_ms, x.items, x.vectors, x.versions, x.threads, x.checkpoints, x.bytes,
                  x.restored);
}
auto Fields(Is<ErasureRecord> auto& x) { return std::tie(x.digest, x.erased, x.scrubbed); }
auto Fields(Is<Hold> auto& x) { return std::tie(x.ns, x.reason, x.since_ms); }

auto Fields(Is<AuditRule> auto& x) { return std::tie(x.max_entries, x.max_age_ms, x.since_ms); }
auto Fields(Is<AuditEntry> auto& x) {
  return std::tie(x.id, x.at_ms, x.operation, x.place, x.ns, x.thread_id, x.actor, x.node_id,
                  x.code, x.count);
}
auto Fields(Is<AuditQuery> auto& x) {
  return std::tie(x.ns_prefix, x.since_ms, x.before_id, x.limit);
}

auto Fields(Is<sql::DamagedPage> auto& x) { return std::tie(x.number, x.held); }
auto Fields(Is<sql::PageCheck> auto& x) { return std::tie(x.pages, x.damaged, x.problem); }
auto Fields(Is<transfer::Salvage> auto& x) {
  return std::tie(x.items, x.vectors, x.checkpoints, x.writes, x.damaged, x.lost_item_count,
                  x.lost_items, x.lost_checkpoint_count, x.lost_checkpoints);
}

auto Fields(Is<sql::OpenOptions> auto& x) {
  return std::tie(x.path, x.durability, x.vfs, x.verifies, x.keys);
}
auto Fields(Is<transfer::ImportState> auto& x) {
  return std::tie(x.export_id, x.next, x.cursor, x.is_complete);
}
auto Fields(Is<import::ForeignTableInfo> auto& x) { return std::tie(x.table, x.rows); }
auto Fields(Is<import::ForeignTables> auto& x) { return std::tie(x.readable, x.skipped); }
auto Fields(Is<import::ForeignItem> auto& x) {
  return std::tie(x.item, x.ttl_ms, x.expires_at_ms, x.vectors);
}
auto Fields(Is<import::ForeignCheckpoint> auto& x) {
  return std::tie(x.key, x.parent_checkpoint_id, x.checkpoint, x.metadata);
}
auto Fields(Is<import::ForeignWrite> auto& x) { return std::tie(x.key, x.write); }
auto Fields(Is<import::ForeignSkip> auto& x) { return std::tie(x.row, x.why); }
template <typename Page>
  requires IsForeignPage<std::remove_const_t<Page>>::value
auto Fields(Page& x) {
  return std::tie(x.rows, x.skipped, x.cursor, x.done);
}

template <typename T>
concept Struct = requires(T& x) { Fields(x); };

// The values of an enum that may travel: from the first to the last.
template <typename E>
struct EnumRange;
template <>
struct EnumRange<IndexChoice::Kind> {
  static constexpr int kFirst = 0, kLast = 2;
};
template <>
struct EnumRange<SearchMode> {
  static constexpr int kFirst = 0, kLast = 4;
};
template <>
struct EnumRange<SearchPlan> {
  static constexpr int kFirst = 0, kLast = 3;
};
template <>
struct EnumRange<Fusion> {
  static constexpr int kFirst = 0, kLast = 2;
};
template <>
struct EnumRange<Language> {
  static constexpr int kFirst = 0, kLast = 6;
};
template <>
struct EnumRange<Absence> {
  static constexpr int kFirst = 0, kLast = 8;
};
template <>
struct EnumRange<Origin> {
  static constexpr int kFirst = 0, kLast = 4;
};
template <>
struct EnumRange<Trust> {
  static constexpr int kFirst = 0, kLast = 2;
};
template <>
struct EnumRange<Change> {
  static constexpr int kFirst = 0, kLast = 5;
};
template <>
struct EnumRange<Scrubbed> {
  static constexpr int kFirst = 0, kLast = 2;
};
template <>
struct EnumRange<Audited> {
  static constexpr int kFirst = 0, kLast = 9;
};
template <>
struct EnumRange<StatusCode> {
  static constexpr int kFirst = 0, kLast = 35;
};
template <>
struct EnumRange<MatchType> {
  static constexpr int kFirst = 0, kLast = 1;
};
template <>
struct EnumRange<PruneStrategy> {
  static constexpr int kFirst = 0, kLast = 2;
};
template <>
struct EnumRange<sql::Durability> {
  static constexpr int kFirst = 0, kLast = 1;
};
template <>
struct EnumRange<import::ForeignTable> {
  static constexpr int kFirst = 1, kLast = 4;
};

}  // namespace keepsake::wire

#endif  // KEEPSAKE_WIRE_LAYOUT_H_
