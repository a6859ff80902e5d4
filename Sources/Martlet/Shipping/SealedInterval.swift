import MartletTelemetry

/// An interval as batches: one of metrics and, if details were kept, one of traces.
struct SealedInterval {
    var metrics: EncodedBatch
    /// `nil` if no details were kept, or they could not be encoded.
    var details: EncodedBatch?
    /// The number of details that were kept.
    var detailCount: Int
    /// The losses that the ledger of the metrics reports.
    var dropped: [DropReason: UInt64]

    var sequence: UInt64 { metrics.file.sequence }
}
