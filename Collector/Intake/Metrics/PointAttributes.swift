import MartletOTLP
import MartletPoints
import MartletTelemetry

/// The decoded attributes of a point of any metric.
final class PointAttributes: Sendable {
    /// The kind and the bytes from which the attributes were decoded.
    let kind: RequestKind
    let bytes: AttributeBytes

    let series: SharedDimensions
    /// Bytes of the longest text that distinguishes series.
    let longestText: Int
    /// The phase in `martlet.phase`; `nil` if it names none.
    let phase: RequestPhase?

    init(_ bytes: AttributeBytes, of kind: RequestKind) throws(ProtobufReader.UncommonForm) {
        let attributes = try bytes.decoded()
        let dimensions = RequestDimensions(kind: kind, attributes: attributes)
        self.kind = kind
        self.bytes = bytes.compact
        series = SharedDimensions(dimensions)
        longestText =
            [dimensions.method, dimensions.host, dimensions.endpoint, dimensions.error ?? "", dimensions.rule ?? ""]
            .map(\.utf8.count).max() ?? 0
        phase = attributes.text(AttributeName.phase).flatMap(RequestPhase.init)
    }

    /// The attributes of the point, decoded anew at each call. Only a cumulative point needs them: its stream is more
    /// than its series.
    var decoded: [OTLPKeyValue] { (try? bytes.decoded()) ?? [] }
}
