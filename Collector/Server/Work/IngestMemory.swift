import MartletIntake
import Synchronization

/// The memory that all bodies together may take while they are read and decoded. If too little is free, the request is refused,
/// because the collector is behind. A request without a body takes none.
final class IngestMemory: Sendable {
    private let maxBytes: Int
    private let used = Mutex(0)

    init(_ limits: ServerLimits) {
        maxBytes = limits.maxIngestBytes
    }

    /// A request's share of the memory. It begins empty, and is released when the value goes out of scope.
    struct Reservation: ~Copyable {
        private let room: IngestMemory
        private var bytes = 0

        init(in room: IngestMemory) {
            self.room = room
        }

        /// Sets the reservation to `bytes`.
        ///
        /// - Throws: ``IntakeRejection/busy`` if there is not that much memory; the reservation keeps its size.
        mutating func resize(to bytes: Int) throws(IntakeRejection) {
            try room.grow(by: bytes - self.bytes)
            self.bytes = bytes
        }

        /// Reduces the reservation to `bytes` if that is less.
        mutating func shrink(to bytes: Int) throws(IntakeRejection) { try resize(to: min(self.bytes, bytes)) }

        /// Appends bytes to a body. Memory is reserved when bytes come, not when they are announced. So a client that announces
        /// a body and stalls blocks no other client.
        ///
        /// - Parameter announcedLength: the number of bytes that the body may grow to.
        /// - Throws: ``IntakeRejection/busy`` if there is not enough memory.
        mutating func append(
            _ part: some Collection<UInt8>, to body: inout [UInt8], of announcedLength: Int
        ) throws(IntakeRejection) {
            let count = body.count + part.count
            if count > body.capacity {
                // The capacity doubles, so that each byte is copied once on average. During the copy both buffers are reserved.
                let capacity = max(count, min(max(2 * body.capacity, ServerLimits.firstBodyBytes), announcedLength))
                try resize(to: body.capacity + capacity)
                body.reserveCapacity(capacity)
                try resize(to: capacity)
            }
            body.append(contentsOf: part)
        }

        deinit { room.release(bytes) }
    }

    private func grow(by bytes: Int) throws(IntakeRejection) {
        let isFull = used.withLock { used in
            guard bytes <= 0 || used + bytes <= maxBytes else { return true }
            used += bytes
            return false
        }
        guard !isFull else { throw .busy }
    }

    private func release(_ bytes: Int) {
        used.withLock { $0 -= bytes }
    }
}
