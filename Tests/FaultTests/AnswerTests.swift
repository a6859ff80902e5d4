import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// Answers and failures of a collector, or of a proxy in front of it.
    @Suite(.serialized) struct AnswerTests {
        private static let passing: [Treatment] = [
            .delay(400), .delay(1300), .hang, .reset, .drop, .storeThenReset, .storeThenHang, .cutRequest(50),
            .cutAnswer(0), .cutHead(10), .duplicate, .answer(429), .answer(500), .answer(502), .answer(503),
            .answer(504),
        ]

        /// The first uploads get these treatments. Later uploads succeed, and everything arrives.
        @Test(arguments: isFull ? passing.map { Array(repeating: $0, count: 10) } + [passing] : [passing])
        func temporaryFaultLosesNothingAndCountsNothingTwice(treatments: [Treatment]) async throws {
            try await Scene.run { scene in
                let (end, gate) = try await scene.serve { _, earlier in
                    earlier.count < treatments.count ? treatments[earlier.count] : .pass
                }
                #expect(end.lost == 0, "\(scene.seed)")
                let received = gate.uploads.map(\.treatment)
                // A delayed upload is not repeated, so there may be fewer uploads than treatments.
                #expect(received.starts(with: treatments.prefix(received.count)), "\(scene.seed)")
                #expect(received.count >= Set(treatments).count, "\(scene.seed)")
                try await scene.expectEverythingCountedOnce()
            }
        }

        /// Foundation's loader crashes the process if an answer ends within its head: it assumes that a transfer
        /// without an error has a response.
        @Test(.enabled(if: TestedTransport.survivesCutHead)) func truncatedAnswerHeadDoesNotCrashTheService()
            async throws
        {
            try await Scene.run { scene in
                let (end, _) = try await scene.serve { _, earlier in earlier.count < 2 ? .cutHead(30) : .pass }
                #expect(end.lost == 0, "\(scene.seed)")
                try await scene.expectEverythingCountedOnce()
            }
        }

        /// The delay holds even if the program requests flushes continuously.
        @Test(
            arguments: isFull ? [(429, false), (503, false), (429, true), (503, true)] : [(429, false), (503, true)])
        func retryAfterIsHeeded(status: Int, isDate: Bool) async throws {
            try await Scene.run { scene in
                let (end, gate) = try await scene.serve(flushes: 1000) { _, earlier in
                    guard earlier.count == 1 else { return .pass }
                    // A date has no fractions of a second, so a date in three seconds may be only two seconds away.
                    return .answer(status, retryAfter: isDate ? Self.date(in: 3) : "2")
                }
                let uploads = gate.uploads
                try #require(uploads.count > 2)
                let wait = uploads[2].time - uploads[1].time
                #expect(wait > .seconds(1.9), "it came back after \(wait); \(scene.seed)")
                #expect(uploads[2].message.batch == uploads[1].message.batch, "\(scene.seed)")
                #expect(end.lost == 0, "\(scene.seed)")
                try await scene.expectEverythingCountedOnce()
            }
        }

        @Test(arguments: [400, 501])
        func ledgerCountsEveryRequestOfARefusedBatch(status: Int) async throws {
            try await Scene.run { scene in
                // The second and the fourth batch are refused: later batches report each loss to the collector.
                let (end, _) = try await scene.serve(requests: 800) { message, earlier in
                    let batches = Set(earlier.map(\.message).filter(\.isMetrics).map(\.batch))
                    let number = batches.subtracting([message.batch]).count
                    return message.isMetrics && [1, 3].contains(number) ? .answer(status) : .pass
                }
                #expect(end.lost > 0, "\(scene.seed)")
                #expect(end.dropped.keys.sorted() == ["rejected"], "\(scene.seed)")
                #expect(end.waiting == 0, "\(scene.seed)")
                #expect(scene.waiting == [], "\(scene.seed)")
                try await scene.expectLedgerExplains(end)
                try await scene.expectCollectorKnows(end)
            }
        }

        @Test func tooLargeBatchArrivesInParts() async throws {
            try await Scene.run { scene in
                let (end, gate) = try await scene.serve(
                    options: ["--workers", "16"], environment: ["MARTLET_COMPRESSION": "none"]
                ) { message, earlier in
                    // The collector refuses the first batch with several series, and then all bodies of that size.
                    let refused = earlier.first { $0.treatment == .answer(413) }
                    let limit = refused?.message.body.count ?? 4_000
                    return message.isMetrics && message.body.count >= limit ? .answer(413) : .pass
                }
                #expect(end.lost == 0, "\(end); \(scene.seed)")
                #expect(gate.uploads.contains { $0.treatment == .answer(413) })
                try await scene.expectEverythingCountedOnce()
            }
        }

        private static func date(in seconds: TimeInterval) -> String {
            let format = DateFormatter()
            format.locale = Locale(identifier: "en_US_POSIX")
            format.timeZone = TimeZone(identifier: "GMT")
            format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            return format.string(from: Date(timeIntervalSinceNow: seconds))
        }
    }
}
