// swift-tools-version: 6.2
import PackageDescription

// The tests of RoostReplica: a package of its own, so that those of the library build neither an HTTP
// client nor cryptography.
let package = Package(
    name: "roost-extras-replica",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "roost", path: "../..", traits: ["Replica"])
    ],
    targets: [
        // What scripts/replica-run starts, kills, and restores with.
        .executableTarget(
            name: "replica-run",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostReplica", package: "roost"),
            ], path: "Sources/ReplicaRun"),
        .testTarget(
            name: "RoostReplicaTests",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostReplica", package: "roost"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
