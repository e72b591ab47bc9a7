#if Replica
    import Foundation
    import Roost

    /// Objects of an S3-compatible storage.
    ///
    /// It asks for `PutObject`, also with `If-None-Match: *`, which not all of them have, and for what they do:
    /// multipart uploads, `GetObject` with ranges, `ListObjectsV2` and `DeleteObject`. A request that fails, is answered with
    /// "slow down", or not in time, is sent again a few times, after waits that grow.
    public struct S3Storage: ObjectStorage {
        /// Where the objects are.
        public struct Location: Sendable, Equatable {
            /// The bucket's name.
            public var bucket: String
            /// What all names begin with, without a slash at the end; empty where they begin with nothing.
            public var prefix: String
            /// The region that requests are signed for.
            public var region: String
            /// The server, such as `https://minio.example.com`; `nil` for Amazon's own of the region.
            public var endpoint: String?

            /// Each argument is the property of its name.
            public init(
                bucket: String, prefix: String = "", region: String = "us-east-1",
                endpoint: String? = nil
            ) {
                self.bucket = bucket
                self.prefix = prefix
                self.region = region
                self.endpoint = endpoint
            }

            /// Of `s3://bucket/prefix`. The region is that of `AWS_REGION` or `AWS_DEFAULT_REGION`, the
            /// endpoint that of `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`. Empty variables count as not set.
            ///
            /// - Throws: `.io` where `address` is no such address.
            public init(
                _ address: String,
                environment: [String: String] = ProcessInfo.processInfo.environment
            ) throws {
                let scheme = "s3://"
                let parts = address.dropFirst(scheme.count).split(
                    separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
                guard address.hasPrefix(scheme), let bucket = parts.first, !bucket.isEmpty else {
                    throw RoostError(.io, "not an address as s3://bucket/prefix: \(address)")
                }
                var prefix = parts.count > 1 ? parts[1] : ""
                while prefix.hasSuffix("/") { prefix.removeLast() }
                self.init(
                    bucket: String(bucket), prefix: String(prefix),
                    region: environment.firstSet("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1",
                    endpoint: environment.firstSet("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"))
            }
        }

        /// Where the objects are.
        public let location: Location
        private let client: S3Client
        /// What is larger is sent in parts of this size, or larger ones where they would be too many.
        private static let partSizeBytes: UInt64 = 16 << 20
        private static let maximumPartCount: UInt64 = 9_000
        /// So many parts are on their way at a time.
        private static let windowCount = 3

        /// The objects at `location`.
        ///
        /// - Parameters:
        ///   - location: where they are.
        ///   - credentials: asked before each request, so that they may be for a time only.
        ///   - timeout: how long one attempt at a request may take, and as much longer as its bytes take
        ///     at 512 KiB a second.
        public init(
            _ location: Location, timeout: Duration = .seconds(20),
            credentials: @escaping @Sendable () async throws -> S3Credentials
        ) {
            self.location = location
            client = S3Client(location: location, timeout: timeout, credentials: credentials)
        }

        /// The objects at an address such as `s3://bucket/prefix`, with credentials, region and endpoint
        /// from the environment.
        ///
        /// - Throws: `.io` where the address is none, or there are no credentials.
        public init(_ address: String) throws {
            // What is no address says so also to who has no credentials yet.
            let location = try Location(address)
            let credentials = try S3Credentials.fromEnvironment()
            self.init(location) { credentials }
        }

        /// As of ``ObjectStorage``.
        public func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
            var bytes: [UInt8] = []
            let isThere = try await download(name) { piece in
                try checkSize(bytes.count + piece.count, of: name, maximumSizeBytes)
                bytes = bytes.isEmpty ? piece : bytes + piece
            }
            return isThere ? bytes : nil
        }

        /// As of ``ObjectStorage``.
        public func download(
            _ name: String, to receive: ([UInt8]) async throws -> Void
        ) async throws -> Bool {
            var offset: UInt64 = 0
            while true {
                // Ranges of one part each, so that what breaks off is asked for again from there on.
                let end = offset + Self.partSizeBytes - 1
                let response = try await client.send(
                    .init(
                        method: .GET, name: name, headers: [("range", "bytes=\(offset)-\(end)")],
                        maximumAnswerBytes: Int(Self.partSizeBytes) + (1 << 20)),
                    expecting: [200, 206, 404, 416])
                if try response.isMissing(at: client.address(name)) { return false }
                if response.status == 416 { return true }
                guard response.isWhole(from: offset, sizeBytes: Self.partSizeBytes) else {
                    throw RoostError(
                        .io,
                        "the storage's answer is not the part of the object that was asked for",
                        file: client.address(name), offset: offset)
                }
                try await receive(response.body)
                offset += UInt64(response.body.count)
                // All of it, from a server that knows no ranges, or the rest.
                if response.status == 200 || response.body.count < Int(Self.partSizeBytes) {
                    return true
                }
            }
        }

        /// As of ``ObjectStorage``.
        public func put(_ name: String, _ content: ObjectContent) async throws {
            if content.sizeBytes > Self.partSizeBytes { return try await putParts(name, content) }
            _ = try await client.send(
                .init(method: .PUT, name: name, body: try await content.readAll()),
                expecting: [200])
        }

        /// As of ``ObjectStorage``.
        public func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
            let response = try await client.send(
                .init(method: .PUT, name: name, headers: [("if-none-match", "*")], body: bytes),
                expecting: [200, 412, 501])
            guard response.status == 501 else { return response.status == 200 }
            let failure = response.failure(at: client.address(name))
            // What stands before a storage, and is none, may say so of any request, for a while.
            guard S3Listing.value(of: "Code", in: response.text) == "NotImplemented" else {
                throw failure
            }
            throw RoostError.withoutConditionalPuts(
                client.address(name), answer: failure.message)
        }

        /// As of ``ObjectStorage``.
        public func list(prefix: String, after name: String?) async throws -> [StoredObject] {
            var query = [("list-type", "2"), ("max-keys", "1000")]
            query.append(("prefix", client.full(prefix)))
            if let name { query.append(("start-after", client.full(name))) }
            var token: String?
            while true {
                let response = try await client.send(
                    .init(
                        method: .GET, name: nil,
                        query: query + (token.map { [("continuation-token", $0)] } ?? []),
                        maximumAnswerBytes: 16 << 20), expecting: [200])
                let page = try S3Listing(response.body, dropping: client.full("").utf8.count)
                // Some servers begin with the name itself, or at the first one of all.
                let objects = page.objects.filter { object in
                    name.map { isBefore($0, object.name) } ?? true
                }
                // A page may be empty before the last one.
                guard objects.isEmpty, page.isTruncated else {
                    return objects.sorted { isBefore($0.name, $1.name) }
                }
                guard let next = page.continuation, next != token else {
                    throw RoostError(
                        .io,
                        "the storage does not list from a name on (start-after), nor goes on with its list "
                            + "(continuation-token)", file: client.address(prefix))
                }
                token = next
            }
        }

        /// As of ``ObjectStorage``.
        public func delete(_ name: String) async throws {
            _ = try await client.send(
                .init(method: .DELETE, name: name), expecting: [200, 204, 404])
        }

        // MARK: Parts

        private func putParts(_ name: String, _ content: ObjectContent) async throws {
            let begun = try await client.send(
                .init(method: .POST, name: name, query: [("uploads", "")]), expecting: [200])
            guard let upload = S3Listing.value(of: "UploadId", in: begun.text) else {
                throw RoostError(.io, "the storage gave no upload's identifier", file: name)
            }
            do {
                let tags = try await sendParts(name, content, upload)
                try await complete(name, upload, tags, sizeBytes: content.sizeBytes)
            } catch {
                await removeParts(name, upload)
                throw error
            }
        }

        /// Removes what was sent of an upload that is not completed: it is in no list, and would stay, and cost.
        /// Where this fails too, the failure of the upload is what is to be told.
        ///
        /// - It is asked for by a task of its own: an upload fails most often as its task is cancelled, and a
        ///   cancelled task sends nothing. It is one attempt, so that whoever waits waits for one time-out.
        private func removeParts(_ name: String, _ upload: String) async {
            await Task { [client] in
                do {
                    _ = try await client.send(
                        .init(method: .DELETE, name: name, query: [("uploadId", upload)]),
                        expecting: [204, 200, 404], attemptCount: 1)
                } catch {}
            }.value
        }

        private func sendParts(
            _ name: String, _ content: ObjectContent, _ upload: String
        ) async throws -> [String] {
            let size = max(
                Self.partSizeBytes, content.sizeBytes / Self.maximumPartCount + 1)
            let begins = Array(stride(from: 0, to: content.sizeBytes, by: Int(size)))
            var tags = [String](repeating: "", count: begins.count)
            try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for (index, begin) in begins.enumerated() {
                    if index >= Self.windowCount, let done = try await group.next() {
                        tags[done.0] = done.1
                    }
                    group.addTask {
                        let range = begin..<min(begin + size, content.sizeBytes)
                        let response = try await client.send(
                            .init(
                                method: .PUT, name: name,
                                query: [("partNumber", "\(index + 1)"), ("uploadId", upload)],
                                body: try await content.read(range)), expecting: [200])
                        guard let tag = response.entityTag else {
                            throw RoostError(.io, "the storage gave no tag of a part", file: name)
                        }
                        return (index, tag)
                    }
                }
                for try await done in group { tags[done.0] = done.1 }
            }
            return tags
        }

        private func complete(
            _ name: String, _ upload: String, _ tags: [String], sizeBytes: UInt64
        ) async throws {
            let parts = tags.enumerated().map { index, tag in
                "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(tag)</ETag></Part>"
            }
            let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
            let response = try await client.send(
                .init(
                    method: .POST, name: name, query: [("uploadId", upload)],
                    body: Array(body.utf8)), expecting: [200, 404])
            // It begins before the outcome is known, and where its length is not said it may break off.
            if response.status == 200, response.text.contains("<CompleteMultipartUploadResult"),
                !response.text.contains("<Error>")
            {
                return
            }
            // An earlier attempt of this may have been answered too late: then the upload is gone, and the
            // object is there.
            let found = try await list(prefix: name, after: nil).first { $0.name == name }
            guard found?.sizeBytes == sizeBytes else {
                throw response.failure(at: client.address(name))
            }
        }
    }

    extension S3Client.Response {
        /// Whether the body is what was asked for, as far as the answer says which part of how much it is.
        fileprivate func isWhole(from offset: UInt64, sizeBytes: UInt64) -> Bool {
            // Such as `bytes 0-99/200`.
            guard status == 206, let range = contentRange, range.hasPrefix("bytes ") else {
                return true
            }
            let numbers = range.dropFirst(6).split(whereSeparator: { $0 == "-" || $0 == "/" })
                .compactMap { UInt64($0) }
            guard numbers.count == 3, numbers[0] == offset, numbers[2] > offset else {
                return false
            }
            return UInt64(body.count) == min(sizeBytes, numbers[2] - offset)
        }
    }
#endif
