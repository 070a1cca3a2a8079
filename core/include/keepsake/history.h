// What items were: where a rule keeps their history, every change leaves a version of what it
// replaced, with its time and who made it. A store can then be read as it was at a time, and an
// operation can be undone.
//
// This is the time of the memory: what it held then. What was true then, as far as it knows
// now, is Validity.
#ifndef KEEPSAKE_HISTORY_H_
#define KEEPSAKE_HISTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keepsake/namespace.h"
#include "keepsake/operation.h"

namespace keepsake {

// Of a namespace and all below it, but for those that have a rule of their own.
struct HistoryRule {
  static constexpr std::uint32_t kMostVersions = 1'000'000;

  Namespace ns;                              // {} is everything
  std::uint32_t max_versions = 50;           // operations kept of each item, at least 1
  std::optional<std::int64_t> max_age_ms{};  // how long; none: as long as max_versions lets
  std::int64_t since_ms = 0;                 // when it began: the store says

  bool operator==(const HistoryRule&) const = default;
};

// What made a version. Persistent, never renumber.
enum class Change : std::uint8_t {
  kEarlier = 0,  // not known: it was there before the history begins
  kPut = 1,
  kDelete = 2,
  kSupersede = 3,  // another item superseded it
  kExpire = 4,     // it had expired, and was swept
  kUndo = 5,
};

// An item, from one operation to the next.
struct Version {
  std::int64_t operation = 0;  // for Undo(); 0 of kEarlier. A batch is one operation
  Change change = Change::kEarlier;
  std::int64_t at_ms = 0;      // when it began
  std::string actor;           // who made it, "" if nobody said
  std::optional<Item> item{};  // none: it was deleted

  bool operator==(const Version&) const = default;
};

struct Undo {
  std::int64_t operation = 0;
  bool force = false;  // also where something newer changed an item
};

struct Undone {
  std::int64_t operation = 0;  // the undoing, which can be undone as well
  std::uint64_t items = 0;

  bool operator==(const Undone&) const = default;
};

}  // namespace keepsake

#endif  // KEEPSAKE_HISTORY_H_
