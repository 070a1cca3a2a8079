// Replicated is told of what a store does by itself, where its writes are carried out again: on
// other devices, and here in another order, among those of others. Then all of them must come to
// the same.
#ifndef KEEPSAKE_STORE_REPLICATED_H_
#define KEEPSAKE_STORE_REPLICATED_H_

#include <cstdint>
#include <span>

#include "keepsake/operation.h"
#include "keepsake/status.h"

namespace keepsake {

struct Erasure;

class Replicated {
 public:
  // So many bits of the id of an operation are the mark of its request, and those before them a
  // number. In another order an operation gets another number. Who undoes it by the one before
  // finds it by its mark, and never what took its place.
  static constexpr int kMarkBits = 26;

  virtual bool is_on() const = 0;
  virtual std::int64_t mark() const = 0;
  // Within the transaction that restarts the TTLs of these items, because they were read.
  virtual Status TtlsRestarted(std::span<const ItemRef> items) = 0;
  // Within the transaction that erases: what else is kept and may hold something of it goes, too.
  virtual Status Forget(const Erasure& erasure) = 0;

 protected:
  ~Replicated() = default;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_REPLICATED_H_
