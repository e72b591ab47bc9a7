// swift-tools-version: 6.2
import PackageDescription

// The tests of the products for servers: a package of its own, so that those of the macro and of
// protobuf messages build no NIO.
let package = Package(
    name: "roost-servers",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "roost", path: "../..", traits: ["Observability", "Services"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.10.0", traits: []),
    ],
    targets: [
        .testTarget(
            name: "RoostObservabilityTests",
            dependencies: [
                .product(name: "RoostObservability", package: "roost"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "RoostServicesTests",
            dependencies: [
                .product(name: "RoostServices", package: "roost"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
