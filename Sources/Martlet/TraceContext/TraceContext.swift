import MartletTelemetry
import Synchronization

/// A span's position in its trace, as W3C Trace Context passes it from one service to the next.
struct TraceContext: Sendable, Hashable {
    var traceID: TraceID
    var spanID: SpanID
    /// Whether details of the trace are kept, as decided at its root (W3C Trace Context, section 3.2.2.5.1).
    var isSampled: Bool
    /// The state of other vendors, carried on unchanged (section 3.3); empty for none.
    var traceState = ""
}

/// Decides which traces' details are kept. It uses only the trace id, so that all services of a trace make the same
/// decision.
struct TraceSampler: Sendable {
    private let threshold: UInt64
    private let trust: CallerTrust

    private static let range = UInt64(1) << 56

    /// - Parameters:
    ///   - rate: the share of traces, 0 to 1; NaN counts as 0.
    ///   - trust: what decides about the trace of a remote caller.
    init(rate: Double, trust: CallerTrust = .flag) {
        self.trust = trust
        let share = rate > 0 ? min(rate, 1) : 0
        threshold = UInt64((1 - share) * Double(Self.range))
    }

    /// Returns whether a trace's details are kept. The last seven bytes of an id are its randomness (W3C Trace Context
    /// Level 2, "Random Trace ID Flag").
    func samples(_ trace: TraceID) -> Bool { trace.low % Self.range >= threshold }

    /// Returns whether the details of a remote caller's trace are kept. All spans of this process within the trace, and
    /// the services that it calls, inherit the decision.
    func samples(_ caller: TraceParent) -> Bool {
        switch trust {
        case .flag: caller.isSampled
        case .traceID: samples(caller.traceID)
        case .nothing: samples(TraceIDs.nextTrace())
        }
    }

    /// Returns the context of a new span. It inherits its parent's decision; a root decides itself.
    func span(childOf parent: TraceContext?) -> TraceContext {
        let traceID = parent?.traceID ?? TraceIDs.nextTrace()
        return TraceContext(
            traceID: traceID, spanID: TraceIDs.nextSpan(), isSampled: parent?.isSampled ?? samples(traceID),
            traceState: parent?.traceState ?? "")
    }
}

/// The parts of a remote caller's trace context that decide whether the details of the trace are kept.
enum CallerTrust: Sendable {
    /// The flag `sampled`.
    case flag
    /// The trace id, as OpenTelemetry's samplers without `parentbased_` decide.
    case traceID
    /// Nothing: a caller may choose the trace id too.
    case nothing
}

/// The source of ids for traces and spans. Thread-safe without a lock or a system call: each word comes from a separate
/// SplitMix64 sequence, which the system seeds once.
enum TraceIDs {
    private struct Words: ~Copyable {
        let high = Atomic<UInt64>(.random(in: .min ... .max))
        let low = Atomic<UInt64>(.random(in: .min ... .max))
        let span = Atomic<UInt64>(.random(in: .min ... .max))
    }

    private static let words = Words()

    /// Reseeds the sequences in a forked child, which would otherwise make the same ids as its parent.
    static func reseed() {
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
