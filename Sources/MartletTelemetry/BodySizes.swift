/// The distributions of the body sizes of one series in one interval, in bytes. For other programs: Martlet's collector keeps
/// the sums, which ``RequestStatistics`` has. A plain value.
package struct BodySizes: Sendable, Equatable {
    /// Eight buckets for each power of two: a quantile of sizes is within 4.4 %.
    private static let scale: Int32 = 3

    package private(set) var sent = ExponentialHistogram(scale: Self.scale)
    package private(set) var received = ExponentialHistogram(scale: Self.scale)

    package init() {}

    /// Adds the bodies of one request.
    package mutating func record(sent: UInt64, received: UInt64) {
        self.sent.record(Double(sent))
        self.received.record(Double(received))
    }

    /// The approximate memory, in bytes.
    package var estimatedBytes: Int {
        256 + (sent.buckets.count + received.buckets.count) * MemoryLayout<UInt64>.stride
    }
}
