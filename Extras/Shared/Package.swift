// swift-tools-version: 6.2
import PackageDescription

// The conformance suite over real servers, which scripts/shared-servers starts: a package of its own, so that
// the tests of the library build neither SwiftNIO nor libpq.
let package = Package(
    name: "roost-shared-extras",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "roost", path: "../..", traits: ["Etcd", "Postgres"])
    ],
    targets: [
        .executableTarget(
            name: "roost-conformance",
            dependencies: [
                .product(name: "RoostShared", package: "roost"),
                .product(name: "RoostEtcd", package: "roost"),
                .product(name: "RoostPostgres", package: "roost"),
                .product(name: "RoostConformance", package: "roost"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
