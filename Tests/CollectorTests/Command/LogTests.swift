import Logging
import Synchronization
import Testing

@testable import martlet_collector

/// The log, and the messages for the service manager.
@Suite struct LogTests {
    private let repeats = LogRepeats()
    private let start = ContinuousClock.now

    @Test func eventIsLoggedOnceAMinuteWithTheNumberLeftOut() {
        #expect(repeats.admit("full", at: start) == 0)
        for second in 1...59 { #expect(repeats.admit("full", at: start + .seconds(second)) == nil) }
        #expect(repeats.admit("other", at: start + .seconds(59)) == 0)
        #expect(repeats.admit("full", at: start + .seconds(60)) == 59)
        #expect(repeats.admit("full", at: start + .seconds(61)) == nil)
        #expect(repeats.admit("full", at: start + .seconds(120)) == 1)
    }

    @Test func atMostAThousandEventsAreRemembered() {
        for number in 0..<1000 { #expect(repeats.admit("\(number)", at: start) == 0) }
        #expect(repeats.admit("0", at: start) == nil)
        #expect(repeats.admit("1000", at: start) == 0)
        #expect(repeats.admit("0", at: start) == 0)
    }

    @Test func lineHasTheNumberOfRepeatsLeftOut() {
        let lines = Lines()
        let event = "the disk is full\n"
        _ = repeats.admit(event, at: start - .seconds(62))
        _ = repeats.admit(event, at: start - .seconds(61))
        let logger = Logger(label: "test") { _ in RepeatLimitedLogHandler(base: lines, repeats: repeats) }
        for _ in 0..<3 { logger.error("the disk is full") }
        for _ in 0..<3 { logger.info("a start") }
        #expect(lines.all == ["the disk is full 1", "a start", "a start", "a start"])
    }

    /// Keeps each line that it receives, with the field `repeated`.
    private final class Lines: LogHandler {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock(\.self) }
        var logLevel: Logger.Level {
            get { .trace }
            set {}
        }
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }

        subscript(metadataKey _: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }

        func log(event: LogEvent) {
            let line = ["\(event.message)", event.metadata?["repeated"].map { "\($0)" }].compactMap(\.self)
            lines.withLock { $0.append(line.joined(separator: " ")) }
        }
    }

    @Test(arguments: [(pid: nil, isMeant: true), ("1", false)] as [(String?, Bool)])
    func watchdogOfAnotherProcessGetsNoSigns(_ manager: (pid: String?, isMeant: Bool)) {
        var variables = ["NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "120000000"]
        variables["WATCHDOG_PID"] = manager.pid
        let watchdog = ServiceManager(variables, logger: Logger(label: "test")).watchdog
        #expect(watchdog == (manager.isMeant ? .seconds(120) : nil))
    }
}
