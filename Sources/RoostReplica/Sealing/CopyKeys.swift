#if Replica
    import Crypto
    import Roost
    import RoostSealing

    /// The keys of a sealed copy: a random data key, that its object `KEYS` has, sealed under the user's key, as
    /// `KEYS` of an encrypted workspace has that one's.
    ///
    /// - Each object's own key is HKDF-SHA256 of the data key and the object's random salt.
    struct CopyKeys: Sendable {
        private let suite: any SealingSuite
        private let ring: KeyRing

        static let objectName = KeyRing.fileName

        /// A new data key.
        init(new encryption: WorkspaceEncryption) {
            suite = encryption.suite
            ring = KeyRing(random: Self.randomNumber)
        }

        /// What the object `KEYS` holds.
        ///
        /// - Throws: `.wrongKey`, `.corrupt`, `.unsupportedVersion`; what asking for the key throws.
        init(_ bytes: [UInt8], _ encryption: WorkspaceEncryption) throws {
            suite = encryption.suite
            do {
                ring = try KeyRing(bytes, suite, purpose: .copy, path: Self.objectName)
            } catch let error as RoostError where error.code == .wrongKey && error.file == nil {
                throw RoostError(
                    .wrongKey, "the copy is sealed under a key of another kind: \(error.message)",
                    file: Self.objectName)
            }
        }

        /// The object `KEYS`, sealed under another key, or the one that it was opened with.
        func sealed(under another: WorkspaceEncryption? = nil) throws -> [UInt8] {
            try ring.sealed(another?.suite ?? suite, purpose: .copy, random: Self.randomNumber)
        }

        /// From the system's generator, which is one for keys.
        private static func randomNumber() -> UInt64 { .random(in: .min ... .max) }

        // MARK: Objects

        /// Of a new object, with a salt that no other has.
        func newHeader() -> SealedObject.Header {
            let salt = (0..<Sealed.saltSizeBytes / 8).flatMap { _ in
                withUnsafeBytes(of: Self.randomNumber(), Array.init)
            }
            return SealedObject.Header(keyNumber: ring.newest.number, salt: salt)
        }

        /// - Throws: `.corrupt` where there is no data key of the header's number.
        func cipher(_ header: SealedObject.Header, name: String) throws -> ObjectCipher {
            guard let key = ring.key(header.keyNumber) else {
                throw RoostError(
                    .corrupt,
                    "the object is sealed under data key \(header.keyNumber), which \(Self.objectName) "
                        + "does not have", file: name)
            }
            let sealer = key.sealer(suite, salt: header.salt, purpose: SealedObject.purpose)
            return ObjectCipher(sealer, header, name: name)
        }

        /// A whole object that is in memory; another one at each call.
        func seal(_ bytes: [UInt8], as name: String) throws -> [UInt8] {
            let header = newHeader()
            let chunks = try cipher(header, name: name).seal(
                bytes, fromChunk: 0, of: UInt64(bytes.count))
            return header.bytes + chunks
        }

        /// - Throws: `.corrupt`, `.unsupportedVersion`.
        func open(_ sealed: [UInt8], as name: String) throws -> [UInt8] {
            var opener = ObjectOpener(self, name: name)
            let begin = try opener.open(sealed)
            return try begin + opener.finish()
        }

        // MARK: Names

        /// What stands in a name in the place of a content's digest, which would show to everybody who has the
        /// content that it is in the copy.
        func nameCode(of digest: [UInt8]) -> [UInt8] {
            let key = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: ring.newest.key.bytes),
                info: Array("roost copy names 1".utf8), outputByteCount: Sealed.keySizeBytes)
            return Array(HMAC<SHA256>.authenticationCode(for: digest, using: key))
        }
    }
#endif
