// A Store in linear memory: fast, and gone when it is.
#ifndef KEEPSAKE_IN_MEMORY_STORE_H_
#define KEEPSAKE_IN_MEMORY_STORE_H_

#include <memory>

#include "keepsake/store.h"

namespace keepsake {

std::unique_ptr<Store> MakeInMemoryStore(StoreOptions options = {});

}  // namespace keepsake

#endif  // KEEPSAKE_IN_MEMORY_STORE_H_
