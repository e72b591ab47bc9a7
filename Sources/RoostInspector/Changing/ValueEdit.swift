#if Inspector
    import Hummingbird
    import Roost
    import RoostFormat
    import RoostForms

    /// A change of one value, that a person asked for: the value keeps its kind and its deadline, and is
    /// changed only while it is the one that the person saw.
    struct ValueEdit {
        private let dictionary: String
        private let key: String
        private let version: UInt64
        /// The new value, and a mark of the bytes that it is made from; removes the key where it is `nil`.
        private let text: (new: String, fingerprint: String)?

        private static let bodySizeLimitBytes = 4 << 20

        init(_ request: Request) async throws {
            var body: ByteBuffer
            do { body = try await request.body.collect(upTo: Self.bodySizeLimitBytes) } catch {
                throw Refusal(
                    status: .contentTooLarge, code: "tooLarge",
                    message: "more than \(Self.bodySizeLimitBytes) bytes are not taken")
            }
            let bytes = body.readBytes(length: body.readableBytes) ?? []
            let fields = try Fields(bytes)
            dictionary = try fields.text("dictionary")
            key = try fields.text("key")
            version = try fields.number("version")
            text =
                request.method == .delete
                ? nil : (try fields.text("text"), try fields.text("fingerprint"))
        }

        /// On disk when it returns, which it does with the value as it is then.
        ///
        /// - Throws: `.conflict` where the value is another one by now.
        func make(in workspace: Workspace) async throws -> JSONValue {
            let values = workspace.dictionary(dictionary)
            guard let old = try values.storedEntry(forKey: key), old.version == version else {
                throw RoostError(
                    .conflict,
                    "\"\(key)\" in \"\(dictionary)\" was changed meanwhile: read it again")
            }
            var new: StoredValue?
            if let text {
                // A migration leaves a value its version, and makes other bytes of it: what the person saw has
                // the older shape.
                guard old.fingerprint == text.fingerprint else {
                    throw RoostError(
                        .conflict,
                        "\"\(key)\" in \"\(dictionary)\" was brought to another form meanwhile: read it again"
                    )
                }
                do { new = try EditableForm.stored(text.new, inPlaceOf: old.value) } catch {
                    throw Refusal(
                        status: .unprocessableContent, code: "notStorable", message: error.reason)
                }
            }
            _ = try await values.replaceStored(new, forKey: key, version: version)
            guard let entry = try values.storedEntry(forKey: key) else {
                return .members(["isRemoved": .bool(true)])
            }
            return ValueLook.json(entry)
        }
    }

    extension StoredEntry {
        /// Tells the bytes apart that one version of a value has before and after it is brought to another
        /// form.
        var fingerprint: String {
            let checksum = value.payload.withUnsafeBytes {
                ChecksumSeed(UInt32(value.kind)).checksum($0)
            }
            return String(checksum, radix: 16)
        }
    }

    /// The members of a request's body.
    private struct Fields {
        private let members: [JSONValue.Member]

        init(_ bytes: [UInt8]) throws {
            let json: JSONValue
            do { json = try bytes.withUnsafeBytes { try JSONParser.parse($0) } } catch {
                let reason = (error as? JSONSyntaxError)?.reason ?? "\(error)"
                throw Refusal.badRequest("the body is not JSON: \(reason)")
            }
            guard case .object(let members) = json else {
                throw Refusal.badRequest("the body is a JSON object")
            }
            self.members = members
        }

        func text(_ name: String) throws -> String {
            guard case .string(let text)? = value(name) else {
                throw Refusal.badRequest("\(name) is missing, or no text")
            }
            return text
        }

        func number(_ name: String) throws -> UInt64 {
            guard case .number(let text)? = value(name), let number = UInt64(text) else {
                throw Refusal.badRequest("\(name) is missing, or no number")
            }
            return number
        }

        private func value(_ name: String) -> JSONValue? {
            members.first { $0.name == name }?.value
        }
    }
#endif
