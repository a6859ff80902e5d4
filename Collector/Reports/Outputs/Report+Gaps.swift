extension Report {
    /// Sentences about what is missing from the figures, beside requests that did not arrive.
    package var gaps: [String] {
        var gaps: [String] = []
        if let unwatched { gaps.append(unwatched.sentence) }
        if let uncountedSenders {
            let senders = uncountedSenders == 1 ? "1 sender" : "\(uncountedSenders) senders"
            gaps.append(
                "cumulative counters of \(senders) found no room (--max-cumulative-streams); some requests are missing")
        }
        if let damagedPoints {
            gaps.append("\(damagedPoints) points were damaged on disk and are missing from these figures")
        }
        if let spans = totals.measures.fromSpans {
            gaps.append("\(spans) requests are counted from spans only; requests that were not sampled are missing")
        }
        return gaps
    }
}
