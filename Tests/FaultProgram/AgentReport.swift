import Foundation
import Martlet

/// The agent's report at the end of the process: its ledger and the time of its shutdown.
struct AgentReport: Encodable {
    let captured: UInt64
    let delivered: UInt64
    let waiting: UInt64
    let dropped: [String: UInt64]
    /// The time that the shutdown took, in seconds.
    let shutdownSeconds: Double

    init(_ ledger: MartletStatus.Ledger, shutdown: Duration) {
        captured = ledger.captured
        delivered = ledger.delivered
        waiting = ledger.waiting
        dropped = ledger.dropped.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
        shutdownSeconds = Double(shutdown.components.seconds) + Double(shutdown.components.attoseconds) / 1e18
    }

    func print() throws {
        Swift.print(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))
    }
}

extension MartletAgent {
    /// Waits until the journal is open or cannot be opened: on a slow disk that takes longer than the start waits, and a killed
    /// process loses the requests that it recorded before.
    func awaitJournal() {
        while status.journalError == "the journal is not open yet" { usleep(1000) }
    }

    func flush(upTo times: Int) async {
        for _ in 0..<times {
            await flush()
            if status.ledger.waiting == 0 { return }
            // While a collector's requested pause lasts, a flush returns at once without an upload.
            try? await Task.sleep(for: .milliseconds(10))
        }
    }
}
