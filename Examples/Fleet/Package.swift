// swift-tools-version: 6.2
import PackageDescription

// An HTTP service that runs as several processes, which share what they keep. Its README says what to look at.
let package = Package(
    name: "Fleet",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "roost", path: "../..", traits: ["Etcd", "Services"]),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0",
            traits: ["FullFoundation"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
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
            ])
    ],
    swiftLanguageModes: [.v6]
)
