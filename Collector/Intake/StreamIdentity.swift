import MartletOTLP
import MartletTelemetry
import SwiftProtobuf

extension StreamID {
    /// What all streams of a scope begin with: a scope is hashed once, and not for each point.
    ///
    /// - Parameter scope: its attributes in any order.
    init(_ scope: OTLPInstrumentationScope) {
        self.init(hashing: [scope.name, scope.version].map { Array($0.utf8) })
        guard !scope.attributes.isEmpty else { return }
        // As one part, so that none of them is taken for one of a point.
        self = adding([StreamID(hashing: Self.sorted(scope.attributes)).bytes])
    }

    /// One of this scope's metrics.
    func adding(metric: String) -> StreamID { adding([Array(metric.utf8)]) }

    /// - Parameter attributes: in any order.
    func adding(_ attributes: [OTLPKeyValue]) -> StreamID { adding(Self.sorted(attributes)) }

    private static func sorted(_ attributes: [OTLPKeyValue]) -> [[UInt8]] {
        attributes.sorted { $0.key < $1.key }.map(bytes)
    }

    /// The same for the same attribute: there is no map in it, whose order would be anybody's guess.
    private static func bytes(of attribute: OTLPKeyValue) -> [UInt8] {
        (try? attribute.serializedBytes()) ?? Array(attribute.key.utf8)
    }
}
