// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// A package of its own for now: a test bundle that holds macro tests is built for the host, and
// with it in the root package the tests of the command line no longer find their executable's
// module.
let package = Package(
    name: "roost-macros",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [.library(name: "RoostMacros", targets: ["RoostMacros"])],
    dependencies: [
        .package(name: "roost", path: ".."),
        .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
    ],
    targets: [
        .macro(
            name: "RoostMacrosPlugin",
            dependencies: [
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ]),
        .target(
            name: "RoostMacros",
            dependencies: [.product(name: "RoostCoding", package: "roost"), "RoostMacrosPlugin"]),
        .testTarget(
            name: "RoostMacrosTests",
            dependencies: [
                .product(name: "RoostCoding", package: "roost"), "RoostMacros", "RoostMacrosPlugin",
                .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
