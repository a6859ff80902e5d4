// swift-tools-version:6.2
import PackageDescription

// A separate package keeps the benchmarks' dependencies out of the library's graph.
let package = Package(
    name: "martlet-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "martlet", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "RequestBenchmark",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Martlet", package: "martlet"),
            ]),
        .executableTarget(
            name: "SpanBenchmark",
            dependencies: [
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Martlet", package: "martlet"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
