import MartletTelemetry

/// The phases of a point as the bytes of a BLOB column; empty for none.
///
///     version      1 byte, 1
///     phases       1 byte: bit n stands for the phase n in the order below
///     then, for each phase whose bit is set:
///       count      varint
///       seconds    8 bytes, the bits of a Double, little-endian
enum PhasesBlob {
    private static let version: UInt8 = 1
    /// The phases in the order of their bits. New phases are only added at the end, because later versions read the store.
    private static let order: [RequestPhase] = [.queue, .dns, .connect, .tls, .firstByte, .transfer]

    typealias Phase = (phase: RequestPhase, total: PhaseTotals.Total)

    static func encode(_ totals: PhaseTotals) -> [UInt8] {
        guard !totals.isEmpty else { return [] }
        var writer = ByteWriter()
        var bits: UInt8 = 0
        for (bit, phase) in order.enumerated() where totals[phase].count > 0 { bits |= 1 << bit }
        writer.append(version)
        writer.append(bits)
        for phase in order where totals[phase].count > 0 {
            writer.append(varint: totals[phase].count)
            writer.append(bitsOf: totals[phase].seconds)
        }
        return writer.bytes
    }

    /// Returns `nil` if the bytes cannot have come from ``encode(_:)``.
    static func decode(_ bytes: [UInt8]) -> PhaseTotals? {
        var (reader, phases, totals) = (ByteReader(bytes), emptyPhases, PhaseTotals())
        guard let count = read(&reader, into: &phases) else { return nil }
        for (phase, total) in phases[..<count] { totals.add(total, to: phase) }
        return totals
    }

    /// An array with a total of 0 for every phase, for ``read(_:into:)``.
    static var emptyPhases: [Phase] { order.map { ($0, PhaseTotals.Total()) } }

    /// Reads the totals to the reader's end into `phases`, an array from ``emptyPhases``, and returns their number. The
    /// result is a list because most points have two phases. Returns `nil` if the bytes cannot have come from ``encode(_:)``.
    static func read(_ reader: inout ByteReader, into phases: inout [Phase]) -> Int? {
        guard !reader.isAtEnd else { return 0 }
        guard reader.byte() == version, let bits = reader.byte(), bits < 1 << order.count else { return nil }
        var (rest, read) = (bits, 0)
        while rest != 0 {
            let phase = order[rest.trailingZeroBitCount]
            rest &= rest - 1
            guard let count = reader.varint(), count > 0, let seconds = reader.double(),
                (0...Double.greatestFiniteMagnitude).contains(seconds)
            else { return nil }
            phases[read] = (phase, PhaseTotals.Total(count: count, seconds: seconds))
            read += 1
        }
        return reader.isAtEnd ? read : nil
    }
}
