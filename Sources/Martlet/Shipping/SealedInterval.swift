import MartletTelemetry

/// An interval as its batches: one of metrics and, where details were kept, one of traces.
struct SealedInterval {
    typealias Batch = (file: BatchFile, body: [UInt8])

    var metrics: Batch
    /// `nil` where none were kept, or could not be encoded.
    var details: Batch?
    /// How many details were kept.
    var detailCount: Int
    /// The losses that its ledger tells of.
    var dropped: [DropReason: UInt64]

    var sequence: UInt64 { metrics.file.sequence }
}
