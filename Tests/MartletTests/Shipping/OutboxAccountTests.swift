import Foundation
import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct OutboxAccountTests {
    static let account: OutboxAccount = {
        var account = OutboxAccount()
        account.deliver(345)
        account.drop(12, .bufferFull)
        account.drop(3, .corrupt)
        account.noteReport()
        account.noteSettled(17)
        account.settled = ["00000000000000000012-metrics-345-1c291ca3.sent.otlp.gz"]
        return account
    }()

    @Test func accountIsReadBackUnchanged() {
        #expect(OutboxAccount(text: Self.account.text) == Self.account)
        #expect(OutboxAccount(text: OutboxAccount().text) == OutboxAccount())
    }

    @Test func truncatedAccountIsRefused() {
        let text = Self.account.text
        for length in 0..<text.utf8.count {
            #expect(OutboxAccount(text: String(decoding: text.utf8.prefix(length), as: UTF8.self)) == nil)
        }
    }

    @Test func flippedBitIsDetected() {
        let bytes = Array(Self.account.text.utf8)
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(OutboxAccount(text: String(decoding: flipped, as: UTF8.self)) == nil, "bit \(bit)")
        }
    }

    @Test func unknownReasonOfANewerVersionIsCountedAsOther() {
        var newer = OutboxAccount()
        newer.drop(7, .other)
        #expect(OutboxAccount(text: newer.text)?.dropped == [.other: 7])
    }

    @Test func requestsOfAFileThatReappearsAreNotDropped() {
        var account = OutboxAccount()
        account.drop(5, .gone)
        account.restore(2)
        #expect(account.dropped == [.gone: 3])
        account.restore(9)
        #expect(account.dropped == [:])
    }
}
