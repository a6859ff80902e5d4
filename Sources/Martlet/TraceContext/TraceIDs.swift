import MartletTelemetry
import Synchronization

/// The source of ids for traces and spans. Thread-safe without a lock and without a system call: each word is a step of its
/// own SplitMix64 sequence, seeded from the system once.
enum TraceIDs {
    private struct Words: ~Copyable {
        let high = Atomic<UInt64>(.random(in: .min ... .max))
        let low = Atomic<UInt64>(.random(in: .min ... .max))
        let span = Atomic<UInt64>(.random(in: .min ... .max))
    }

    private static let words = Words()

    /// Seeds the sequences anew in a forked child, which would otherwise make the same ids as its parent.
    static func seedAnew() {
        words.high.store(.random(in: .min ... .max), ordering: .relaxed)
        words.low.store(.random(in: .min ... .max), ordering: .relaxed)
        words.span.store(.random(in: .min ... .max), ordering: .relaxed)
    }

    /// Returns a new trace id. All 16 bytes are random (W3C Trace Context Level 2, "Random Trace ID Flag").
    static func nextTrace() -> TraceID {
        while true {
            if let id = TraceID(high: SplitMix64.next(of: words.high), low: SplitMix64.next(of: words.low)) {
                return id
            }
        }
    }

    static func nextSpan() -> SpanID {
        while true {
            if let id = SpanID(SplitMix64.next(of: words.span)) { return id }
        }
    }
}
