import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct ProcessSampleTests {
    private let start = ProcessSample.processStart()

    private func sample() -> ProcessSample { ProcessSample(processStart: start) }

    @Test func twoSamplesDifferByTheCPUTimeThatTheProcessTookInBetween() {
        let before = sample()
        let first = Clock.threadCPU()
        while Clock.threadCPU() - first < 100_000_000 {}
        let counts = sample().counts(since: before)
        // The kernel's figures have microseconds.
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

    @Test func memoryThatIsTouchedIsInRAM() throws {
        let before = try #require(sample().gauges[.residentMemory])
        let size = 256 << 20
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
        defer { memory.deallocate() }
        memset(memory, 1, size)
        let after = sample().gauges
        #expect(try #require(after[.residentMemory]) > before + UInt64(size) / 2)
        #expect(try #require(after[.virtualMemory]) >= after[.residentMemory] ?? 0)
    }

    @Test func theUptimeGrowsAndIsLessThanTheSystems() throws {
        let first = try #require(sample().gauges[.uptime])
        let second = try #require(sample().gauges[.uptime])
        #expect(second > first)
        #expect(Double(second) / 1e9 <= ProcessInfo.processInfo.systemUptime + 1)
    }

    @Test func threadsAreCounted() throws {
        #expect(try #require(sample().gauges[.threads]) >= 1)
    }
}
