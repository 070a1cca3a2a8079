// Secrets in values, found by the form that their makers give them: keys and tokens, private
// keys, passwords in URLs, card numbers. The package for JavaScript finds the same ones, by the
// same table. A store masks nothing by itself: call this before a Put, or put with keepsake/json.h.
// Linear in the length of the text. Allocates only where something is found.
#ifndef KEEPSAKE_SECRETS_H_
#define KEEPSAKE_SECRETS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "keepsake/namespace.h"
#include "keepsake/status.h"

namespace keepsake {

// What happens to a value that holds a secret.
enum class SecretHandling : std::uint8_t {
  kMask,    // "[github token]" takes its place
  kRefuse,  // kSecretFound
  kAllow,   // it stays
};

// Kinds, such as "github token": of each secret, hence with repetitions. They live for ever.
using SecretKinds = std::vector<std::string_view>;

// Masks the secrets in the strings of a JSON text in place, and says of which kind they were. All
// else stays byte for byte: numbers, names of members, and what is around a secret.
SecretKinds MaskSecrets(std::string& json);

// What the handling makes of the value of `key`: what was masked in it, or kSecretFound, whose
// message names the kinds but no secret. A value that is refused or allowed stays as it is.
// A secret in a label, in the key or in the name of a member can't be masked: kSecretFound.
Result<SecretKinds> GuardSecrets(const Namespace& ns, std::string_view key, std::string& json,
                                 SecretHandling handling);

}  // namespace keepsake

#endif  // KEEPSAKE_SECRETS_H_
