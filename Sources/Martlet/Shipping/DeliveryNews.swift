import Foundation
import MartletTelemetry

/// The log messages about uploads: one warning when a trouble begins, and one when it is over. Troubles are told apart by
/// their kind, because libcurl's messages have milliseconds in them.
struct DeliveryNews {
    private let own: URL
    private let log: AgentLog
    /// Signals that the collector did not take at their last attempt.
    private var failing: Set<Signal> = []
    /// The reason why nothing was taken at an address, for addresses other than the agent's own.
    private var obstacles: [URL: String] = [:]

    init(own: URL, log: AgentLog) {
        self.own = own
        self.log = log
    }

    mutating func fail(_ route: UploadRoute, _ time: RetryTime, _ reason: String) {
        guard route.address == own else { return obstacles[route.address] = reason }
        if time == .longest {
            return log.warn(
                of: .upload(route.signal),
                """
                The collector does not accept \(route.signal), which wait in the buffer; \
                check MARTLET_ENDPOINT and MARTLET_TOKEN: \(reason)
                """)
        }
        failing.insert(route.signal)
        log.warn(of: .collector, "The collector does not accept batches now; they wait in the buffer: \(reason)")
    }

    mutating func succeed(_ route: UploadRoute) {
        guard route.address == own else {
            obstacles[route.address] = nil
            return log.noteEnd(
                of: .elsewhere(route.address),
                "Batches for \(route.address.absoluteString) are delivered there now")
        }
        failing.remove(route.signal)
        log.noteEnd(of: .upload(route.signal), "The collector accepts \(route.signal) again")
    }

    /// - Parameter waiting: signals with batches that wait. A signal without any cannot fail.
    mutating func endRound(waiting: Set<Signal>) {
        failing.formIntersection(waiting)
        if failing.isEmpty { log.noteEnd(of: .collector, "The collector accepts batches again") }
    }

    /// Warns of batches that earlier processes left and that are not for the collector.
    ///
    /// - Parameters:
    ///   - destination: the address that they are for; `nil` if it cannot be read.
    ///   - isLocked: whether the agent lacks the credentials.
    func note(_ files: [BatchFile], for destination: URL?, isLocked: Bool) {
        let count = "\(files.count) batches of earlier processes (\(files.reduce(0) { $0 &+ $1.requests }) requests)"
        guard let destination else {
            return log.warn(
                of: .elsewhere(nil), "\(count) wait in the buffer: the address of their collector cannot be read")
        }
        let lock = isLocked ? "MARTLET_TOKEN or the client certificate has changed" : nil
        guard let obstacle = lock ?? obstacles[destination] else { return }
        let address = destination.absoluteString
        log.warn(
            of: .elsewhere(destination),
            """
            \(count) wait in the buffer for \(address): \(obstacle); \
            set MARTLET_BUFFER_ADOPT=\(address) to send them to this collector
            """)
    }
}
