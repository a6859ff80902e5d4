import ArgumentParser
import Foundation
import MartletNotifications
import MartletServer

struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Sends a test message to each webhook of `serve`, and says whether it was accepted: exit status 0 or 1.",
        discussion: """
            Without flags it takes the webhooks of `serve` from the variables MARTLET_COLLECTOR_NOTIFY and \
            MARTLET_COLLECTOR_NOTIFY_FILE.
            """)

    @Flag(help: "Send a test message. Without this flag nothing is sent.")
    var test = false

    @Option(help: "The URL of a webhook; may be repeated.")
    var notify: [String] = []

    @Option(help: "A file with more webhooks, one per line: a URL, and after a space its bearer token if it needs one.")
    var notifyFile: String?

    func validate() throws {
        guard test else { throw ValidationError("give --test to send a test message to each webhook") }
    }

    func run() async throws {
        let variables = ProcessInfo.processInfo.environment
        let receivers = try receivers(CollectorEnvironment(variables))
        let tls = try reportingFailure { try ClientTLS.ofWebhooks(variables) }
        let accepted = try await MessageSender.run(tls: tls) { sender in
            var accepted = 0
            for receiver in receivers {
                let answer = await sender.test(receiver)
                Output.line("\(receiver): \(answer)")
                accepted += answer.isAccepted ? 1 : 0
            }
            return accepted
        }
        if accepted < receivers.count { throw ExitCode.failure }
    }

    private func receivers(_ environment: CollectorEnvironment) throws -> [Receiver] {
        do {
            let receivers = try Receiver.receivers(
                environment.values(notify, "notify"), file: environment.value(notifyFile, "notify-file"))
            guard !receivers.isEmpty else { throw ValidationError("give a webhook with --notify or --notify-file") }
            return receivers
        } catch let error as ValidationError {
            throw ValidationError(environment.sentence(error.message, besides: CommandLine.arguments.dropFirst()))
        }
    }
}

extension Receiver {
    /// Returns the receivers of the flags `--notify` and `--notify-file`, each once. No error repeats an address.
    static func receivers(_ urls: [String], file: String?) throws -> [Receiver] {
        var receivers = try urls.map { url in try naming("--notify") { () throws(ReceiverError) in try Receiver(url) } }
        if let file {
            let text = String(decoding: try reportingFailure { try Data(ofFile: file) }, as: UTF8.self)
            let listed = try naming("--notify-file") { () throws(ReceiverError) in try Receiver.receivers(in: text) }
            guard !listed.isEmpty else { throw ValidationError("--notify-file must have a webhook") }
            receivers += listed
        }
        return distinct(receivers)
    }

    private static func naming<Value>(_ flag: String, _ body: () throws(ReceiverError) -> Value) throws -> Value {
        do { return try body() } catch { throw ValidationError("\(flag) \(error)") }
    }
}
