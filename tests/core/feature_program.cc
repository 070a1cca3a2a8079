// A program that uses the part of the library that its definition names, and says by its exit
// status whether that works.
#include "keepsake/in_memory_store.h"
#if defined(WITH_FILES) || defined(WITH_ALL)
#include "keepsake/memory.h"
#endif
#if defined(WITH_PROVIDER) || defined(WITH_ALL)
#include "keepsake/memory_provider.h"
#endif
#if defined(WITH_SECURITY) || defined(WITH_ALL)
#include "keepsake/scope.h"
#endif
#ifdef WITH_ALL
#include "keepsake/memory_saver.h"
#endif

int main() {
  const auto store = keepsake::MakeInMemoryStore();
  bool works = store->Put({"a"}, "k", "1").ok() && store->Get({"a"}, "k")->has_value();
#if defined(WITH_FILES) || defined(WITH_ALL)
  auto memory = keepsake::Memory::Open({.path = ":memory:"});
  works = works && memory && memory->store().Put({"a"}, "k", "1").ok();
#endif
#if defined(WITH_PROVIDER) || defined(WITH_ALL)
  keepsake::MemoryProvider provider(*store);
  works = works && provider.Put("user:ada", "k", "1").ok() &&
          provider.Recall({.ns = "user:ada"})->size() == 1;
#endif
#if defined(WITH_SECURITY) || defined(WITH_ALL)
  const auto scope = keepsake::Scope::Make({{{"user"}, {.read_only = true}}});
  keepsake::ScopedStore scoped(*store, *scope);
  works = works && scoped.Put({"a"}, "k", "1").code() == keepsake::StatusCode::kAccessDenied;
#endif
#ifdef WITH_ALL
  works = works && keepsake::MakeMemorySaver()->Stats().has_value();
#endif
  return works ? 0 : 1;
}
