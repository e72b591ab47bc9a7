// swift-tools-version: 6.2
import PackageDescription

// The tests of the products that a trait switches on, and the programs that the longer runs start: a
// package of its own, so that the tests of the library build neither swift-syntax nor SwiftNIO. It is one
// package, so that SwiftNIO is built once. Each test target is a client too.
let package = Package(
    name: "roost-extras",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(
            name: "roost", path: "..",
            traits: [
                "Encryption", "Etcd", "Inspector", "Macros", "Observability", "OpenCombine",
                "OpenSSL", "Postgres",
                "Protobuf", "Replica", "SQLite", "Services",
            ]),
        .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.30.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0",
            traits: ["FullFoundation"]),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
    ],
    targets: [
        // The plugin's sources once more, as a library: tests cannot import another package's macro
        // target, and a test bundle with one of its own is built for the host, where it does not
        // find liblz4's module.
        .target(
            name: "MacroExpansion",
            dependencies: [
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax")
            ],
            exclude: ["RoostMacrosPlugin.swift"],
            swiftSettings: [.define("Macros")]),
        .testTarget(
            name: "RoostMacrosTests",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostMacros", package: "roost"), "MacroExpansion",
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
            ]),
        .testTarget(
            name: "RoostProtobufTests",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostProtobuf", package: "roost"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            exclude: ["messages.proto"]),
        // An app that has its inspector beside it: what the browser run writes into while it looks.
        .executableTarget(
            name: "inspector-sample",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostInspector", package: "roost"),
            ], path: "InspectorSample"),
        .testTarget(
            name: "RoostInspectorTests",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostInspector", package: "roost"),
                // Builds the command that the browser run begins.
                .product(name: "roost", package: "roost"), "inspector-sample",
            ]),
        .testTarget(
            name: "RoostCombineTests",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostCombine", package: "roost"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ]),
        // What scripts/replica-run starts, kills, and restores with.
        .executableTarget(
            name: "replica-run",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostEncryption", package: "roost"),
                .product(name: "RoostReplica", package: "roost"),
                .product(name: "Crypto", package: "swift-crypto"),
            ], path: "ReplicaRun"),
        .testTarget(
            name: "RoostReplicaTests",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostEncryption", package: "roost"),
                .product(name: "RoostReplica", package: "roost"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .executableTarget(
            name: "encryption-cost",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostEncryption", package: "roost"),
                .product(name: "Crypto", package: "swift-crypto"),
            ], path: "EncryptionCost"),
        .testTarget(
            name: "RoostEncryptionTests",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostEncryption", package: "roost"),
                .product(name: "RoostReplica", package: "roost"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "_CryptoExtras", package: "swift-crypto"),
            ]),
        .testTarget(
            name: "RoostObservabilityTests",
            dependencies: [
                .product(name: "RoostObservability", package: "roost"),
                .product(name: "RoostShared", package: "roost"),
                .product(name: "RoostReplica", package: "roost"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "RoostServicesTests",
            dependencies: [
                .product(name: "RoostServices", package: "roost"),
                .product(name: "RoostReplica", package: "roost"),
                .product(name: "RoostShared", package: "roost"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ]),
        // The conformance suite over real servers, which scripts/shared-servers starts.
        .executableTarget(
            name: "roost-conformance",
            dependencies: [
                .product(name: "RoostShared", package: "roost"),
                .product(name: "RoostEtcd", package: "roost"),
                .product(name: "RoostPostgres", package: "roost"),
                .product(name: "RoostConformance", package: "roost"),
            ], path: "Conformance"),
        // Both engines beside servers that tests start in their own process.
        .testTarget(
            name: "RoostSharedEnginesTests",
            dependencies: [
                .product(name: "RoostShared", package: "roost"),
                .product(name: "RoostEtcd", package: "roost"),
                .product(name: "RoostPostgres", package: "roost"),
            ]),
        // The service of Examples/Fleet, by a link to its sources, so that SwiftNIO is built once.
        .executableTarget(
            name: "Fleet",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostShared", package: "roost"),
                .product(name: "RoostEtcd", package: "roost"),
                .product(name: "RoostServices", package: "roost"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        // The service of Examples/Server, likewise; scripts/prove-server runs it.
        .executableTarget(
            name: "Server",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostObservability", package: "roost"),
                .product(name: "RoostServices", package: "roost"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        // The task list of Examples/Tasks, likewise, so that the library is not built once more for it.
        .executableTarget(
            name: "Tasks", dependencies: [.product(name: "Roost", package: "roost")]),
        // As apps are: everything is on the main actor unless it says otherwise.
        .testTarget(
            name: "MainActorClientTests",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostMacros", package: "roost"),
            ],
            swiftSettings: [.defaultIsolation(MainActor.self)]),
    ],
    swiftLanguageModes: [.v6]
)

// As in the library's package: builds these test targets and no others, with none of the programs.
if let wanted = Context.environment["ROOST_TEST_TARGETS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll {
        ($0.type == .test || $0.type == .executable) && !wanted.contains($0.name)
    }
}
