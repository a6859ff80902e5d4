import Martlet

/// The requests made, the agent's counts of them, and the memory that the process held.
struct SoakReport: Encodable {
    /// The number of times that the memory is read.
    static let samples = 10

    var made = 0
    var captured: UInt64 = 0
    var delivered: UInt64 = 0
    var waiting: UInt64 = 0
    var dropped: UInt64 = 0
    /// The requests in flight after the last caller knew of its end.
    var inFlight = 0
    var droppedDetails: UInt64 = 0
    var internalErrors = 0
    var captureReason: String?
    /// VmRSS after each tenth of the requests.
    var residentKiB: [Int] = []

    mutating func take(_ agents: Agents) {
        for status in agents.statuses {
            captured += status.ledger.captured
            delivered += status.ledger.delivered
            waiting += status.ledger.waiting
            dropped += status.ledger.dropped.values.reduce(0, +)
            droppedDetails += status.droppedDetails
            internalErrors += status.internalErrors
            captureReason = status.captureReason ?? captureReason
        }
    }

    /// Returns a sentence about the first figure that is wrong, or `nil` if the report is right.
    func complaint(_ options: Options) -> String? {
        guard options.mode != .bare else { return nil }
        if let captureReason { return "capture: \(captureReason)" }
        if inFlight != 0 { return "\(inFlight) requests are in flight after the last one ended" }
        if internalErrors != 0 { return "\(internalErrors) internal errors" }
        // A request that ends while its agent does waits in the journal for the service's next start.
        let left = options.disturbance == .restarting ? waiting : 0
        if delivered + left != captured { return "\(delivered) of \(captured) counted requests were delivered" }
        let isExact = options.disturbance == nil ? captured == UInt64(made) : captured <= UInt64(made)
        return isExact ? nil : "\(captured) of \(made) requests were counted"
    }
}
