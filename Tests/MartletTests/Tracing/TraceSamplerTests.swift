import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct TraceSamplerTests {
    @Test func onlyTheLastSevenBytesDecideSampling() throws {
        let sampler = TraceSampler(rate: 0.25)
        let limit = UInt64(3) << 54
        #expect(sampler.samples(try trace(limit)))
        #expect(!sampler.samples(try trace(limit - 1)))
        #expect(!sampler.samples(try trace(0xff << 56)))
    }

    @Test func rateOneKeepsAllAndRateZeroNone() throws {
        #expect(TraceSampler(rate: 1).samples(try trace(0)))
        #expect(!TraceSampler(rate: 0).samples(try trace(.max)))
    }

    @Test(arguments: [Double.nan, -1, -Double.infinity])
    func invalidRateKeepsNone(rate: Double) throws {
        #expect(!TraceSampler(rate: rate).samples(try trace(.max)))
    }

    @Test func parentDecidesForItsChildren() throws {
        for isSampled in [true, false] {
            let root = TraceContext(
                traceID: try trace(7), spanID: TraceIDs.nextSpan(), isSampled: isSampled, traceState: "vendor=1")
            let child = TraceSampler(rate: isSampled ? 0 : 1).span(childOf: root)
            #expect(child.isSampled == isSampled)
            #expect(child.traceID == root.traceID)
            #expect(child.traceState == "vendor=1")
            #expect(child.spanID != root.spanID)
        }
    }

    @Test func callersFlagOrTraceIDOrNothingOfItDecides() throws {
        let caller = try #require(TraceParent("00-4bf92f3577b34da6ff00000000000001-00f067aa0ba902b7-01"))
        #expect(TraceSampler(rate: 0).samples(caller))
        #expect(!TraceSampler(rate: 0.5, trust: .traceID).samples(caller))
        let kept = (0..<400).filter { _ in TraceSampler(rate: 0.5, trust: .nothing).samples(caller) }.count
        #expect((100...300).contains(kept))
    }

    @Test func rateOfAQuarterKeepsAQuarterOfTraces() {
        let sampler = TraceSampler(rate: 0.25)
        let sampled = (0..<20_000).filter { _ in sampler.samples(TraceIDs.nextTrace()) }.count
        #expect((4_500...5_500).contains(sampled))
    }

    @Test func idsFromManyThreadsAreAllDifferent() async {
        let ids = await withTaskGroup(of: Set<TraceID>.self) { group in
            for _ in 0..<4 { group.addTask { Set((0..<5_000).map { _ in TraceIDs.nextTrace() }) } }
            return await group.reduce(into: Set<TraceID>()) { $0.formUnion($1) }
        }
        #expect(ids.count == 20_000)
    }

    private func trace(_ low: UInt64) throws -> TraceID { try #require(TraceID(high: 1, low: low)) }
}
