import Foundation
import Testing

private let isFullRun = ProcessInfo.processInfo.environment["MARTLET_FAULTS"] == "full"

/// Real processes under faults. Every case makes requests to a server that counts them itself. At the end the report
/// has the same count, or the ledger explains the difference to the last request.
///
/// The cases run one after the other, because each keeps both cores busy.
@Suite(.serialized, .timeLimit(.minutes(isFullRun ? 60 : 5))) enum FaultTests {
    /// Whether `make faults` runs each case in full; otherwise each has a shorter form.
    static let isFull = isFullRun
}
