// swift-tools-version: 6.2
import PackageDescription

// A client as apps are: everything is on the main actor unless it says otherwise.
let package = Package(
    name: "Client",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "roost", path: "../.."),
        // For FilePath where the system does not bring it.
        .package(url: "https://github.com/apple/swift-system", from: "1.4.0"),
    ],
    targets: [
        .executableTarget(
            name: "Client",
            dependencies: [
                .product(name: "Roost", package: "roost"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: [.defaultIsolation(MainActor.self)])
    ],
    swiftLanguageModes: [.v6]
)
