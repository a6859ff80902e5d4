import MartletStorage
import MartletTelemetry

/// Hashes that identify senders, series and batches by their contents. Every collector computes the same hash for the same thing.
enum RowIdentity {
    /// Returns the identity of a sender. The rest of its resource may change while it runs. A dimension that is not in the list
    /// counts only if it has a value, so that a new dimension does not change the identity of senders without it.
    static func sender(_ resource: TelemetryResource) -> UInt64 {
        let listed: [Dimension] = [.service, .version, .environment, .instance]
        let added = Dimension.ofSender.filter { !listed.contains($0) }.compactMap { dimension in
            dimension.value(of: resource).map { [dimension.column, $0] }
        }
        return number(listed.map { $0.value(of: resource) ?? "" } + [resource.host ?? ""] + added.joined())
    }

    /// Returns the identity of a series. A dimension that is not in the list counts only if it has a value, so that a new
    /// dimension does not change the identity of series without it.
    static func series(_ series: RequestDimensions) -> UInt64 {
        let listed: [Dimension] = [.kind, .method, .host, .endpoint, .status, .error, .rule]
        let texts = [
            series.kind.rawValue, series.source.rawValue, series.method, series.host, String(series.port),
            series.endpoint, String(series.status ?? 0), series.error ?? "", series.rule ?? "",
        ]
        let added = Dimension.ofRequest.filter { !listed.contains($0) }.compactMap { dimension in
            dimension.value(of: series).map { [dimension.column, $0] }
        }
        return number(texts + added.joined())
    }

    /// Returns 16 bytes that identify a batch.
    static func batch(_ id: BatchID) -> [UInt8] { hash(["batch", id.description]) }

    /// Returns 16 bytes that identify a sender's points in a batch without a number. Points with the same figures, start and
    /// end are the same points.
    static func contents(_ points: [RequestPoint], of sender: UInt64) -> [UInt8] {
        var figures = TableRows(Schema.point)
        figures.number(sender)
        for point in points {
            figures.number(PointSeries(point.series).id)
            figures.number(point.start)
            figures.number(point.end)
            figures.add(point.statistics)
        }
        return StreamID(hashing: [figures.bytes]).bytes
    }

    /// Returns 16 bytes that identify points of a sender that arrived together, by their own identities.
    static func arrived(_ identities: [UInt64], of sender: UInt64) -> [UInt8] {
        StreamID(hashing: [Array("arrived".utf8), bytes(of: [sender] + identities.sorted())]).bytes
    }

    /// Returns 16 bytes that identify a point of a sender without batch numbers.
    static func arrived(_ identity: UInt64) -> [UInt8] { bytes(of: [0, identity]) }

    /// Returns 16 bytes that identify a point of a process in a batch without a number.
    static func contents(_ point: ProcessPoint, of sender: UInt64) -> [UInt8] {
        var figures = TableRows(Schema.process)
        figures.append(point, sender: sender, batch: [])
        return StreamID(hashing: [figures.bytes]).bytes
    }

    /// Returns 16 bytes that identify the cumulative figures of an intake request without a batch number.
    static func cumulative(_ metrics: InstanceMetrics, of sender: UInt64) -> [UInt8] {
        var (points, totals) = (TableRows(Schema.cumulative), TableRows(Schema.processTotal))
        points.append(metrics.cumulative, sender: sender, arrival: 0)
        totals.append(metrics.processTotals, sender: sender, arrival: 0)
        return StreamID(hashing: [points.bytes, totals.bytes]).bytes
    }

    /// Returns 16 bytes that identify a cumulative stream and its start. Together with an end, they identify a difference in
    /// the stream.
    static func difference(_ stream: CumulativeDifferences.Stream) -> [UInt8] {
        hash(["difference", "\(stream.start)"], stream.id.bytes)
    }

    /// Returns 16 bytes that identify a counter of a process and its start.
    static func difference(_ counter: ProcessCounter, start: UnixNanoseconds) -> [UInt8] {
        hash(["total", "\(counter.rawValue)", "\(start)"])
    }

    /// Returns 16 bytes that identify the new requests in an arrival.
    static func arrival(_ time: Int64) -> [UInt8] { hash(["arrival", "\(time)"]) }

    /// Returns 16 bytes that identify a sender's spans in a batch without a number.
    static func spans(_ spans: [SpanRecord], of sender: UInt64) -> [UInt8] {
        hash(["spans", String(sender)] + spans.map { "\($0.traceID) \($0.spanID) \($0.kind.rawValue)" })
    }

    /// Returns a number that distinguishes a span from others with the same id in its trace. A client and a server may share a
    /// span id (Zipkin's "shared spans").
    static func span(_ span: SpanRecord, of sender: UInt64, in batch: BatchID?) -> UInt64 {
        number([String(sender), span.kind.rawValue, batch?.description ?? ""])
    }

    private static func bytes(of words: [UInt64]) -> [UInt8] {
        words.flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) }
    }

    private static func number(_ texts: [String]) -> UInt64 { UInt64(bigEndian: hash(texts).prefix(8)) }

    private static func hash(_ texts: [String], _ bytes: [UInt8] = []) -> [UInt8] {
        StreamID(hashing: texts.map { Array($0.utf8) } + (bytes.isEmpty ? [] : [bytes])).bytes
    }
}

extension UInt64 {
    fileprivate init(bigEndian bytes: some Sequence<UInt8>) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
