#ifndef ROOST_CLZ4_H
#define ROOST_CLZ4_H

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

/// Whether a stream can refer to a prepared dictionary in place instead of starting from a copy
/// of its 16 KiB: both the header that this was compiled against and the library that runs must
/// have the layout that versions 1.9.3 to 1.9.x share, or the call that 1.10 made public.
static inline int roost_lz4_attaches(void) {
#if LZ4_VERSION_NUMBER >= 11000
    return LZ4_versionNumber() >= 11000;
#elif LZ4_VERSION_NUMBER >= 10903
    return LZ4_versionNumber() >= 10903;
#else
    return 0;
#endif
}

/// Makes `dictionary`, prepared by `LZ4_loadDict`, the history of the next call on `stream`.
static inline void roost_lz4_attach(LZ4_stream_t *stream, const LZ4_stream_t *dictionary) {
#if LZ4_VERSION_NUMBER >= 11000
    LZ4_attach_dictionary(stream, dictionary);
#elif LZ4_VERSION_NUMBER >= 10903
    // The shared library has the function but does not export it before 1.10; the fields stand
    // in its public header. An offset of zero would make every look-up a hit.
    if (stream->internal_donotuse.currentOffset == 0)
        stream->internal_donotuse.currentOffset = 64 * 1024;
    stream->internal_donotuse.dictCtx =
        dictionary->internal_donotuse.dictSize ? &dictionary->internal_donotuse : 0;
#else
    (void)stream;
    (void)dictionary;
#endif
}

/// Decompresses no more than the first `target_size` bytes of a block; as
/// `LZ4_decompress_safe_usingDict` otherwise. By way of memory for all of it, of which no more than
/// 16 bytes may be left out: for versions that cannot do it in place.
static inline int roost_lz4_decompress_whole(
    const char *block, char *target, int block_size, int target_size, const char *dictionary,
    int dictionary_size) {
    char *whole = (char *)malloc((size_t)target_size + 16);
    if (!whole) return -1;
    int size = LZ4_decompress_safe_usingDict(
        block, whole, block_size, target_size + 16, dictionary, dictionary_size);
    if (size > target_size) size = target_size;
    if (size > 0) memcpy(target, whole, (size_t)size);
    free(whole);
    return size;
}

/// Decompresses no more than the first `target_size` bytes of a block.
static inline int roost_lz4_decompress_begin(
    const char *block, char *target, int block_size, int target_size, const char *dictionary,
    int dictionary_size) {
#if LZ4_VERSION_NUMBER >= 10904
    return LZ4_decompress_safe_partial_usingDict(
        block, target, block_size, target_size, target_size, dictionary, dictionary_size);
#else
    return roost_lz4_decompress_whole(
        block, target, block_size, target_size, dictionary, dictionary_size);
#endif
}

/// The longest stored bytes of a short value.
#define ROOST_LZ4_SHORT_SIZE 1024

/// Decompresses a block of at most `ROOST_LZ4_SHORT_SIZE` bytes whose end of `left_out_size` bytes, at
/// most 13, is not stored: zeros after the token that says that twelve literals come. In one piece
/// of memory on the stack, and by one call, as it is done for every cold value.
static inline int roost_lz4_decompress_short(
    const char *stored, char *target, int stored_size, int left_out_size, int target_size,
    const char *dictionary, int dictionary_size) {
    static const char end[32] = {(char)0xc0};
    char block[ROOST_LZ4_SHORT_SIZE + 16];
    memcpy(block, stored, (size_t)stored_size);
    // Of a fixed length, which is no call; what is too much is not looked at.
    memcpy(block + stored_size, end + (13 - left_out_size), 16);
    return LZ4_decompress_safe_usingDict(
        block, target, stored_size + left_out_size, target_size, dictionary, dictionary_size);
}

#endif
