extension WindowReport {
    /// Sentences about what is missing from the figures or dated wrongly, beside requests that did not arrive.
    package var gaps: [String] {
        var gaps: [String] = []
        if let unwatched { gaps.append(unwatched.sentence) }
        if let uncountedSenders {
            let senders = FigureText.counted(uncountedSenders, "sender")
            gaps.append(
                "cumulative counters of \(senders) found no room (--max-cumulative-streams); some requests are missing")
        }
        if let clocksAhead { gaps.append(clocksAhead.sentence) }
        if let damagedPoints {
            let points = FigureText.counted(damagedPoints, "point")
            gaps.append("\(points) damaged on disk, missing from these figures")
        }
        if let fromSpans {
            let requests = FigureText.counted(fromSpans, "request")
            gaps.append("\(requests) counted from spans only; requests that were not sampled are missing")
        }
        return gaps
    }
}
