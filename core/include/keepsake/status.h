// Status says whether an operation succeeded, and if not, which rule it broke.
// Result<T> is a value or such a Status. Nothing in keepsake throws.
#ifndef KEEPSAKE_STATUS_H_
#define KEEPSAKE_STATUS_H_

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#ifdef __clang__
#define KEEPSAKE_TRIVIAL_ABI [[clang::trivial_abi]]
#else
#define KEEPSAKE_TRIVIAL_ABI
#endif

namespace keepsake {

// Travels in frames and becomes the `code` of an error in TypeScript.
// Persistent: never renumber, never rename.
enum class StatusCode : std::uint16_t {
  kOk = 0,
  kInvalidArgument = 1,   // a number, id or option out of its range
  kInvalidNamespace = 2,  // a label broke a rule
  kInvalidKey = 3,
  kInvalidValue = 4,       // not JSON, or not representable as JSON
  kInvalidFilter = 5,      // unknown operator or malformed filter
  kInvalidOperation = 6,   // an operation of no known kind
  kDimensionMismatch = 7,  // a vector's length is not the index's
  kThreadIdRequired = 8,
  kNotFound = 9,
  kMalformedFrame = 10,  // bytes that are no frame of this version
  kConflictingOptions = 11,
  kBusy = 12,         // another process or tab owns the file
  kForeignFile = 13,  // a SQLite file that keepsake did not make
  kNotADatabase = 14,
  kNewerSchema = 15,  // written by a newer keepsake
  kStorageFull = 16,
  kReadOnly = 17,
  kCorrupt = 18,
  kIoError = 19,
  kChangedOutside = 20,  // another program wrote to the file
  kCannotOpen = 21,      // missing folder, no permission
  kClosed = 22,
  kLost = 23,  // an in-memory engine died and its data with it
  kTooLarge = 24,
  kAccessDenied = 25,
  kQuotaExceeded = 26,
  kUnsupported = 27,
  kInternal = 28,
  kModelMismatch = 29,  // vectors stored are another embedding model's
  kHeld = 30,           // a hold refuses that something is forgotten
  kIndexing = 31,       // more is to be indexed first: the same call again goes on with it
  kKeyRequired = 32,    // an encrypted file, and no key
  kWrongKey = 33,       // a key that does not open the file, or of a file that is not encrypted
  kNoHistory = 34,      // what something was is not known: it was not kept, or no longer is
  kChangedSince = 35,   // something newer is in the way of an undo
  kSecretFound = 36,    // a value holds a secret, and is to be refused then
};

// The stable name of a code: "invalid_namespace" for kInvalidNamespace.
std::string_view StatusCodeName(StatusCode code);

// One address, null for success, so that it is returned in a register where the compiler can
// be told so, which is Clang: nearly every function returns one. A core that Clang compiled is
// used by what Clang compiled. What was moved from is success.
class [[nodiscard]] KEEPSAKE_TRIVIAL_ABI Status {
 public:
  Status() = default;  // success
  Status(StatusCode code, std::string_view message);
  Status(const Status& other);
  Status(Status&& other) noexcept : failure_(std::exchange(other.failure_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(failure_, other.failure_);
    return *this;
  }
  ~Status() {
    if (failure_ != nullptr) Forget(failure_);
  }

  bool ok() const { return failure_ == nullptr; }
  StatusCode code() const;
  // Names the thing and the rule: `namespace label must not contain '.': "a.b"`.
  const std::string& message() const;

 private:
  struct Failure;

  static void Forget(const Failure* failure);

  // Owned; no unique_ptr, because that is never returned in a register.
  const Failure* failure_ = nullptr;
};

template <typename T>
using Result = std::expected<T, Status>;

inline std::unexpected<Status> Error(StatusCode code, std::string_view message) {
  return std::unexpected(Status(code, message));
}

}  // namespace keepsake

#endif  // KEEPSAKE_STATUS_H_
