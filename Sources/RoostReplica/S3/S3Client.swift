#if Replica
    import AsyncHTTPClient
    import Crypto
    import Foundation
    import NIOCore
    import NIOHTTP1
    import Roost

    /// Signs requests, sends them, and sends them again where that may help.
    struct S3Client: Sendable {
        struct Request: Sendable {
            var method: HTTPMethod
            /// Of the object; `nil` for the bucket.
            var name: String?
            var query: [(name: String, value: String)] = []
            /// With lower-case names.
            var headers: [(name: String, value: String)] = []
            var body: [UInt8] = []
            /// A longer answer is an error.
            var maximumAnswerBytes = 1 << 20
        }

        struct Response: Sendable {
            var status: UInt
            var entityTag: String?
            /// Which bytes of how many the body is.
            var contentRange: String?
            /// Where the bucket is, as Amazon says to who asks elsewhere.
            var bucketRegion: String?
            var body: [UInt8]

            var text: String { String(decoding: body, as: UTF8.self) }

            /// Whether there is no such object; throws where there is no such bucket, or who answered is no storage: what
            /// stands before one says the same of everything while it finds no server.
            func isMissing(at address: String) throws -> Bool {
                guard status == 404 else { return false }
                let code = S3Listing.value(of: "Code", in: text)
                // A server that says no more than the status is believed.
                guard code != "NoSuchBucket", code != nil || body.isEmpty else {
                    throw failure(at: address)
                }
                return true
            }

            func failure(at address: String) -> RoostError {
                let code = S3Listing.value(of: "Code", in: text) ?? ""
                let message = S3Listing.value(of: "Message", in: text) ?? ""
                let region = (300..<400).contains(status) ? bucketRegion : nil
                let hint = region.map { " The bucket is in the region \($0): set AWS_REGION" } ?? ""
                return RoostError(
                    .io, "the storage answered \(status) \(code): \(message)\(hint)", file: address)
            }
        }

        let location: S3Storage.Location
        let timeout: Duration
        let credentials: @Sendable () async throws -> S3Credentials

        private static let attemptCount = 5
        /// So long a server that refuses connections is tried again, as one is that is being started.
        private static let patience = Duration.seconds(10)
        /// As the shared one of the library, but that a connection which fails is told at once: that one tries again,
        /// without a word, until the time-out of each attempt is over. Nor is a redirection followed: a request is signed for
        /// its own host and path, so that elsewhere it is only denied, and what is denied would be told.
        private static let client: HTTPClient = {
            var configuration = HTTPClient.Configuration.singletonConfiguration
            configuration.connectionPool.retryConnectionEstablishment = false
            configuration.redirectConfiguration = .disallow
            return HTTPClient(
                eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        }()
        /// Answers that another attempt may change.
        private static let passing: Set<UInt> = [408, 409, 429, 500, 502, 503, 504]
        /// What a line takes at the least.
        private static let bytesPerSecond: Int64 = 512 << 10

        func full(_ name: String) -> String {
            location.prefix.isEmpty ? name : "\(location.prefix)/\(name)"
        }

        /// What errors name: who runs several copies has to know which one it is.
        func address(_ name: String?) -> String {
            "s3://\(location.bucket)/\(full(name ?? ""))"
        }

        /// - Throws: `.io` with what the last attempt failed with, or an answer that is not among the
        ///   statuses in `expecting`.
        func send(
            _ request: Request, expecting: Set<UInt>, attemptCount: Int = Self.attemptCount
        ) async throws -> Response {
            var backOff = BackOff()
            var attempt = 1
            let begin = ContinuousClock.now
            while true {
                do {
                    let response = try await sendOnce(request)
                    if expecting.contains(response.status) { return response }
                    guard Self.passing.contains(response.status), attempt < attemptCount else {
                        throw response.failure(at: address(request.name))
                    }
                } catch let error as RoostError {
                    throw error
                } catch {
                    // Who gives the credentials may say by that error that they were not to be had in time.
                    if Task.isCancelled { throw CancellationError() }
                    let isPatient =
                        attemptCount > 1 && ContinuousClock.now - begin < Self.patience
                    guard attempt < attemptCount || isPatient else {
                        throw RoostError(
                            .io, "the storage at \(server) does not answer",
                            file: address(request.name), cause: error)
                    }
                }
                try await backOff.wait()
                attempt += 1
            }
        }

        private func sendOnce(_ request: Request) async throws -> Response {
            let (scheme, host, root) = place
            let path =
                root + "/"
                + (request.name.map { S3Signature.percentEncoded(full($0), keepsSlashes: true) }
                    ?? "")
            let signature = S3Signature(
                credentials: try await credentials(), region: location.region)
            let headers = signature.headers(
                for: .init(
                    method: request.method.rawValue, host: host, path: path, query: request.query,
                    headers: request.headers + Self.bodyHeaders(of: request),
                    bodyDigest: hexadecimal(SHA256.hash(data: request.body))), at: Date())
            let query = S3Signature.canonicalQuery(request.query)
            var message = HTTPClientRequest(
                url: "\(scheme)://\(host)\(path)\(query.isEmpty ? "" : "?\(query)")")
            message.method = request.method
            for header in headers { message.headers.add(name: header.name, value: header.value) }
            if !request.body.isEmpty || request.method == .PUT {
                message.body = .bytes(ByteBuffer(bytes: request.body))
            }
            return try await execute(
                message, bodySizeBytes: request.body.count,
                maximumAnswerBytes: max(request.maximumAnswerBytes, 1 << 20))
        }

        /// What lets the server see that it has not got the whole body: of a put that breaks off behind its head some make an
        /// empty object else. The oldest such header of all, which every server knows.
        private static func bodyHeaders(of request: Request) -> [(name: String, value: String)] {
            guard request.method == .PUT else { return [] }
            let digest = Data(Insecure.MD5.hash(data: request.body))
            return [("content-md5", digest.base64EncodedString())]
        }

        /// How long to wait for `sizeBytes` to pass, and for what is done with them.
        private func limit(sizeBytes: Int) -> Duration {
            timeout + .milliseconds(Int64(sizeBytes) * 1000 / Self.bytesPerSecond)
        }

        /// The time-out of the client ends where the answer's head is there; what comes behind that has one of its own, as
        /// only the head says how much it is. So a connection that was dropped without a word costs no time for bytes.
        private func execute(
            _ message: HTTPClientRequest, bodySizeBytes: Int, maximumAnswerBytes: Int
        ) async throws -> Response {
            let headLimit = limit(sizeBytes: bodySizeBytes)
            let response = try await Self.client.execute(
                message, timeout: .milliseconds(Int64(headLimit.milliseconds)))
            let expected =
                response.headers.first(name: "content-length").flatMap { Int($0) }
                ?? maximumAnswerBytes
            let bodyLimit = limit(sizeBytes: min(max(expected, 0), maximumAnswerBytes))
            let body = try await withThrowingTaskGroup(of: ByteBuffer?.self) { group in
                group.addTask { try await response.body.collect(upTo: maximumAnswerBytes) }
                group.addTask {
                    try await Task.sleep(for: bodyLimit)
                    return nil
                }
                defer { group.cancelAll() }
                guard let body = try await group.next() ?? nil else {
                    throw HTTPClientError.deadlineExceeded
                }
                return body
            }
            return Response(
                status: response.status.code, entityTag: response.headers.first(name: "etag"),
                contentRange: response.headers.first(name: "content-range"),
                bucketRegion: response.headers.first(name: "x-amz-bucket-region"),
                body: Array(body.readableBytesView))
        }

        /// Without a user and a password, where somebody wrote them there.
        private var server: String {
            "\(place.scheme)://\(place.host.split(separator: "@").last ?? "")"
        }

        /// Scheme, host and the path before the object's. Amazon's own buckets are hosts, others' are paths behind
        /// that of the endpoint.
        ///
        /// - The port that the scheme has anyway is left out of the host: the client does not send it, and what is
        ///   signed has to be what is sent.
        /// - An Amazon bucket with a dot in its name is a path too: the certificate of the hosts is for names of one
        ///   part.
        var place: (scheme: String, host: String, root: String) {
            guard let endpoint = location.endpoint, !endpoint.isEmpty else {
                // Those in China have a domain of their own.
                let domain =
                    location.region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
                let service = "s3.\(location.region).\(domain)"
                return location.bucket.contains(".")
                    ? ("https", service, "/\(location.bucket)")
                    : ("https", "\(location.bucket).\(service)", "")
            }
            let parts = endpoint.split(separator: "://", maxSplits: 1)
            let scheme = parts.count == 2 ? parts[0].lowercased() : "https"
            let address = (parts.last ?? "").split(
                separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            var host = address.first ?? ""
            let port = ["https": ":443", "http": ":80"][scheme]
            if let port, host.hasSuffix(port) { host = host.dropLast(port.count) }
            var path = address.count > 1 ? address[1] : ""
            while path.hasSuffix("/") { path.removeLast() }
            return (scheme, String(host), (path.isEmpty ? "" : "/\(path)") + "/\(location.bucket)")
        }
    }
#endif
