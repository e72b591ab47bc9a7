// swift-tools-version: 6.2
import PackageDescription

// A small program as its users would write one: the public API and nothing else.
let package = Package(
    name: "Tasks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "roost", path: "../..")],
    targets: [
        .executableTarget(
            name: "tasks", dependencies: [.product(name: "Roost", package: "roost")],
            path: "Sources/Tasks")
    ],
    swiftLanguageModes: [.v6]
)
