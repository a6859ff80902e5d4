import MartletPoints
import MartletTelemetry

/// Hashes that name senders, series and batches by their contents: every collector gives the same name to the same thing.
enum RowIdentity {
    /// What belongs to a sender's identity; the rest of its resource may change while it lives.
    static func sender(_ resource: TelemetryResource) -> UInt64 {
        number([
            resource.service, resource.version ?? "", resource.environment ?? "", resource.instance,
            resource.host ?? "",
        ])
    }

    static func series(_ dimensions: RequestDimensions) -> UInt64 {
        number([
            dimensions.kind.rawValue, dimensions.source.rawValue, dimensions.method, dimensions.host,
            String(dimensions.port), dimensions.endpoint, String(dimensions.status ?? 0), dimensions.error ?? "",
            dimensions.rule ?? "",
        ])
    }

    /// Returns 16 bytes.
    static func batch(_ id: BatchID) -> [UInt8] { hash(["batch", id.description]) }

    /// Returns 16 bytes of a sender's points that have no number: the same figures of the same end are the same points.
    static func contents(_ points: [RequestPoint], of sender: UInt64) -> [UInt8] {
        var figures = TableRows(Schema.point)
        figures.number(sender)
        for point in points {
            figures.number(series(point.dimensions))
            figures.number(point.start)
            figures.number(point.end)
            figures.add(point.statistics)
        }
        return StreamID(hashing: [figures.bytes]).bytes
    }

    /// Returns the identity of a span among those of its trace with its id: a client and its server may share a span's id (Zipkin's
    /// "shared spans").
    static func span(_ span: SpanRecord, of sender: UInt64, in batch: BatchID?) -> UInt64 {
        number([String(sender), span.kind.rawValue, batch?.description ?? ""])
    }

    private static func number(_ texts: [String]) -> UInt64 { UInt64(bigEndian: hash(texts).prefix(8)) }

    private static func hash(_ texts: [String]) -> [UInt8] { StreamID(hashing: texts.map { Array($0.utf8) }).bytes }
}

extension UInt64 {
    fileprivate init(bigEndian bytes: some Sequence<UInt8>) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
