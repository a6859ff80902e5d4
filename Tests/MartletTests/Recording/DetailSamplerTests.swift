import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct DetailSamplerTests {
    @Test func sampledFailedAndSlowRequestsAreKept() {
        var sampler = DetailSampler(keepFailures: true, slow: .seconds(1))
        #expect(reserve(&sampler, isSampled: true, isFailure: false, nanoseconds: 1))
        #expect(reserve(&sampler, isSampled: false, isFailure: true, nanoseconds: 1))
        #expect(reserve(&sampler, isSampled: false, isFailure: false, nanoseconds: 1_000_000_000))
        #expect(!reserve(&sampler, isSampled: false, isFailure: false, nanoseconds: 999_999_999))
        #expect(sampler.dropped == 0)
    }

    @Test func failuresAreKeptOnlyIfConfigured() {
        var sampler = DetailSampler(keepFailures: false, slow: .seconds(1))
        #expect(!reserve(&sampler, isSampled: false, isFailure: true, nanoseconds: 1))
    }

    @Test func detailsAboveTheIntervalsLimitAreDroppedAndCounted() {
        var sampler = DetailSampler(keepFailures: true, slow: .seconds(1))
        let kept = (0..<150).filter { _ in sampler.reserve(isSampled: false, isFailure: true, nanoseconds: 1) }.count
        #expect(kept == MartletLimits.failureDetails)
        #expect(sampler.dropped == 50)
        sampler.startInterval()
        #expect(reserve(&sampler, isSampled: false, isFailure: true, nanoseconds: 1))
    }

    /// Calls the sampler outside the macro, which cannot call a mutating method.
    private func reserve(
        _ sampler: inout DetailSampler, isSampled: Bool, isFailure: Bool, nanoseconds: UInt64
    ) -> Bool {
        sampler.reserve(isSampled: isSampled, isFailure: isFailure, nanoseconds: nanoseconds)
    }
}
