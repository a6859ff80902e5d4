import Foundation
import MartletTelemetry

/// The effect of a batch's arrival on the sequences of its stream. Pure.
package struct BatchArrival: Sendable, Equatable {
    /// The answer to the batch, once it is stored.
    package let outcome: StoreOutcome
    /// The parts of the batch that have arrived, including this one.
    package let parts: BatchParts
    /// The number of sequences that this batch completes.
    package let newSequences: UInt64

    /// - Parameters:
    ///   - known: the number of the batch's sequences that had already arrived whole.
    ///   - before: the parts of the batch that had already arrived.
    package init(of batch: BatchID, knownSequences known: Int, knownParts before: BatchParts) {
        let count = batch.sequence - batch.first + 1
        guard known < count, !before.contains(batch.part) else {
            (outcome, parts, newSequences) = (.duplicate, before, 0)
            return
        }
        var after = before
        after.insert(batch.part)
        outcome = known > 0 || before.overlaps(batch.part) ? .overlapping : .stored
        parts = after
        newSequences = after.isWhole ? count - UInt64(known) : 0
    }
}

/// The parts of a batch that have arrived. Two halves join into the part that was split into them. The whole batch is the part
/// `""`.
package struct BatchParts: Sendable, Equatable {
    /// The joined parts. No part lies within another.
    package private(set) var parts: Set<String>

    package init(_ parts: Set<String> = []) {
        self.parts = parts
    }

    package var isWhole: Bool { parts.contains("") }

    /// Whether the part has arrived, separately or within a larger part.
    package func contains(_ part: String) -> Bool { parts.contains { part.hasPrefix($0) } }

    /// Whether any piece of the part has arrived.
    func overlaps(_ part: String) -> Bool { contains(part) || parts.contains { $0.hasPrefix(part) } }

    package mutating func insert(_ part: String) {
        var part = part
        while !part.isEmpty, parts.contains(Self.otherHalf(of: part)) { part.removeLast() }
        parts = parts.filter { !$0.hasPrefix(part) }
        parts.insert(part)
    }

    private static func otherHalf(of part: String) -> String {
        part.dropLast() + (part.last == "0" ? "1" : "0")
    }
}

/// Counts the batches of one instance and signal that have arrived. Sequences count from 1.
package struct BatchSequences: Sendable, Equatable {
    /// The highest sequence of which any part has arrived; 0 before the first.
    package var highestSequence: UInt64
    /// The number of sequences that have arrived whole.
    package var arrivedSequences: UInt64
    /// The number of batches of which some intervals had already arrived.
    package var overlappingBatches: UInt64

    package init(highestSequence: UInt64 = 0, arrivedSequences: UInt64 = 0, overlappingBatches: UInt64 = 0) {
        self.highestSequence = highestSequence
        self.arrivedSequences = arrivedSequences
        self.overlappingBatches = overlappingBatches
    }

    /// The gaps and overlaps. A sequence is missing if it has not arrived although a later one has.
    package var gaps: BatchGaps {
        BatchGaps(
            missing: highestSequence > arrivedSequences ? highestSequence - arrivedSequences : 0,
            overlapping: overlappingBatches)
    }

    /// Counts a batch that is not a duplicate.
    package mutating func add(_ arrival: BatchArrival, of batch: BatchID) {
        highestSequence = max(highestSequence, batch.sequence)
        arrivedSequences &+= arrival.newSequences
        if arrival.outcome == .overlapping { overlappingBatches &+= 1 }
    }
}

/// The gaps and overlaps in the sequence of an instance's batches.
package struct BatchGaps: Sendable, Equatable {
    /// Intervals whose batch has not arrived in full although a later one has. The batch may still be on its way.
    package var missing: UInt64
    /// See ``StoreOutcome/overlapping``.
    package var overlapping: UInt64

    package init(missing: UInt64, overlapping: UInt64) {
        self.missing = missing
        self.overlapping = overlapping
    }
}

/// A run of consecutive sequences, with a bit for each that says whether its batch has arrived.
package struct BatchBlock: Sendable, Equatable {
    /// The number of sequences in a block: 512 bytes for eleven hours of 10 s intervals.
    package static let size: UInt64 = 4096

    private static let byteCount = Int(size / 8)

    private var bits: [UInt8]

    /// Creates a block in which no batch has arrived.
    package init() {
        bits = Array(repeating: 0, count: Self.byteCount)
    }

    /// Reads the bits from a row. Most blocks eventually arrive whole; the row of such a block has empty bytes.
    package init(_ blob: Data) {
        bits = blob.isEmpty ? Array(repeating: .max, count: Self.byteCount) : Array(blob.prefix(Self.byteCount))
        bits += Array(repeating: 0, count: Self.byteCount - bits.count)
    }

    /// The bits as a row stores them, for ``init(_:)``.
    package var blob: Data {
        bits.allSatisfy { $0 == .max } ? Data() : Data(bits)
    }

    /// Returns how many sequences have arrived at these positions, which lie between 0 and 4095.
    package func count(in positions: ClosedRange<Int>) -> Int {
        positions.reduce(0) { $0 + (bits[$1 / 8] & 1 << ($1 % 8) == 0 ? 0 : 1) }
    }

    package mutating func insert(_ positions: ClosedRange<Int>) {
        for position in positions { bits[position / 8] |= 1 << (position % 8) }
    }
}

extension InstanceMetrics {
    /// The estimated memory of the points, in bytes.
    package var estimatedBytes: Int {
        points.indices.reduce(1024 + arrived.estimatedBytes) { $0 + points[$1].statistics.estimatedBytes }
            + cumulative.reduce(0) { $0 + $1.point.statistics.estimatedBytes }
            + 512 * (process.count + processTotals.count + ends.count)
    }

    /// The latest end of a point, by the sender's clock; 0 if there is none.
    package var latestEnd: UnixNanoseconds {
        // The loop uses indexes, because a copy of a point costs more than the comparison.
        let ofPoints = points.indices.reduce(0) { max($0, points[$1].end) }
        let ofProcess = process.reduce(processTotals.reduce(0) { max($0, $1.end) }) { max($0, $1.end) }
        return cumulative.reduce(max(ofPoints, ofProcess)) { max($0, $1.point.end) }
    }

    /// The latest time that the sender reported.
    package var latestTime: UnixNanoseconds { max(latestEnd, ledger?.time ?? 0) }
}

extension DetailsBatch {
    /// The estimated memory of the batch, in bytes.
    package var estimatedBytes: Int { details.reduce(1024) { $0 + $1.estimatedBytes } }

    /// The latest end of a span, by the sender's clock; 0 if there is none.
    package var latestEnd: UnixNanoseconds { details.reduce(0) { max($0, $1.start &+ $1.durationNanoseconds) } }
}

extension SpanRecord {
    fileprivate var estimatedBytes: Int {
        let ofAttributes = attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.estimatedBytes }
        return 1024 + url.utf8.count + ofAttributes + 512 * (events.count + links.count)
    }
}

extension SpanAttribute {
    fileprivate var estimatedBytes: Int {
        switch self {
        case .string(let text): 64 + text.utf8.count
        case .integer, .double, .boolean: 64
        case .array(let elements): elements.reduce(64) { $0 + $1.estimatedBytes }
        }
    }
}
