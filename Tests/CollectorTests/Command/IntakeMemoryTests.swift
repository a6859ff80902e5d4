import Fixtures
import Foundation
import MartletOTLP
import Testing

/// The most expensive bodies, sent to a collector's process.
@Suite struct IntakeMemoryTests {
    private static let mebibyte = 1 << 20
    /// The limit of the process's memory: its idle size, 192 MiB for the bodies in progress, and the allocator's waste.
    private static let maxResidentBytes = 300 * mebibyte

    private static func field(_ number: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var length = payload.count
        var bytes: [UInt8] = [number << 3 | 2]
        while length > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        return bytes + [UInt8(length)] + payload
    }

    /// Returns repeated `bytes`: more than half of `size` and at most `size` bytes.
    private static func repeated(_ bytes: [UInt8], _ size: Int) -> [UInt8] {
        var all = bytes
        while all.count <= size / 2 { all += all }
        return all
    }

    /// Returns each body as gzip, a thousandth of its size, with its expected status.
    private static func bodies() throws -> [(name: String, body: [UInt8], type: String, status: Int)] {
        let (protobuf, json) = ("application/x-protobuf", "application/json")
        let attribute = field(1, [0x0a, 0x01, UInt8(ascii: "a")])
        let text = [UInt8](repeating: 0x61, count: 63 * mebibyte)
        let attributes = repeated(attribute, 2 * mebibyte)
        let objects: [UInt8] =
            Array(#"{"resourceMetrics":[{}"#.utf8) + repeated(Array(",{}".utf8), 4 * mebibyte) + Array("]}".utf8)
        let string: [UInt8] = Array(#"{"a":""#.utf8) + text + Array(#""}"#.utf8)
        let bodies: [(String, [UInt8], String, Int)] = [
            ("empty resources", repeated([0x0a, 0x00], 63 * mebibyte), protobuf, 413),
            ("one text", field(1, field(1, field(1, field(1, text)))), protobuf, 200),
            // The attributes weigh two thirds of the limit.
            ("attributes", field(1, field(1, attributes)), protobuf, 200),
            ("empty objects", objects, json, 413),
            ("one JSON text", string, json, 200),
        ]
        return try bodies.map { ($0, try Gzip.compress($1), $2, $3) }
    }

    @Test func noBodyExceedsTheMemoryForBodies() async throws {
        let folder = try TemporaryFolder()
        let collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
        for (name, body, type, status) in try Self.bodies() {
            // Two copies arrive together, and there is room for only one of the largest bodies.
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        try await collector.post(
                            body, headers: ["Content-Type": type, "Content-Encoding": "gzip"])
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(
                statuses.contains(status) && statuses.allSatisfy { [status, 429].contains($0) }, "\(name): \(statuses)")
            let peak = try #require(collector.peakResidentBytes)
            #expect(peak < Self.maxResidentBytes, "\(name): \(peak / Self.mebibyte) MiB")
        }
        #expect(try await collector.post(try Samples.body(), batch: "i-1/1/metrics") == 200)
    }
}
