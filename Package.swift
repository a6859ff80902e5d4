// swift-tools-version:6.2
import PackageDescription

// The tests spend most of their time in these modules. `scripts/build.sh` sets the variable; the flags stay out of the manifest
// that a service reads, because SwiftPM refuses unsafe flags in a dependency.
let hot: [SwiftSetting]? =
    Context.environment["MARTLET_OPTIMIZE_FOR_TESTS"] == nil
    ? nil : [.unsafeFlags(["-O", "-enable-testing", "-assert-config", "Debug"])]

// `Martlet` is the only declared product. SwiftPM makes a consumer resolve every dependency of a declared product, and a
// service must not have to resolve the collector's server and database. `swift run martlet-collector` works all the same.
let package = Package(
    name: "martlet",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Martlet", targets: ["Martlet"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.39.0"),
        .package(url: "https://github.com/apple/swift-service-context.git", from: "1.1.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        // Only the collector, the examples and the tests use the packages below.
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.90.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.36.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
    ],
    targets: [
        // A service links these targets.
        .target(
            name: "Martlet",
            dependencies: [
                "CMartletHooks", "MartletOTLP", "MartletTelemetry",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceContextModule", package: "swift-service-context"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .target(name: "MartletTelemetry", swiftSettings: hot),
        .target(
            name: "MartletOTLP",
            dependencies: [
                "CMartletZlib", "MartletTelemetry", .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            exclude: ["Protos"]),
        .target(name: "CMartletHooks"),
        .systemLibrary(
            name: "CMartletZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"])]),

        // The collector has a target for each station.
        .target(
            name: "MartletStorage", dependencies: ["MartletTelemetry"], path: "Collector/Storage", swiftSettings: hot),
        .target(
            name: "MartletSQLiteStorage",
            dependencies: [
                "MartletStorage", "MartletTelemetry", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Collector/SQLiteStorage", swiftSettings: hot),
        .target(
            name: "MartletClickHouseStorage",
            dependencies: [
                "MartletOTLP", "MartletStorage", "MartletTelemetry",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Collector/ClickHouseStorage"),
        .target(
            name: "MartletIntake",
            dependencies: [
                "MartletOTLP", "MartletStorage", "MartletTelemetry",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            path: "Collector/Intake"),
        .target(
            name: "MartletReports",
            dependencies: ["MartletOTLP", "MartletStorage", "MartletTelemetry"],
            path: "Collector/Reports", swiftSettings: hot),
        .target(
            name: "MartletFindings", dependencies: ["MartletReports", "MartletStorage", "MartletTelemetry"],
            path: "Collector/Findings", swiftSettings: hot),
        .target(
            name: "MartletPage",
            dependencies: ["MartletFindings", "MartletReports", "MartletStorage", "MartletTelemetry"],
            path: "Collector/Page", resources: [.embedInCode("Resources")]),
        .target(
            name: "MartletPrometheus", dependencies: ["MartletStorage", "MartletTelemetry"],
            path: "Collector/Prometheus"),
        .target(
            name: "MartletNotifications",
            dependencies: [
                "MartletFindings", "MartletPrometheus", "MartletReports", "MartletStorage", "MartletTelemetry",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Collector/Notifications"),
        .target(
            name: "MartletServer",
            dependencies: [
                "MartletFindings", "MartletIntake", "MartletPage", "MartletPrometheus", "MartletReports",
                "MartletStorage", "MartletTelemetry",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Collector/Server", resources: [.embedInCode("Resources")]),
        .executableTarget(
            name: "martlet-collector",
            dependencies: [
                "MartletClickHouseStorage", "MartletFindings", "MartletIntake", "MartletNotifications",
                "MartletReports", "MartletSQLiteStorage",
                "MartletServer", "MartletStorage", "MartletTelemetry",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Collector/Command"),

        // These programs are a small system to watch: `make demo`.
        .executableTarget(
            name: "Storefront",
            dependencies: [
                "Martlet", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Examples/Storefront"),
        .executableTarget(
            name: "Upstream",
            dependencies: [
                "Martlet", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Examples/Upstream"),
        .executableTarget(
            name: "Shopper",
            dependencies: [.product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Examples/Shopper"),

        // These programs are recipes of docs/first-hour.md. Readers have a package for them, which also has the recipe for
        // gRPC: its dependencies would be a fifth of this package's first build.
        .executableTarget(
            name: "FirstHourRecipe",
            dependencies: [
                "Martlet", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            path: "Examples/Recipes/FirstHour"),
        .executableTarget(
            name: "WorkerRecipe",
            dependencies: ["Martlet", .product(name: "Tracing", package: "swift-distributed-tracing")],
            path: "Examples/Recipes/Worker"),
        .executableTarget(
            name: "OwnTracerRecipe",
            dependencies: [
                "Martlet", .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Examples/Recipes/OwnTracer"),

        .testTarget(name: "MartletTelemetryTests", dependencies: ["MartletTelemetry"]),
        .testTarget(
            name: "MartletOTLPTests",
            dependencies: [
                "Fixtures", "MartletOTLP", "MartletTelemetry",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ]),
        .testTarget(
            name: "MartletTests",
            dependencies: [
                "CMartletHooks", "Fixtures", "Martlet", "MartletOTLP", "MartletTelemetry",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "ServiceContextModule", package: "swift-service-context"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "CollectorTests",
            dependencies: [
                "Fixtures", "MartletClickHouseStorage", "MartletFindings", "MartletIntake",
                "MartletNotifications", "MartletOTLP", "MartletPage", "MartletPrometheus",
                "MartletReports", "MartletServer", "MartletSQLiteStorage", "MartletStorage", "MartletTelemetry",
                "martlet-collector",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            exclude: ["Golden", "Fixtures/Stores"]),
        // These tests run real processes: a service with the agent in it, the collector, its command.
        .executableTarget(name: "ProbeService", dependencies: ["Martlet"], path: "Tests/ProbeService"),
        .executableTarget(
            name: "ChainService",
            dependencies: [
                "Martlet", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Tests/ChainService", exclude: ["python_service.py"]),
        .executableTarget(
            name: "TracerProgram",
            dependencies: ["Martlet", .product(name: "Tracing", package: "swift-distributed-tracing")],
            path: "Tests/TracerProgram"),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "ChainService", "FirstHourRecipe", "Fixtures", "MartletClickHouseStorage",
                "MartletOTLP", "MartletPrometheus", "MartletReports", "MartletSQLiteStorage", "MartletStorage",
                "MartletTelemetry",
                "OwnTracerRecipe", "ProbeService", "Shopper", "TracerProgram", "WorkerRecipe",
                "martlet-collector",
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            exclude: ["api_hooks.py", "browse_page.py", "database_service.py", "python_sdk.py", "shop_world.py"]),
        // These tests kill processes, and run misbehaving collectors and full disks: `make faults`.
        .executableTarget(
            name: "FaultProgram",
            dependencies: [
                "Martlet", .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Tests/FaultProgram"),
        .executableTarget(
            name: "ForkProgram",
            dependencies: ["Martlet", .product(name: "Tracing", package: "swift-distributed-tracing")],
            path: "Tests/ForkProgram"),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "FaultProgram", "Fixtures", "ForkProgram", "Martlet", "MartletOTLP", "MartletReports", "MartletStorage",
                "MartletTelemetry", "martlet-collector", .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ]),
        // These tests run the same program with and without the agent, and compare everything that it can see.
        .target(name: "ParityTrust", path: "Tests/ParityTrust", linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(
            name: "ParityProgram", dependencies: ["CMartletZlib", "Martlet", "ParityTrust"],
            path: "Tests/ParityProgram", exclude: ["server.py"]),
        .testTarget(
            name: "ParityTests",
            dependencies: [
                "Fixtures", "MartletOTLP", "ParityProgram", .product(name: "Hummingbird", package: "hummingbird"),
            ]),
        // A service under load: `make soak`, `make sanitize`.
        .executableTarget(name: "SoakProgram", dependencies: ["Martlet"], path: "Tests/SoakProgram"),
        // The next two measure the cost of recording a request (`make bench`), and the store under load (`Benchmarks/store.sh`).
        // They are outside the package of the benchmarks, because they import targets that are no products.
        .executableTarget(
            name: "RecordingBenchmark", dependencies: ["Martlet", "MartletOTLP", "MartletTelemetry"],
            path: "Benchmarks/Sources/RecordingBenchmark"),
        .executableTarget(
            name: "StoreBenchmark",
            dependencies: [
                "MartletOTLP", "MartletPage", "MartletReports", "MartletSQLiteStorage",
                "MartletStorage", "MartletTelemetry",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Benchmarks/Sources/StoreBenchmark"),
        // How often verdicts are right (docs/internals/comparison.md).
        .executableTarget(
            name: "VerdictSimulation", dependencies: ["MartletReports"], path: "Benchmarks/Sources/VerdictSimulation"),
        // Several test targets share this one.
        .target(
            name: "Fixtures",
            dependencies: [
                "MartletTelemetry",
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/Fixtures", exclude: ["Preloaded/clock.c", "Preloaded/no_libcurl.c", "Preloaded/no_threads.c"]),
    ],
    swiftLanguageModes: [.v6]
)
