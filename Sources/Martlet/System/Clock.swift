import MartletTelemetry

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The system's clocks, in nanoseconds. Durations come from the monotonic clock. The wall clock, which may jump, gives
/// only time stamps.
enum Clock {
    static func monotonic() -> UInt64 { read(CLOCK_MONOTONIC) }

    /// Returns the CPU time of the calling thread.
    static func threadCPU() -> UInt64 { read(CLOCK_THREAD_CPUTIME_ID) }

    /// Returns the CPU time of all threads of the process.
    static func processCPU() -> UInt64 { read(CLOCK_PROCESS_CPUTIME_ID) }

    static func wall() -> UnixNanoseconds { read(CLOCK_REALTIME) }

    /// Returns the time since the system's boot, with the time that it was suspended; `nil` where that is unknown.
    static func sinceBoot() -> UInt64? {
        #if os(Linux)
        read(CLOCK_BOOTTIME)
        #else
        nil
        #endif
    }

    /// Returns whether `duration` has passed since `start`, by the monotonic clock; always `true` if `start` is `nil`.
    static func hasPassed(_ duration: Duration, since start: UInt64?) -> Bool {
        start.map { monotonic() &- $0 >= duration.nanoseconds } ?? true
    }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }
}

/// Notices that the wall clock was set forward: it then gains on the time since boot, which nobody sets. That happens soon
/// after a machine was restored from a snapshot, or a process from a checkpoint.
struct ClockWatch {
    /// A smaller step is ignored, because a service that keeps the time may make it.
    static let smallestStep = Duration.seconds(60)

    /// The wall clock's lead over the time since boot at the last call; `nil` before the first.
    private var lead: Int64?

    /// Returns by how much the wall clock was set forward since the last call; `nil` for less than ``smallestStep``.
    mutating func step(wall: UnixNanoseconds = Clock.wall(), sinceBoot: UInt64? = Clock.sinceBoot()) -> Duration? {
        guard let sinceBoot else { return nil }
        let now = Int64(clamping: wall) - Int64(clamping: sinceBoot)
        defer { lead = now }
        let step = Duration.nanoseconds(lead.map { now &- $0 } ?? 0)
        return step < Self.smallestStep ? nil : step
    }
}

extension Duration {
    /// The duration in nanoseconds: 0 if it is negative, and at most 285 years, so that a deadline computed from it
    /// does not overflow.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(clamping: min(seconds, 9_000_000_000)) &* 1_000_000_000
            &+ UInt64(clamping: attoseconds / 1_000_000_000)
    }

    var seconds: Double { Double(nanoseconds) / 1e9 }
}
