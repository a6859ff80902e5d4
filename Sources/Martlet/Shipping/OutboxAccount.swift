import Foundation
import MartletOTLP
import MartletTelemetry

/// The account of an instance's batches that are gone, in requests. The account and the waiting batches together make
/// the ledger. A plain value; on disk it is a few lines of text and their checksum.
struct OutboxAccount: Sendable, Equatable {
    private(set) var delivered: UInt64 = 0
    private(set) var dropped: [DropReason: UInt64] = [:]
    /// The highest sequence of a batch that was settled.
    private(set) var lastSettledSequence: UInt64 = 0
    /// The dropped requests that the last batch for a dead instance's losses reported.
    private(set) var reported: UInt64 = 0
    /// Names of settled files that may still exist: the last one, and those that could not be removed.
    var settled: Set<String> = []

    mutating func deliver(_ requests: UInt64) { delivered &+= requests }

    mutating func drop(_ requests: UInt64, _ reason: DropReason) {
        if requests > 0 { dropped[reason, default: 0] &+= requests }
    }

    /// Counts a batch that is gone.
    mutating func settle(_ file: BatchFile, as settlement: Settlement) {
        switch settlement {
        case .delivered(let rejected):
            deliver(file.requests - min(rejected, file.requests))
            drop(min(rejected, file.requests), .rejected)
        case .dropped(let reason): drop(file.requests, reason)
        }
    }

    /// Takes back requests that were counted as gone.
    mutating func restore(_ requests: UInt64) {
        guard let gone = dropped[.gone] else { return }
        dropped[.gone] = gone > requests ? gone - requests : nil
    }

    /// Whether the account has losses for which a dead instance needs another batch.
    var hasUnreportedLoss: Bool { lost != reported }

    /// - Parameter isReported: `false` if the batch that reported the losses is lost.
    mutating func noteReport(_ isReported: Bool = true) { reported = isReported ? lost : 0 }

    private var lost: UInt64 { dropped.values.reduce(0, &+) }

    mutating func noteSettled(_ sequence: UInt64) { lastSettledSequence = max(lastSettledSequence, sequence) }

    /// Requests that are delivered or dropped.
    var total: UInt64 { dropped.values.reduce(delivered, &+) }

    /// `captured = delivered + waiting + dropped`, by construction.
    func ledger(captured: UInt64) -> Ledger {
        Ledger(
            captured: captured, delivered: delivered, waiting: captured >= total ? captured - total : 0,
            dropped: dropped)
    }
}

// MARK: The file

extension OutboxAccount {
    static let fileName = "account"
    private static let title = "martlet account 1"

    var text: String {
        var lines = [Self.title, "delivered \(delivered)", "sealed \(lastSettledSequence)"]
        lines += dropped.sorted { $0.key.rawValue < $1.key.rawValue }.map { "dropped \($0.key.rawValue) \($0.value)" }
        if reported > 0 { lines.append("reported \(reported)") }
        lines += settled.sorted().map { "settled \($0)" }
        let body = lines.joined(separator: "\n") + "\n"
        return body + "crc \(Gzip.crc32(Array(body.utf8)))\n"
    }

    /// Reads the file's text; `nil` if it is not an account, or incomplete.
    init?(text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.popLast() == "", let checksum = lines.popLast(), lines.first == Self.title else { return nil }
        for line in lines.dropFirst() {
            guard read(line.split(separator: " ").map(String.init)) else { return nil }
        }
        let body = lines.joined(separator: "\n") + "\n"
        guard checksum == "crc \(Gzip.crc32(Array(body.utf8)))" else { return nil }
    }

    private mutating func read(_ words: [String]) -> Bool {
        switch (words.first, words.count) {
        case ("settled", 2): settled.insert(words[1])
        case ("delivered", 2): return Self.read(words[1], into: &delivered)
        case ("reported", 2): return Self.read(words[1], into: &reported)
        case ("sealed", 2): return Self.read(words[1], into: &lastSettledSequence)
        case ("dropped", 3):
            // A newer version may have more reasons.
            return Self.read(words[2], into: &dropped[DropReason(rawValue: words[1]) ?? .other, default: 0])
        default: return false
        }
        return true
    }

    private static func read(_ word: String, into number: inout UInt64) -> Bool {
        guard let value = UInt64(word) else { return false }
        number &+= value
        return true
    }
}
