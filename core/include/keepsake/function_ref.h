// FunctionRef is a callable that is borrowed for the duration of a call: a std::function
// without the copy, and without the code that would copy and destroy each kind of it.
// A parameter, never a variable or a member that outlives the call.
#ifndef KEEPSAKE_FUNCTION_REF_H_
#define KEEPSAKE_FUNCTION_REF_H_

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace keepsake {

template <typename Signature>
class FunctionRef;

template <typename Answer, typename... Args>
class FunctionRef<Answer(Args...)> {
 public:
  // Of nothing. REQUIRES: it is not called.
  FunctionRef(std::nullptr_t) {}

  template <typename Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
             std::is_invocable_r_v<Answer, Callable&, Args...>)
  FunctionRef(Callable&& callable)
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* of, Args... args) -> Answer {
          return (*static_cast<std::remove_reference_t<Callable>*>(of))(
              std::forward<Args>(args)...);
        }) {}

  Answer operator()(Args... args) const { return call_(callable_, std::forward<Args>(args)...); }

  bool operator==(std::nullptr_t) const { return call_ == nullptr; }

 private:
  void* callable_ = nullptr;
  Answer (*call_)(void*, Args...) = nullptr;
};

}  // namespace keepsake

#endif  // KEEPSAKE_FUNCTION_REF_H_
