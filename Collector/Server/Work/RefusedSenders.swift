import MartletIntake
import MartletStorage
import MartletTelemetry
import Synchronization

/// What each sender was refused since the collector started, for the list of agents. It is in memory only. Safe to use from any
/// task.
final class RefusedSenders: Sendable {
    /// The maximum number of senders that are remembered. If there are more, those that were refused longest ago are forgotten.
    static let maxSenders = 1000
    /// The number of senders that are kept then. It is smaller, so that not every new sender makes the others be sorted.
    private static let keptSenders = 900

    private let senders = Mutex<[TelemetryResource: RefusedTelemetry]>([:])
    private let now: @Sendable () -> UnixNanoseconds
    private let start: UnixNanoseconds

    init(now: @escaping @Sendable () -> UnixNanoseconds) {
        self.now = now
        start = now()
    }

    var all: [RefusedTelemetry] { senders.withLock { Array($0.values) } }

    /// Adds the refusals of a body.
    func add(_ refusals: Refusals, of signal: Signal) {
        guard !refusals.senders.isEmpty else { return }
        let time = now()
        senders.withLock { senders in
            for (resource, reasons) in refusals.senders {
                senders[resource.identity, default: RefusedTelemetry(resource, since: start)]
                    .add(reasons, of: signal, at: time)
            }
            if senders.count > Self.maxSenders { senders = Self.latest(of: senders) }
        }
    }

    private static func latest(
        of senders: [TelemetryResource: RefusedTelemetry]
    ) -> [TelemetryResource: RefusedTelemetry] {
        let sorted = senders.sorted { $0.value.latest > $1.value.latest }
        return Dictionary(uniqueKeysWithValues: sorted.prefix(keptSenders).map { ($0.key, $0.value) })
    }
}
