import Foundation
import FoundationNetworking
import MartletTelemetry
import Testing

@testable import Martlet

extension AgentTests {
    @Suite struct RefusalTests {
        @Test(arguments: [AutomaticCapture.Failure.noStartLoading, .noResume, .notWritten])
        func aHookThatCannotBeInstalledMakesCaptureExplicitAndSaysWhy(failure: AutomaticCapture.Failure) {
            let state = CaptureState.install(.automatic) { () throws(AutomaticCapture.Failure) in throw failure }
            #expect(state.mode == .explicit)
            #expect(state.reason?.hasPrefix(failure.rawValue) == true)
            let isExplicit = Capture.isExplicit.load(ordering: .relaxed)
            #expect(isExplicit)
        }

        @Test func aSlotIsFoundOnlyWhereExactlyOneWordDiffers() {
            #expect(VTable.index(plain: Plain.self, overriding: OverridingOne.self, base: URLProtocol.self) != nil)
            #expect(VTable.index(plain: Plain.self, overriding: OverridingTwo.self, base: URLProtocol.self) == nil)
            #expect(VTable.index(plain: Plain.self, overriding: OtherPlain.self, base: URLProtocol.self) == nil)
        }

        @Test func aFieldIsFoundOnlyWhereExactlyOneWordHoldsItsValue() {
            let object = Holder()
            #expect(StoredField("once", of: object)?.pointer(in: object.address) == object.once.address)
            #expect(StoredField("twice", of: object) == nil)
            #expect(StoredField("none", of: object) == nil)
            #expect(StoredField("missing", of: object) == nil)
        }
    }

    @Suite struct FaultTests {
        @Test func captureThatIsSwitchedOnAgainKeepsDetailsAgain() {
            var configuration = MartletConfiguration()
            configuration.maxMemory = 1000
            let recorder = Recorder(configuration)
            Capture.connect(to: recorder)
            defer { Capture.disconnect() }
            var watch = BudgetWatch(configuration, recorder: recorder, log: AgentLog(configuration))
            var request = RecorderTests.request("http://host/a")
            request.detailBytes = 2000
            request.makeSpan = { dimensions in
                SpanRecord(
                    traceID: TraceIDs.nextTrace(), spanID: TraceIDs.nextSpan(), name: dimensions.endpoint,
                    kind: .client, start: 0, durationNanoseconds: 1)
            }
            recorder.record(request)
            watch.check()
            watch.check()
            #expect(Capture.offReason != nil)
            _ = recorder.drain()
            #expect(!recorder.keepsDetails(isSampled: true, isFailure: false, nanoseconds: 1))
            Capture.switchOn()
            watch.check()
            #expect(recorder.keepsDetails(isSampled: true, isFailure: false, nanoseconds: 1))
        }

        @Test func theTenthInternalErrorSwitchesCaptureOffAndIsSaid() async throws {
            try await withAgent { agent, collector, base in
                for _ in 1..<MartletLimits.faults { Capture.note(.noHandle) }
                #expect(agent.isCapturing)
                Capture.note(.noHandle)
                #expect(!agent.isCapturing)
                #expect(agent.status.captureMode == .off)
                #expect(agent.status.internalErrors == 10)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                let counts = try collector.counts()
                #expect(counts == [:])
                let told = try collector.resources().compactMap { $0["martlet.capture.reason"] }
                #expect(told.first?.contains(CaptureFault.noHandle.rawValue) == true)
                agent.isCapturing = true
                #expect(agent.status.captureMode == .automatic)
                #expect(agent.status.internalErrors == 0)
            }
        }
    }
}

private class Plain: URLProtocol {}
private class OtherPlain: URLProtocol {}
private class OverridingOne: URLProtocol { override func startLoading() {} }
private class OverridingTwo: URLProtocol {
    override func startLoading() {}
    override func stopLoading() {}
}

private final class Value {
    var address: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}

private final class Holder {
    let once = Value()
    let twice: Value
    let again: Value
    let none: Value? = nil

    init() {
        twice = Value()
        again = twice
    }

    var address: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }
}
