// Collects the answer to one ListNamespacesOp from namespaces offered in order.
#ifndef KEEPSAKE_STORE_NAMESPACE_LISTING_H_
#define KEEPSAKE_STORE_NAMESPACE_LISTING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "keepsake/namespace.h"
#include "keepsake/operation.h"
#include "keepsake/status.h"

namespace keepsake {

class NamespaceListing {
 public:
  explicit NamespaceListing(const ListNamespacesOp& op) : op_(op) {}

  // Every namespace that can match begins with these bytes of its stored form.
  std::string EncodedPrefix() const;

  // Whether a further namespace is wanted; kTooLarge if the answer has no room for it.
  // REQUIRES: `ns` has a visible item; offered in the order of stored forms, in which those
  // cut to one are neighbours.
  Result<bool> Offer(const Namespace& ns);

  std::vector<Namespace> Take() { return std::move(listed_); }

 private:
  const ListNamespacesOp& op_;
  std::uint32_t skipped_ = 0;
  Namespace last_;
  std::vector<Namespace> listed_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_NAMESPACE_LISTING_H_
