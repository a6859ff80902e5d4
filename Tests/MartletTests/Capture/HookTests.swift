import CMartletHooks
import Fixtures
import Foundation
import FoundationNetworking
import InMemoryLogging
import Logging
import Synchronization
import Testing

@testable import Martlet

extension AgentTests {
    /// Each test removes the process's own hooks and puts them back.
    @Suite struct HookTests {
        @Test func noSlotIsWrittenIfOneOfThemIsNotAMethod() throws {
            try withoutHooks {
                let (code, data) = (
                    try Self.code("malloc"), UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
                )
                defer { data.deallocate() }
                let slots = Slots([code, code, data])
                #expect(slots.install() == MARTLET_NOT_A_METHOD)
                #expect(slots.contents == [code, code, data])
            }
        }

        /// The runtime replaces a removed method with a stub, which is code and crashes the process.
        @Test func removedMethodIsRefused() throws {
            try withoutHooks {
                let (code, gone) = (try Self.code("malloc"), try Self.code("swift_deletedMethodError"))
                let slots = Slots([code, code, gone])
                #expect(slots.install() == MARTLET_NOT_A_METHOD)
                #expect(slots.contents == [code, code, gone])
            }
        }

        @Test func writtenSlotsAreRestoredIfALaterSlotCannotBeWritten() throws {
            try withoutHooks {
                let code = try Self.code("malloc")
                let fixed = try Self.readOnlySlot(code)
                defer { munmap(fixed, MemoryLayout<UInt>.size) }
                let slots = Slots([code, code])
                #expect(slots.install(and: fixed) == MARTLET_NOT_WRITABLE)
                #expect(slots.contents == [code, code])
            }
        }

        /// In the second run of the body, no file can be opened or read.
        @Test(.enabled(if: SystemCallFilter.isPossible)) func unreadableMapsAreReported() {
            let results = Mutex<[UInt32]>([])
            _ = SystemCallFilter.calls(inThreads: 1) {
                let noMethods = [martlet_method](repeating: martlet_method(), count: MARTLET_HOOKS)
                let result = martlet_install(noMethods) { _, _ in true }
                results.withLock { $0.append(result.rawValue) }
            }
            #expect(results.withLock { $0 } == [MARTLET_NOT_A_METHOD.rawValue, MARTLET_NO_MAPS.rawValue])
            #expect(AutomaticCapture.Failure.noMaps.rawValue.contains("mount /proc"))
        }

        /// A method of Foundation's may end the process if it is called in an unexpected state.
        @Test func installationCallsNoMethodOfTheLoader() throws {
            try withoutHooks {
                CountingLoader.calls.store(0, ordering: .relaxed)
                try AutomaticCapture.attempt(loader: CountingLoader.self).get()
                #expect(CountingLoader.calls.load(ordering: .relaxed) == 0)
            }
        }

        @Test func installationCountsNoRequest() async throws {
            try await withAgent { agent, _, _ in
                martlet_remove()
                try AutomaticCapture.attempt().get()
                #expect(agent.status.inFlight == 0)
                #expect(agent.status.ledger.captured == 0)
                #expect(agent.status.captureReason == nil)
            }
        }

        @Test func loaderThatNoRequestReachesIsReportedAfterAMinute() async throws {
            try await withAgent { agent, _, base in
                martlet_remove()
                defer {
                    martlet_remove()
                    _ = AutomaticCapture.attempt()
                }
                try AutomaticCapture.attempt(loader: CountingLoader.self).get()
                let minute = InFlightRequests.maxTimeToLoader.nanoseconds
                #expect(AutomaticCapture.missingHooks(at: Clock.monotonic() + minute) == nil)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                #expect(agent.status.captureReason == nil)
                let reason = try #require(AutomaticCapture.missingHooks(at: Clock.monotonic() + minute))
                #expect(reason.contains("URLProtocol.startLoading"))
                #expect(reason.contains("captureWithMartlet()"))
            }
        }

        @Test func doubtEndsWhenARequestReachesBothHooks() {
            let minute = InFlightRequests.maxTimeToLoader.nanoseconds
            func doubt(_ firstResume: UInt64, _ hasStartedLoading: Bool, at now: UInt64) -> String? {
                HookCalls(firstResume: firstResume, hasStartedLoading: hasStartedLoading).doubt(at: now)
            }
            #expect(doubt(0, false, at: 2 * minute) == nil)
            #expect(doubt(1, false, at: minute) == nil)
            #expect(doubt(1, false, at: minute + 1)?.contains("startLoading") == true)
            #expect(doubt(0, true, at: 1)?.contains("URLSessionTask.resume") == true)
            #expect(doubt(1, true, at: 2 * minute) == nil)
        }

        @Test func hookRemovedByAnotherLibraryIsReportedAndNotReinstalled() async throws {
            let log = InMemoryLogHandler()
            try await withAgent({ $0.logger = Logger(label: "test", factory: { _ in log }) }) {
                agent, collector, base in
                martlet_remove()
                defer { _ = AutomaticCapture.attempt() }
                for path in ["hello/x", "hello/y"] {
                    _ = try await URLSession.shared.data(from: base / path)
                    await agent.flush()
                }
                let reason = try #require(agent.status.captureReason)
                #expect(reason.contains("URLSessionTask.resume"))
                #expect(log.entries.map { "\($0.message)" } == ["Capture: \(reason)"])
                #expect(agent.status.ledger.captured == 0)
                agent.tracer.request()
                await agent.flush()
                let told = try collector.resources().compactMap { $0["martlet.capture.reason"] }
                #expect(told.last == reason)
            }
        }

        private func withoutHooks(_ body: () throws -> Void) throws {
            try AutomaticCapture.install()
            martlet_remove()
            defer {
                martlet_remove()
                if case .failure(let failure) = AutomaticCapture.attempt() { Issue.record(failure) }
            }
            try body()
        }

        private static func code(_ name: String) throws -> UnsafeMutableRawPointer {
            try #require(dlsym(dlopen(nil, RTLD_NOW), name))
        }

        /// Returns a slot in a file that is open only for reading, so its page cannot be made writable.
        private static func readOnlySlot(_ value: UnsafeMutableRawPointer) throws -> VTable.Slot {
            let folder = try TemporaryFolder()
            let file = folder.path("slot")
            try withUnsafeBytes(of: value) { try Data($0).write(to: URL(fileURLWithPath: file)) }
            let descriptor = open(file, O_RDONLY)
            defer { close(descriptor) }
            let page = try #require(mmap(nil, MemoryLayout<UInt>.size, PROT_READ, MAP_SHARED, descriptor, 0))
            try #require(page != MAP_FAILED)
            return page.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        }
    }
}

/// A protocol in the place of Foundation's loader that counts the calls of its methods.
private final class CountingLoader: URLProtocol {
    static let calls = Atomic<Int>(0)

    override func startLoading() { Self.calls.add(1, ordering: .relaxed) }
    override func stopLoading() { Self.calls.add(1, ordering: .relaxed) }
}

/// Slots that belong to no class, one for each method.
private final class Slots {
    private let slots: UnsafeMutableBufferPointer<UnsafeMutableRawPointer?>

    init(_ contents: [UnsafeMutableRawPointer]) {
        slots = .allocate(capacity: contents.count)
        _ = slots.initialize(from: contents)
    }

    deinit { slots.deallocate() }

    var contents: [UnsafeMutableRawPointer?] { Array(slots) }

    func install(and last: VTable.Slot? = nil) -> martlet_install_result {
        let entries = slots.indices.compactMap { slots.baseAddress?.advanced(by: $0) } + [last].compactMap(\.self)
        let methods = entries.map { entry in
            var method = martlet_method()
            (method.slots.0, method.count) = (entry, 1)
            return method
        }
        return martlet_install(methods) { _, _ in true }
    }
}
