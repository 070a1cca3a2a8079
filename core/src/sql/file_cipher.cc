#include "sql/file_cipher.h"

#include <crypto_aead_xchacha20poly1305.h>
#include <crypto_stream_chacha20.h>
#include <utils.h>

#include <cstdint>
#include <utility>

// What the files of libsodium that we compile ask of those that we don't.
extern "C" {
void sodium_memzero(void* const from, const std::size_t size) {
  volatile auto* bytes = static_cast<volatile std::uint8_t*>(from);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = 0;
}
// Of a text of 256 GB, which we have none of.
void sodium_misuse() { std::unreachable(); }
// Of functions that make keys, which we don't call.
void randombytes_buf(void* const, const std::size_t) { std::unreachable(); }
}

namespace keepsake::sql {

static_assert(kCipherKeyBytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
static_assert(kNonceBytes == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
static_assert(kTagBytes == crypto_aead_xchacha20poly1305_ietf_ABYTES);

void Encrypt(const Cipher& cipher, std::span<std::uint8_t> text, std::uint8_t* tag) {
  crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
      text.data(), tag, nullptr, text.data(), text.size(), cipher.context.data(),
      cipher.context.size(), nullptr, cipher.nonce, cipher.key);
}

bool Decrypt(const Cipher& cipher, std::span<std::uint8_t> text, const std::uint8_t* tag) {
  return crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
             text.data(), nullptr, text.data(), text.size(), tag, cipher.context.data(),
             cipher.context.size(), cipher.nonce, cipher.key) == 0;
}

void Wipe(std::span<std::uint8_t> secret) { sodium_memzero(secret.data(), secret.size()); }

}  // namespace keepsake::sql
