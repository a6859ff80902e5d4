import MartletIntake
import Synchronization

/// The memory for telemetry in work, shared by all requests. Each request reserves memory when it needs it. If there is
/// not enough, the request is turned away: the collector is behind, and its memory stays within the limit. A request without
/// a byte of body takes nothing.
final class IngestRoom: Sendable {
    private let maxBytes: Int
    private let used = Mutex(0)

    init(_ limits: ServerLimits) {
        maxBytes = limits.maxIngestBytes
    }

    /// A request's reservation, which begins empty and ends with the value.
    struct Reservation: ~Copyable {
        private let room: IngestRoom
        private var bytes = 0

        init(in room: IngestRoom) {
            self.room = room
        }

        /// Sets the reservation to `bytes`.
        ///
        /// - Throws: ``IntakeRejection/busy`` if there is not that much memory; the reservation keeps its size.
        mutating func resize(to bytes: Int) throws(IntakeRejection) {
            try room.grow(by: bytes - self.bytes)
            self.bytes = bytes
        }

        /// Appends bytes to a body that may grow to `length` bytes. Memory is reserved when bytes come, and not when they
        /// are announced, so a client that announces a body and stalls turns no other client away. The capacity doubles,
        /// so that a byte is copied once on average. During the copy both buffers are reserved.
        ///
        /// - Throws: ``IntakeRejection/busy`` if there is not enough memory.
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

    private func grow(by bytes: Int) throws(IntakeRejection) {
        let isFull = used.withLock { used in
            guard bytes <= 0 || used + bytes <= maxBytes else { return true }
            used += bytes
            return false
        }
        guard !isFull else { throw .busy }
    }

    private func leave(_ bytes: Int) {
        used.withLock { $0 -= bytes }
    }
}
