// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

let package = Package(
    name: "roost",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Roost", targets: ["Roost"]),
        .library(name: "RoostCoding", targets: ["RoostCoding"]),
        .library(name: "RoostMacros", targets: ["RoostMacros"]),
        .library(name: "RoostProtobuf", targets: ["RoostProtobuf"]),
        .executable(name: "roost", targets: ["RoostCommand"]),
    ],
    traits: [
        .trait(name: "Macros", description: "The product RoostMacros: @BinaryCodable."),
        .trait(name: "Protobuf", description: "The product RoostProtobuf: messages as values."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.4.0"),
        // Fetched and built only for those who enable the trait that names them.
        .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.30.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
        .target(name: "CRoost"),
        .target(name: "RoostIO", dependencies: ["CRoost"]),
        .target(name: "RoostFormat", dependencies: ["CRoost", "RoostIO"]),
        .target(name: "RoostCoding", dependencies: ["RoostIO"]),
        .target(name: "RoostLog", dependencies: ["RoostIO", "RoostFormat"]),
        .target(name: "RoostSnapshot", dependencies: ["CLZ4", "RoostIO", "RoostFormat"]),
        .target(
            name: "RoostEngine",
            dependencies: ["RoostIO", "RoostFormat", "RoostLog", "RoostSnapshot"]),
        .target(
            name: "Roost",
            dependencies: [
                "RoostIO", "RoostFormat", "RoostCoding", "RoostSnapshot", "RoostEngine",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .macro(
            name: "RoostMacrosPlugin",
            dependencies: [
                .product(
                    name: "SwiftSyntaxMacros", package: "swift-syntax",
                    condition: .when(traits: ["Macros"])),
                .product(
                    name: "SwiftCompilerPlugin", package: "swift-syntax",
                    condition: .when(traits: ["Macros"])),
            ]),
        .target(
            name: "RoostMacros",
            dependencies: [
                "RoostCoding",
                .target(name: "RoostMacrosPlugin", condition: .when(traits: ["Macros"])),
            ]),
        .target(
            name: "RoostProtobuf",
            dependencies: [
                "RoostIO", "RoostCoding",
                .product(
                    name: "SwiftProtobuf", package: "swift-protobuf",
                    condition: .when(traits: ["Protobuf"])),
            ]),
        .executableTarget(
            name: "RoostCommand",
            dependencies: [
                "Roost", "RoostIO", "RoostFormat", "RoostLog", "RoostSnapshot",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .target(
            name: "RoostTestSupport", dependencies: ["RoostIO"], path: "Tests/RoostTestSupport"),
        .executableTarget(
            name: "roost-crash-writer", dependencies: ["Roost"], path: "Tests/CrashWriter"),
        .executableTarget(
            name: "roost-crash",
            dependencies: [
                "Roost", "RoostEngine", "RoostIO",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Sources/RoostCrash"),
        .target(name: "RoostSimulation", dependencies: ["CRoost", "RoostIO"]),
        .target(
            name: "RoostSimulator",
            dependencies: ["Roost", "RoostIO", "RoostFormat", "RoostEngine", "RoostSimulation"]),
        .executableTarget(
            name: "roost-simulate",
            dependencies: [
                "RoostSimulation", "RoostSimulator",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Sources/RoostSimulate"),
        .testTarget(name: "RoostSimulationTests", dependencies: ["RoostSimulator"]),
        .testTarget(name: "RoostIOTests", dependencies: ["CRoost", "RoostIO", "RoostTestSupport"]),
        .testTarget(
            name: "RoostFormatTests", dependencies: ["CRoost", "RoostFormat", "RoostTestSupport"]),
        .testTarget(name: "RoostCodingTests", dependencies: ["RoostCoding"]),
        .testTarget(name: "RoostLogTests", dependencies: ["RoostLog", "RoostTestSupport"]),
        .testTarget(
            name: "RoostSnapshotTests", dependencies: ["RoostSnapshot", "RoostTestSupport"]),
        .testTarget(name: "RoostEngineTests", dependencies: ["RoostEngine", "RoostTestSupport"]),
        .testTarget(
            name: "RoostHistoryTests",
            dependencies: [
                "Roost", "RoostIO", "RoostFormat", "RoostEngine", "RoostSimulation",
                "RoostTestSupport",
            ]),
        .testTarget(
            name: "RoostTests",
            dependencies: [
                "Roost", "RoostIO", "RoostFormat", "RoostTestSupport", "roost-crash-writer",
                "roost-crash",
            ]),
        .testTarget(
            name: "RoostCommandTests", dependencies: ["Roost", "RoostCommand", "RoostTestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)

// Needs libFuzzer, which brings the main function: built by scripts/fuzz alone.
if Context.environment["ROOST_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "roost-fuzz",
            dependencies: ["RoostCoding", "RoostFormat", "RoostIO", "RoostLog", "RoostSnapshot"],
            path: "Sources/RoostFuzz", swiftSettings: [.unsafeFlags(["-parse-as-library"])]))
}

// Sanitized runs build the tests that they run, and no others.
if let wanted = Context.environment["ROOST_TEST_TARGETS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
