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
                "The collector takes no \(route.signal), so they wait in the buffer; are MARTLET_ENDPOINT and MARTLET_TOKEN right? \(reason)"
            )
        }
        failing.insert(route.signal)
        log.warn(of: .collector, "The collector takes no batches now, so they wait in the buffer: \(reason)")
    }

    mutating func succeed(_ route: UploadRoute) {
        guard route.address == own else {
            obstacles[route.address] = nil
            return log.noteEnd(
                of: .elsewhere(route.address),
                "Batches that wait for \(route.address.absoluteString) are delivered there now")
        }
        failing.remove(route.signal)
        log.noteEnd(of: .upload(route.signal), "The collector takes \(route.signal) again")
    }

    /// - Parameter waiting: signals with batches that wait. A signal without any cannot fail.
    mutating func endRound(waiting: Set<Signal>) {
        failing.formIntersection(waiting)
        if failing.isEmpty { log.noteEnd(of: .collector, "The collector takes batches again") }
    }

    /// Warns of batches that earlier processes left and that are not for the collector.
    ///
    /// - Parameters:
    ///   - destination: the address that they are for; `nil` if it cannot be read.
    ///   - isLocked: whether the agent lacks the credentials.
    func note(_ files: [BatchFile], for destination: URL?, isLocked: Bool) {
        let count = "\(files.count) batches of earlier processes (\(files.reduce(0) { $0 &+ $1.requests }) requests)"
        guard let destination else {
            return log.warn(of: .elsewhere(nil), "\(count) wait in the buffer: their address cannot be read")
        }
        let lock = isLocked ? "MARTLET_TOKEN or the client's certificate is another" : nil
        guard let obstacle = lock ?? obstacles[destination] else { return }
        let address = destination.absoluteString
        log.warn(
            of: .elsewhere(destination),
            "\(count) wait in the buffer for \(address): \(obstacle); MARTLET_BUFFER_ADOPT=\(address) sends them to this collector"
        )
    }
}
