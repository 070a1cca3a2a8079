// The flow of a search, once for every table: near, words, vectors, threshold, page.
#ifndef KEEPSAKE_STORE_ITEM_SEARCH_H_
#define KEEPSAKE_STORE_ITEM_SEARCH_H_

#include <cstdint>
#include <vector>

#include "keepsake/operation.h"
#include "keepsake/status.h"
#include "keepsake/store.h"
#include "store/checked_batch.h"
#include "store/item_table.h"

namespace keepsake {

// Adds the hits whose TTL the search restarts to `refreshed`.
Result<std::vector<SearchItem>> SearchItems(ItemTable& table, const CheckedSearch& search,
                                            const StoreOptions& options, ItemIds& refreshed);

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_ITEM_SEARCH_H_
