// A Visitor is what is called for each row of a statement, or for each of other things. It is
// borrowed for the duration of a call, as a FunctionRef is. What it answers says whether the
// next one comes: nothing, for always; false, to end; a Status, which ends it if it is a
// failure, and is the answer of whoever called the Visitor; or one of these two.
#ifndef KEEPSAKE_VISITOR_H_
#define KEEPSAKE_VISITOR_H_

#include <cstddef>
#include <expected>
#include <memory>
#include <type_traits>
#include <utility>

#include "keepsake/status.h"

namespace keepsake {

template <typename... Args>
class Visitor {
 public:
  // Of nothing. REQUIRES: it is not called.
  Visitor(std::nullptr_t) {}

  template <typename Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, Visitor> &&
             std::is_invocable_v<Callable&, Args...>)
  Visitor(Callable&& callable)
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* of, Status& failure, Args... args) -> bool {
          auto& visit = *static_cast<std::remove_reference_t<Callable>*>(of);
          using Answer = std::invoke_result_t<Callable&, Args...>;
          if constexpr (std::is_void_v<Answer>) {
            visit(std::forward<Args>(args)...);
            return true;
          } else if constexpr (std::is_same_v<Answer, Status>) {
            failure = visit(std::forward<Args>(args)...);
            return failure.ok();
          } else if constexpr (std::is_same_v<Answer, Result<bool>>) {
            Result<bool> goes_on = visit(std::forward<Args>(args)...);
            if (!goes_on) failure = std::move(goes_on.error());
            return goes_on && *goes_on;
          } else {
            static_assert(std::is_same_v<Answer, bool>);
            return visit(std::forward<Args>(args)...);
          }
        }) {}

  // Whether to go on. If not, `failure` may be why, and is left alone otherwise.
  bool GoesOn(Status& failure, Args... args) const {
    return call_(callable_, failure, std::forward<Args>(args)...);
  }
  // The same, for one Visitor that is called by another.
  Result<bool> operator()(Args... args) const {
    Status failure;
    const bool goes_on = GoesOn(failure, std::forward<Args>(args)...);
    if (failure.ok()) return goes_on;
    return std::unexpected(std::move(failure));
  }

  bool operator==(std::nullptr_t) const { return call_ == nullptr; }

 private:
  void* callable_ = nullptr;
  bool (*call_)(void*, Status&, Args...) = nullptr;
};

}  // namespace keepsake

#endif  // KEEPSAKE_VISITOR_H_
