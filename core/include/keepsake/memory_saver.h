// A Checkpointer in linear memory.
#ifndef KEEPSAKE_MEMORY_SAVER_H_
#define KEEPSAKE_MEMORY_SAVER_H_

#include <memory>

#include "keepsake/checkpointer.h"

namespace keepsake {

std::unique_ptr<Checkpointer> MakeMemorySaver();

}  // namespace keepsake

#endif  // KEEPSAKE_MEMORY_SAVER_H_
