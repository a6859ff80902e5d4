import Fixtures

/// What happens to an upload between the agent and the collector.
enum Treatment: Sendable, Hashable {
    case pass
    /// The upload reaches the collector after some milliseconds, even if the agent has given it up by then.
    case delay(Int)
    /// The gate accepts the upload and never answers; the collector does not see it.
    case hang
    /// The gate answers instead of the collector.
    case answer(Int, retryAfter: String? = nil)
    /// The connection is reset, and the collector does not see it.
    case reset
    /// The connection is closed without an answer, and the collector does not see it.
    case drop
    /// The collector stores the upload and answers; the agent sees a reset.
    case storeThenReset
    /// The collector stores the upload and answers; the agent gets no answer.
    case storeThenHang
    /// The collector sees only the first bytes of the upload, in percent.
    case cutRequest(Int)
    /// The agent sees only the first bytes of the answer.
    case cutAnswer(Int)
    /// The upload reaches the collector over two connections at once.
    case duplicate

    /// Truncates the answer after `bytes` bytes, perhaps within its head. Removes all of it for a transport that would
    /// crash otherwise.
    static func cutHead(_ bytes: Int) -> Treatment { .cutAnswer(TestedTransport.survivesCutHead ? bytes : 0) }

    /// Returns a random treatment, as in a bad network.
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
