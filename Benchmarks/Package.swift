// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the library's users pull none of its dependencies.
let package = Package(
    name: "roost-benchmarks",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "roost-bench", targets: ["RoostBench"])],
    dependencies: [
        .package(name: "roost", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "RoostBench",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "RoostCoding", package: "roost"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
