import MartletFindings
import Testing

@testable import MartletNotifications

/// When a message is sent, and when it is given up, without a clock.
@Suite struct MessageQueueTests {
    private let start = ContinuousClock.now
    private let open: WatchedFinding
    private let ended: WatchedFinding
    private let other: WatchedFinding
    private var queue = MessageQueue(NotifierLimits())

    init() throws {
        let findings = try SampleFindings()
        (open, ended, other) = (findings.open, findings.ended, try SampleFindings("stock").open)
    }

    /// Fails to send the next message, and returns the number of messages that are given up.
    private mutating func fail(
        isRefused: Bool = false, wait: Duration? = nil, after seconds: Int64 = 0
    ) throws -> Int {
        let message = try #require(queue.next)
        return queue.fail(message, isRefused: isRefused, wait: wait, at: start + .seconds(seconds), random: 1)
    }

    @Test mutating func pausesDoubleUpToFiveMinutes() throws {
        _ = queue.add(open, at: start)
        var pauses: [Duration] = []
        for _ in 0..<9 {
            let givenUp = try fail()
            #expect(givenUp == 0)
            pauses.append(try #require(queue.due(start)) - start)
        }
        #expect(pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300].map { .seconds($0) })
        let message = try #require(queue.next)
        queue.remove(message)
        #expect(queue.due(start) == nil)
        _ = queue.add(other, at: start)
        #expect(queue.due(start) == start)
    }

    @Test(arguments: [(1, 5), (60, 60), (3_600, 300)])
    mutating func requestedWaitIsRespectedUpToFiveMinutes(asked: Int64, pause: Int64) throws {
        let answer = ReceiverAnswer(status: 503, retryAfter: String(asked))
        guard case .away(_, let wait) = answer else { throw CancellationError() }
        _ = queue.add(open, at: start)
        _ = try fail(wait: wait)
        #expect(queue.due(start) == start + .seconds(pause))
    }

    @Test mutating func messageIsGivenUpAfterADay() throws {
        _ = queue.add(open, at: start)
        _ = queue.add(other, at: start + .seconds(60))
        let counts = [try fail(after: 86_399), try fail(after: 86_400)]
        #expect(counts == [0, 1])
        #expect(queue.count == 1 && queue.next?.watched == other)
    }

    @Test mutating func refusedMessageIsTriedThreeTimesAfterTheOthers() throws {
        _ = queue.add(open, at: start)
        let first = try fail(isRefused: true)
        _ = queue.add(other, at: start)
        let next = try #require(queue.next)
        #expect(next.watched == other)
        queue.remove(next)
        let counts = [first, try fail(isRefused: true), try fail(isRefused: true)]
        #expect(counts == [0, 0, 1] && queue.count == 0)
    }

    @Test mutating func endTakesThePlaceOfAnOpeningThatIsBeingSent() throws {
        _ = queue.add(open, at: start)
        let sent = try #require(queue.next)
        _ = queue.add(ended, at: start)
        queue.remove(sent)
        #expect(queue.count == 1 && queue.next?.watched == ended)
    }

    @Test mutating func openingOfAFindingThatIsGoneIsNotSent() throws {
        _ = queue.add(open, at: start)
        _ = queue.add(other, at: start)
        queue.update([other.name: other])
        #expect(queue.count == 1 && queue.next?.watched == other)
    }

    @Test mutating func oldestMessagesGiveWay() throws {
        var limits = NotifierLimits()
        limits.messages = 1
        queue = MessageQueue(limits)
        let dropped = [queue.add(open, at: start), queue.add(other, at: start)]
        #expect(dropped == [0, 1])
        #expect(queue.next?.watched == other)
    }
}
