import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct DetailSamplerTests {
    @Test func theRateDecidesByTraceIDAlone() {
        var sampler = DetailSampler(rate: 0.25, keepFailures: false, slow: .seconds(1))
        let quarter = UInt64(3) << 54
        #expect(keeps(&sampler, traceIDLow: quarter))
        #expect(!keeps(&sampler, traceIDLow: quarter - 1))
        // Only the last seven bytes count.
        #expect(!keeps(&sampler, traceIDLow: 0xff << 56))
    }

    @Test func aRateOfOneKeepsAllAndOfNoughtNone() {
        var all = DetailSampler(rate: 1, keepFailures: false, slow: .seconds(1))
        #expect(keeps(&all, traceIDLow: 0))
        var none = DetailSampler(rate: 0, keepFailures: false, slow: .seconds(1))
        #expect(!keeps(&none, traceIDLow: .max))
    }

    @Test(arguments: [Double.nan, -1, -Double.infinity])
    func aRateThatIsNoShareKeepsNone(rate: Double) {
        var sampler = DetailSampler(rate: rate, keepFailures: false, slow: .seconds(1))
        #expect(!keeps(&sampler, traceIDLow: .max))
    }

    @Test func failuresAndSlowRequestsAreKeptWhateverTheRate() {
        var sampler = DetailSampler(rate: 0, keepFailures: true, slow: .seconds(1))
        #expect(keeps(&sampler, outcome: .serverError))
        #expect(keeps(&sampler, nanoseconds: 1_000_000_000))
        #expect(!keeps(&sampler, outcome: .cancelled))
        #expect(!keeps(&sampler, nanoseconds: 999_999_999))
    }

    @Test func aLimitAnIntervalHoldsAndWhatItDropsIsCounted() {
        var sampler = DetailSampler(rate: 0, keepFailures: true, slow: .seconds(1))
        let kept = (0..<150).filter { _ in keeps(&sampler, outcome: .transportFailure) }.count
        #expect(kept == MartletLimits.failureDetails)
        #expect(sampler.dropped == 50)
        sampler.startInterval()
        #expect(keeps(&sampler, outcome: .transportFailure))
    }

    private func keeps(
        _ sampler: inout DetailSampler, traceIDLow: UInt64 = 0, outcome: RequestOutcome = .success,
        nanoseconds: UInt64 = 1
    ) -> Bool {
        sampler.keeps(traceIDLow: traceIDLow, outcome: outcome, kind: .client, nanoseconds: nanoseconds)
    }
}
