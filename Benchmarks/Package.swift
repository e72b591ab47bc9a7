// swift-tools-version: 6.2
import PackageDescription

/// The engines that Roost is measured beside need C libraries and GRDB, so they are built only on
/// request: `swift build --traits Peers`, after scripts/install-bench-dependencies. Without it
/// `roost-bench` measures Roost and the whole-file engines, and builds everywhere.
let peers: TargetDependencyCondition? = .when(traits: ["Peers"])

// A package of its own, so that the library's users pull none of its dependencies.
let package = Package(
    name: "roost-benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "roost-bench", targets: ["RoostBench"])
    ],
    traits: [
        .trait(
            name: "Peers",
            description: "SQLite (GRDB), LMDB, RocksDB, LevelDB and Tkrzw to measure beside"),
        .trait(
            name: "Coders",
            description: "All rows of `roost-bench coders`: builds swift-syntax and swift-protobuf"),
        .default(enabledTraits: ["Coders"]),
    ],
    dependencies: [
        .package(
            name: "roost", path: "..",
            traits: [.trait(name: "Macros", condition: .when(traits: ["Coders"]))]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.30.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
        // Without its traits, which count allocations and need more of the machine.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.0", traits: []),
    ],
    targets: [
        .systemLibrary(name: "CLMDB", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CRocksDB", providers: [.apt(["librocksdb-dev"]), .brew(["rocksdb"])]),
        .systemLibrary(
            name: "CLevelDB", providers: [.apt(["libleveldb-dev"]), .brew(["leveldb"])]),
        .systemLibrary(name: "CTkrzw", providers: [.apt(["libtkrzw-dev"])]),
        .executableTarget(
            name: "RoostBench",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostCoding", package: "roost"),
                .product(
                    name: "RoostMacros", package: "roost", condition: .when(traits: ["Coders"])),
                .product(
                    name: "SwiftProtobuf", package: "swift-protobuf",
                    condition: .when(traits: ["Coders"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift", condition: peers),
                .target(name: "CLMDB", condition: peers),
                .target(name: "CRocksDB", condition: peers),
                .target(name: "CLevelDB", condition: peers),
                .target(name: "CTkrzw", condition: peers),
            ],
            exclude: ["Coders/Protobuf/coders.proto"]),
        .target(name: "RoostSamples"),
        .executableTarget(
            name: "RoostParts",
            dependencies: [
                "RoostSamples",
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostCoding", package: "roost"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/RoostParts",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ],
    swiftLanguageModes: [.v6]
)
