/// The share of failed requests that a group may have, if the requests that did not arrive are counted.
///
/// With f failed requests of n, and m that are missing, the share lies in f/(n+m) ... (f+m)/(n+m): all of the missing ones may
/// have succeeded, or failed. The missing requests count as spread over groups as those that arrived.
struct PossibleRate: Equatable {
    /// The share of the requests that arrived, 0...1.
    let seen: Double
    let range: ClosedRange<Double>

    /// - Parameter completeness: n / (n + m); `nil`, which counts as 1, if nobody knows of missing requests.
    init(_ rate: Double, completeness: Double?) {
        let arrived = min(max(completeness ?? 1, 0), 1)
        seen = min(max(rate, 0), 1)
        range = arrived * seen...arrived * seen + (1 - arrived)
    }

    /// Returns whether the share is at most `limit`; `nil` if the missing requests decide.
    func isAtMost(_ limit: Double) -> Bool? {
        if range.upperBound <= limit { return true }
        return range.lowerBound > limit ? false : nil
    }
}
