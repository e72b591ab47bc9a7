#ifndef ROOST_LIBCRYPTO_SHIM_H
#define ROOST_LIBCRYPTO_SHIM_H
// AES-256-GCM by OpenSSL's libcrypto, version 3 or later: one call for each thing that is sealed or opened.
#include <limits.h>
#include <stddef.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

enum { roost_gcm_nonce_size = 12, roost_gcm_tag_size = 16 };

/// AES-256-GCM, for as long as the process lives; NULL where it cannot be had.
///
/// libcrypto takes all of its own down in a handler of `exit`, while other threads may still be sealing. It does not
/// where whoever calls it first asks for that.
static inline EVP_CIPHER *roost_gcm_cipher(void) {
#ifdef OPENSSL_INIT_NO_ATEXIT
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
#endif
    return EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
}

/// A context with the schedule of a key of 32 bytes, for sealing or for opening; NULL where it cannot be had.
static inline EVP_CIPHER_CTX *roost_gcm_begin(
    const EVP_CIPHER *cipher, const unsigned char *key, int is_sealing) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (context && EVP_CipherInit_ex(context, cipher, NULL, key, NULL, is_sealing) != 1) {
        EVP_CIPHER_CTX_free(context);
        return NULL;
    }
    return context;
}

/// Whether the nonce, and what is authenticated beside the content, were taken. `is_sealing` is that of the context.
static inline int roost_gcm_take(
    EVP_CIPHER_CTX *context, const unsigned char *nonce, const void *beside, size_t beside_size,
    int is_sealing) {
    int done = 0;
    if (EVP_CipherInit_ex(context, NULL, NULL, NULL, nonce, is_sealing) != 1) return 0;
    return beside_size == 0
        || (beside_size <= INT_MAX
            && EVP_CipherUpdate(context, NULL, &done, beside, (int)beside_size) == 1);
}

/// Writes the sealed content and its tag to `target`; zero where that failed.
static inline int roost_gcm_seal(
    EVP_CIPHER_CTX *context, const unsigned char *nonce, const void *beside, size_t beside_size,
    const void *plain, size_t size, unsigned char *target) {
    int done = 0;
    if (size > INT_MAX || !roost_gcm_take(context, nonce, beside, beside_size, 1)) return 0;
    if (size > 0 && EVP_EncryptUpdate(context, target, &done, plain, (int)size) != 1) return 0;
    if (EVP_EncryptFinal_ex(context, target + size, &done) != 1) return 0;
    return EVP_CIPHER_CTX_ctrl(
               context, EVP_CTRL_AEAD_GET_TAG, roost_gcm_tag_size, target + size)
        == 1;
}

/// Writes the content of `sealed`, whose tag comes after its `size` bytes, to `target`; zero where it is not what
/// was sealed, and `target` then has bytes that nobody has vouched for.
static inline int roost_gcm_open(
    EVP_CIPHER_CTX *context, const unsigned char *nonce, const void *beside, size_t beside_size,
    const unsigned char *sealed, size_t size, unsigned char *target) {
    int done = 0;
    unsigned char none[roost_gcm_tag_size];
    if (size > INT_MAX || !roost_gcm_take(context, nonce, beside, beside_size, 0)) return -1;
    if (size > 0 && EVP_DecryptUpdate(context, target, &done, sealed, (int)size) != 1) return -1;
    if (EVP_CIPHER_CTX_ctrl(
            context, EVP_CTRL_AEAD_SET_TAG, roost_gcm_tag_size, (void *)(sealed + size))
        != 1)
        return -1;
    return EVP_DecryptFinal_ex(context, none, &done) == 1;
}

#endif
