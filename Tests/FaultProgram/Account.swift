import Foundation
import Martlet

/// What the agent says of itself at the end.
struct Account: Encodable {
    let captured: UInt64
    let delivered: UInt64
    let waiting: UInt64
    let dropped: [String: UInt64]
    /// How long the shutdown took.
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
    func flush(upTo times: Int) async {
        for _ in 0..<times {
            await flush()
            if status.ledger.waiting == 0 { return }
            // A collector that asked for a pause is not asked again, and the flush returns at once.
            try? await Task.sleep(for: .milliseconds(10))
        }
    }
}
