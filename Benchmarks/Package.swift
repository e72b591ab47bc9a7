// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the library's users pull none of its dependencies.
let package = Package(
    name: "roost-benchmarks",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "roost-bench", targets: ["RoostBench"])],
    traits: [
        .trait(
            name: "Coders",
            description: "All rows of `roost-bench coders`: builds swift-syntax and swift-protobuf."),
        .default(enabledTraits: ["Coders"]),
    ],
    dependencies: [
        .package(
            name: "roost", path: "..",
            traits: [.trait(name: "Macros", condition: .when(traits: ["Coders"]))]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.30.0"),
    ],
    targets: [
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
            ],
            exclude: ["Coders/Protobuf/coders.proto"])
    ],
    swiftLanguageModes: [.v6]
)
