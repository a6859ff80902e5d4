import MartletTelemetry

/// The figures of a process as the bytes of a BLOB column.
///
///     version      1 byte, 1
///     counters     1 byte: bit n stands for the counter with the raw value n
///     gauges       1 byte, likewise
///     covered      varint
///     then, for each counter whose bit is set, a varint
///     then, for each gauge whose bit is set:
///       count      varint
///       sum        varint
///       max        varint; missing if the count is 1
enum ProcessBlob {
    private static let version: UInt8 = 1

    static func encode(_ statistics: ProcessStatistics) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(version)
        writer.append(statistics.counts.keys.reduce(0) { $0 | 1 << $1.rawValue })
        writer.append(statistics.gauges.keys.reduce(0) { $0 | 1 << $1.rawValue })
        writer.append(varint: statistics.covered)
        for counter in ProcessCounter.allCases {
            if let count = statistics.counts[counter] { writer.append(varint: count) }
        }
        for gauge in ProcessGauge.allCases {
            guard let samples = statistics.gauges[gauge] else { continue }
            writer.append(varint: samples.count)
            writer.append(varint: samples.sum)
            if samples.count != 1 { writer.append(varint: samples.max) }
        }
        return writer.bytes
    }

    /// Returns `nil` if the bytes cannot have come from ``encode(_:)``.
    static func decode(_ bytes: [UInt8]) -> ProcessStatistics? {
        var (reader, statistics) = (ByteReader(bytes), ProcessStatistics())
        guard reader.byte() == version, let counters = reader.byte(), let gauges = reader.byte(),
            let covered = reader.varint()
        else { return nil }
        statistics.covered = covered
        for counter in ProcessCounter.allCases where counters & 1 << counter.rawValue != 0 {
            guard let count = reader.varint() else { return nil }
            statistics.counts[counter] = count
        }
        for gauge in ProcessGauge.allCases where gauges & 1 << gauge.rawValue != 0 {
            guard let count = reader.varint(), let sum = reader.varint(), let max = count == 1 ? sum : reader.varint()
            else { return nil }
            statistics.gauges[gauge] = ProcessStatistics.Samples(count: count, sum: sum, max: max)
        }
        return reader.isAtEnd ? statistics : nil
    }
}
