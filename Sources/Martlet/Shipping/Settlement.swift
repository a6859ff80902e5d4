import MartletTelemetry

/// The end of a batch, as ``BatchStore/settle(_:as:)`` notes it.
enum Settlement: Equatable {
    /// - Parameter rejected: requests of the batch that the collector did not take.
    case delivered(rejected: UInt64)
    case dropped(DropReason)
}
