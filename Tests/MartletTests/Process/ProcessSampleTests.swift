import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct ClockWatchTests {
    @Test func clockThatIsSetForwardIsNoticedOnce() {
        let (second, minute): (UInt64, UInt64) = (1_000_000_000, 60_000_000_000)
        var watch = ClockWatch()
        #expect(watch.step(wall: 100 * minute, sinceBoot: minute) == nil)
        // Both clocks go on while a machine sleeps.
        #expect(watch.step(wall: 200 * minute, sinceBoot: 101 * minute) == nil)
        #expect(watch.step(wall: 200 * minute + 59 * second, sinceBoot: 101 * minute) == nil)
        #expect(watch.step(wall: 260 * minute + 59 * second, sinceBoot: 101 * minute) == .seconds(3600))
        #expect(watch.step(wall: 261 * minute + 59 * second, sinceBoot: 102 * minute) == nil)
        #expect(watch.step(wall: 100 * minute, sinceBoot: 103 * minute) == nil)
        #expect(watch.step(wall: 200 * minute, sinceBoot: nil) == nil)
    }
}

@Suite struct ProcessSampleTests {
    private let start = ProcessSample.processStart()

    private func sample() -> ProcessSample { ProcessSample(processStart: start) }

    @Test func samplesDifferByTheCPUTimeOfTheProcessInBetween() {
        let before = sample()
        let first = Clock.threadCPU()
        while Clock.threadCPU() - first < 100_000_000 {}
        let counts = sample().counts(since: before)
        // The kernel's figures are in microseconds.
        #expect((counts[.cpuUser] ?? 0) + (counts[.cpuSystem] ?? 0) >= 99_000_000)
        #expect(Set(counts.keys) == Set(ProcessCounter.allCases))
    }

    @Test func openFilesAreAmongTheDescriptors() throws {
        let before = try #require(sample().gauges[.descriptors])
        let files = (0..<500).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
        defer { for file in files { close(file) } }
        // Other tests open and close some at the same time.
        #expect(try #require(sample().gauges[.descriptors]) > before + 300)
    }

    /// Other tests may free memory between two samples, so the test tries several times.
    @Test func touchedMemoryIsResident() throws {
        let size = 64 << 20
        var grew = false
        for _ in 0..<20 where !grew {
            let before = try #require(sample().gauges[.residentMemory])
            let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
            defer { memory.deallocate() }
            memset(memory, 1, size)
            let after = sample().gauges
            let resident = try #require(after[.residentMemory])
            #expect(resident >= UInt64(size))
            #expect(try #require(after[.virtualMemory]) >= resident)
            grew = resident > before + UInt64(size) / 2
        }
        #expect(grew)
    }

    @Test func uptimeGrowsAndIsLessThanTheSystems() throws {
        let first = try #require(sample().gauges[.uptime])
        let second = try #require(sample().gauges[.uptime])
        #expect(second > first)
        #expect(Double(second) / 1e9 <= ProcessInfo.processInfo.systemUptime + 1)
    }

    @Test func threadsAreCounted() throws {
        let (number, begun, end) = (200 as UInt64, DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let before = try #require(sample().gauges[.threads])
        for _ in 0..<number {
            Thread {
                begun.signal()
                end.wait()
            }.start()
        }
        for _ in 0..<number { begun.wait() }
        let after = try #require(sample().gauges[.threads])
        for _ in 0..<number { end.signal() }
        // Other tests start and end some at the same time.
        #expect(after > number)
        #expect(after > before + number / 2)
    }
}
