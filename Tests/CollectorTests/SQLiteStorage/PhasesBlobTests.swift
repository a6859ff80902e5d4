import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

@Suite struct PhasesBlobTests {
    private static let totals = Samples.phases([
        .queue: (1, 0), .connect: (.max, 1e9), .firstByte: (300, 0.125), .transfer: (2, 3),
    ])

    /// Returns `nil` if decoding refuses the bytes.
    private func decoded(_ bytes: [UInt8]) -> PhaseTotals? {
        var (reader, phases, totals) = (ByteReader(bytes), PhasesBlob.emptyPhases, PhaseTotals())
        guard let count = PhasesBlob.read(&reader, into: &phases) else { return nil }
        for (phase, total) in phases[..<count] { totals.add(total, to: phase) }
        return totals
    }

    @Test func totalsAreDecodedUnchanged() {
        #expect(decoded(PhasesBlob.encode(Self.totals)) == Self.totals)
    }

    @Test func everyPhaseIsStored() {
        let all = Samples.phases(RequestPhase.allCases.reduce(into: [:]) { $0[$1] = (2, 0.5) })
        #expect(decoded(PhasesBlob.encode(all)) == all)
    }

    @Test func noPhasesTakeNoBytes() {
        #expect(PhasesBlob.encode(PhaseTotals()).isEmpty)
        #expect(decoded([]) == PhaseTotals())
    }

    @Test func truncatedTotalsAreRefusedAtEveryLength() {
        let blob = PhasesBlob.encode(Self.totals)
        for length in 1..<blob.count { #expect(decoded(Array(blob.prefix(length))) == nil) }
        #expect(decoded(blob + [0]) == nil)
    }

    @Test func impossibleSumsAreRefused() {
        for seconds in [-1, .nan, .infinity] {
            #expect(decoded(PhasesBlob.encode(Samples.phases([.dns: (1, seconds)]))) == nil)
        }
    }
}
