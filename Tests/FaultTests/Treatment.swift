import Fixtures

/// What happens to an upload between the agent and the collector.
enum Treatment: Sendable, Hashable {
    case pass
    /// It reaches the collector so many milliseconds later, also when the agent has given it up by then.
    case delay(Int)
    /// It is taken, and never answered; the collector does not see it.
    case hang
    /// Answered in the collector's place.
    case answer(Int, retryAfter: String? = nil)
    /// The connection is reset, and the collector does not see it.
    case reset
    /// The connection is closed without a word, and the collector does not see it.
    case drop
    /// The collector has stored it and answered, and the agent sees a reset.
    case storeThenReset
    /// The collector has stored it and answered, and the agent waits in vain.
    case storeThenHang
    /// The collector sees the first so many percent of it.
    case cutRequest(Int)
    /// The agent sees the first so many bytes of the answer.
    case cutAnswer(Int)
    /// It reaches the collector over two connections at once.
    case duplicate

    /// The same, perhaps within its head; none of it to what would not survive that.
    static func cutHead(_ bytes: Int) -> Treatment { .cutAnswer(TestedTransport.survivesCutHead ? bytes : 0) }

    /// By chance: what a bad network does.
    static func random(_ number: Int, _ seed: Seed) -> Treatment {
        let draw = { (which: Int, range: ClosedRange<Int>) in seed.draw(number * 2 + which, in: range) }
        return switch draw(0, 0...11) {
        case 0: .delay(draw(1, 1...300))
        case 1: .delay(draw(1, 1100...1600))
        case 2: .reset
        case 3: .drop
        case 4: .storeThenReset
        case 5: .cutRequest(draw(1, 0...99))
        case 6: .cutHead(draw(1, 0...120))
        case 7: .duplicate
        case 8: .storeThenHang
        default: .pass
        }
    }
}
