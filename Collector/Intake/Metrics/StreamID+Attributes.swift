import MartletOTLP
import MartletPoints
import MartletTelemetry
import SwiftProtobuf

extension StreamID {
    /// The common beginning of all streams of a scope, so that a scope is hashed once, and not for each point.
    ///
    /// - Parameter scope: its attributes may be in any order.
    init(_ scope: OTLPInstrumentationScope) {
        self.init(hashing: [scope.name, scope.version].map { Array($0.utf8) })
        guard !scope.attributes.isEmpty else { return }
        // The attributes are one part, so that none of them can be taken for an attribute of a point.
        self = adding([StreamID(hashing: Self.sorted(scope.attributes)).bytes])
    }

    /// Returns the beginning of the streams of one of the scope's metrics.
    func adding(metric: String) -> StreamID { adding([Array(metric.utf8)]) }

    /// Returns the stream of a point.
    ///
    /// - Parameter attributes: the point's attributes, in any order.
    func adding(_ attributes: [OTLPKeyValue]) -> StreamID { adding(Self.sorted(attributes)) }

    private static func sorted(_ attributes: [OTLPKeyValue]) -> [[UInt8]] {
        attributes.sorted { $0.key < $1.key }.map(bytes)
    }

    /// Returns the same bytes for the same attribute: no part of it is a map, whose order could differ.
    private static func bytes(of attribute: OTLPKeyValue) -> [UInt8] {
        (try? attribute.serializedBytes()) ?? Array(attribute.key.utf8)
    }
}
