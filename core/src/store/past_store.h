// A store of items as they were, in linear memory: what is asked of the past is asked of it.
#ifndef KEEPSAKE_STORE_PAST_STORE_H_
#define KEEPSAKE_STORE_PAST_STORE_H_

#include <memory>
#include <vector>

#include "keepsake/store.h"
#include "store/versions.h"

namespace keepsake {

std::unique_ptr<Store> MakePastStore(StoreOptions options, std::vector<StoredItem> items);

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_PAST_STORE_H_
