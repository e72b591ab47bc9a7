// swift-tools-version: 6.2
import PackageDescription

// The tests of the products that a trait switches on: a package of its own, so that the tests of
// the library build neither swift-syntax nor swift-protobuf. Each test target is a client too.
let package = Package(
    name: "roost-extras",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(
            name: "roost", path: "..", traits: ["Inspector", "Macros", "OpenCombine", "Protobuf"]),
        .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.30.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
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
