import MartletOTLP
import MartletTelemetry

/// What the attributes of a point say, of whichever metric it is.
final class PointAttributes: Sendable {
    /// What it was made of.
    let kind: RequestKind
    let bytes: AttributeBytes

    let series: SharedDimensions
    /// Bytes of the longest text that tells series apart.
    let longestText: Int
    /// `martlet.phase`, where it names one.
    let phase: RequestPhase?

    init(_ bytes: AttributeBytes, of kind: RequestKind) throws(ProtobufReader.Unusual) {
        let attributes = try bytes.decoded()
        let dimensions = RequestDimensions(kind: kind, attributes: attributes)
        self.kind = kind
        self.bytes = bytes.compact
        series = SharedDimensions(dimensions)
        longestText =
            [dimensions.method, dimensions.host, dimensions.endpoint, dimensions.error ?? ""]
            .map(\.utf8.count).max() ?? 0
        phase = attributes.text(AttributeName.phase).flatMap(RequestPhase.init)
    }

    /// All of them. Made anew for each who asks: only a point that counts on is told apart by more than its series.
    var decoded: [OTLPKeyValue] { (try? bytes.decoded()) ?? [] }
}
