import MartletIntake
import Synchronization

/// The memory that telemetry in work has, shared by all requests. Each takes what it needs as it comes to need it, and
/// what does not fit is turned away: the collector is behind, and its memory stays as it is.
final class IngestRoom: Sendable {
    private struct Use {
        var requests = 0
        var bytes = 0
    }

    private let maxRequests: Int
    private let maxBytes: Int
    private let use = Mutex(Use())

    init(_ limits: ServerLimits) {
        maxRequests = limits.maxIngests
        maxBytes = limits.maxIngestBytes
    }

    /// A request's part of the room, which it leaves with the value.
    struct Place: ~Copyable {
        private let room: IngestRoom
        private var bytes = 0

        fileprivate init(in room: IngestRoom) {
            self.room = room
        }

        /// - Throws: ``IntakeRejection/busy`` when there is no room for so many; the place stays as large as it was.
        mutating func resize(to bytes: Int) throws(IntakeRejection) {
            try room.grow(by: bytes - self.bytes)
            self.bytes = bytes
        }

        /// Adds what came to a body that may come to `length` bytes. Room is taken when bytes come, and not when they are
        /// announced, so whoever announces them and stalls turns nobody away. It doubles, so that they are copied once on
        /// average; meanwhile they are there twice.
        ///
        /// - Throws: ``IntakeRejection/busy`` when there is no room for so many.
        mutating func append(
            _ part: some Collection<UInt8>, to body: inout [UInt8], of length: Int
        ) throws(IntakeRejection) {
            let count = body.count + part.count
            if count > body.capacity {
                let capacity = max(count, min(max(2 * body.capacity, ServerLimits.firstBodyBytes), length))
                try resize(to: body.capacity + capacity)
                body.reserveCapacity(capacity)
                try resize(to: capacity)
            }
            body.append(contentsOf: part)
        }

        deinit { room.leave(bytes) }
    }

    /// - Throws: ``IntakeRejection/busy`` when too many are in it.
    func enter() throws(IntakeRejection) -> Place {
        let isFull = use.withLock { use in
            guard use.requests < maxRequests, use.bytes < maxBytes else { return true }
            use.requests += 1
            return false
        }
        guard !isFull else { throw .busy }
        return Place(in: self)
    }

    private func grow(by bytes: Int) throws(IntakeRejection) {
        let isFull = use.withLock { use in
            guard bytes <= 0 || use.bytes + bytes <= maxBytes else { return true }
            use.bytes += bytes
            return false
        }
        guard !isFull else { throw .busy }
    }

    private func leave(_ bytes: Int) {
        use.withLock { use in
            use.requests -= 1
            use.bytes -= bytes
        }
    }
}
