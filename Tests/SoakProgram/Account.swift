import Martlet

/// What was made, what of it was counted, and what it took.
struct Account: Encodable {
    /// How often memory is looked at.
    static let samples = 10

    var made = 0
    var captured: UInt64 = 0
    var delivered: UInt64 = 0
    var waiting: UInt64 = 0
    var dropped: UInt64 = 0
    /// When the last caller was told of his end.
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

    /// What is wrong, if anything.
    func complaint(_ options: Options) -> String? {
        guard options.mode != .bare else { return nil }
        if let captureReason { return "capture: \(captureReason)" }
        if inFlight != 0 { return "\(inFlight) requests are in flight after the last one ended" }
        if internalErrors != 0 { return "\(internalErrors) internal errors" }
        // What ends while its agent does waits in the journal for the service's next start.
        let left = options.disturbance == .restarting ? waiting : 0
        if delivered + left != captured { return "\(delivered) of \(captured) counted requests were delivered" }
        let isExact = options.disturbance == nil ? captured == UInt64(made) : captured <= UInt64(made)
        return isExact ? nil : "\(captured) of \(made) requests were counted"
    }
}
