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
        .library(name: "RoostInspector", targets: ["RoostInspector"]),
        .library(name: "RoostReplica", targets: ["RoostReplica"]),
        .library(name: "RoostObservability", targets: ["RoostObservability"]),
        .library(name: "RoostServices", targets: ["RoostServices"]),
        .library(name: "RoostShared", targets: ["RoostShared"]),
        .library(name: "RoostEtcd", targets: ["RoostEtcd"]),
        .library(name: "RoostPostgres", targets: ["RoostPostgres"]),
        .library(name: "RoostConformance", targets: ["RoostConformance"]),
        .library(name: "RoostCombine", targets: ["RoostCombine"]),
        .library(name: "RoostEncryption", targets: ["RoostEncryption"]),
        .executable(name: "roost", targets: ["RoostCommand"]),
    ],
    traits: [
        .trait(name: "Macros", description: "The product RoostMacros: @BinaryCodable."),
        .trait(name: "Protobuf", description: "The product RoostProtobuf: messages as values."),
        .trait(
            name: "SQLite", description: "roost import --format sqlite, by the system's SQLite."),
        .trait(
            name: "Inspector",
            description: "The product RoostInspector, and roost inspect: a workspace in a browser."),
        .trait(name: "Replica", description: "The product RoostReplica: copies off the machine."),
        .trait(
            name: "Observability",
            description: "The product RoostObservability: logs, metrics and traces."),
        .trait(
            name: "Services",
            description: "The product RoostServices: a server's lifecycle, sessions, jobs."),
        .trait(name: "Etcd", description: "The product RoostEtcd: shared workspaces over etcd."),
        .trait(
            name: "Postgres",
            description: "The product RoostPostgres: shared workspaces over PostgreSQL."),
        .trait(
            name: "Encryption",
            description: "The product RoostEncryption: workspaces that only their key opens."),
        .trait(
            name: "OpenSSL",
            description:
                "Encryption by the system's libcrypto (OpenSSL 3), at a fraction of the cost.",
            enabledTraits: ["Encryption"]),
        .trait(
            name: "OpenCombine",
            description: "The product RoostCombine: publishers where there is no Combine."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.4.0"),
        // Fetched and built only for those who enable the trait that names them.
        .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.30.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0",
            traits: ["FullFoundation"]),
        .package(url: "https://github.com/apple/swift-nio", from: "2.97.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.33.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.34.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
        .systemLibrary(
            name: "CRoostSQLite", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
        .target(name: "CRoost"),
        .target(name: "RoostIO", dependencies: ["CRoost"]),
        .target(name: "RoostFormat", dependencies: ["CRoost", "RoostIO"]),
        .target(name: "RoostSealing", dependencies: ["CRoost", "RoostIO", "RoostFormat"]),
        .target(name: "RoostCoding", dependencies: ["RoostIO"]),
        .target(name: "RoostLog", dependencies: ["RoostIO", "RoostFormat"]),
        .target(name: "RoostSnapshot", dependencies: ["CLZ4", "RoostIO", "RoostFormat"]),
        .target(
            name: "RoostEngine",
            dependencies: ["CRoost", "RoostIO", "RoostFormat", "RoostLog", "RoostSnapshot"]),
        .target(
            name: "Roost",
            dependencies: [
                "RoostIO", "RoostFormat", "RoostCoding", "RoostSnapshot", "RoostEngine",
                "RoostSealing", .product(name: "SystemPackage", package: "swift-system"),
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
        .target(
            name: "RoostForms", dependencies: ["Roost", "RoostCoding", "RoostFormat"]),
        .target(
            name: "RoostInspector",
            dependencies: [
                "Roost", "RoostCoding", "RoostEngine", "RoostFormat", "RoostForms", "RoostIO",
                .product(
                    name: "Hummingbird", package: "hummingbird",
                    condition: .when(traits: ["Inspector"])),
                .product(
                    name: "NIOPosix", package: "swift-nio",
                    condition: .when(traits: ["Inspector"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["Inspector"])),
            ],
            resources: [.embedInCode("Page")]),
        .target(
            name: "RoostReplica",
            dependencies: [
                "Roost", "RoostIO", "RoostFormat", "RoostLog", "RoostSnapshot", "RoostEngine",
                "RoostSealing",
                .product(
                    name: "AsyncHTTPClient", package: "async-http-client",
                    condition: .when(traits: ["Replica"])),
                .product(
                    name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Replica"])),
                .product(
                    name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Replica"])),
                .product(
                    name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Replica"])),
            ]),
        .target(
            name: "RoostObservability",
            dependencies: [
                "Roost", "RoostShared",
                .target(name: "RoostReplica", condition: .when(traits: ["Replica"])),
                .product(
                    name: "Logging", package: "swift-log",
                    condition: .when(traits: ["Observability"])),
                .product(
                    name: "Metrics", package: "swift-metrics",
                    condition: .when(traits: ["Observability"])),
                .product(
                    name: "Tracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Observability"])),
            ]),
        .target(
            name: "RoostServices",
            dependencies: [
                "Roost", "RoostShared",
                .target(name: "RoostReplica", condition: .when(traits: ["Replica"])),
                .product(
                    name: "Logging", package: "swift-log",
                    condition: .when(traits: ["Services"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["Services"])),
                .product(
                    name: "Hummingbird", package: "hummingbird",
                    condition: .when(traits: ["Services"])),
            ]),
        .target(name: "RoostShared", dependencies: ["Roost", "RoostFormat", "RoostIO"]),
        .target(
            name: "RoostEtcd",
            dependencies: [
                "RoostShared", "RoostIO",
                .product(
                    name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Etcd"])),
                .product(
                    name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Etcd"])),
                .product(
                    name: "NIOHPACK", package: "swift-nio-http2",
                    condition: .when(traits: ["Etcd"])),
                .product(
                    name: "NIOHTTP2", package: "swift-nio-http2",
                    condition: .when(traits: ["Etcd"])),
                .product(
                    name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Etcd"])),
            ]),
        .systemLibrary(
            name: "CPostgreSQL", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "RoostPostgres",
            dependencies: [
                "RoostShared", "RoostIO",
                .target(name: "CPostgreSQL", condition: .when(traits: ["Postgres"])),
            ]),
        .target(name: "RoostConformance", dependencies: ["Roost", "RoostShared", "RoostIO"]),
        // Its one file is that of Roost's own publishers, which are Combine's.
        .target(
            name: "RoostCombine",
            dependencies: [
                "Roost",
                .product(
                    name: "OpenCombine", package: "OpenCombine",
                    condition: .when(traits: ["OpenCombine"])),
            ],
            swiftSettings: [.define("RoostCombine")]),
        .systemLibrary(
            name: "CLibcrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .target(
            name: "RoostEncryption",
            dependencies: [
                "Roost", "RoostIO", "RoostSealing",
                .target(name: "CLibcrypto", condition: .when(traits: ["OpenSSL"])),
                .product(
                    name: "Crypto", package: "swift-crypto",
                    condition: .when(traits: ["Encryption"])
                ),
                .product(
                    name: "_CryptoExtras", package: "swift-crypto",
                    condition: .when(traits: ["Encryption"])),
            ]),
        .executableTarget(
            name: "RoostCommand",
            dependencies: [
                "Roost", "RoostIO", "RoostFormat", "RoostForms", "RoostLog", "RoostSnapshot",
                .target(name: "CRoostSQLite", condition: .when(traits: ["SQLite"])),
                .target(name: "RoostInspector", condition: .when(traits: ["Inspector"])),
                .target(name: "RoostReplica", condition: .when(traits: ["Replica"])), "RoostShared",
                .target(name: "RoostEtcd", condition: .when(traits: ["Etcd"])),
                .target(name: "RoostPostgres", condition: .when(traits: ["Postgres"])),
                .target(name: "RoostEncryption", condition: .when(traits: ["Encryption"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "roost-demo",
            dependencies: [
                "Roost", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Sources/RoostDemo"),
        .target(
            name: "RoostTestSupport", dependencies: ["RoostIO"], path: "Tests/RoostTestSupport"),
        .executableTarget(
            name: "roost-crash-writer", dependencies: ["Roost"], path: "Tests/CrashWriter"),
        .executableTarget(
            name: "roost-crash",
            dependencies: [
                "Roost", "RoostEngine", "RoostIO", "RoostSimulation",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Sources/RoostCrash"),
        .executableTarget(
            name: "roost-disks",
            dependencies: [
                "Roost", "RoostEngine", "RoostFormat", "RoostIO", "RoostSealing", "RoostSimulation",
                "RoostTestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Sources/RoostDisks"),
        .target(name: "RoostSimulation", dependencies: ["CRoost", "RoostIO", "RoostSealing"]),
        .target(
            name: "RoostSimulator",
            dependencies: [
                "Roost", "RoostIO", "RoostFormat", "RoostEngine", "RoostSealing", "RoostSimulation",
            ]),
        .executableTarget(
            name: "roost-simulate",
            dependencies: [
                "RoostSimulation", "RoostSimulator",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Sources/RoostSimulate"),
        .testTarget(
            name: "RoostSimulationTests",
            dependencies: [
                "RoostSimulator", "RoostSealing", "RoostSimulation", "RoostIO", "RoostFormat",
                "RoostTestSupport",
            ]),
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
                "Roost", "RoostEngine", "RoostIO", "RoostFormat", "RoostTestSupport",
                "roost-crash-writer", "roost-crash",
            ]),
        // The code of the documents, which `make blocks` writes from them.
        .executableTarget(
            name: "roost-first-program", dependencies: ["Roost"], path: "Tests/FirstProgram"),
        .executableTarget(name: "DocumentationBlocks", path: "Tests/DocumentationBlocks"),
        .testTarget(
            name: "RoostObjectTests",
            dependencies: ["Roost", "RoostEngine", "RoostIO", "RoostTestSupport"]),
        .testTarget(
            name: "RoostDocumentationTests",
            dependencies: [
                "Roost", "RoostShared", "RoostCommand", "RoostTestSupport", "DocumentationBlocks",
                "roost-first-program",
            ]),
        .testTarget(
            name: "RoostSharedTests",
            dependencies: [
                "Roost", "RoostShared", "RoostEtcd", "RoostPostgres", "RoostConformance",
                "RoostIO", "RoostSimulation", "RoostTestSupport",
            ]),
        .testTarget(
            name: "RoostMainActorDocumentationTests",
            dependencies: ["Roost", "RoostShared", "RoostTestSupport"],
            swiftSettings: [.defaultIsolation(MainActor.self)]),
        .testTarget(
            name: "RoostCommandTests",
            dependencies: [
                "Roost", "RoostCommand", "RoostForms", "RoostEngine", "RoostFormat", "RoostIO",
                "RoostShared", "RoostTestSupport",
                .target(name: "CRoostSQLite", condition: .when(traits: ["SQLite"])),
            ]),
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

// Counts instructions (`make guard`): of the library as the proofs build it, so that it is built once for both.
if Context.environment["ROOST_COUNT"] != nil {
    package.targets += [
        .target(name: "RoostSamples", path: "Benchmarks/Sources/RoostSamples"),
        .executableTarget(
            name: "roost-count", dependencies: ["Roost", "RoostCoding", "RoostSamples"],
            path: "Benchmarks/Sources/RoostCount"),
    ]
}

// The command with all that it imports, without a trait in each call: so that CI builds the package once.
if Context.environment["ROOST_SQLITE"] != nil {
    package.traits.insert(.default(enabledTraits: ["SQLite"]))
}

// Sanitized runs build the tests that they run, and no others.
if let wanted = Context.environment["ROOST_TEST_TARGETS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}

// `make test` builds all tests once and runs them: whole modules take four fifths of the time, and what stands under the
// store is optimized, with its asserts (decision 284). Who works on a test goes without it, as then a change compiles its
// file alone.
if Context.environment["ROOST_BUILT_ONCE"] != nil {
    let whole = ["-wmo", "-num-threads", "2", "-disable-batch-mode", "-gline-tables-only"]
    let optimized: Set = [
        "RoostIO", "RoostFormat", "RoostSealing", "RoostCoding", "RoostLog", "RoostSnapshot",
        "RoostEngine",
    ]
    for target in package.targets {
        if target.name == "CRoost" {
            target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-O2"])]
        }
        let isOptimized = optimized.contains(target.name)
        guard isOptimized || target.type == .test else { continue }
        let flags = isOptimized ? ["-O", "-assert-config", "Debug"] + whole : whole
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(flags)]
    }
}

// For `make docs` alone: who uses the library fetches nothing for it.
if Context.environment["ROOST_DOCS"] != nil {
    package.dependencies.append(
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}
