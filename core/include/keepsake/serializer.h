// A Serializer turns a native host's state (JSON text) into the Blob that a
// Checkpointer keeps, and back: the place for encryption or compression.
// The TypeScript package uses LangGraph's own serde instead.
#ifndef KEEPSAKE_SERIALIZER_H_
#define KEEPSAKE_SERIALIZER_H_

#include <string>
#include <string_view>

#include "keepsake/bytes.h"
#include "keepsake/status.h"

namespace keepsake {

class Serializer {
 public:
  virtual ~Serializer() = default;
  virtual Result<Blob> Dumps(std::string_view json) const = 0;
  // kInvalidValue if the type is not one that Dumps() makes.
  virtual Result<std::string> Loads(const Blob& blob) const = 0;
};

// Type "json", the bytes as they are.
class JsonSerializer final : public Serializer {
 public:
  Result<Blob> Dumps(std::string_view json) const override;
  Result<std::string> Loads(const Blob& blob) const override;
};

}  // namespace keepsake

#endif  // KEEPSAKE_SERIALIZER_H_
