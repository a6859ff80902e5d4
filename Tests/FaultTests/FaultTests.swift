import Foundation
import Testing

private let isFullRun = ProcessInfo.processInfo.environment["MARTLET_FAULTS"] == "full"

/// Real processes, mistreated. Every case drives requests against a server that keeps a count of its own, and ends with
/// the report having the same count, or with the ledger explaining the difference to the last request.
///
/// One after the other: each has both cores busy.
@Suite(.serialized, .timeLimit(.minutes(isFullRun ? 60 : 5))) enum FaultTests {
    /// `make faults`; otherwise a shorter form of each case.
    static let isFull = isFullRun
}
