import MartletTelemetry

extension MartletStatus {
    /// The ledger of the agent, in requests: `captured = delivered + waiting + dropped`, always.
    public struct Ledger: Sendable, Hashable {
        /// Requests that were seen since the process started.
        public let captured: UInt64
        /// Requests in batches that the collector acknowledged.
        public let delivered: UInt64
        /// Requests in memory or in the buffer.
        public let waiting: UInt64
        /// Requests that will never be delivered, by reason; empty as long as no request was lost.
        public let dropped: [DropReason: UInt64]

        init(
            captured: UInt64 = 0, delivered: UInt64 = 0, waiting: UInt64 = 0, dropped: [DropReason: UInt64] = [:]
        ) {
            self.captured = captured
            self.delivered = delivered
            self.waiting = waiting
            self.dropped = dropped
        }

        init(_ ledger: MartletTelemetry.Ledger) {
            self.init(
                captured: ledger.captured, delivered: ledger.delivered, waiting: ledger.waiting,
                dropped: Dictionary(uniqueKeysWithValues: ledger.dropped.map { (DropReason($0.key), $0.value) }))
        }
    }

    /// The reason why requests were lost. A later version may have more reasons than these.
    public struct DropReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The name on the wire and in the collector's reports.
        public let rawValue: String

        /// The raw value.
        public var description: String { rawValue }

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        fileprivate init(_ reason: MartletTelemetry.DropReason) {
            rawValue = reason.rawValue
        }

        /// The buffer was full (`MARTLET_BUFFER_MAX`). Its batches were merged into coarser intervals, and the oldest still
        /// had to be deleted.
        public static let bufferFull = Self(.bufferFull)
        /// The collector refused the batch for good, or took it without some of its requests.
        public static let rejected = Self(.rejected)
        /// The batch's file was gone when its turn came: another instance of the service deleted it to make room, or a person
        /// or another program removed it.
        public static let gone = Self(.gone)
        /// The batch's file differs from the bytes that were written, because the disk lost or changed some. The file is in
        /// `quarantine/`.
        public static let corrupt = Self(.corrupt)
        /// The collector refused a batch of that size, and the batch could not be divided any further.
        public static let tooLarge = Self(.tooLarge)
        /// An upload had begun, and its outcome stayed unknown for so long that the collector may have forgotten the batch.
        /// Sent once more, the batch might count twice.
        public static let expired = Self(.expired)
        /// A process of another version of Martlet dropped the requests, for a reason that this version does not know.
        public static let other = Self(.other)
    }
}
