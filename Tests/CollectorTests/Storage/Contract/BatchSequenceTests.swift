import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// Merged batches, parts of batches, and gaps and overlaps in the sequence of an instance's batches.
    @Suite struct BatchSequenceTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        /// Stores one request under each batch ID. The IDs omit instance and signal: `5-12.01`.
        @discardableResult private func store(_ batches: String..., signal: Signal = .metrics) async throws
            -> [StoreOutcome]
        {
            var outcomes: [StoreOutcome] = []
            for text in batches {
                let batch = try #require(BatchID("i-1/\(text)/\(signal.rawValue)"))
                outcomes.append(
                    signal == .metrics
                        ? try await storage.store([Samples.metrics(end: 10)], of: batch)
                        : try await storage.store([DetailsBatch(resource: Samples.resource(), details: [])], of: batch))
            }
            return outcomes
        }

        private func gaps() async throws -> BatchGaps? {
            try await storage.agents().first?.gaps
        }

        // MARK: Parts

        @Test func repeatedPartCountsOnceAndTwoPartsCountTwice() async throws {
            #expect(try await store("12.0", "12.0", "12.1", "12.1") == [.stored, .duplicate, .stored, .duplicate])
        }

        @Test func allPartsTogetherAreTheWholeBatch() async throws {
            #expect(
                try await store("5-12.01", "5-12.1", "5-12.001", "5-12.000")
                    == [.stored, .stored, .stored, .stored])
            #expect(
                try await store("5-12.0", "5-12.1", "5-12", "5-12.000", "7", "7-9")
                    == Array(repeating: .duplicate, count: 6))
        }

        @Test func partsWithinAnArrivedPartAreKnown() async throws {
            #expect(try await store("3.0", "3.01", "3.00", "3.1") == [.stored, .duplicate, .duplicate, .stored])
        }

        // MARK: Gaps

        @Test func batchIsMissingOnceALaterOneHasArrived() async throws {
            try await store("1", "2")
            #expect(try await gaps() == BatchGaps(missing: 0, overlapping: 0))
            try await store("5", "9-12")
            #expect(try await gaps() == BatchGaps(missing: 5, overlapping: 0))
        }

        @Test func lateBatchClosesItsGap() async throws {
            try await store("1", "9", "3-8")
            #expect(try await gaps()?.missing == 1)
            try await store("2")
            #expect(try await gaps()?.missing == 0)
        }

        @Test func batchIsMissingUntilAllItsPartsHaveArrived() async throws {
            try await store("1", "2.0")
            #expect(try await gaps()?.missing == 1)
            try await store("2.10", "3")
            #expect(try await gaps()?.missing == 1)
            try await store("2.11")
            #expect(try await gaps()?.missing == 0)
        }

        @Test func detailsMayBeAbsent() async throws {
            try await store("1", "2", "3")
            try await store("3", signal: .traces)
            #expect(try await gaps()?.missing == 0)
        }

        @Test func senderWithoutBatchNumbersHasNoGaps() async throws {
            _ = try await storage.store([Samples.metrics(end: 10)], of: nil)
            #expect(try await gaps() == nil)
        }

        // MARK: Overlaps

        @Test func mergedBatchIsOverlappingIfSomeOfItsIntervalsArrivedBefore() async throws {
            #expect(try await store("5", "5-12", "5-12", "6") == [.stored, .overlapping, .duplicate, .duplicate])
            #expect(try await gaps() == BatchGaps(missing: 4, overlapping: 1))
        }

        @Test func wholeBatchIsOverlappingIfOneOfItsPartsArrivedBefore() async throws {
            #expect(try await store("1.01", "1.0", "1", "1.1") == [.stored, .overlapping, .overlapping, .duplicate])
        }

        // MARK: Any order

        /// Compares the result with a set of all arrived sequences, around the borders of the store's blocks.
        @Test(arguments: [UInt64(1), 2, 3]) func batchesInAnyOrderCountOnce(seed: UInt64) async throws {
            var numbers = SeededGenerator(seed: seed)
            var arrived: Set<UInt64> = []
            for _ in 0..<300 {
                let first = UInt64.random(in: 1...40, using: &numbers) + (Bool.random(using: &numbers) ? 0 : 4080)
                let last = Bool.random(using: &numbers) ? first : first + UInt64.random(in: 1...30, using: &numbers)
                let isHuge = numbers.next() % 100 == 0
                let range = first...(isHuge ? first + 9000 : last)
                let known = range.filter(arrived.contains).count
                let expected: StoreOutcome = known == range.count ? .duplicate : known == 0 ? .stored : .overlapping
                let outcome = try await store("\(range.lowerBound)-\(range.upperBound)")
                #expect(outcome == [expected], "seed \(seed), \(range)")
                arrived.formUnion(range)
            }
            let highest = try #require(arrived.max())
            #expect(try await gaps()?.missing == highest - UInt64(arrived.count))
        }

        /// Compares the result with the set of arrived eighths of each batch.
        @Test(arguments: [UInt64(1), 2, 3]) func partsInAnyOrderCountOnce(seed: UInt64) async throws {
            var numbers = SeededGenerator(seed: seed)
            var arrived: [UInt64: Set<Int>] = [:]
            for _ in 0..<300 {
                let sequence = UInt64.random(in: 1...20, using: &numbers)
                let depth = Int.random(in: 0...3, using: &numbers)
                let number = Int.random(in: 0..<1 << depth, using: &numbers)
                let digits = String(number, radix: 2)
                let part = depth == 0 ? "" : "." + String(repeating: "0", count: depth - digits.count) + digits
                let eighths = Set(number << (3 - depth)..<(number + 1) << (3 - depth))
                let known = eighths.intersection(arrived[sequence] ?? [])
                let expected: StoreOutcome = known == eighths ? .duplicate : known.isEmpty ? .stored : .overlapping
                #expect(try await store("\(sequence)\(part)") == [expected], "seed \(seed), \(sequence)\(part)")
                arrived[sequence, default: []].formUnion(eighths)
            }
            let highest = try #require(arrived.keys.max())
            #expect(try await gaps()?.missing == highest - UInt64(arrived.values.count { $0.count == 8 }))
        }
    }
}
