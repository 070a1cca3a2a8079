// The one class that JavaScript sees: a Session, with numbers at the boundary.
// Bytes stay in linear memory; an address is valid until the next call.
#include <emscripten/bind.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#include "engine/session.h"
#include "keepsake/bytes.h"

namespace {

using keepsake::ByteView;

// A request buffer above this size is not kept for the next request.
constexpr std::uint32_t kKeptCapacity = 1024 * 1024;

std::uint32_t AddressOf(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(bytes));
}

class Engine {
 public:
  // The address of a buffer for a request of `size` bytes; 0 if there is no room.
  std::uint32_t Reserve(std::uint32_t size) {
    if (size > capacity_ || capacity_ > kKeptCapacity) {
      request_.reset();
      capacity_ = 0;
      request_.reset(new (std::nothrow) std::uint8_t[std::max(size, 1u)]);
      if (request_ == nullptr) return 0;
      capacity_ = size;
    }
    return AddressOf(request_.get());
  }

  // Each answers the length of the response, which begins at Response().
  std::uint32_t Open(std::uint32_t size) { return Keep(session_.Open(Request(size))); }
  std::uint32_t Execute(std::uint32_t size) { return Keep(session_.Execute(Request(size))); }
  std::uint32_t Response() const { return AddressOf(response_.data()); }

  void Close() { session_.Close(); }

 private:
  ByteView Request(std::uint32_t size) const {
    return ByteView(request_.get(), std::min(size, capacity_));
  }
  std::uint32_t Keep(ByteView response) {
    response_ = response;
    return static_cast<std::uint32_t>(response.size());
  }

  keepsake::Session session_;
  std::unique_ptr<std::uint8_t[]> request_;
  std::uint32_t capacity_ = 0;
  ByteView response_;
};

}  // namespace

// What the standard library calls where a precondition is broken. Its own version
// would print, and bring printf() with it.
#ifndef _LIBCPP_VERBOSE_ABORT_NOEXCEPT  // libc++ before 19
#define _LIBCPP_VERBOSE_ABORT_NOEXCEPT
#endif
_LIBCPP_BEGIN_NAMESPACE_STD
[[noreturn]] void __libcpp_verbose_abort(const char*, ...) _LIBCPP_VERBOSE_ABORT_NOEXCEPT {
  __builtin_trap();
}
_LIBCPP_END_NAMESPACE_STD

EMSCRIPTEN_BINDINGS(keepsake) {
  emscripten::class_<Engine>("Engine")
      .constructor<>()
      .function("reserve", &Engine::Reserve)
      .function("open", &Engine::Open)
      .function("execute", &Engine::Execute)
      .function("response", &Engine::Response)
      .function("close", &Engine::Close);
}
