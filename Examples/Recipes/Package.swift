// swift-tools-version:6.2
import PackageDescription

// The recipes of docs/first-hour.md, one program each. Copy the parts that you need. For its tests, Martlet's own package
// builds the same files with the packages that it has already built. `make verify` builds this package, and runs the same
// tests with its programs.
let package = Package(
    name: "recipes",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "martlet", path: "../.."),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.6.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2.git", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport.git", from: "2.9.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "FirstHourRecipe",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Martlet", package: "martlet"),
            ],
            path: "FirstHour"),
        .executableTarget(
            name: "gRPCRecipe",
            dependencies: [
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
                .product(name: "Martlet", package: "martlet"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "gRPC"),
        .executableTarget(
            name: "WorkerRecipe",
            dependencies: [
                .product(name: "Martlet", package: "martlet"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Worker"),
        .executableTarget(
            name: "OwnTracerRecipe",
            dependencies: [
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Martlet", package: "martlet"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "OwnTracer"),
    ],
    swiftLanguageModes: [.v6]
)
