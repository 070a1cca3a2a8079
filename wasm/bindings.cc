// The one class that JavaScript sees: an Engine, with numbers at the boundary.
// Bytes stay in linear memory; an address is valid until the next call.
#include <emscripten/bind.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <typeinfo>

#include "keepsake/bytes.h"
#include "keepsake/engine.h"

namespace {

using keepsake::ByteView;

// A request buffer above this size is not kept for the next request.
constexpr std::uint32_t kKeptCapacity = 1024 * 1024;

std::uint32_t AddressOf(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(bytes));
}

// 1 if there is room for `spare` bytes in one piece and, besides, for some blocks of `block`.
// An allocation that fails within the core is a trap.
std::uint32_t HasRoom(std::uint32_t spare, std::uint32_t block) {
  void* blocks[] = {::operator new(spare, std::nothrow), ::operator new(block, std::nothrow),
                    ::operator new(block, std::nothrow), ::operator new(block, std::nothrow),
                    ::operator new(block, std::nothrow)};
  const bool has_room = std::ranges::find(blocks, nullptr) == std::ranges::end(blocks);
  for (void* taken : blocks) ::operator delete(taken);
  return has_room;
}

// What the engines of an instance share: one of them is called at a time, and what it
// answers was read before the next one is.
struct Buffers {
  // The address of a buffer for a request of `size` bytes; 0 if there is no room.
  std::uint32_t Reserve(std::uint32_t size) {
    if (size > capacity || capacity > kKeptCapacity) {
      request.reset();
      capacity = 0;
      request.reset(new (std::nothrow) std::uint8_t[std::max(size, 1u)]);
      if (request == nullptr) return 0;
      capacity = size;
    }
    return AddressOf(request.get());
  }

  std::unique_ptr<std::uint8_t[]> request;
  std::uint32_t capacity = 0;
  keepsake::Bytes response;
};

Buffers& TheBuffers() {
  static auto* const buffers = new Buffers;  // an instance is not torn down
  return *buffers;
}

class Engine {
 public:
  std::uint32_t Reserve(std::uint32_t size) { return buffers_.Reserve(size); }
  std::uint32_t HasRoom(std::uint32_t spare, std::uint32_t block) {
    return ::HasRoom(spare, block);
  }

  // Each answers the length of the response, which begins at Response().
  std::uint32_t Open(std::uint32_t size) { return Keep(engine_.Open(Request(size))); }
  std::uint32_t Execute(std::uint32_t size) { return Keep(engine_.Execute(Request(size))); }
  std::uint32_t Response() const { return AddressOf(response_.data()); }

  void Close() { engine_.Close(); }

 private:
  ByteView Request(std::uint32_t size) const {
    return ByteView(buffers_.request.get(), std::min(size, buffers_.capacity));
  }
  std::uint32_t Keep(ByteView response) {
    response_ = response;
    return static_cast<std::uint32_t>(response.size());
  }

  Buffers& buffers_ = TheBuffers();
  keepsake::Engine engine_{buffers_.response};
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

// Embind's own file would register every type there is, strings of three kinds among
// them, with the glue for each, and bring printf(). These are all that is asked of it.
extern "C" {
const char* __getTypeName(const std::type_info*) { return nullptr; }  // has_unbound_type_names
void _embind_initialize_bindings() {}                                 // for threads
void _embind_register_bindings(emscripten::internal::InitFunc*) {}
}

EMSCRIPTEN_BINDINGS(keepsake) {
  using emscripten::internal::TypeID;
  using Number = std::numeric_limits<std::uint32_t>;
  emscripten::internal::_embind_register_void(TypeID<void>::get(), "void");
  emscripten::internal::_embind_register_integer(TypeID<std::uint32_t>::get(), "unsigned int",
                                                 sizeof(std::uint32_t), Number::min(),
                                                 Number::max());
  emscripten::class_<Engine>("Engine")
      .constructor<>()
      .function("reserve", &Engine::Reserve)
      .function("hasRoom", &Engine::HasRoom)
      .function("open", &Engine::Open)
      .function("execute", &Engine::Execute)
      .function("response", &Engine::Response)
      .function("close", &Engine::Close);
}
