// What the indexes of vectors of all databases of a thread may take together. Whoever
// was not used for longest gives up first; it reads its index again when it needs it.
// One instance serves many databases where memory is short: an isolate with a hundred
// Durable Objects, for example. Elsewhere there is no limit.
#ifndef KEEPSAKE_STORE_SQLITE_VECTOR_BUDGET_H_
#define KEEPSAKE_STORE_SQLITE_VECTOR_BUDGET_H_

#include <cstddef>
#include <limits>
#include <vector>

namespace keepsake {

class VectorBudget {
 public:
  class Member {
   public:
    // Of its index; 0 if it has none.
    virtual std::size_t IndexBytes() const = 0;
    virtual void GiveUpIndex() = 0;

   protected:
    ~Member() = default;
  };

  static VectorBudget& OfThisThread();

  void SetLimit(std::size_t bytes);
  // `member` is in use: it is kept, whatever it takes, and others give up until all fit.
  // It is borrowed until Forget().
  void Use(Member& member);
  void Forget(Member& member);

 private:
  void GiveUpOldest();

  std::size_t limit_ = std::numeric_limits<std::size_t>::max();
  std::vector<Member*> members_;  // the least recently used first
};

}  // namespace keepsake

#endif  // KEEPSAKE_STORE_SQLITE_VECTOR_BUDGET_H_
