import MartletOTLP
import MartletTelemetry

/// Why one point is not taken, in a sentence.
struct PointRefusal: Error {
    var reason: String
}

/// What the duration and the sizes of the same requests have in common.
struct PointKey: Hashable {
    var dimensions: RequestDimensions
    var start: UnixNanoseconds
    var end: UnixNanoseconds

    init(
        _ kind: RequestKind, _ attributes: [OTLPKeyValue], _ start: UnixNanoseconds, _ end: UnixNanoseconds,
        _ limits: IntakeLimits
    ) throws(PointRefusal) {
        // A store keeps times as 63 bits, which last until 2262.
        guard end > 0, start <= end, end <= UInt64(Int64.max) else {
            throw PointRefusal(reason: "an interval that ends before it starts, or at no time")
        }
        dimensions = RequestDimensions(kind: kind, attributes: attributes)
        guard dimensions.fits(limits) else { throw PointRefusal(reason: "an attribute of the point is too long") }
        self.start = start
        self.end = end
    }
}
