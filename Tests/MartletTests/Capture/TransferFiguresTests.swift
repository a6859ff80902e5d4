import CMartletHooks
import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct TransferFiguresTests {
    @Test func newConnectionHasAllPhasesAndTheyAddUpToTheDuration() {
        let figures = TransferFigures(
            martlet_transfer(
                name_lookup: 100, connect: 300, tls: 900, ready: 900, first_byte: 5_000, total: 6_000, bytes_sent: 0,
                bytes_received: 2, connections: 1))
        let phases = figures.phases(ofRequestTaking: 7_000_000)
        #expect(
            RequestPhase.allCases.map { phases[$0] } == [1_000_000, 100_000, 200_000, 600_000, 4_100_000, 1_000_000])
        #expect(!figures.isConnectionReused)
    }

    @Test func firstByteOfARequestWithABodyIsThatOfTheAnswerIfItWasObserved() {
        let transfer = martlet_transfer(
            name_lookup: 100, connect: 300, tls: 900, ready: 900, first_byte: 901, total: 6_000, bytes_sent: 1,
            bytes_received: 2, connections: 1)
        let seen = TransferFigures(transfer, firstByte: 4_000_000).phases(ofRequestTaking: 7_000_000)
        #expect((seen[.firstByte], seen[.transfer]) == (4_000_000, 1_100_000))
        let late = TransferFigures(transfer, firstByte: 9_000_000).phases(ofRequestTaking: 7_000_000)
        #expect((late[.firstByte], late[.transfer]) == (5_100_000, 0))
        let unseen = TransferFigures(transfer).phases(ofRequestTaking: 7_000_000)
        #expect((unseen[.firstByte], unseen[.transfer]) == (nil, nil))
    }

    @Test func waitingForAReusedConnectionCountsAsQueue() {
        let figures = TransferFigures(
            martlet_transfer(
                name_lookup: 40, connect: 40, tls: 0, ready: 2_000, first_byte: 5_000, total: 6_000, bytes_sent: 0,
                bytes_received: 0, connections: 0))
        let phases = figures.phases(ofRequestTaking: 7_000_000)
        #expect(RequestPhase.allCases.map { phases[$0] } == [3_000_000, nil, nil, nil, 3_000_000, 1_000_000])
        #expect(figures.isConnectionReused)
    }

    @Test func failedRequestHasThePhasesThatItReached() {
        let refused = TransferFigures(
            martlet_transfer(
                name_lookup: 100, connect: 0, tls: 0, ready: 0, first_byte: 0, total: 200, bytes_sent: 0,
                bytes_received: 0, connections: 1))
        let phases = refused.phases(ofRequestTaking: 300_000)
        #expect(RequestPhase.allCases.map { phases[$0] } == [100_000, 100_000, nil, nil, nil, nil])
    }

    @Test func impossibleFiguresGiveNoPhases() {
        let odd = TransferFigures(
            martlet_transfer(
                name_lookup: -5, connect: 3, tls: 2, ready: 9, first_byte: 4, total: .max, bytes_sent: -1,
                bytes_received: -1, connections: 1))
        let phases = odd.phases(ofRequestTaking: 10)
        #expect(phases[.queue] == 0)
        #expect(phases[.tls] == nil)
        #expect(phases[.firstByte] == nil)
        #expect(odd.bytesSent == 0)
    }
}
