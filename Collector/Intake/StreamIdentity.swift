import MartletOTLP
import MartletTelemetry
import SwiftProtobuf

extension StreamID {
    /// - Parameter attributes: in any order.
    init(_ scope: OTLPInstrumentationScope, _ metric: String, _ attributes: [OTLPKeyValue]) {
        let names = [scope.name, scope.version, metric].map { Array($0.utf8) }
        self.init(hashing: names + attributes.sorted { $0.key < $1.key }.map(Self.bytes))
    }

    /// The same for the same attribute: there is no map in it, whose order would be anybody's guess.
    private static func bytes(of attribute: OTLPKeyValue) -> [UInt8] {
        (try? attribute.serializedBytes()) ?? Array(attribute.key.utf8)
    }
}
