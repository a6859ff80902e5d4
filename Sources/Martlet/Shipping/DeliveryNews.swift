import Foundation
import MartletTelemetry

/// The agent's words on what becomes of uploads: one warning for one trouble, and one when it is over. A trouble is told from
/// another by its kind, because what libcurl says of it has milliseconds in it.
struct DeliveryNews {
    private let own: URL
    private let log: AgentLog
    /// Signals of which the collector took nothing at their last attempt.
    private var failing: Set<Signal> = []
    /// By address, the agent's own excepted: why nothing was taken there.
    private var obstacles: [URL: String] = [:]

    init(own: URL, log: AgentLog) {
        self.own = own
        self.log = log
    }

    mutating func fail(_ line: UploadLine, _ time: RetryTime, _ reason: String) {
        guard line.endpoint == own else { return obstacles[line.endpoint] = reason }
        if time == .longest {
            return log.once(
                .upload(line.signal),
                "The collector takes no \(line.signal), which wait in the buffer; are MARTLET_ENDPOINT and MARTLET_TOKEN right? \(reason)"
            )
        }
        failing.insert(line.signal)
        log.once(.collector, "The collector takes no batches now, which wait in the buffer: \(reason)")
    }

    mutating func succeed(_ line: UploadLine) {
        guard line.endpoint == own else {
            obstacles[line.endpoint] = nil
            return log.again(
                .elsewhere(line.endpoint), "What was recorded for \(line.endpoint.absoluteString) is delivered there")
        }
        failing.remove(line.signal)
        log.again(.upload(line.signal), "The collector takes \(line.signal) again")
    }

    /// - Parameter waiting: signals of which something waits; what does not cannot fail.
    mutating func endRound(waiting: Set<Signal>) {
        failing.formIntersection(waiting)
        if failing.isEmpty { log.again(.collector, "The collector takes batches again") }
    }

    /// Tells of what earlier processes left and is not for the collector.
    ///
    /// - Parameters:
    ///   - destination: `nil` where it cannot be read.
    ///   - isLocked: the agent lacks the credentials.
    func note(_ files: [BatchFile], for destination: URL?, isLocked: Bool) {
        let count = "\(files.count) batches of earlier processes (\(files.reduce(0) { $0 &+ $1.requests }) requests)"
        guard let destination else {
            return log.once(.elsewhere(nil), "\(count) wait in the buffer: where they belong cannot be read")
        }
        let lock = isLocked ? "MARTLET_TOKEN or the client's certificate is another" : nil
        guard let obstacle = lock ?? obstacles[destination] else { return }
        let address = destination.absoluteString
        log.once(
            .elsewhere(destination),
            "\(count) wait in the buffer for \(address): \(obstacle); MARTLET_BUFFER_ADOPT=\(address) sends them to this collector"
        )
    }
}
