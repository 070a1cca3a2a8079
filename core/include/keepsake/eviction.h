// An eviction deletes what is needed least: its caller asks what there is, a page at a time,
// chooses by age, use or size, and names what goes. What changed meanwhile, or is held, stays.
#ifndef KEEPSAKE_EVICTION_H_
#define KEEPSAKE_EVICTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keepsake/namespace.h"
#include "keepsake/operation.h"

namespace keepsake {

// A page of the items below a namespace, by namespace and key.
struct JudgeItems {
  Namespace ns_prefix;
  std::optional<ItemRef> after{};  // the last one of the page before
  std::uint32_t limit = 0;         // a page of large values may have fewer; one without any ends it
};

// What is known of an item without its value.
struct JudgedItem {
  ItemRef item;
  std::uint64_t bytes = 0;  // of its key and its value
  std::int64_t updated_at_ms = 0;
  std::uint32_t fingerprint = 0;  // of its value
  // Members of the value: `pinned` is true; `uses` and `importance`, 0 if they are no numbers.
  bool is_pinned = false;
  double uses = 0;
  double importance = 0;
  bool is_held = false;  // Hold
};

// Items of a namespace that are to go if they are still as they were judged.
struct EvictItems {
  struct Judged {
    std::string key;
    std::int64_t updated_at_ms = 0;
    std::uint32_t fingerprint = 0;
  };

  Namespace ns;
  std::vector<Judged> items;
};

struct EvictedItems {
  std::uint64_t items = 0;
  std::vector<std::string> keys;  // of those that went
};

}  // namespace keepsake

#endif  // KEEPSAKE_EVICTION_H_
