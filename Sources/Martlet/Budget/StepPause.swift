/// The pause before a step that was given up is tried again. It doubles each time that the step has to be given up again
/// soon. A pure value; times are nanoseconds of the monotonic clock.
struct StepPause: Sendable {
    private let terms: BudgetTerms
    private(set) var length: Duration
    private var end: UInt64 = 0
    private var lastReturn: UInt64?
    /// The reason why the step was given up.
    private(set) var reason = ""

    init(_ terms: BudgetTerms) {
        self.terms = terms
        length = terms.firstPause
    }

    mutating func begin(at time: UInt64, because reason: String) {
        let isSoon = lastReturn.map { time - min(time, $0) < terms.calmTime.nanoseconds } ?? false
        length = isSoon ? min(length * 2, terms.longestPause) : terms.firstPause
        end = time &+ length.nanoseconds
        self.reason = reason
    }

    func isOver(at time: UInt64) -> Bool { time >= end }

    mutating func noteReturn(at time: UInt64) { lastReturn = time }
}
