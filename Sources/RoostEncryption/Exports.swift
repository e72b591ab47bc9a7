// What the calls of this module take: who gives a key needs neither another import nor swift-crypto in the own manifest.
#if Encryption
    @_exported import struct Crypto.SymmetricKey
    @_exported import struct Crypto.SymmetricKeySize
#endif
