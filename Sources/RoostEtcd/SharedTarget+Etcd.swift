#if Etcd
    import RoostIO
    import RoostShared

    extension SharedTarget {
        /// A cluster of etcd, 3.4 or later.
        ///
        /// ```swift
        /// let workspace = try await SharedWorkspace.connect(
        ///     to: .etcd(
        ///         endpoints: ["https://a:2379", "https://b:2379", "https://c:2379"],
        ///         credentials: .tls(authorityFile: "/etc/etcd/ca.pem")),
        ///     namespace: "shop")
        /// ```
        ///
        /// The user needs to read and write the keys from `namespace/` up to `namespace0`, and no more.
        ///
        /// - Parameters:
        ///   - endpoints: as `https://host:2379`, one or more: where one does not answer, the next is asked.
        ///   - credentials: certificates, and a user.
        public static func etcd(
            endpoints: [String], credentials: EtcdCredentials = .none
        ) -> SharedTarget {
            SharedTarget { deadline in
                try await EtcdEngine(endpoints, credentials, before: deadline)
            }
        }
    }
#endif
