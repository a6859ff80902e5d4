import Foundation
import FoundationNetworking
import InMemoryLogging
import Logging
import MartletTelemetry
import Synchronization
import Testing

@testable import Martlet

extension AgentTests {
    @Suite struct RefusalTests {
        @Test(arguments: [AutomaticCapture.Failure.noStartLoading, .noStopLoading, .noResume, .notWritten, .noMaps])
        func failedHookMakesCaptureExplicitWithTheReason(failure: AutomaticCapture.Failure) {
            let effective = EffectiveCapture.install(.automatic) { () throws(AutomaticCapture.Failure) in throw failure
            }
            #expect(effective.mode == .explicit)
            #expect(effective.reason?.hasPrefix(failure.rawValue) == true)
        }

        @Test func captureIsOffWithoutFoundationsLoader() {
            let effective = EffectiveCapture.install(.automatic, loader: nil) { () throws(AutomaticCapture.Failure) in }
            #expect(effective.mode == .off)
            #expect(effective.reason == AutomaticCapture.Failure.noNativeLoader.rawValue)
        }

        @Test func eachMissingFeatureOfLibcurlIsReportedAsALimit() {
            let (all, tooOld, noHandle, noLibcurl) = (
                EffectiveCapture.limits(findsLibcurl: true, findsHandle: true, callsBeforeRequest: true),
                EffectiveCapture.limits(findsLibcurl: true, findsHandle: true, callsBeforeRequest: false),
                EffectiveCapture.limits(findsLibcurl: true, findsHandle: false, callsBeforeRequest: false),
                EffectiveCapture.limits(findsLibcurl: false, findsHandle: true, callsBeforeRequest: false)
            )
            #expect(all == [])
            #expect(tooOld.first?.contains("7.80") == true)
            #expect(noHandle.first?.contains("phases") == true)
            #expect(noLibcurl.map { $0.hasPrefix("libcurl was not found: ") } == [true])
        }

        @Test func agentWithARefusedHookIsExplicitAndLogsIt() async throws {
            let log = InMemoryLogHandler()
            try await withAgent(
                { $0.logger = Logger(label: "test", factory: { _ in log }) },
                installing: { capture in
                    EffectiveCapture.install(capture) { () throws(AutomaticCapture.Failure) in throw .noResume }
                }
            ) { agent, collector, base in
                #expect(agent.status.captureMode == .explicit)
                let reason = try #require(agent.status.captureReason)
                #expect(reason.hasPrefix(AutomaticCapture.Failure.noResume.rawValue))
                let captured = URLSessionConfiguration.ephemeral
                captured.captureWithMartlet()
                for (session, path) in [(URLSession.shared, "shared"), (URLSession(configuration: captured), "asked")] {
                    let (data, _) = try await session.data(from: base / "hello/\(path)")
                    #expect(data == Data("hello".utf8))
                }
                await agent.flush()
                let (counts, resources) = (try collector.counts(), try collector.resources())
                #expect(counts == ["/hello/asked": 1])
                #expect(resources.map { $0["martlet.capture.mode"] } == ["explicit"])
                #expect(resources.map { $0["martlet.capture.reason"] } == [reason])
                let messages = log.entries.map { "\($0.message)" }.filter { $0.hasPrefix("Capture") }
                #expect(messages == ["Capture is explicit: \(reason)"])
            }
        }

        @Test func logHandlerMayStartTheAgentItself() async throws {
            try await withAgent(
                { $0.logger = Logger(label: "test", factory: { _ in StartingHandler() }) },
                installing: { capture in
                    EffectiveCapture.install(capture) { () throws(AutomaticCapture.Failure) in throw .noResume }
                }
            ) { agent, _, _ in
                #expect(agent.status.captureMode == .explicit)
                for started in StartingHandler.started.withLock({ $0 }) {
                    #expect(started.status.captureMode == .explicit)
                    await started.shutdown()
                }
            }
        }

        @Test func agentWithoutCaptureLogsItAndStillRecordsSpans() async throws {
            let log = InMemoryLogHandler()
            try await withAgent(
                { $0.logger = Logger(label: "test", factory: { _ in log }) },
                installing: { capture in
                    EffectiveCapture.install(capture, loader: nil) { () throws(AutomaticCapture.Failure) in }
                }
            ) { agent, collector, _ in
                let reason = AutomaticCapture.Failure.noNativeLoader.rawValue
                #expect(agent.status.captureMode == .off)
                #expect(agent.status.captureReason == reason)
                agent.tracer.request()
                await agent.flush()
                #expect(agent.status.ledger.delivered == 1)
                let resources = try collector.resources()
                #expect(resources.map { $0["martlet.capture.mode"] } == ["off"])
                #expect(resources.map { $0["martlet.capture.reason"] } == [reason])
                #expect(log.entries.map { "\($0.message)" } == ["Capture is off: \(reason)"])
            }
        }

        @Test func limitsOfCaptureAreInStatusAndLog() async throws {
            let log = InMemoryLogHandler()
            let limits = EffectiveCapture.limits(findsLibcurl: false, findsHandle: true, callsBeforeRequest: false)
            try await withAgent(
                { $0.logger = Logger(label: "test", factory: { _ in log }) },
                installing: { capture in
                    var effective = EffectiveCapture.install(capture)
                    effective.limits = limits
                    return effective
                }
            ) { agent, _, _ in
                #expect(agent.status.captureMode == .automatic)
                #expect(agent.status.captureLimits == limits)
                #expect(log.entries.map { "\($0.message)" } == limits)
            }
        }

        @Test func slotIsFoundOnlyIfExactlyOneWordDiffers() {
            #expect(VTable.index(plain: Plain.self, overriding: OverridingOne.self, base: URLProtocol.self) != nil)
            #expect(VTable.index(plain: Plain.self, overriding: OverridingTwo.self, base: URLProtocol.self) == nil)
            #expect(VTable.index(plain: Plain.self, overriding: OtherPlain.self, base: URLProtocol.self) == nil)
        }

        @Test func fieldIsFoundOnlyIfExactlyOneWordHoldsItsValue() {
            let object = Holder()
            #expect(StoredField("once", of: object)?.pointer(in: object.address) == object.once.address)
            #expect(StoredField("twice", of: object) == nil)
            #expect(StoredField("none", of: object) == nil)
            #expect(StoredField("missing", of: object) == nil)
        }
    }

    @Suite struct FaultTests {
        @Test func detailsAreKeptAgainAfterCaptureIsSwitchedBackOn() {
            var configuration = MartletConfiguration()
            configuration.maxMemory = 1 << 20
            configuration.budgetTerms.period = .milliseconds(100)
            let recorder = Recorder(configuration)
            CaptureSwitch.connect(to: recorder)
            defer { CaptureSwitch.disconnect() }
            var watch = BudgetWatch(
                configuration, recorder: recorder, board: StatusBoard(heldByOthers: { recorder.estimatedBytes }),
                log: AgentLog(configuration))
            var request = RecorderTests.request("http://host/a")
            request.detailBytes = 2 << 20
            request.makeSpan = { dimensions in
                SpanRecord(
                    traceID: TraceIDs.nextTrace(), spanID: TraceIDs.nextSpan(), name: dimensions.endpoint,
                    kind: .client, start: 0, durationNanoseconds: 1)
            }
            recorder.record(request)
            while CaptureSwitch.state == .on { _ = watch.check() }
            #expect(recorder.allowance == .nothing)
            _ = recorder.drain()
            recorder.noteReleased()
            #expect(!recorder.reserveDetails(isSampled: true, isFailure: false, nanoseconds: 1))
            CaptureSwitch.switchOn()
            let isNews = watch.check()
            #expect(isNews)
            #expect(recorder.reserveDetails(isSampled: true, isFailure: false, nanoseconds: 1))
        }

        @Test func tenthInternalErrorSwitchesCaptureOffAndIsLogged() async throws {
            try await withAgent { agent, collector, base in
                for _ in 1..<MartletLimits.faults { CaptureSwitch.note(.noHandle) }
                #expect(agent.isCapturing)
                CaptureSwitch.note(.noHandle)
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

/// A log handler that starts the agent before it writes, as a service's handler might.
private struct StartingHandler: LogHandler {
    static let started = Mutex<[MartletAgent]>([])
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var configuration = MartletConfiguration()
        configuration.logLevel = .critical
        let agent = MartletAgent.start(configuration)
        Self.started.withLock { $0.append(agent) }
    }
}
