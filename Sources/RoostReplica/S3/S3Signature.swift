#if Replica
    import Crypto
    import Foundation

    /// Signatures of version 4, by which S3 knows who asks. No I/O; the clock is an argument.
    struct S3Signature: Sendable {
        let credentials: S3Credentials
        let region: String
        var service = "s3"

        /// A request as it is signed: the path is percent-encoded already.
        struct Request {
            var method: String
            var host: String
            var path: String
            var query: [(name: String, value: String)] = []
            /// Further headers that are signed, with lower-case names.
            var headers: [(name: String, value: String)] = []
            /// The lower-case hexadecimal SHA-256 of the body.
            var bodyDigest: String
        }

        /// All headers that the request has to carry besides its host, the signature among them.
        func headers(for request: Request, at date: Date) -> [(name: String, value: String)] {
            let (day, time) = Self.stamps(date)
            var signed = request.headers
            signed.append(("host", request.host))
            signed.append(("x-amz-content-sha256", request.bodyDigest))
            signed.append(("x-amz-date", time))
            if let token = credentials.sessionToken {
                signed.append(("x-amz-security-token", token))
            }
            signed.sort { $0.name < $1.name }
            let names = signed.map(\.name).joined(separator: ";")
            let lines = signed.map { header -> String in
                "\(header.name):\(header.value.trimmingCharacters(in: .whitespaces))\n"
            }
            let canonical = """
                \(request.method)
                \(request.path)
                \(Self.canonicalQuery(request.query))
                \(lines.joined())
                \(names)
                \(request.bodyDigest)
                """
            let scope = "\(day)/\(region)/\(service)/aws4_request"
            let digest = hexadecimal(SHA256.hash(data: Data(canonical.utf8)))
            let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(digest)"
            let signature = hexadecimal(code(text, by: key(day)))
            let authorization =
                "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope), "
                + "SignedHeaders=\(names), Signature=\(signature)"
            return signed.filter { $0.name != "host" } + [("authorization", authorization)]
        }

        private func key(_ day: String) -> SymmetricKey {
            var key = SymmetricKey(data: Data("AWS4\(credentials.secretAccessKey)".utf8))
            for part in [day, region, service, "aws4_request"] {
                key = SymmetricKey(data: Data(code(part, by: key)))
            }
            return key
        }

        private func code(
            _ text: String, by key: SymmetricKey
        ) -> HMAC<SHA256>.MAC {
            HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
        }

        /// The query as it is signed and as it is sent.
        static func canonicalQuery(_ query: [(name: String, value: String)]) -> String {
            let encoded = query.map { field -> (name: String, value: String) in
                (percentEncoded(field.name), percentEncoded(field.value))
            }
            let sorted = encoded.sorted { left, right in
                left.name == right.name ? left.value < right.value : left.name < right.name
            }
            return sorted.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        }

        private static let unreserved = Set(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

        /// All but letters, digits and `-._~`, and the slash where it divides a path.
        static func percentEncoded(_ text: String, keepsSlashes: Bool = false) -> String {
            var encoded = ""
            for byte in text.utf8 {
                if unreserved.contains(byte) || (keepsSlashes && byte == UInt8(ascii: "/")) {
                    encoded.unicodeScalars.append(Unicode.Scalar(byte))
                } else {
                    let digits = String(byte, radix: 16, uppercase: true)
                    encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
                }
            }
            return encoded
        }

        /// `20261120` and `20261120T100000Z`.
        private static func stamps(_ date: Date) -> (day: String, time: String) {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second], from: date)
            func padded(_ number: Int?, _ count: Int = 2) -> String {
                let digits = String(number ?? 0)
                return String(repeating: "0", count: max(count - digits.count, 0)) + digits
            }
            let day = padded(parts.year, 4) + padded(parts.month) + padded(parts.day)
            let time = padded(parts.hour) + padded(parts.minute) + padded(parts.second)
            return (day, "\(day)T\(time)Z")
        }
    }

    /// Lower-case digits, two a byte.
    func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
#endif
