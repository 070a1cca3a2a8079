// Encryption that also says whether a text is the one that was encrypted: XChaCha20-Poly1305, by
// libsodium. A nonce must never be used twice with a key.
#ifndef KEEPSAKE_SQL_FILE_CIPHER_H_
#define KEEPSAKE_SQL_FILE_CIPHER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "keepsake/bytes.h"

namespace keepsake::sql {

inline constexpr std::size_t kCipherKeyBytes = 32;
inline constexpr std::size_t kNonceBytes = 24;
inline constexpr std::size_t kTagBytes = 16;

struct Cipher {
  const std::uint8_t* key;    // kCipherKeyBytes
  const std::uint8_t* nonce;  // kNonceBytes
  ByteView context;           // what the text belongs to: it must be the same to decrypt it
};

// In place. Writes kTagBytes.
void Encrypt(const Cipher& cipher, std::span<std::uint8_t> text, std::uint8_t* tag);
// In place. False, and the text is of no use, if it is not what was encrypted.
bool Decrypt(const Cipher& cipher, std::span<std::uint8_t> text, const std::uint8_t* tag);
// Zeros that no compiler leaves out.
void Wipe(std::span<std::uint8_t> secret);

}  // namespace keepsake::sql

#endif  // KEEPSAKE_SQL_FILE_CIPHER_H_
