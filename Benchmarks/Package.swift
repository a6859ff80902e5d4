// swift-tools-version:6.1
import PackageDescription

// A package of its own, so that what measures the library is not in the library's graph.
let package = Package(
    name: "martlet-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "martlet", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "RequestBenchmark",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Martlet", package: "martlet"),
            ])
    ],
    swiftLanguageModes: [.v6]
)

