import MartletTelemetry

/// The sums of points of one scale, as they are read.
struct StatisticsRow {
    private var sketch = SparseHistogram()
    private var sent: UInt64
    private var received: UInt64
    private var phases = PhaseTotals()
    private var count: UInt64

    /// Reads the columns from `scale` to the phases.
    init(_ reader: inout RowReader) throws {
        sketch.scale = Int32(try reader.number(Int8.self))
        count = try reader.number()
        sketch.sum = try reader.double()
        let (low, hasLow, high, hasHigh) = (
            try reader.double(), try reader.flag(), try reader.double(), try reader.flag()
        )
        (sketch.min, sketch.max) = (hasLow ? low : nil, hasHigh ? high : nil)
        sketch.zeroCount = try reader.number()
        let indexes = try reader.array { try $0.number(Int32.self) }
        let counts = try reader.array { try $0.number(UInt64.self) }
        sketch.buckets = Array(zip(indexes, counts)).map { (index: $0, count: $1) }
        (sent, received) = (try reader.number(), try reader.number())
        let phaseCounts = try reader.array { try $0.number(UInt64.self) }
        let phaseSeconds = try reader.array { try $0.double() }
        for (phase, total) in zip(RequestPhase.allCases, zip(phaseCounts, phaseSeconds)) where total.0 > 0 {
            phases[phase] = PhaseTotals.Total(count: total.0, seconds: total.1)
        }
    }

    /// The statistics of a single point, at their own scale; `nil` if they are none.
    var ofPoint: RequestStatistics? {
        var (histogram, sketch) = (ExponentialHistogram(scale: sketch.scale), sketch)
        sketch.bucketCount = sketch.buckets.count
        sketch.valuesInBuckets = sketch.buckets.reduce(0) { $0 &+ $1.count }
        guard histogram.merge(sketch) else { return nil }
        return RequestStatistics(duration: histogram, bytesSent: sent, bytesReceived: received)
    }

    func add(to statistics: inout RequestStatistics) {
        addSketch(to: &statistics.duration)
        statistics.bytesSent &+= sent
        statistics.bytesReceived &+= received
        statistics.phases.merge(phases)
    }

    /// The sum of sketches may have more buckets than one sketch, so it is added in parts. Bounds may be added twice.
    private func addSketch(to histogram: inout ExponentialHistogram) {
        var rest = sketch.buckets[...]
        var isFirst = true
        while isFirst || !rest.isEmpty {
            var part = sketch
            part.buckets = Array(rest.prefix(ExponentialHistogram.maxBuckets))
            part.bucketCount = part.buckets.count
            part.valuesInBuckets = part.buckets.reduce(0) { $0 &+ $1.count }
            if !isFirst { (part.sum, part.zeroCount) = (0, 0) }
            _ = histogram.merge(part)
            rest = rest.dropFirst(part.bucketCount)
            isFirst = false
        }
    }
}
