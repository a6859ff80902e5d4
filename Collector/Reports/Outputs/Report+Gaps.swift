extension Report {
    /// Sentences about what is missing from the figures, beside requests that did not arrive.
    package var gaps: [String] {
        var gaps: [String] = []
        if let unwatched { gaps.append(unwatched.sentence) }
        if let damagedPoints {
            gaps.append("\(damagedPoints) points were damaged on disk and are missing from these figures")
        }
        if let spans = totals.measures.fromSpans {
            gaps.append("\(spans) requests are counted from spans only; requests that were not sampled are missing")
        }
        return gaps
    }
}
