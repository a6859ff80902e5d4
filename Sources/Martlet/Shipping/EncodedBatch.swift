import MartletOTLP
import MartletTelemetry

/// A batch that is ready to be stored and posted: its body, and the name under which the body is stored.
struct EncodedBatch {
    var file: BatchFile
    let body: [UInt8]
}

extension EncodedBatch {
    /// Makes a batch of a message, in gzip if `isCompressed`. Throws if there is no memory for it.
    ///
    /// - Parameters:
    ///   - message: the bytes of an OTLP message.
    ///   - first: the sequence of the first interval in the batch; `nil` for a batch of one interval.
    ///   - requests: the number of requests; 0 for details.
    init(
        _ message: [UInt8], sequence: UInt64, first: UInt64? = nil, part: String = "", signal: Signal, requests: UInt64,
        isCompressed: Bool
    ) throws {
        body = isCompressed ? try Gzip.compress(message) : message
        file = BatchFile(
            sequence: sequence, first: first, part: part, signal: signal, requests: requests,
            isCompressed: isCompressed, body: body)
    }
}
