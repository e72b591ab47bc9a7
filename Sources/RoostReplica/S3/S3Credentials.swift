#if Replica
    import Foundation
    import Roost

    /// Who asks an S3-compatible storage.
    public struct S3Credentials: Sendable {
        /// The name of the key, which is no secret.
        public var accessKeyID: String
        /// The secret that requests are signed with. It is never sent.
        public var secretAccessKey: String
        /// What comes with credentials that are for a time only; `nil` where they are not.
        public var sessionToken: String?

        /// Each argument is the property of its name.
        public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
            self.accessKeyID = accessKeyID
            self.secretAccessKey = secretAccessKey
            self.sessionToken = sessionToken
        }

        /// Those in the variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, where it is set,
        /// `AWS_SESSION_TOKEN`. Empty variables count as not set.
        ///
        /// - Throws: `.io` where one of the first two is not set.
        public static func fromEnvironment(
            _ environment: [String: String] = ProcessInfo.processInfo.environment
        ) throws -> S3Credentials {
            guard let id = environment.firstSet("AWS_ACCESS_KEY_ID"),
                let secret = environment.firstSet("AWS_SECRET_ACCESS_KEY")
            else {
                throw RoostError(
                    .io, "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
            }
            return S3Credentials(
                accessKeyID: id, secretAccessKey: secret,
                sessionToken: environment.firstSet("AWS_SESSION_TOKEN"))
        }
    }

    extension [String: String] {
        /// The first of these variables that is there and not empty: scripts leave empty what they do not set.
        func firstSet(_ names: String...) -> String? {
            names.lazy.compactMap { self[$0] }.first { !$0.isEmpty }
        }
    }
#endif
