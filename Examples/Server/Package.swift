// swift-tools-version: 6.2
import PackageDescription

// An HTTP service that keeps its only data in a workspace. Its README says what to look at.
let package = Package(
    name: "Server",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "roost", path: "../..", traits: ["Observability", "Services"]),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.10.0", traits: []),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
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
            ])
    ],
    swiftLanguageModes: [.v6]
)
