import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

@Suite struct PhasesBlobTests {
    private static let totals = Samples.phases([
        .queue: (1, 0), .connect: (.max, 1e9), .firstByte: (300, 0.125), .transfer: (2, 3),
    ])

    @Test func totalsComeBackAsTheyWere() {
        #expect(PhasesBlob.decode(PhasesBlob.encode(Self.totals)) == Self.totals)
    }

    @Test func everyPhaseIsStored() {
        let all = Samples.phases(RequestPhase.allCases.reduce(into: [:]) { $0[$1] = (2, 0.5) })
        #expect(PhasesBlob.decode(PhasesBlob.encode(all)) == all)
    }

    @Test func noPhasesTakeNoBytes() {
        #expect(PhasesBlob.encode(PhaseTotals()).isEmpty)
        #expect(PhasesBlob.decode([]) == PhaseTotals())
    }

    @Test func truncatedTotalsAreRefusedAtEveryLength() {
        let blob = PhasesBlob.encode(Self.totals)
        for length in 1..<blob.count { #expect(PhasesBlob.decode(Array(blob.prefix(length))) == nil) }
        #expect(PhasesBlob.decode(blob + [0]) == nil)
    }

    @Test func sumsThatCannotBeAreRefused() {
        for seconds in [-1, .nan, .infinity] {
            #expect(PhasesBlob.decode(PhasesBlob.encode(Samples.phases([.dns: (1, seconds)]))) == nil)
        }
    }
}
