import Foundation
import MartletTelemetry

/// Logs the problems of uploads: one warning when a problem begins, and one when it ends. Problems are distinguished by
/// kind, not by message, because libcurl's messages contain milliseconds.
struct DeliveryLog {
    private let own: [URL]
    private let log: AgentLog
    /// Routes whose last attempt failed in a way that may affect both signals.
    private var failing: Set<UploadRoute> = []
    /// Why an address other than the agent's own accepted nothing.
    private var obstacles: [URL: String] = [:]

    /// - Parameter own: the configuration's collectors.
    init(own: [URL], log: AgentLog) {
        self.own = own
        self.log = log
    }

    mutating func fail(_ route: UploadRoute, _ time: RetryWait, _ reason: String) {
        let collector = route.address
        guard own.contains(collector) else { return obstacles[collector] = reason }
        if time == .longest {
            return log.warn(
                of: .upload(route.signal, to: collector),
                """
                \(name(collector)) does not accept \(route.signal); they \(stay); \
                check MARTLET_ENDPOINT, MARTLET_TOKEN and MARTLET_HEADERS: \(reason)
                """)
        }
        failing.insert(route)
        log.warn(of: .collector(collector), "\(name(collector)) cannot be reached; batches \(stay): \(reason)")
    }

    /// - Parameter collectors: the collectors that the batch was for.
    mutating func succeed(_ route: UploadRoute, of collectors: [URL]) {
        let collector = route.address
        guard own.contains(collector) else {
            for address in collectors { obstacles[address] = nil }
            return log.noteEnd(
                of: .elsewhere(collectors),
                "Batches for \(CollectorAddress.text(collectors)) are now delivered there")
        }
        failing.remove(route)
        log.noteEnd(of: .upload(route.signal, to: collector), "\(name(collector)) accepts \(route.signal) again")
        // With several collectors, each signal may succeed at a different one. Then nothing later shows that all work again.
        if own.count > 1 { endTroubles() }
    }

    /// - Parameter waiting: routes that batches wait for. With one collector, a signal without batches has no problem.
    ///   With several, its batches may have gone to another collector.
    mutating func endRound(waiting: Set<UploadRoute>) {
        if own.count == 1 { failing.formIntersection(waiting) }
        endTroubles()
    }

    /// Warns of batches that earlier processes left for other collectors.
    ///
    /// - Parameters:
    ///   - seen: the directories of those processes.
    ///   - collectors: their addresses; `nil` if they cannot be read.
    func note(_ seen: [AbandonedOutboxes.Sighting], for collectors: [URL]?) {
        let (batches, requests) = seen.reduce((0, 0)) { ($0.0 + $1.batches, $0.1 &+ $1.requests) }
        let count = "\(batches) batches of earlier processes (\(requests) requests)"
        guard let collectors else {
            return log.warn(
                of: .elsewhere(nil), "\(count) wait in the buffer: the address of their collector cannot be read")
        }
        let isLocked = seen.contains { $0.present == nil }
        let lock = isLocked ? "MARTLET_TOKEN, MARTLET_HEADERS or the client certificate has changed" : nil
        guard let obstacle = lock ?? collectors.lazy.compactMap({ obstacles[$0] }).first else { return }
        let addresses = CollectorAddress.text(collectors)
        log.warn(
            of: .elsewhere(collectors),
            """
            \(count) wait in the buffer for \(addresses): \(obstacle); \
            set MARTLET_BUFFER_ADOPT=\(addresses) to send them to this collector
            """)
    }

    // MARK: -

    private func endTroubles() {
        for collector in own where !failing.contains(where: { $0.address == collector }) {
            log.noteEnd(of: .collector(collector), "\(name(collector)) accepts batches again")
        }
    }

    private func name(_ collector: URL) -> String {
        own.count == 1 ? "The collector" : "The collector \(CollectorAddress.plain(collector).absoluteString)"
    }

    private var stay: String {
        own.count == 1 ? "wait in the buffer" : "go to another collector or wait in the buffer"
    }
}
